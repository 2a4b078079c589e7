"""Hyperbolic sine, cosine, tangent and their inverses."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable
from dezero.functions.elementary import sqrt
from dezero.functions.safe import SafeDiv
from dezero.functions.trigonometric import hypot
from dezero.kernels import activation as kernels

__all__ = [
    "ArcCosh",
    "ArcSinh",
    "ArcTanh",
    "Cosh",
    "Sinh",
    "Tanh",
    "arccosh",
    "arcsinh",
    "arctanh",
    "cosh",
    "sinh",
    "tanh",
]

# =============================================================================
# Hyperbolic sine, cosine, tangent
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
        if y.dtype == gy.dtype and cuda.get_array_module(y) is not np:
            return kernels.tanh_grad(y, gy)
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


# =============================================================================
# Their inverses
# =============================================================================


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
        return SafeDiv()(gy, sqrt(x - 1.0) * sqrt(x + 1.0))


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
