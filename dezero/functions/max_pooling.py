"""Max pooling: the maximum of what a window meets at each of its places."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.columns import im2col
from dezero.functions.dtypes import wide
from dezero.functions.extending import pad as pad_image
from dezero.functions.extremes import max
from dezero.functions.shape import reshape
from dezero.functions.window_reduction import (
    check_company,
    least,
    pooling_window,
    reduce_windows,
)
from dezero.functions.windows import Window
from dezero.kernels import windows as kernels

__all__ = [
    "Pooling",
    "PoolingGrad",
    "PoolingPick",
    "pooling",
    "pooling_simple",
]


class Pooling(Function):
    fresh_gradients = True

    def __init__(self, kernel_size, stride=1, pad=0, dilation=1, ceil_mode=False):
        self.arguments = kernel_size, stride, pad, dilation, ceil_mode

    def forward(self, x):
        self.window = pooling_window("pooling", x, *self.arguments)
        check_company("pooling", self.window)
        xp = cuda.get_array_module(x)
        if kernels.suits(x, self.window):
            y = xp.empty((*x.shape[:2], *self.window.places), x.dtype)
            x = xp.ascontiguousarray(x)
            return kernels.max_pool(x, *kernels.numbers(self.window), y)
        return reduce_windows(xp.maximum, x, self.window, least(x.dtype))

    def backward(self, gy):
        (x,) = self.inputs
        y = self.outputs[0]()
        fused = kernels.suits(x.data, self.window)
        if not (Config.enable_backprop or fused) and _meets_all_at_once(self.window):
            return _given_to_first_maxima(x.data, y.data, gy.data, self.window)
        winners = _first_maxima(x.data, y.data, self.window)
        return PoolingGrad(self.window, winners)(gy)


class PoolingGrad(Function):
    """Give the gradient of each place to the tap that won there."""

    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, window, winners):
        self.window = window
        self.winners = winners

    def forward(self, gy):
        xp = cuda.get_array_module(gy)
        if kernels.suits(gy, self.window):
            gx = xp.empty((*gy.shape[:2], *self.window.sizes), gy.dtype)
            gy, winners = [xp.ascontiguousarray(a) for a in (gy, self.winners)]
            return kernels.give(gy, winners, *kernels.numbers(self.window), gx)
        bits, wins = _bits(wide(gy)), self.winners
        gx = xp.zeros((*gy.shape[:2], *self.window.sizes), wide(gy).dtype)
        apart = self.window.is_apart
        for tap in self.window.taps:
            # As integers, since a mask times a float would make NaN of infinity.
            won = wins[tap.places] == tap.number
            if apart:  # no other tap meets these elements
                xp.multiply(bits[tap.places], won, out=_bits(gx)[tap.image])
            else:
                given = xp.multiply(bits[tap.places], won).view(gx.dtype)
                xp.add(gx[tap.image], given, out=gx[tap.image])
        return gx.astype(gy.dtype, copy=False)

    def backward(self, ggx):
        return PoolingPick(self.window, self.winners)(ggx)


class PoolingPick(Function):
    """Take at each place the element that the winning tap meets."""

    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, window, winners):
        self.window = window
        self.winners = winners

    def forward(self, x):
        xp = cuda.get_array_module(x)
        if kernels.suits(x, self.window):
            x, winners = [xp.ascontiguousarray(a) for a in (x, self.winners)]
            return kernels.pick(x, winners, *kernels.numbers(self.window))
        y = xp.zeros(self.winners.shape, x.dtype)
        bits, taken = _bits(x), _bits(y)
        for tap in self.window.taps:
            won = self.winners[tap.places] == tap.number
            given = xp.multiply(bits[tap.image], won)
            # All but one of the terms are zero, and so are all their bits.
            xp.add(taken[tap.places], given, out=taken[tap.places])
        return y

    def backward(self, gy):
        return PoolingGrad(self.window, self.winners)(gy)


def pooling(
    x: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
    dilation: int | Sequence[int] = 1,
    ceil_mode: bool = False,
) -> Variable:
    """Maximum of what the window meets at each place; padding never wins.

    Of equal elements the first in C order (row by row) takes the gradient.

    Args:
        x: (N, C, IH, IW), or with any other number of axes after the first two.
        kernel_size: (KH, KW), or one number for all axes.
        stride: Steps from place to place: (SH, SW) or one number.
        pad: (PH, PW), one number, a pair (before, after) for each axis, or ``"same"``
            for a result of size ``ceil(I / S)``.
        dilation: Steps from element to element of the window.
        ceil_mode: Whether a last window that reaches out of the padded image counts, as
            long as it starts inside the image or the padding before it.

    Returns:
        Variable of shape (N, C, OH, OW) with
        ``OH = (IH + 2*PH - DH*(KH - 1) - 1) // SH + 1``.

    Raises:
        TypeError: An argument that should be integers is not.
        ValueError: ``x`` has fewer than three axes, an argument does not fit their
            number or is out of range, the window is larger than the padded image (with
            ``ceil_mode``, by a step at least), or it meets nothing but padding
            somewhere.
    """
    return Pooling(kernel_size, stride, pad, dilation, ceil_mode)(as_variable(x))


def pooling_simple(
    x: ArrayLike,
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    pad: Any = 0,
) -> Variable:
    """:func:`pooling` with im2col and max, to read; equal elements share the gradient.

    Args:
        x: (N, C, IH, IW).
        kernel_size: (KH, KW), or one number for both.
        stride: (SH, SW), or one number for both.
        pad: As in :func:`pooling`.

    Returns:
        Variable of shape (N, C, OH, OW).

    Raises:
        TypeError: As in :func:`pooling`.
        ValueError: Likewise.
    """
    x = as_variable(x)
    window = pooling_window("pooling_simple", x, kernel_size, stride, pad)
    check_company("pooling_simple", window)
    border = ((0, 0), (0, 0), *window.pads)
    x = pad_image(x, border, constant_values=least(x.dtype))
    col = im2col(x, kernel_size, stride, to_matrix=False)  # (N, C, KH, KW, OH, OW)
    N, C = x.shape[:2]
    K = math.prod(window.kernel)
    return max(reshape(col, (N, C, K, *window.places)), axis=2)


# =============================================================================
# The first maximum, on plain arrays
# =============================================================================


def _first_maxima(x: Array, y: Array, window: Window) -> Array:
    """The number of the first tap that meets the maximum y of each window of x."""
    xp = cuda.get_array_module(x)
    if kernels.suits(x, window):
        winners = xp.empty(y.shape, np.min_scalar_type(math.prod(window.kernel)))
        x = xp.ascontiguousarray(x)
        return kernels.first_maxima(x, y, *kernels.numbers(window), winners)
    # That number is the count of taps before it, which all meet something else.
    differ = xp.ones(y.shape, bool)
    winners = xp.zeros(y.shape, np.min_scalar_type(math.prod(window.kernel)))
    number = 0
    for tap in window.taps:
        if tap.number > number:  # the taps left out meet padding alone
            winners += differ.view(np.uint8) * winners.dtype.type(tap.number - number)
        places = differ[tap.places]
        xp.logical_and(places, x[tap.image] != y[tap.places], out=places)
        winners += differ.view(np.uint8)
        number = tap.number + 1
    # Where the maximum is NaN, which equals nothing. (A GPU would have to wait.)
    if xp is not np or differ.any():
        inside = cuda.constant(_first_inside(window).astype(winners.dtype), xp)
        xp.copyto(winners, inside, where=differ)
    return winners


@functools.lru_cache(maxsize=512)
def _meets_all_at_once(window: Window) -> bool:
    """Do its taps meet the image at all places, and each element at most once?"""
    everywhere = (..., *[slice(0, n) for n in window.places])
    taps = window.taps
    return (
        window.is_apart
        and len(taps) == math.prod(window.kernel)
        and all([tap.places == everywhere for tap in taps])
    )


def _given_to_first_maxima(x: Array, y: Array, gy: Array, window: Window) -> Array:
    """What :class:`PoolingGrad` gives for the first maxima y of such a window.

    Without the numbers of the winners, each of which is written once and read at every
    tap, it takes three quarters of the time: 1.9 ms for 64x16x28x28 in place of 2.6.
    """
    xp = cuda.get_array_module(x)
    shape = (*gy.shape[:2], *window.sizes)
    is_full = math.prod(window.sizes) == math.prod(window.kernel + window.places)
    gx = xp.empty(shape, gy.dtype) if is_full else xp.zeros(shape, gy.dtype)
    bits, given = _bits(gy), _bits(gx)
    open_ = xp.ones(y.shape, bool)  # places that have not found their maximum yet
    *taps, last = window.taps
    for tap in taps:
        won = x[tap.image] == y
        if tap.number == 0:
            won |= y != y  # NaN equals nothing, and the first takes its gradient
        won &= open_
        open_ ^= won
        # As integers, since a mask times a float would make NaN of infinity.
        xp.multiply(bits, won, out=given[tap.image])
    xp.multiply(bits, open_, out=given[last.image])
    return gx


@functools.lru_cache(maxsize=512)
def _first_inside(window: Window) -> np.ndarray:
    """The number of the first tap that meets the image, at each place."""
    numbers = np.zeros(window.places, np.intp)
    for tap in reversed(window.taps):
        numbers[tap.places] = tap.number
    return numbers


def _bits(x: Array) -> Array:
    """The same memory as integers, to copy or clear elements by a product."""
    return x.view(f"i{x.dtype.itemsize}")
