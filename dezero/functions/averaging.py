"""Average pooling: the mean of what a window meets at each of its places."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.dtypes import as_floating, wide, wide_dtype
from dezero.functions.window_reduction import (
    check_company,
    pooling_window,
    reduce_windows,
    spread_windows,
)
from dezero.functions.windows import Window
from dezero.kernels import windows as kernels

__all__ = ["AveragePooling", "AveragePoolingGrad", "average_pooling"]


class AveragePooling(Function):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(
        self,
        kernel_size,
        stride=1,
        pad=0,
        dilation=1,
        ceil_mode=False,
        count_include_pad=True,
    ):
        self.arguments = kernel_size, stride, pad, dilation, ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, x):
        self.window = pooling_window("average_pooling", x, *self.arguments)
        if not self.count_include_pad:
            check_company("average_pooling", self.window)
        x = as_floating(x)
        xp = cuda.get_array_module(x)
        counts = _counts(self.window, self.count_include_pad)
        if kernels.suits(x, self.window):
            y = xp.empty((*x.shape[:2], *self.window.places), x.dtype)
            return _on_gpu(kernels.average_pool, x, counts, self.window, y)
        total = reduce_windows(xp.add, wide(x), self.window, 0)
        y = _divide(total, counts)
        return y.astype(x.dtype, copy=False)

    def backward(self, gy):
        return AveragePoolingGrad(self)(gy)


class AveragePoolingGrad(Function):
    """Give each element that a window meets an equal part of its gradient."""

    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, forward):
        self.window = forward.window
        self.arguments = *forward.arguments, forward.count_include_pad

    def forward(self, gy):
        counts = _counts(self.window, self.arguments[-1])
        if kernels.suits(gy, self.window):
            xp = cuda.get_array_module(gy)
            gx = xp.empty((*gy.shape[:2], *self.window.sizes), gy.dtype)
            return _on_gpu(kernels.give_equally, gy, counts, self.window, gx)
        gx = _divide(wide(gy), counts)
        return spread_windows(gx, self.window).astype(gy.dtype, copy=False)

    def backward(self, ggx):
        return AveragePooling(*self.arguments)(ggx)


def average_pooling(
    x: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Variable:
    """Mean of what the window meets at each place.

    Args:
        x: (N, C, IH, IW), or with any other number of axes after the first two.
        kernel_size: (KH, KW), or one number for all axes.
        stride: As in :func:`pooling`.
        pad: Likewise.
        dilation: Likewise.
        ceil_mode: Likewise. What a last window meets outside of the padding does not
            count.
        count_include_pad: Whether padding counts, as zeros; otherwise the mean is over
            the elements of ``x`` alone.

    Returns:
        Variable of shape (N, C, OH, OW); see :func:`pooling`.

    Raises:
        TypeError: An argument that should be integers is not.
        ValueError: As in :func:`pooling`; a window may meet nothing but padding if that
            counts.
    """
    f = AveragePooling(kernel_size, stride, pad, dilation, ceil_mode, count_include_pad)
    return f(as_variable(x))


@functools.lru_cache(maxsize=512)
def _counts(window: Window, count_include_pad: bool) -> Any:
    """How many elements count in the mean at each place; a number if all are equal."""
    axes = range(len(window.sizes))
    counts = [window.meets(axis, not count_include_pad) for axis in axes]
    if all([len(set(count)) == 1 for count in counts]):
        return math.prod([count[0] for count in counts])
    product: Any = functools.reduce(np.multiply.outer, map(np.array, counts))
    return product  # (*places)


def _divide(x: Array, counts: Any) -> Array:
    """``x / counts`` in the dtype of ``x``, in place nowhere."""
    xp = cuda.get_array_module(x)
    return x / cuda.constant(np.asarray(counts, dtype=x.dtype), xp)


def _on_gpu(kernel: Any, x: Array, counts: Any, window: Window, y: Array) -> Array:
    """What the kernel makes of ``x``, written into ``y``."""
    xp = cuda.get_array_module(x)
    known = cuda.constant(np.ravel(counts).astype(wide_dtype(x)), xp)
    return kernel(xp.ascontiguousarray(x), known, *kernels.numbers(window), y)
