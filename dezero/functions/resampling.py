"""Images in another size: pixels moved from channels to space, or interpolated."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.axes import transpose
from dezero.functions.dtypes import cast, sum_dtype
from dezero.functions.shape import as_integer, reshape

__all__ = [
    "Resample",
    "ResampleGrad",
    "interpolate",
    "pixel_shuffle",
    "pixel_unshuffle",
]

# =============================================================================
# Between channels and space
# =============================================================================


def pixel_shuffle(x: ArrayLike, r: int) -> Variable:
    """Move channels into space: ``y[c, r*h + i, r*w + j] = x[c*r*r + i*r + j, h, w]``.

    A convolution and this make an image r times as high and wide. Shi et al. 2016,
    "Real-time single image and video super-resolution using an efficient sub-pixel
    convolutional neural network".

    Args:
        x: (..., C * r * r, H, W).
        r: How many times as high and wide, at least 1.

    Returns:
        Variable of shape (..., C, r * H, r * W).

    Raises:
        TypeError: ``r`` is no integer.
        ValueError: ``r`` is below 1, or the channels are no multiple of ``r * r``.
    """
    x, r = _image("pixel_shuffle", x), _factor("pixel_shuffle", r)
    *lead, K, H, W = x.shape
    if K % (r * r):
        raise ValueError(
            f"pixel_shuffle: expected a multiple of {r * r} channels for r={r}, got "
            f"{K} in x of shape {x.shape}"
        )
    C, n = K // (r * r), len(lead)
    y = reshape(x, (*lead, C, r, r, H, W))
    # (..., C, r, r, H, W) -> (..., C, H, r, W, r)
    y = transpose(y, [*range(n + 1), n + 3, n + 1, n + 4, n + 2])
    return reshape(y, (*lead, C, H * r, W * r))


def pixel_unshuffle(x: ArrayLike, r: int) -> Variable:
    """The inverse of :func:`pixel_shuffle`: move space into channels.

    Args:
        x: (..., C, r * H, r * W).
        r: How many times less high and wide, at least 1.

    Returns:
        Variable of shape (..., C * r * r, H, W).

    Raises:
        TypeError: ``r`` is no integer.
        ValueError: ``r`` is below 1, or height or width is no multiple of ``r``.
    """
    x, r = _image("pixel_unshuffle", x), _factor("pixel_unshuffle", r)
    *lead, C, OH, OW = x.shape
    if OH % r or OW % r:
        raise ValueError(
            f"pixel_unshuffle: expected height and width to be multiples of {r}, got x "
            f"of shape {x.shape}"
        )
    H, W, n = OH // r, OW // r, len(lead)
    y = reshape(x, (*lead, C, H, r, W, r))
    # (..., C, H, r, W, r) -> (..., C, r, r, H, W)
    y = transpose(y, [*range(n + 1), n + 2, n + 4, n + 1, n + 3])
    return reshape(y, (*lead, C * r * r, H, W))


def _image(function: str, x: ArrayLike) -> Variable:
    x = as_variable(x)
    if x.ndim < 3:
        raise ValueError(
            f"{function}: expected x (..., C, H, W), got x of shape {x.shape}"
        )
    return x


def _factor(function: str, r: int) -> int:
    r = as_integer(function, "r", r)
    if r < 1:
        raise ValueError(f"{function}: expected r of at least 1, got {r}")
    return r


# =============================================================================
# Interpolation
# =============================================================================


class Resample(Function):
    """``y[i] = sum over terms of weights[i] * x[indices[i]]`` along one axis.

    The indices of each term are sorted; weights None are ones.
    """

    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, axis, size, terms):
        self.axis = axis
        self.size = size  # of x along the axis
        self.terms = terms

    def forward(self, x):
        xp = cuda.get_array_module(x)
        y = None
        for indices, weights in self.terms:
            part = xp.take(x, cuda.constant(indices, xp), axis=self.axis)
            if weights is not None:
                part *= self.along(weights, x)
            if y is not None:
                part += y
            y = part
        return y

    def backward(self, gy):
        return ResampleGrad(self.axis, self.size, self.terms)(gy)

    def along(self, weights, x):
        shape = [1] * x.ndim
        shape[self.axis] = -1
        xp = cuda.get_array_module(x)
        return cuda.constant(np.asarray(weights, x.dtype).reshape(shape), xp)


class ResampleGrad(Resample):
    """The adjoint: each ``y[i]`` goes back to where it came from."""

    def forward(self, gy):
        xp = cuda.get_array_module(gy)
        shape = list(gy.shape)
        shape[self.axis] = self.size
        gx = xp.zeros(shape, dtype=sum_dtype(gy) or gy.dtype)
        gx_first = xp.moveaxis(gx, self.axis, 0)  # views
        for indices, weights in self.terms:
            part = gy if weights is None else gy * self.along(weights, gy)
            part = xp.moveaxis(part, self.axis, 0)
            # The k-th use of each place, for all k: none has a place twice.
            turn = np.arange(len(indices)) - np.searchsorted(indices, indices)
            for k in range(max(turn, default=-1) + 1):
                for i, j in _as_slices(np.flatnonzero(turn == k), indices):
                    if not isinstance(i, slice):
                        i, j = cuda.constant(i, xp), cuda.constant(j, xp)
                    gx_first[j] += part[i]
        return gx.astype(gy.dtype, copy=False)

    def backward(self, ggx):
        return Resample(self.axis, self.size, self.terms)(ggx)


def _as_slices(i: np.ndarray, indices: np.ndarray) -> list[tuple[Any, Any]]:
    """Increasing ``i`` and ``indices[i]``, as a few pairs of slices if that can be.

    Slices are several times faster than arrays of indices, and resizing by a whole
    factor is regular but for the edges.
    """
    j = indices[i]
    bends = np.flatnonzero((np.diff(i, 2) != 0) | (np.diff(j, 2) != 0)) + 1
    if len(bends) > 4:
        return [(i, j)]
    starts = [0, *bends]
    ends = [*bends, len(i)]
    return [
        (_as_slice(i[a:b]), _as_slice(j[a:b]))
        for a, b in zip(starts, ends, strict=True)
    ]


def _as_slice(steady: np.ndarray) -> slice:
    first = int(steady[0])
    step = int(steady[1]) - first if len(steady) > 1 else 1
    return slice(first, int(steady[-1]) + 1, step)


MODES = ("nearest", "bilinear")


def interpolate(
    x: ArrayLike,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
) -> Variable:
    """Images in another size, larger or smaller, with PyTorch's conventions.

    With ``s = H / OH`` (or ``1 / scale_factor``, if that is given), pixel i of the
    result lies at ``p = (i + 0.5) * s - 0.5`` in ``x``, along each of the two axes;
    with ``align_corners``, at ``p = i * (H - 1) / (OH - 1)``, so that the centres of
    the corner pixels stay. "bilinear" takes the two pixels next to p, weighted by
    nearness; beyond the edge, the edge pixel. "nearest" takes pixel ``floor(i * s)``.
    An axis whose size comes out as it was keeps its pixels. There is no smoothing
    before a reduction.

    Args:
        x: (N, C, H, W). For "bilinear", integers become float64.
        size: (OH, OW), or one number for both.
        scale_factor: Instead of ``size``: how many times as high and wide, two numbers
            or one for both; ``OH = floor(H * scale_factor)``.
        mode: "nearest" or "bilinear".
        align_corners: For "bilinear" only.

    Returns:
        Variable of shape (N, C, OH, OW).

    Raises:
        TypeError: ``size`` or ``scale_factor`` are no numbers of that kind.
        ValueError: ``x`` has not four axes or no pixels, the result would have none,
            not exactly one of ``size`` and ``scale_factor`` is given, or ``mode`` or
            ``align_corners`` is none of these.
    """
    x = as_variable(x)
    if x.ndim != 4 or 0 in x.shape[2:]:
        raise ValueError(
            "interpolate: expected x (N, C, H, W) with at least one pixel, got x of "
            f"shape {x.shape}"
        )
    if mode not in MODES:
        raise ValueError(
            f"interpolate: expected 'nearest' or 'bilinear' as mode, got {mode!r}"
        )
    if align_corners and mode == "nearest":
        raise ValueError(
            "interpolate: expected align_corners=False for mode 'nearest', got "
            f"{align_corners}"
        )
    if (size is None) == (scale_factor is None):
        raise ValueError(
            "interpolate: expected either size or scale_factor, got "
            + ("none" if size is None else "both")
        )
    sizes, steps = _sizes_and_steps(x.shape[2:], size, scale_factor)
    if mode == "bilinear" and x.dtype.kind != "f":
        x = cast(x, np.float64)
    # The axis that shrinks first, or else the last one: less to do for the other.
    for axis in (2, 3) if sizes[0] < x.shape[2] else (3, 2):
        I, O, step = x.shape[axis], sizes[axis - 2], steps[axis - 2]
        if I == O:
            continue
        if mode == "nearest":
            terms = _nearest(I, O, step)
        else:
            terms = _linear(I, O, step, align_corners)
        x = Resample(axis, I, terms)(x)
    return x


def _sizes_and_steps(
    shape: tuple[int, ...], size: Any, scale_factor: Any
) -> tuple[list[int], list[float]]:
    """Height and width of the result, and how far apart its pixels are in x."""
    if size is not None:
        sizes = [as_integer("interpolate", "size", n) for n in _pair("size", size)]
        steps = [I / max(O, 1) for I, O in zip(shape, sizes, strict=True)]
    else:
        factors = _pair("scale_factor", scale_factor)
        for s in factors:
            if not isinstance(s, (int, float, np.integer, np.floating)):
                raise TypeError(
                    "interpolate: expected numbers as scale_factor, got "
                    f"{type(s).__name__}"
                )
            if not 0 < s < math.inf:
                raise ValueError(
                    f"interpolate: expected scale_factor above 0, got {scale_factor}"
                )
        sizes = [math.floor(I * s) for I, s in zip(shape, factors, strict=True)]
        steps = [float(1 / s) for s in factors]
    if min(sizes) < 1:
        raise ValueError(
            "interpolate: expected a result of at least one pixel, got size "
            f"{tuple(sizes)}"
        )
    return sizes, steps


def _pair(name: str, value: Any) -> tuple[Any, ...]:
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2:
        raise ValueError(
            f"interpolate: expected one or two numbers as {name}, got {value}"
        )
    return pair


def _nearest(I: int, O: int, step: float) -> list[tuple[np.ndarray, Any]]:
    i = np.arange(O)
    if step == I / O or O == 2 * I:  # as PyTorch, for a factor somewhat above 2 too
        return [(i * I // O, None)]  # exact: 3 * (1 / 3) might fall short of 1
    return [(np.minimum((i * step).astype(np.intp), I - 1), None)]


def _linear(
    I: int, O: int, step: float, align_corners: bool
) -> list[tuple[np.ndarray, Any]]:
    i = np.arange(O)
    if align_corners:
        p = i * ((I - 1) / (O - 1) if O > 1 else 0.0)
    else:
        p = (i + 0.5) * step - 0.5
    p = np.clip(p, 0, I - 1)
    low = np.floor(p).astype(np.intp)
    weights = p - low
    if not weights.any():
        return [(low, None)]
    return [(low, 1 - weights), (np.minimum(low + 1, I - 1), weights)]
