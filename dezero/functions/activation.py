"""Activation functions: what stands between the linear layers of a network."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.arguments import as_number
from dezero.functions.comparison import where
from dezero.functions.dtypes import as_floating, wide
from dezero.functions.exponential import exp
from dezero.functions.joining import split
from dezero.functions.safe import SafeMul
from dezero.functions.shape import as_axis
from dezero.kernels import activation as kernels

__all__ = [
    "ELU",
    "LeakyReLU",
    "ReLU",
    "Sigmoid",
    "Softplus",
    "elu",
    "glu",
    "leaky_relu",
    "relu",
    "sigmoid",
    "sigmoid_simple",
    "silu",
    "softplus",
]


def sigmoid_array(x: Array) -> Array:
    """:func:`sigmoid` of a floating array."""
    xp = cuda.get_array_module(x)
    if xp is not np:
        return kernels.sigmoid(x)
    if x.dtype.char == "e":  # exp(11) + 1 and its reciprocal are out of its range
        return sigmoid_array(wide(x)).astype(x.dtype)
    y = xp.asarray(-x)
    with np.errstate(over="ignore"):  # exp(-x) = inf leads to the right limit, 0
        xp.exp(y, out=y)
    y += 1
    return xp.reciprocal(y, out=y)


class Sigmoid(Function):
    reads_inputs = False
    fresh_gradients = True

    def forward(self, x):
        return sigmoid_array(as_floating(x))

    def backward(self, gy):
        y = self.outputs[0]()
        if not Config.enable_backprop and not isinstance(y.data, np.ndarray):
            return kernels.sigmoid_grad(y.data, gy.data)
        return gy * (y * (1 - y))


def sigmoid(x: ArrayLike) -> Variable:
    """Logistic function ``y = 1 / (1 + exp(-x))``; no ``x`` overflows.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Sigmoid()(x)


def sigmoid_simple(x: ArrayLike) -> Variable:
    """:func:`sigmoid` as its formula says, to read: ``exp(-x)`` may overflow."""
    return 1 / (1 + exp(-as_variable(x)))


class ReLU(Function):
    reads_inputs = False
    fresh_gradients = True

    def forward(self, x):
        xp = cuda.get_array_module(x)
        return xp.maximum(x, 0)

    def backward(self, gy):
        y = self.outputs[0]().data
        if not Config.enable_backprop and not isinstance(y, np.ndarray):
            return kernels.relu_grad(y, gy.data)
        # A product with booleans is seven times as fast as numpy.where, and on large
        # arrays three times as fast as one with a mask of floats.
        mask = y > 0
        if Config.enable_backprop:
            return SafeMul()(mask, gy)
        return SafeMul().forward(mask, gy.data)


def relu(x: ArrayLike) -> Variable:
    """Rectified linear unit ``y = max(x, 0)``; the gradient at 0 is 0.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return ReLU()(x)


class LeakyReLU(Function):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, slope=0.2):
        self.slope = slope

    def forward(self, x):
        xp = cuda.get_array_module(x)
        self.above = x > 0
        y = xp.minimum(x, 0) * self.slope
        y += xp.maximum(x, 0)
        return y

    def backward(self, gy):
        above = self.above.astype(gy.dtype)
        return SafeMul()(above + (1 - above) * self.slope, gy)


def leaky_relu(x: ArrayLike, slope: float = 0.2) -> Variable:
    """``y = x`` above 0, ``slope * x`` below; the gradient at 0 is ``slope``.

    Args:
        x: Any shape.
        slope: A number.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        TypeError: ``slope`` is no number.
    """
    return LeakyReLU(as_number("leaky_relu", "slope", slope))(x)


class ELU(Function):
    reads_inputs = False
    fresh_gradients = True

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def forward(self, x):
        xp = cuda.get_array_module(x)
        x = as_floating(x)
        y = xp.expm1(xp.minimum(x, 0)) * self.alpha
        y += xp.maximum(x, 0)
        return y

    def backward(self, gy):
        y = self.outputs[0]()
        return gy * where(y.data > 0, 1.0, y + self.alpha)


def elu(x: ArrayLike, alpha: float = 1.0) -> Variable:
    """Exponential linear unit: ``y = x`` above 0, ``alpha * (exp(x) - 1)`` below.

    The gradient at 0 is ``alpha``. Clevert, Unterthiner, Hochreiter 2015,
    arXiv:1511.07289.

    Args:
        x: Any shape.
        alpha: A number >= 0; ``-alpha`` is the least value.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        TypeError: ``alpha`` is no number.
        ValueError: ``alpha`` is negative.
    """
    return ELU(as_number("elu", "alpha", alpha, low=0))(x)


class Softplus(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return softplus_array(as_floating(x))

    def backward(self, gy):
        return gy * sigmoid(self.inputs[0])


def softplus_tail(x: Array) -> Array:
    """``log(1 + exp(-|x|))``, what softplus has above relu, in a new array."""
    xp = cuda.get_array_module(x)
    y = xp.asarray(xp.abs(x))
    xp.negative(y, out=y)
    xp.exp(y, out=y)  # at most 1
    return xp.log1p(y, out=y)


def softplus_array(x: Array) -> Array:
    """:func:`softplus` of a floating array."""
    y = softplus_tail(x)
    y += cuda.get_array_module(x).maximum(x, 0)
    return y


def softplus(x: ArrayLike) -> Variable:
    """Smooth form of relu, ``y = log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|))``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Softplus()(x)


def silu(x: ArrayLike) -> Variable:
    """Sigmoid linear unit, also called swish: ``y = x * sigmoid(x)``.

    Elfwing, Uchibe, Doya 2017, arXiv:1702.03118.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    x = as_variable(x)
    return x * sigmoid(x)


def glu(x: ArrayLike, axis: int = -1) -> Variable:
    """Gated linear unit ``y = a * sigmoid(b)``, a and b the two halves of ``x``.

    Dauphin, Fan, Auli, Grangier 2016, arXiv:1612.08083.

    Args:
        x: Any shape of an even size along ``axis``.
        axis: The axis to halve.

    Returns:
        Variable of half the size of ``x`` along ``axis``.

    Raises:
        ValueError: The size is odd, or there is no such axis.
    """
    x = as_variable(x)
    axis = as_axis("glu", axis, x.shape)
    if x.shape[axis] % 2:
        raise ValueError(
            f"glu: expected an even size along axis {axis}, got x of shape {x.shape}"
        )
    a, b = split(x, 2, axis)
    return a * sigmoid(b)
