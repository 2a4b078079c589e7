"""Scores made into probabilities along an axis: softmax and its logarithm."""

from collections.abc import Sequence

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.dtypes import as_floating, sum_dtype
from dezero.functions.exponential import exp
from dezero.functions.reduction import sum
from dezero.functions.shape import as_axes

__all__ = [
    "LogSoftmax",
    "Softmax",
    "log_softmax",
    "softmax",
    "softmax_simple",
]


def below_max(x: Array, axes: int | tuple[int, ...]) -> Array:
    """``x - max(x)`` along the axes, in a new array."""
    with np.errstate(over="ignore"):  # a difference too large is -inf: exp gives 0
        return cuda.get_array_module(x).asarray(x - x.max(axis=axes, keepdims=True))


def softmax_array(x: Array, axes: int | tuple[int, ...]) -> Array:
    """:func:`softmax` of a floating array, in a new one."""
    if x.size == 0:
        return x.copy()
    xp = cuda.get_array_module(x)
    y = below_max(x, axes)
    xp.exp(y, out=y)
    y /= y.sum(axis=axes, keepdims=True, dtype=sum_dtype(y))
    return y


class Softmax(Function):
    reads_inputs = False
    fresh_gradients = True

    def __init__(self, axis=1):
        self.axis = axis

    def forward(self, x):
        return softmax_array(as_floating(x), self.axis)

    def backward(self, gy):
        y = self.outputs[0]()
        gx = y * gy
        return gx - y * sum(gx, self.axis, keepdims=True)


def softmax(x: ArrayLike, axis: int | Sequence[int] = 1) -> Variable:
    """Positive numbers of sum 1, ``y = exp(x) / sum(exp(x))``; no ``x`` overflows.

    Args:
        x: Any shape that has ``axis``.
        axis: The axis or axes along which the sum is 1.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x = as_variable(x)
    return Softmax(as_axes("softmax", axis, x.shape))(x)


def softmax_simple(x: ArrayLike, axis: int | Sequence[int] = 1) -> Variable:
    """:func:`softmax` as its formula says, to read: ``exp(x)`` may overflow."""
    x = as_variable(x)
    axes = as_axes("softmax_simple", axis, x.shape)
    y = exp(x)
    return y / sum(y, axes, keepdims=True)


class LogSoftmax(Function):
    reads_inputs = False
    fresh_gradients = True

    def __init__(self, axis=1):
        self.axis = axis

    def forward(self, x):
        x = as_floating(x)
        if x.size == 0:
            return x.copy()
        xp = cuda.get_array_module(x)
        y = below_max(x, self.axis)
        y -= xp.log(xp.exp(y).sum(axis=self.axis, keepdims=True, dtype=sum_dtype(y)))
        return y

    def backward(self, gy):
        y = self.outputs[0]()
        return gy - exp(y) * sum(gy, self.axis, keepdims=True)


def log_softmax(x: ArrayLike, axis: int | Sequence[int] = 1) -> Variable:
    """Logarithm of :func:`softmax`, ``y = x - log(sum(exp(x)))``; no ``x`` overflows.

    Args:
        x: Any shape that has ``axis``.
        axis: The axis or axes along which the sum of ``exp(y)`` is 1.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x = as_variable(x)
    return LogSoftmax(as_axes("log_softmax", axis, x.shape))(x)
