"""Convolution with a kernel of 3x3 at stride 1 in a quarter of the products.

Winograd's way, on plain arrays. Along one axis, four results of a kernel g of three
elements come from six of the image, a tile d: ``y[i] = sum of g[k] * d[i + k]`` takes
twelve products. Turned round it is a product of polynomials of the coefficients g and
y. That has degree 5, so six points tell what it is, with one product at each. With
``A(n)``, the matrix that gives a polynomial of n coefficients its values there::

    A(6) (g times y) = (A(3) g) * (A(4) y)      the product of polynomials
    y = A(4)^T ((A(3) g) * (A(6)^-T d))         its transpose: the correlation

Along two axes there are 36 points in place of 144 products, and at each of them the sum
over the channels is a product of matrices. Lavin, Gray 2016, arXiv:1509.09308.
"""

import math
from collections.abc import Iterator

import numpy as np

from dezero.cuda import Array
from dezero.functions.windows import Window

# The sixth point is infinity, where a polynomial has the value of its last coefficient.
# With these the error is 2.5 times that of plain sums (root mean square, 64 channels);
# with 0, 1, -1, 2, -2, as in the paper, it is 6 times that.
POINTS = (0, 5 / 8, -5 / 8, 3 / 2, -3 / 2)
STEP, TILE = 4, 6  # results of a tile, and elements of the image in it, along an axis
PART = 1 << 19  # elements of the tiles that are made at a time, to stay in the cache


def _values(n: int) -> np.ndarray:
    """The matrix A(n)."""
    finite = np.vander(POINTS, n, increasing=True)
    return np.vstack([finite, np.eye(1, n, n - 1)])


def _along_two(matrix: np.ndarray) -> np.ndarray:
    """The matrix that does along two axes what ``matrix`` does along one."""
    return np.kron(matrix, matrix).astype(np.float32)


OF_KERNEL = _along_two(_values(3))  # (36, 9)
OF_RESULT = _along_two(_values(4))  # (36, 16)
OF_IMAGE = _along_two(np.linalg.inv(_values(6)).T)  # (36, 36)


def suits(x: Array, channels: tuple[int, int], window: Window, groups: int) -> bool:
    """Is this way the faster one, as far as that was measured?

    Args:
        x: An array (N, ...) of the batch.
        channels: Those of the image, and of the result.
        window: Of any size.
        groups: Of channels.
    """
    if (
        window.kernel != (3, 3)
        or window.stride != (1, 1)
        or window.dilation != (1, 1)
        or groups != 1
        or x.dtype.char != "f"
        or not isinstance(x, np.ndarray)
        or any([p > 2 for pads in window.pads for p in pads])
    ):
        return False
    # A third faster: 16x64x56x56 to 64 channels takes 35 in place of 51 ms, transposed
    # 38 in place of 60. Not so with few channels, whose products take no time; in tiles
    # that reach far out, as for 14x14; or where the kernel, four times its size at the
    # points, is large beside the tiles.
    tiles = math.prod(_tiles(window))
    return (
        min(channels) >= 48
        and tiles * STEP**2 < 1.2 * math.prod(window.places)
        and 2 * len(x) * tiles >= max(channels)
    )


def correlate(x: Array, W: Array, window: Window) -> Array | None:
    """As in :mod:`dezero.functions.correlation`; None if that is not finite.

    Infinity in an element of the image, say, would make NaN of all results of a tile.
    """
    return _correlate(x, W, window.pads, window.places, _tiles(window))


def correlate_transposed(y: Array, W: Array, window: Window) -> Array | None:
    """Likewise: the correlation of ``y`` with the kernel turned by 180 degrees."""
    turned = W[:, :, ::-1, ::-1].swapaxes(0, 1)
    pads = [(2 - before, 2 - after) for before, after in window.pads]
    TH, TW = [-(-n // STEP) for n in window.sizes]
    return _correlate(y, turned, pads, window.sizes, (TH, TW))


def _correlate(x, W, pads, places, tiles):
    (O, C), (TH, TW) = W.shape[:2], tiles
    kernel = (OF_KERNEL @ W.reshape(O * C, 9).T).reshape(36, O, C)
    y = np.empty((len(x), O, *places), x.dtype)
    product_room, result_room = _Room(x.dtype), _Room(x.dtype)
    with np.errstate(all="ignore"):
        for part, image in _at_points(x, pads, tiles):
            n = part.stop - part.start
            products = product_room(36, O, n * TH * TW)
            np.matmul(kernel, image, out=products)
            result = result_room(16, O * n * TH * TW)
            np.matmul(OF_RESULT.T, products.reshape(36, -1), out=result)
            if not np.isfinite(result.sum()):
                return None
            result = result.reshape(STEP, STEP, O, n, TH, TW).swapaxes(2, 3)
            for i, j in np.ndindex(STEP, STEP):
                given = y[part, :, i::STEP, j::STEP]
                given[...] = result[i, j, :, :, : given.shape[2], : given.shape[3]]
    return y


def _at_points(x, pads, tiles) -> Iterator[tuple[slice, Array]]:
    """Parts of the batch, and their tiles at the points: (36, C, n*T)."""
    (N, C, IH, IW), (TH, TW) = x.shape, tiles
    (top, _), (left, _) = pads
    n = min(N, max(1, PART // max(1, 36 * C * TH * TW)))
    padded = np.zeros((n, C, STEP * TH + 2, STEP * TW + 2), x.dtype)
    met_room, image_room = _Room(x.dtype), _Room(x.dtype)
    for start in range(0, N, n):
        part = slice(start, min(start + n, N))
        m = part.stop - start
        padded[:m, :, top : top + IH, left : left + IW] = x[part]
        met = met_room(TILE, TILE, C, m, TH, TW)
        by_channel = padded[:m].swapaxes(0, 1)
        for i, j in np.ndindex(TILE, TILE):
            rows = slice(i, i + STEP * TH - 3, STEP)
            columns = slice(j, j + STEP * TW - 3, STEP)
            met[i, j] = by_channel[:, :, rows, columns]
        image = image_room(36, C * m * TH * TW)
        np.matmul(OF_IMAGE, met.reshape(36, -1), out=image)
        yield part, image.reshape(36, C, -1)


class _Room:
    """Memory that serves for every part: fresh one would not be in the cache."""

    def __init__(self, dtype):
        self.array = np.empty(0, dtype)

    def __call__(self, *shape):
        size = math.prod(shape)
        if self.array.size < size:  # the first part is the largest
            self.array = np.empty(size, self.array.dtype)
        return self.array[:size].reshape(shape)


def _tiles(window: Window) -> tuple[int, int]:
    """How many there are below each other, and beside each other."""
    OH, OW = window.places
    return -(-OH // STEP), -(-OW // STEP)
