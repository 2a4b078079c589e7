"""The Gaussian error linear unit, exact and by tanh, with a fused derivative."""

import math

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable
from dezero.cuda import Array
from dezero.functions.blocks import in_blocks
from dezero.functions.comparison import clip
from dezero.functions.dtypes import as_floating, cast
from dezero.functions.exponential import exp
from dezero.functions.hyperbolic import tanh
from dezero.functions.special import erf
from dezero.kernels import gaussian_error as kernels

__all__ = ["GELU", "GELUGrad", "gelu"]

# The tanh form approximates the normal distribution function by
# (1 + tanh(u)) / 2 with u = K * (x + C * x**3).
K = math.sqrt(2 / math.pi)
C = 0.044715


def _cdf(x: np.ndarray, approximate: bool) -> np.ndarray:
    """The standard normal distribution function, or its tanh form, in a new array."""
    if approximate:
        with np.errstate(over="ignore"):  # tanh(inf) is as good as that of any large x
            y = np.asarray(x * x)
            y *= K * C
            y += K
            y *= x
        np.tanh(y, out=y)
    else:
        y = erf(np.asarray(x * math.sqrt(0.5))).data
    y = y + 1
    y *= 0.5
    return y


# Further out the derivatives are those of relu, and powers of x might overflow.
FAR = 40


def _widened(x: Array) -> Array:
    # Half precision overflows at x * x, and is slower than single precision anyway.
    return x.astype(np.float32) if x.dtype == np.float16 else as_floating(x)


class GELU(Function):
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, approximate=False):
        self.approximate = approximate

    def forward(self, x):
        if cuda.get_array_module(x) is not np:
            return kernels.gelu(as_floating(x), self.approximate)
        return in_blocks(self._value, x)

    def _value(self, x):
        u = _widened(x)
        y = _cdf(u, self.approximate)
        y *= u
        return y.astype(np.float16) if x.dtype == np.float16 else y

    def backward(self, gy):
        return GELUGrad(self.approximate)(gy, self.inputs[0])


class GELUGrad(Function):
    """``gy * d(x)``, where d is the derivative of gelu."""

    reads_outputs = False
    fresh_gradients = True

    def __init__(self, approximate=False):
        self.approximate = approximate

    def forward(self, gy, x):
        if cuda.get_array_module(x) is not np:
            return kernels.gelu_grad(gy, as_floating(x), self.approximate)
        return in_blocks(self._product, gy, x)

    def _product(self, gy, x):
        u = np.clip(_widened(x), -FAR, FAR)
        y = _cdf(u, self.approximate)
        d = np.asarray(u * u)
        if self.approximate:  # d = y + 2 * y * (1 - y) * u * K * (1 + 3 * C * u**2)
            d *= 6 * K * C
            d += 2 * K
            d *= u
            d *= y
            d *= 1 - y
        else:  # d = y + u * exp(-u**2 / 2) / sqrt(2 * pi)
            d *= -0.5
            np.exp(d, out=d)
            d *= u
            d *= K / 2
        d += y
        d *= gy
        return d.astype(gy.dtype, copy=False)

    def backward(self, ggx):
        gy, x = self.inputs
        need_gy, need_x = self.needs_grad
        ggy = gx = None
        if need_gy:
            ggy = GELUGrad(self.approximate)(ggx, x)
        if x.dtype == np.float16:
            x = cast(x, np.float32)
        x = clip(x, -FAR, FAR)
        if need_x and self.approximate:
            t = tanh(K * (x + C * x * x * x))
            slope = K * (1 + 3 * C * x * x)  # of the argument of tanh
            bend = 3 * K * C * x - t * slope * slope
            gx = ggx * gy * ((1 - t * t) * (slope + x * bend))
        elif need_x:
            gx = ggx * gy * (K / 2 * exp(-0.5 * x * x) * (2 - x * x))
        return ggy, gx


def gelu(x: ArrayLike, approximate: bool = False) -> Variable:
    """Gaussian error linear unit ``y = x * P(Z < x)``, Z from the normal distribution.

    Exactly ``0.5 * x * (1 + erf(x / sqrt(2)))``; with ``approximate``
    ``0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)))``, which is faster and
    differs by less than 0.0005. Hendrycks, Gimpel 2016, arXiv:1606.08415.

    Args:
        x: Any shape.
        approximate: Use the tanh form.

    Returns:
        Variable of the shape of ``x``.
    """
    return GELU(bool(approximate))(x)
