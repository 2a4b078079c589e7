"""Sums, means, extremes and products over axes."""

import math
from collections.abc import Sequence

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.shape import (
    as_axes,
    as_axis,
    broadcast_to,
    reshape,
    sum_to_array,
)

__all__ = [
    "LogSumExp",
    "Max",
    "Mean",
    "Min",
    "Sum",
    "all",
    "any",
    "argmax",
    "argmin",
    "logsumexp",
    "max",
    "mean",
    "min",
    "sum",
]

Axis = int | Sequence[int] | None

# =============================================================================
# Axes
# =============================================================================


def kept_shape(shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    """The shape that a reduction over ``axis`` leaves when it keeps the axes, as 1."""
    if axis is None:
        return (1,) * len(shape)
    axes = as_axes("kept_shape", axis, shape)
    return tuple([1 if i in axes else n for i, n in enumerate(shape)])


def checked(
    function: str, x: ArrayLike, axis: Axis, empty: bool = True
) -> tuple[Variable, tuple[int, ...] | None]:
    """``x`` as a Variable and ``axis`` in the form NumPy wants.

    Raises:
        ValueError: No such axis; or nothing to reduce, unless ``empty`` allows that.
    """
    x = as_variable(x)
    axes = None if axis is None else as_axes(function, axis, x.shape)
    if not empty and not count(x.shape, axes):
        over = "" if axes is None else f" over axis {axes}"
        raise ValueError(
            f"{function}: expected at least one element{over}, got x of shape {x.shape}"
        )
    return x, axes


def count(shape, axis):
    """How many elements each result of a reduction stands for."""
    return math.prod(shape if axis is None else [shape[i] for i in axis])


class Reduction(Function):
    """A function that makes one element of all those along ``axis``."""

    def __init__(self, axis=None, keepdims=False):
        self.axis = (axis,) if isinstance(axis, int) else axis
        self.keepdims = keepdims


# =============================================================================
# Sum and mean
# =============================================================================


class Sum(Reduction):
    reads_inputs = False
    reads_outputs = False

    def forward(self, x):
        self.shape = x.shape
        if x.dtype.char == "e":
            return wide(x).sum(axis=self.axis, keepdims=self.keepdims).astype(x.dtype)
        return _sum(x, self.axis, self.keepdims)

    def backward(self, gy):
        if self.axis is not None and not self.keepdims:
            gy = reshape(gy, kept_shape(self.shape, self.axis))
        return broadcast_to(gy, self.shape)


def sum(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Sum over axes; 0 where there is nothing to add.

    Half precision is added up in single precision.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the summed axes, as 1.

    Returns:
        Variable of the shape of ``x`` without these axes.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x, axis = checked("sum", x, axis)
    return Sum(axis, keepdims)(x)


class Mean(Reduction):
    reads_inputs = False
    reads_outputs = False

    def forward(self, x):
        self.shape = x.shape
        y = _sum(wide(x), self.axis, self.keepdims) / count(x.shape, self.axis)
        return y.astype(x.dtype) if x.dtype.char == "e" else y

    def backward(self, gy):
        gy = gy * (1 / count(self.shape, self.axis))
        if self.axis is not None and not self.keepdims:
            gy = reshape(gy, kept_shape(self.shape, self.axis))
        return broadcast_to(gy, self.shape)


def mean(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Arithmetic mean over axes.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Variable of the shape of ``x`` without these axes, floating for integers too.

    Raises:
        ValueError: ``x`` has no such axis, or no element along it.
    """
    x, axis = checked("mean", x, axis, empty=False)
    return Mean(axis, keepdims)(x)


def _sum(x, axis, keepdims):
    """Sum over ``axis`` (a tuple or None), by the fastest way."""
    if axis and not keepdims and axis == tuple(range(len(axis))):
        return sum_to_array(x, x.shape[len(axis) :])
    return x.sum(axis=axis, keepdims=keepdims)


def wide(x):
    """``x``, half precision made single: sums of squares overflow beyond 65504."""
    return x.astype(np.float32) if x.dtype.char == "e" else x


# =============================================================================
# Extremes
# =============================================================================


class _Extreme(Reduction):
    """What Max and Min have in common: equal extremes share the gradient equally."""

    fresh_gradients = True

    def backward(self, gy):
        x = self.inputs[0].data
        shape = kept_shape(x.shape, self.axis)
        share = x == self.outputs[0]().data.reshape(shape)
        count = share.sum(axis=self.axis, keepdims=True)
        xp = cuda.get_array_module(x)
        dtype = gy.dtype if gy.dtype.kind == "f" else float
        weight = xp.asarray(1 / xp.maximum(count, 1), dtype=dtype)  # NaN has no equal
        return reshape(gy, shape) * (share * weight)


class Max(_Extreme):
    def forward(self, x):
        return x.max(axis=self.axis, keepdims=self.keepdims)


def max(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Largest element along axes; NaN where one is NaN.

    The largest element gets the gradient; several equal ones share it equally.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Variable of the shape of ``x`` without these axes.

    Raises:
        ValueError: ``x`` has no such axis, or no element along it.
    """
    x, axis = checked("max", x, axis, empty=False)
    return Max(axis, keepdims)(x)


class Min(_Extreme):
    def forward(self, x):
        return x.min(axis=self.axis, keepdims=self.keepdims)


def min(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Smallest element along axes; NaN where one is NaN.

    The smallest element gets the gradient; several equal ones share it equally.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Variable of the shape of ``x`` without these axes.

    Raises:
        ValueError: ``x`` has no such axis, or no element along it.
    """
    x, axis = checked("min", x, axis, empty=False)
    return Min(axis, keepdims)(x)


def argmax(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Variable:
    """Where the largest element stands along an axis: the first, if several are equal.

    Args:
        x: Any shape.
        axis: One axis, or None for the index into the flattened ``x``.
        keepdims: Keep the axis (all of them for None), as 1.

    Returns:
        Integer Variable of the shape of ``x`` without the axis: a constant.

    Raises:
        ValueError: ``x`` has no such axis, or no element along it.
    """
    x, axis = _checked_single("argmax", x, axis)
    xp = cuda.get_array_module(x)
    return as_variable(xp.argmax(x.data, axis=axis, keepdims=keepdims))


def argmin(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Variable:
    """Where the smallest element stands along an axis: the first, if several are equal.

    Args:
        x: Any shape.
        axis: One axis, or None for the index into the flattened ``x``.
        keepdims: Keep the axis (all of them for None), as 1.

    Returns:
        Integer Variable of the shape of ``x`` without the axis: a constant.

    Raises:
        ValueError: ``x`` has no such axis, or no element along it.
    """
    x, axis = _checked_single("argmin", x, axis)
    xp = cuda.get_array_module(x)
    return as_variable(xp.argmin(x.data, axis=axis, keepdims=keepdims))


def _checked_single(function, x, axis):
    x = as_variable(x)
    axes = None if axis is None else (as_axis(function, axis, x.shape),)
    checked(function, x, axes, empty=False)
    return x, axes and axes[0]


# =============================================================================
# Logarithm of a sum of exponentials
# =============================================================================


class LogSumExp(Reduction):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return logsumexp_array(x, self.axis, self.keepdims)

    def backward(self, gy):
        x = self.inputs[0]
        gy = reshape(gy, kept_shape(x.shape, self.axis))
        return gy * LogSumExpShare(self.axis)(x)


class LogSumExpShare(Reduction):
    """``exp(x) / sum(exp(x))``: the share of each element in the sum."""

    reads_inputs = False
    fresh_gradients = True

    def forward(self, x):
        y = _exp_below_max(wide(x), self.axis)[0]
        y /= y.sum(axis=self.axis, keepdims=True)
        return y.astype(x.dtype) if x.dtype.char == "e" else y

    def backward(self, gy):
        y = self.outputs[0]()
        gx = gy * y
        return gx - y * sum(gx, self.axis, keepdims=True)


def logsumexp(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """``y = log(sum(exp(x)))`` over axes, without overflow.

    Each element gets its share ``exp(x - y)`` of the gradient. Where all are -inf the
    result is -inf, where some are inf it is inf, and the infinities share alike.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Variable of the shape of ``x`` without these axes, floating for integers too.

    Raises:
        ValueError: ``x`` has no such axis, or no element along it.
    """
    x, axis = checked("logsumexp", x, axis, empty=False)
    return LogSumExp(axis, keepdims)(x)


def logsumexp_array(x: Array, axis: Axis = 1, keepdims: bool = True) -> Array:
    """:func:`logsumexp` on plain arrays, without checks."""
    exps, m = _exp_below_max(wide(x), axis)
    y = m + cuda.get_array_module(x).log(exps.sum(axis=axis, keepdims=True))
    if not keepdims:
        y = y.squeeze(axis=axis)
    return y.astype(x.dtype) if x.dtype.char == "e" else y


def _exp_below_max(x, axis):
    """``exp(x - m)``, never larger than 1, and the maximum m along ``axis``, kept."""
    xp = cuda.get_array_module(x)
    if x.dtype.kind != "f":
        x = x.astype(float)
    m = x.max(axis=axis, keepdims=True)
    if xp.isinf(m).any():
        with np.errstate(invalid="ignore"):
            d = xp.where(x == m, 0, x - m)  # inf - inf is no number
    else:
        d = x - m
    return xp.exp(d), m


# =============================================================================
# Truth
# =============================================================================


def any(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Is any element along axes true (not 0)? False where there is none.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Boolean Variable of the shape of ``x`` without these axes: a constant.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x, axis = checked("any", x, axis)
    return as_variable(x.data.any(axis=axis, keepdims=keepdims))


def all(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Are all elements along axes true (not 0)? True where there is none.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Boolean Variable of the shape of ``x`` without these axes: a constant.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x, axis = checked("all", x, axis)
    return as_variable(x.data.all(axis=axis, keepdims=keepdims))
