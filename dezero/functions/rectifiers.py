"""Rectifiers that let something of the negative numbers through."""

from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable
from dezero.functions.activation import elu, softplus
from dezero.functions.dtypes import as_variables
from dezero.functions.elementwise import Elementwise
from dezero.functions.hyperbolic import tanh
from dezero.functions.safe import SafeMul
from dezero.functions.shape import reshape

__all__ = ["PReLU", "mish", "prelu", "selu"]

# The one pair with which mean 0 and variance 1 are a fixed point from layer to layer.
SELU_ALPHA = 1.6732632423543772
SELU_SCALE = 1.0507009873554805


class PReLU(Elementwise):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x, slope):
        xp = cuda.get_array_module(x)
        return xp.minimum(x, 0) * slope + xp.maximum(x, 0)

    def backward(self, gy):
        x, slope = self.inputs
        need_x, need_slope = self.needs_grad
        above = (x.data > 0).astype(gy.dtype)
        below = 1 - above
        return (
            SafeMul()(above + below * slope, gy) if need_x else None,
            SafeMul()(below, x) * gy if need_slope else None,
        )


def prelu(x: ArrayLike, slope: ArrayLike) -> Variable:
    """``y = x`` above 0, ``slope * x`` below, with a slope to be learned.

    At 0 the gradient of ``x`` is the slope. He, Zhang, Ren, Sun 2015,
    arXiv:1502.01852.

    Args:
        x: (N, C, ...), or any shape for a slope of one element.
        slope: One for all, shape () or (1,), or one per channel, shape (C,).

    Returns:
        Variable of the shape of ``x``.

    Raises:
        ValueError: ``slope`` has another shape.
    """
    x, slope = as_variables(x, slope)
    C = x.shape[1] if x.ndim > 1 else 1
    if slope.ndim > 1 or slope.size not in (1, C):
        raise ValueError(
            f"prelu: expected slope of shape (), (1,) or ({C},) for x of shape "
            f"{x.shape}, got {slope.shape}"
        )
    if slope.size == 1:
        slope = reshape(slope, ())
    else:
        slope = reshape(slope, (C,) + (1,) * (x.ndim - 2))
    return PReLU()(x, slope)


def selu(x: ArrayLike) -> Variable:
    """Scaled ELU: ``y = s * x`` above 0, ``s * alpha * (exp(x) - 1)`` below.

    s = 1.0507 and alpha = 1.6733 keep mean 0 and variance 1 from layer to layer, for
    weights of mean 0 and variance 1 / fan_in. The gradient at 0 is ``s * alpha``.
    Klambauer, Unterthiner, Mayr, Hochreiter 2017, arXiv:1706.02515.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return elu(as_variable(x), SELU_ALPHA) * SELU_SCALE


def mish(x: ArrayLike) -> Variable:
    """``y = x * tanh(softplus(x))``, smooth, with a least value of -0.309.

    Misra 2019, arXiv:1908.08681.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    x = as_variable(x)
    return x * tanh(softplus(x))
