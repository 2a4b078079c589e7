"""Sums, differences, products and quotients: the operators."""

from dezero import cuda
from dezero.core import ArrayLike, Config, Variable, as_variable
from dezero.functions.elementwise import Elementwise

__all__ = [
    "Add",
    "Div",
    "FloorDivide",
    "Mod",
    "Mul",
    "Neg",
    "Sub",
    "add",
    "div",
    "floor_divide",
    "mod",
    "mul",
    "neg",
    "rdiv",
    "reciprocal",
    "rsub",
    "sub",
]


class Add(Elementwise):
    reads_inputs = False
    reads_outputs = False

    def forward(self, x0, x1):
        return x0 + x1

    def backward(self, gy):
        return gy, gy


def add(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Sum ``y = x0 + x1``; the operator ``+``.

    Args:
        x0: Any shape.
        x1: Any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape.
    """
    return Add()(x0, x1)


class Sub(Elementwise):
    reads_inputs = False
    reads_outputs = False

    def forward(self, x0, x1):
        return x0 - x1

    def backward(self, gy):
        return gy, -gy if self.needs_grad[1] else None


def sub(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Difference ``y = x0 - x1``; the operator ``-``.

    Args:
        x0: Any shape.
        x1: Any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape.
    """
    return Sub()(x0, x1)


def rsub(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Difference the other way round, ``y = x1 - x0``; shapes as in :func:`sub`."""
    return Sub()(x1, x0)


class Mul(Elementwise):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x0, x1):
        return x0 * x1

    def backward(self, gy):
        x0, x1 = self.inputs
        edge0, edge1 = self._edges  # needs_grad makes a list: 4 % of a deep graph
        if not Config.enable_backprop:  # plain arrays cost 15 % less of it
            gy, x0, x1 = gy.data, x0.data, x1.data
        return (
            None if edge0 is None else gy * x1,
            None if edge1 is None else gy * x0,
        )


def mul(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Product, element by element: ``y = x0 * x1``; the operator ``*``.

    Args:
        x0: Any shape.
        x1: Any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape.
    """
    return Mul()(x0, x1)


class Div(Elementwise):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x0, x1):
        return x0 / x1

    def backward(self, gy):
        x0, x1 = self.inputs
        gx0 = gy / x1
        if not self.needs_grad[1]:
            return gx0, None
        # Two divisions: x1 * x1 would overflow where the quotient does not.
        return gx0, -(gx0 * x0 / x1)


def div(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Quotient ``y = x0 / x1``; the operator ``/``.

    A division by zero gives what NumPy gives, inf or NaN, and NumPy's warning.

    Args:
        x0: Any shape.
        x1: Any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape, floating for integers too.
    """
    return Div()(x0, x1)


def rdiv(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Quotient the other way round, ``y = x1 / x0``; shapes as in :func:`div`."""
    return Div()(x1, x0)


def reciprocal(x: ArrayLike) -> Variable:
    """Reciprocal ``y = 1 / x``, floating for integers too (NumPy's gives 0 for them).

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Div()(1.0, x)


class Neg(Elementwise):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        return -x

    def backward(self, gy):
        return -gy


def neg(x: ArrayLike) -> Variable:
    """Negative ``y = -x``; the unary operator ``-``.

    Args:
        x: Any shape.

    Returns:
        Variable of the shape of ``x``.
    """
    return Neg()(x)


class FloorDivide(Elementwise):
    reads_outputs = False

    def forward(self, x0, x1):
        return x0 // x1

    def backward(self, gy):
        return zeros_like(self.inputs[0]), zeros_like(self.inputs[1])


def floor_divide(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Whole quotient ``y = floor(x0 / x1)``; the operator ``//``.

    Its gradient is zero everywhere, the jumps included.

    Args:
        x0: Any shape.
        x1: Any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape.
    """
    return FloorDivide()(x0, x1)


class Mod(Elementwise):
    reads_outputs = False

    def forward(self, x0, x1):
        return x0 % x1

    def backward(self, gy):
        x0, x1 = self.inputs
        return gy, -gy * floor_divide(x0, x1) if self.needs_grad[1] else None


def mod(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """Remainder ``y = x0 - x1 * floor(x0 / x1)``; the operator ``%``.

    It has the sign of ``x1``. The slope by ``x0`` is 1 and by ``x1``
    ``-floor(x0 / x1)``, also at the jumps.

    Args:
        x0: Any shape.
        x1: Any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape.
    """
    return Mod()(x0, x1)


def zeros_like(x: Variable) -> Variable:
    """A constant of the shape and dtype of ``x``: a gradient of zeros."""
    xp = cuda.get_array_module(x.data)
    return as_variable(xp.zeros_like(x.data))
