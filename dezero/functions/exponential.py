"""Exponentials and logarithms, element by element."""

import math

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable
from dezero.functions.dtypes import as_floating
from dezero.functions.elementwise import Elementwise
from dezero.functions.safe import SafeDiv

__all__ = [
    "Exp",
    "Exp2",
    "Expm1",
    "Log",
    "Log10",
    "Log1p",
    "Log2",
    "LogAddExp",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
]

# =============================================================================
# Exponentials
# =============================================================================


class Exp(Function):
    reads_inputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).exp(x)

    def backward(self, gy):
        return gy * self.outputs[0]()


def exp(x: ArrayLike) -> Variable:
    """Exponential ``y = e ** x``. What is too large is inf, with NumPy's warning.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Exp()(x)


class Exp2(Function):
    reads_inputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).exp2(x)

    def backward(self, gy):
        return gy * self.outputs[0]() * math.log(2)


def exp2(x: ArrayLike) -> Variable:
    """Power of two ``y = 2 ** x``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Exp2()(x)


class Expm1(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).expm1(x)

    def backward(self, gy):
        return gy * exp(self.inputs[0])  # y + 1 would have lost the small values


def expm1(x: ArrayLike) -> Variable:
    """``y = e ** x - 1``, exact for small ``x`` too.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Expm1()(x)


# =============================================================================
# Logarithms
# =============================================================================


class Log(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        with np.errstate(divide="ignore"):
            return cuda.get_array_module(x).log(x)

    def backward(self, gy):
        return SafeDiv()(gy, self.inputs[0])


def log(x: ArrayLike) -> Variable:
    """Natural logarithm, the inverse of :func:`exp`; its slope is ``1 / x``.

    At 0 it is -inf and its slope inf, but no gradient comes from there where the
    gradient that comes in is 0. Of a negative number it is NaN, with NumPy's warning.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Log()(x)


class Log2(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        with np.errstate(divide="ignore"):
            return cuda.get_array_module(x).log2(x)

    def backward(self, gy):
        return SafeDiv()(gy * (1 / math.log(2)), self.inputs[0])


def log2(x: ArrayLike) -> Variable:
    """Logarithm to base 2; at 0 and below as :func:`log`.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Log2()(x)


class Log10(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        with np.errstate(divide="ignore"):
            return cuda.get_array_module(x).log10(x)

    def backward(self, gy):
        return SafeDiv()(gy * (1 / math.log(10)), self.inputs[0])


def log10(x: ArrayLike) -> Variable:
    """Logarithm to base 10; at 0 and below as :func:`log`.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Log10()(x)


class Log1p(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        with np.errstate(divide="ignore"):
            return cuda.get_array_module(x).log1p(x)

    def backward(self, gy):
        return SafeDiv()(gy, self.inputs[0] + 1.0)  # + 1 overflows in small integers


def log1p(x: ArrayLike) -> Variable:
    """``y = log(1 + x)``, exact for small ``x`` too; at -1 as :func:`log` at 0.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Log1p()(x)


# =============================================================================
# Logarithm of a sum
# =============================================================================


class LogAddExp(Elementwise):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x0, x1):
        # Their difference may be infinite; and NumPy calls NaN invalid here only.
        with np.errstate(over="ignore", invalid="ignore"):
            return cuda.get_array_module(x0).logaddexp(x0, x1)

    def backward(self, gy):
        x0, x1 = self.inputs
        need0, need1 = self.needs_grad
        return (
            gy * LogAddExpShare()(x0, x1) if need0 else None,
            gy * LogAddExpShare()(x1, x0) if need1 else None,
        )


class LogAddExpShare(Elementwise):
    """``exp(x0) / (exp(x0) + exp(x1))``, half where both are the same infinity."""

    reads_inputs = False
    fresh_gradients = True

    def forward(self, x0, x1):
        xp = cuda.get_array_module(x0)
        x0, x1 = as_floating(x0), as_floating(x1)
        with np.errstate(invalid="ignore", over="ignore"):
            d = x1 - x0
            d = xp.where(x0 == x1, d.dtype.type(0), d)
            # 1 / (1 + exp(d)) overflows
            return xp.exp(-xp.logaddexp(d, d.dtype.type(0)))

    def backward(self, gy):
        y = self.outputs[0]()
        g = gy * y * (1 - y)
        return g, -g


def logaddexp(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """``y = log(exp(x0) + exp(x1))`` without overflow.

    The gradients are the shares of both terms in the sum; two infinities of one sign
    share alike.

    Args:
        x0: Any shape.
        x1: Any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape.
    """
    return LogAddExp()(x0, x1)
