"""Sine, cosine, tangent, their inverses, and the polar form of a point."""

from dezero import cuda
from dezero.core import ArrayLike, Config, Function, Variable
from dezero.functions.elementary import sqrt
from dezero.functions.elementwise import Elementwise
from dezero.functions.safe import SafeDiv, SafeMul

__all__ = [
    "ArcCos",
    "ArcSin",
    "ArcTan",
    "ArcTan2",
    "Cos",
    "Hypot",
    "Sin",
    "Tan",
    "arccos",
    "arcsin",
    "arctan",
    "arctan2",
    "cos",
    "hypot",
    "sin",
    "tan",
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
        x = self.inputs[0]
        if not Config.enable_backprop:  # plain arrays: 5 % of a tiny graph
            return gy.data * cuda.get_array_module(x).cos(x.data)
        return gy * cos(x)


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


# =============================================================================
# Their inverses
# =============================================================================


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
            SafeMul()(SafeDiv(kink=True)(x0, y), gy) if need0 else None,
            SafeMul()(SafeDiv(kink=True)(x1, y), gy) if need1 else None,
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
