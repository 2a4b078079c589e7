"""Sine, tangent, their inverses and the hyperbolic ones, and the plane's polar form."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable
from dezero.functions.arithmetic import SafeDiv
from dezero.functions.elementary import sqrt
from dezero.functions.elementwise import Elementwise

__all__ = [
    "ArcCos",
    "ArcCosh",
    "ArcSin",
    "ArcSinh",
    "ArcTan",
    "ArcTan2",
    "ArcTanh",
    "Cos",
    "Cosh",
    "Hypot",
    "Sin",
    "Sinh",
    "Tan",
    "Tanh",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "cos",
    "cosh",
    "hypot",
    "sin",
    "sinh",
    "tan",
    "tanh",
]

# =============================================================================
# Sine, cosine, tangent
# =============================================================================


class Sin(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).sin(x)

    def backward(self, gy):
        return gy * cos(self.inputs[0])


def sin(x: ArrayLike) -> Variable:
    """Sine of an angle in radians: ``y = sin(x)``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Sin()(x)


class Cos(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).cos(x)

    def backward(self, gy):
        return gy * -sin(self.inputs[0])


def cos(x: ArrayLike) -> Variable:
    """Cosine of an angle in radians: ``y = cos(x)``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Cos()(x)


class Tan(Function):
    reads_inputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).tan(x)

    def backward(self, gy):
        y = self.outputs[0]()
        return gy * (1 + y * y)


def tan(x: ArrayLike) -> Variable:
    """Tangent of an angle in radians: ``y = tan(x)``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Tan()(x)


class ArcSin(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).arcsin(x)

    def backward(self, gy):
        x = self.inputs[0]
        return SafeDiv()(gy, sqrt((1 - x) * (1 + x)))


def arcsin(x: ArrayLike) -> Variable:
    """Inverse sine, in [-pi/2, pi/2]; its slope is ``1 / sqrt(1 - x**2)``.

    At -1 and 1 the slope is inf, but no gradient comes from there where the gradient
    that comes in is 0. Outside it is NaN, with NumPy's warning.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return ArcSin()(x)


class ArcCos(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).arccos(x)

    def backward(self, gy):
        x = self.inputs[0]
        return SafeDiv()(-gy, sqrt((1 - x) * (1 + x)))


def arccos(x: ArrayLike) -> Variable:
    """Inverse cosine, in [0, pi]; its slope is ``-1 / sqrt(1 - x**2)``.

    At -1, 1 and outside as :func:`arcsin`.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return ArcCos()(x)


class ArcTan(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).arctan(x)

    def backward(self, gy):
        length = hypot(self.inputs[0], 1)  # x * x could overflow
        return gy / length / length


def arctan(x: ArrayLike) -> Variable:
    """Inverse tangent, in [-pi/2, pi/2]; its slope is ``1 / (1 + x**2)``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return ArcTan()(x)


# =============================================================================
# Hyperbolic functions
# =============================================================================


class Sinh(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).sinh(x)

    def backward(self, gy):
        return gy * cosh(self.inputs[0])


def sinh(x: ArrayLike) -> Variable:
    """Hyperbolic sine ``y = (exp(x) - exp(-x)) / 2``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Sinh()(x)


class Cosh(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).cosh(x)

    def backward(self, gy):
        return gy * sinh(self.inputs[0])


def cosh(x: ArrayLike) -> Variable:
    """Hyperbolic cosine ``y = (exp(x) + exp(-x)) / 2``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Cosh()(x)


class Tanh(Function):
    reads_inputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).tanh(x)

    def backward(self, gy):
        return TanhGrad()(self.outputs[0](), gy)


class TanhGrad(Function):
    """``gy * (1 - y**2)``: one node and no more arrays than the formula needs."""

    reads_outputs = False
    fresh_gradients = True

    def forward(self, y, gy):
        return (1 - y * y) * gy

    def backward(self, ggx):
        y, gy = self.inputs
        need0, need1 = self.needs_grad
        return (
            -2 * y * gy * ggx if need0 else None,
            TanhGrad()(y, ggx) if need1 else None,
        )


def tanh(x: ArrayLike) -> Variable:
    """Hyperbolic tangent ``y = (exp(x) - exp(-x)) / (exp(x) + exp(-x))``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Tanh()(x)


class ArcSinh(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).arcsinh(x)

    def backward(self, gy):
        return gy / hypot(self.inputs[0], 1)


def arcsinh(x: ArrayLike) -> Variable:
    """Inverse hyperbolic sine; its slope is ``1 / sqrt(x**2 + 1)``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return ArcSinh()(x)


class ArcCosh(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).arccosh(x)

    def backward(self, gy):
        x = self.inputs[0]
        return SafeDiv()(gy, sqrt(x - 1) * sqrt(x + 1))


def arccosh(x: ArrayLike) -> Variable:
    """Inverse hyperbolic cosine, at least 0; its slope is ``1 / sqrt(x**2 - 1)``.

    At 1 the slope is inf, but no gradient comes from there where the gradient that
    comes in is 0. Below 1 it is NaN, with NumPy's warning.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return ArcCosh()(x)


class ArcTanh(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        with np.errstate(divide="ignore"):
            return cuda.get_array_module(x).arctanh(x)

    def backward(self, gy):
        x = self.inputs[0]
        return SafeDiv()(gy, (1 - x) * (1 + x))


def arctanh(x: ArrayLike) -> Variable:
    """Inverse hyperbolic tangent; its slope is ``1 / (1 - x**2)``.

    At -1 and 1 it is -inf and inf and its slope inf, but no gradient comes from there
    where the gradient that comes in is 0. Outside it is NaN, with NumPy's warning.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return ArcTanh()(x)


# =============================================================================
# Length and angle of a point of the plane
# =============================================================================


class Hypot(Elementwise):
    fresh_gradients = True

    def forward(self, x0, x1):
        return cuda.get_array_module(x0).hypot(x0, x1)

    def backward(self, gy):
        x0, x1 = self.inputs
        y = self.outputs[0]()
        need0, need1 = self.needs_grad
        return (
            gy * SafeDiv(kink=True)(x0, y) if need0 else None,
            gy * SafeDiv(kink=True)(x1, y) if need1 else None,
        )


def hypot(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Length ``y = sqrt(x0**2 + x1**2)`` without overflow, with slope 0 at (0, 0).

    Args:
        x0: Any shape.
        x1: Any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape.
    """
    return Hypot()(x0, x1)


class ArcTan2(Elementwise):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x0, x1):
        return cuda.get_array_module(x0).arctan2(x0, x1)

    def backward(self, gy):
        x0, x1 = self.inputs
        need0, need1 = self.needs_grad
        length = hypot(x0, x1)
        g = SafeDiv(kink=True)(gy, length)
        return (
            g * SafeDiv(kink=True)(x1, length) if need0 else None,
            -g * SafeDiv(kink=True)(x0, length) if need1 else None,
        )


def arctan2(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Angle of the point ``(x1, x0)``, in [-pi, pi]; with slope 0 at (0, 0).

    Elsewhere its slopes are ``x1 / (x0**2 + x1**2)`` and ``-x0 / (x0**2 + x1**2)``.

    Args:
        x0: Ordinate, of any shape.
        x1: Abscissa, of any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape.
    """
    return ArcTan2()(x0, x1)
