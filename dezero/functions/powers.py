"""Powers: of a number, and of a Variable as exponent."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, Function, Variable
from dezero.functions.elementwise import Elementwise
from dezero.functions.safe import SafeMul, unless_invalid

__all__ = [
    "Pow",
    "PowVariable",
    "pow",
    "rpow",
    "square",
]


class Pow(Function):
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, c):
        # A NumPy scalar would not be weak: float32 ** np.float64(2) is float64.
        self.c = c.item() if isinstance(c, np.generic) else c

    def forward(self, x):
        return _power(x, self.c)

    def backward(self, gy):
        x = self.inputs[0]
        if not Config.enable_backprop:  # plain arrays: 5 % of a tiny graph
            return _power_gradient(x.data, gy.data, self.c)
        return PowGrad(self.c)(x, gy)


class PowGrad(Function):
    """``gy * c * x**(c - 1)``, and 0 where ``gy`` is 0, be the power infinite."""

    reads_outputs = False
    fresh_gradients = True

    def __init__(self, c):
        self.c = c

    def forward(self, x, gy):
        return _power_gradient(x, gy, self.c)

    def backward(self, ggx):
        x, gy = self.inputs
        need0, need1 = self.needs_grad
        c = self.c
        # gy * c * (c - 1) * x**(c - 2); the slope of 0 is 0, not 0 times a power.
        gx = PowGrad(c - 1 if c else 0)(x, gy * ggx * c) if need0 else None
        return gx, PowGrad(c)(x, ggx) if need1 else None


def _power(x, c):
    """``x ** c`` on arrays, for a number ``c``."""
    if c == 3 and x.dtype.kind == "f":
        return x * x * x  # NumPy goes through the general power: 20 times slower
    if c < 0:
        if x.dtype.kind != "f":
            c = float(c)  # NumPy refuses integers to negative integer powers
        with np.errstate(divide="ignore"):
            return x**c
    return x**c


def _power_gradient(x, gy, c):
    """``gy * c * x**(c - 1)`` on arrays, as :class:`PowGrad` says."""
    if c == 2:
        return (gy + gy) * x  # a number takes NumPy longer than a small array
    if c == 1:
        return gy.copy()
    if c == 0:
        return cuda.get_array_module(gy).zeros_like(gy)
    if c > 1:
        return _power(x, c - 1) * c * gy
    # A quotient, so that an infinite slope at 0 comes without a warning.
    if x.dtype.kind != "f":
        x = x * 1.0
    return unless_invalid("divide", gy * c, _power(x, 1 - c), lambda: gy == 0)


class PowVariable(Elementwise):
    """``x0**x1 * log(x0)**k``: the power for k = 0, and what its derivatives need."""

    reads_outputs = False
    fresh_gradients = True

    def __init__(self, k=0):
        self.k = k

    def forward(self, x0, x1):
        xp = cuda.get_array_module(x0)
        if x0.dtype.kind != "f" and x1.dtype.kind != "f" and (x1 < 0).any():
            x0 = x0 * 1.0  # NumPy refuses integers to negative integer powers
        with np.errstate(divide="ignore"):
            y = x0**x1
            if self.k == 0:
                return y
            at_zero = (x0 == 0) & (x1 >= 0)
            log = xp.log(xp.where(at_zero, x0.dtype.type(1), x0))  # log(1) = 0
        # An infinite base to a negative power is 0, and no logarithm changes that.
        return unless_invalid("multiply", y, log**self.k, lambda: (y == 0) & (log > 0))

    def backward(self, gy):
        x0, x1 = self.inputs
        k = self.k
        gx0 = gx1 = None
        if self.needs_grad[0]:
            gx0 = SafeMul()(gy * x1, PowVariable(k)(x0, x1 - 1))
            if k:
                gx0 = gx0 + SafeMul()(gy * k, PowVariable(k - 1)(x0, x1 - 1))
        if self.needs_grad[1]:
            gx1 = gy * PowVariable(k + 1)(x0, x1)
        return gx0, gx1


def pow(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Power ``y = x0 ** x1``; the operator ``**``.

    Slopes: ``x1 * x0**(x1 - 1)`` by ``x0`` and ``y * log(x0)`` by ``x1``. At the edges:

    - ``x0**0`` is 1 and has slope 0 by ``x0``, at 0 too.
    - At ``x0 = 0`` the slope by ``x1 >= 0`` is 0; the slope by ``x0`` for ``x1 < 1`` is
      infinite, and no gradient where the gradient that comes in is 0.
    - 0 to a negative power is inf.
    - A negative base to a power that is no whole number is NaN, as in NumPy, and so is
      the slope by a Variable ``x1`` at a negative base.

    Args:
        x0: Any shape.
        x1: A number, or any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape. Integers to a negative power become floating.
    """
    if isinstance(x1, (int, float, np.generic)):
        return Pow(x1)(x0)
    return PowVariable()(x0, x1)


def rpow(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Power the other way round, ``y = x1 ** x0``; edges as in :func:`pow`."""
    return pow(x1, x0)


def square(x: ArrayLike) -> Variable:
    """Square ``y = x ** 2``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Pow(2)(x)
