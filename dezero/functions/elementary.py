"""Roots, absolute value and sign, element by element."""

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable
from dezero.functions.arithmetic import zeros_like
from dezero.functions.safe import SafeDiv, SafeMul

__all__ = [
    "Abs",
    "Cbrt",
    "Sign",
    "Sqrt",
    "abs",
    "cbrt",
    "sign",
    "sqrt",
]


class Sqrt(Function):
    reads_inputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).sqrt(x)

    def backward(self, gy):
        y = self.outputs[0]()
        return SafeDiv()(gy, y + y)


def sqrt(x: ArrayLike) -> Variable:
    """Square root; its slope is ``1 / (2 * y)``.

    At 0 the slope is inf, as in calculus, but no gradient comes from there where the
    gradient that comes in is 0. For a length, ``hypot`` and ``norm`` have slope 0 at 0,
    where ``sqrt(x * x)`` has inf times 0. Of a negative number it is NaN, with NumPy's
    warning.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Sqrt()(x)


class Cbrt(Function):
    reads_inputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).cbrt(x)

    def backward(self, gy):
        y = self.outputs[0]()
        return SafeDiv()(gy, 3 * y * y)


def cbrt(x: ArrayLike) -> Variable:
    """Cube root, real for negative numbers too. At 0 its slope is inf, as that of sqrt.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Cbrt()(x)


class Abs(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).abs(x)

    def backward(self, gy):
        return SafeMul()(sign(self.inputs[0]), gy)


def abs(x: ArrayLike) -> Variable:
    """Absolute value ``y = |x|``, with slope 0 at 0.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Abs()(x)


class Sign(Function):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return cuda.get_array_module(x).sign(x)

    def backward(self, gy):
        return zeros_like(self.inputs[0])


def sign(x: ArrayLike) -> Variable:
    """-1, 0 or 1 as ``x`` is negative, zero or positive; its gradient is 0 everywhere.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Sign()(x)
