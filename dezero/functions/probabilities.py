"""Scores made into probabilities along an axis: softmax and its logarithm."""

from collections.abc import Sequence

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.dtypes import as_floating, sum_dtype, wide_dtype
from dezero.functions.exponential import exp
from dezero.functions.reduction import sum
from dezero.functions.shape import as_axes
from dezero.kernels import softmax as kernels

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
    if xp is not np:
        return softmax_on_gpu(x, axes, xp.empty_like(x))
    y = below_max(x, axes)
    xp.exp(y, out=y)
    y /= y.sum(axis=axes, keepdims=True, dtype=sum_dtype(y))
    return y


def softmax_on_gpu(
    x: Array,
    axes: int | tuple[int, ...],
    y: Array,
    open: Array | bool = True,
    bias: Array | float = 0.0,
) -> Array:
    """Write softmax into ``y``, in fused kernels.

    Args:
        x: A floating array with elements.
        axes: Along which the sum is 1.
        y: Of the shape of ``x``, or ``x`` itself.
        open: Booleans: which elements are not 0. Where none is, the sum is 0.
        bias: Added to ``x`` before.

    Returns:
        ``y``.
    """
    xp = cuda.get_array_module(x)
    partly = not (open is True and isinstance(bias, float))
    m, total = [xp.empty(_kept(x, axes), wide_dtype(x)) for _ in range(2)]
    kernels.softmax_sums(x, open, bias, partly, m, total, axis=axes, keepdims=True)
    kernels.softmax(x, open, bias, m, total, y)
    return y


def softmax_grad_on_gpu(
    y: Array, gy: Array, axes: int | tuple[int, ...], gx: Array
) -> Array:
    """Write the gradient ``y * (gy - sum(y * gy))`` into ``gx``; it may be ``gy``."""
    xp = cuda.get_array_module(y)
    dot = xp.empty(_kept(y, axes), wide_dtype(y))
    kernels.softmax_dot(y, gy, dot, axis=axes, keepdims=True)
    kernels.softmax_grad(y, gy, dot, gx)
    return gx


def _kept(x: Array, axes: int | tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a sum along axes that are kept with size 1."""
    gone = [d % x.ndim for d in ([axes] if isinstance(axes, int) else axes)]
    return tuple([1 if d in gone else n for d, n in enumerate(x.shape)])


class Softmax(Function):
    reads_inputs = False
    fresh_gradients = True

    def __init__(self, axis=1):
        self.axis = axis

    def forward(self, x):
        return softmax_array(as_floating(x), self.axis)

    def backward(self, gy):
        y = self.outputs[0]()
        if not Config.enable_backprop and not isinstance(y.data, np.ndarray):
            gx = cuda.get_array_module(y).empty_like(y.data)
            return softmax_grad_on_gpu(y.data, gy.data, self.axis, gx)
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
