"""The three products behind convolution, on plain arrays: of image, kernel and result.

``y = correlate(x, W)`` is linear in x and in W, so ``<y, correlate(x, W)>`` is a number
that is linear in each of the three arrays. Its gradients are the other two products::

    by y: correlate(x, W)    by x: correlate_transposed(y, W)    by W: correlate_kernel

so that they are all there is to a convolution, its derivatives of any order, and a
transposed convolution. Shapes: x (N, C, *sizes), W (O, C/G, *kernel), y (N, O, *places)
with G groups, where group g of the channels of y sees group g of those of x alone.

They are computed with columns, the first two by :mod:`dezero.functions.winograd` where
that is faster; and on a GPU by :mod:`dezero.functions.correlation_on_gpu`, or by
:mod:`dezero.kernels.cudnn` where cuDNN is installed.
"""

import math
from collections.abc import Iterator

import numpy as np

from dezero import cuda
from dezero.cuda import Array
from dezero.functions import correlation_on_gpu as on_gpu
from dezero.functions import winograd
from dezero.functions.windows import Window
from dezero.kernels import cudnn
from dezero.kernels import windows as kernels

# Elements of the columns that are made at a time: few enough to stay in the cache and
# to need little memory, enough for few calls.
PART = 1 << 19


def correlate(x: Array, W: Array, window: Window, groups: int = 1) -> Array:
    """``y[n, o, p] = sum over c, k of W[o, c, k] * x[n, c, stride*p + dilation*k]``.

    Args:
        x: (N, C, *sizes).
        W: (O, C/groups, *kernel).
        window: Of these sizes and this kernel.
        groups: Of channels.

    Returns:
        Array of shape (N, O, *places).
    """
    xp = cuda.get_array_module(x)
    if kernels.suits(x, window):
        if (y := cudnn.correlate(x, W, window, groups)) is not None:
            return y
        dtype, used = _dtypes(x, W)
        y = on_gpu.correlate(x, W, window, groups, used)
        return y.astype(dtype, copy=False)
    dtype, x, W = _computable(x, W)
    if winograd.suits(x, (x.shape[1], len(W)), window, groups):
        y = winograd.correlate(x, W, window)
        if y is not None:
            return y.astype(dtype, copy=False)
    N, O, G, P = len(x), len(W), groups, math.prod(window.places)
    y = xp.empty((N, G, O // G, P), x.dtype)
    rows = _rows(W, G)
    for part, column in _columns(x, window):
        column = column.reshape(len(column), G, rows.shape[2], P)
        xp.matmul(rows, column, out=y[part])
    return y.reshape(N, O, *window.places).astype(dtype, copy=False)


def correlate_transposed(y: Array, W: Array, window: Window, groups: int = 1) -> Array:
    """Each element of y times the kernel, added up where it came from.

    Args:
        y: (N, O, *places).
        W: (O, C/groups, *kernel).
        window: Of these places and this kernel.
        groups: Of channels.

    Returns:
        Array of shape (N, C, *sizes).
    """
    xp = cuda.get_array_module(y)
    if kernels.suits(y, window):
        if (x := cudnn.correlate_transposed(y, W, window, groups)) is not None:
            return x
        dtype, used = _dtypes(y, W)
        x = on_gpu.correlate_transposed(y, W, window, groups, used)
        return x.astype(dtype, copy=False)
    dtype, y, W = _computable(y, W)
    if winograd.suits(y, W.shape[:2], window, groups):
        x = winograd.correlate_transposed(y, W, window)
        if x is not None:
            return x.astype(dtype, copy=False)
    N, O, G, P = len(y), len(W), groups, math.prod(window.places)
    C = W.shape[1] * G
    y = xp.ascontiguousarray(y).reshape(N, G, O // G, P)
    rows = _rows(W, G).swapaxes(1, 2)  # (G, C/G*K, O/G)
    if window.is_pointwise:
        x = xp.matmul(rows, y).reshape(N, C, *window.places)
        if window.sizes == window.places:
            return x.astype(dtype, copy=False)
        whole = xp.zeros((N, C, *window.sizes), dtype)
        whole[window.taps[0].image] = x
        return whole
    x = xp.zeros((N, C, *window.sizes), y.dtype)
    n = _part_size(C, window)
    buffer = xp.empty((min(n, N), G, rows.shape[1], P), y.dtype)
    for start in range(0, N, n):
        part = slice(start, min(start + n, N))
        column = buffer[: part.stop - start]
        # One column times one row: there is nothing to add, and matmul is slow.
        product = xp.multiply if O == G else xp.matmul
        product(rows, y[part], out=column)
        add_columns(x[part], column, window)
    return x.astype(dtype, copy=False)


def correlate_kernel(x: Array, y: Array, window: Window, groups: int = 1) -> Array:
    """``W[o, c, k] = sum over n, p of y[n, o, p] * x[n, c, stride*p + dilation*k]``.

    Args:
        x: (N, C, *sizes).
        y: (N, O, *places).
        window: Of these sizes and places.
        groups: Of channels.

    Returns:
        Array of shape (O, C/groups, *kernel).
    """
    xp = cuda.get_array_module(x)
    if kernels.suits(x, window):
        if (W := cudnn.correlate_kernel(x, y, window, groups)) is not None:
            return W
        dtype, used = _dtypes(x, y)
        W = on_gpu.correlate_kernel(x, y, window, groups, used)
        return W.astype(dtype, copy=False)
    dtype, x, y = _computable(x, y)
    (N, C), O, G, P = x.shape[:2], y.shape[1], groups, math.prod(window.places)
    y = xp.ascontiguousarray(y).reshape(N, G, O // G, P)
    # Columns times places, then turned: the other way round takes up to 1.7 times as
    # long (16 channels to 32, 14x14).
    W = xp.zeros((G, C // G * math.prod(window.kernel), O // G), x.dtype)
    for part, column in _columns(x, window):
        column = column.reshape(len(column), G, W.shape[1], P)
        if P < O // G:
            # One product whose sum runs over the batch too: W is larger than the parts.
            W += xp.matmul(_joined(column), _joined(y[part]).swapaxes(1, 2))
        else:
            W += xp.matmul(column, y[part].swapaxes(2, 3)).sum(axis=0)
    W = xp.ascontiguousarray(W.swapaxes(1, 2)).reshape(O, C // G, *window.kernel)
    return W.astype(dtype, copy=False)


# =============================================================================
# Columns
# =============================================================================


def fill_columns(column: Array, x: Array, window: Window) -> Array:
    """Copy to each tap of the columns what it meets; leave what meets padding alone.

    (In a fused kernel it gets the zeros again.)

    Args:
        column: (N, C, *kernel, *places), zero where a tap meets padding.
        x: (N, C, *sizes).
        window: Of these sizes and places.

    Returns:
        ``column``.
    """
    if kernels.suits(x, window):
        return on_gpu.fill_columns(column, x, window)
    for tap in window.taps:
        column[tap.column] = x[tap.image]
    return column


def add_columns(x: Array, column: Array, window: Window) -> Array:
    """Add each tap of the columns to what it meets, in place.

    Args:
        x: (N, C, *sizes).
        column: N*C*K*P elements in the order (N, C, *kernel, *places).
        window: Of these sizes and places.

    Returns:
        ``x``.
    """
    xp = cuda.get_array_module(x)
    column = column.reshape(*x.shape[:2], *window.kernel, *window.places)
    if kernels.suits(x, window):
        return on_gpu.add_columns(x, column, window)
    for tap in window.taps:
        met = x[tap.image]
        xp.add(met, column[tap.column], out=met)
    return x


def _columns(x: Array, window: Window) -> Iterator[tuple[slice, Array]]:
    """Parts of the batch, and their columns (n, C*K*P elements) until the next part."""
    xp = cuda.get_array_module(x)
    N, C = x.shape[:2]
    if window.is_pointwise:
        yield slice(0, N), xp.ascontiguousarray(x[window.taps[0].image])
        return
    n = _part_size(C, window)
    shape = (min(n, N), C, *window.kernel, *window.places)
    buffer = xp.zeros(shape, x.dtype)  # those of the padding stay from part to part
    for start in range(0, N, n):
        part = slice(start, min(start + n, N))
        column = buffer[: part.stop - start]
        yield part, fill_columns(column, x[part], window)


def _rows(W: Array, groups: int) -> Array:
    """(O, C/G, *kernel) -> (G, O/G, C/G*K)."""
    return W.reshape(groups, len(W) // groups, math.prod(W.shape[1:]))


def _joined(a: Array) -> Array:
    """(n, G, rows, P) -> (G, rows, n*P)."""
    n, G, rows, P = a.shape
    return a.transpose(1, 2, 0, 3).reshape(G, rows, n * P)


def _part_size(C: int, window: Window) -> int:
    each = C * math.prod(window.kernel) * math.prod(window.places)
    return max(1, PART // max(1, each))


def _dtypes(a: Array, b: Array) -> tuple[np.dtype, np.dtype]:
    """The dtype of a product, and the one to compute it in: float32 for float16.

    Sums of half precision would overflow on the way, and BLAS does not know it.
    """
    dtype = np.result_type(a.dtype, b.dtype)
    return dtype, np.dtype(np.float32) if dtype.char == "e" else dtype


def _computable(a: Array, b: Array) -> tuple[np.dtype, Array, Array]:
    """The dtype of a product, and both in the one to compute it in."""
    dtype, used = _dtypes(a, b)
    return dtype, a.astype(used, copy=False), b.astype(used, copy=False)
