"""Largest and smallest elements over axes, and the smooth maximum logsumexp."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.dtypes import as_floating, wide
from dezero.functions.reduction import Axis, Reduction, checked, kept_shape, sum
from dezero.functions.safe import SafeMul
from dezero.functions.shape import as_axis, reshape

__all__ = [
    "LogSumExp",
    "Max",
    "Min",
    "argmax",
    "argmin",
    "logsumexp",
    "max",
    "min",
]

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
        return SafeMul()(share * weight, reshape(gy, shape))


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


# =============================================================================
# Where they stand
# =============================================================================


def argmax(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Variable:
    """Where the largest element stands along an axis: the first, if several are equal.

    Args:
        x: Any shape.
        axis: One axis, or None for the index into the flattened ``x``.
        keepdims: Keep the axis (all of them for None), as 1.

    Returns:
        Constant integer Variable of the shape of ``x`` without the axis.

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
        Constant integer Variable of the shape of ``x`` without the axis.

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
    x = as_floating(x)
    m = x.max(axis=axis, keepdims=True)
    if xp is not np or np.isinf(m).any():  # a GPU would have to be waited for
        with np.errstate(invalid="ignore"):
            d = xp.where(x == m, 0, x - m)  # inf - inf is no number
    else:
        with np.errstate(over="ignore"):  # a difference too large is -inf: exp gives 0
            d = x - m
    return xp.exp(d), m
