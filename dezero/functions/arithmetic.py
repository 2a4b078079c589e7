"""Sums, products, quotients and powers: the operators."""

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Config, Function, Variable, as_variable
from dezero.functions.elementwise import Elementwise

__all__ = [
    "Add",
    "Div",
    "FloorDivide",
    "Mod",
    "Mul",
    "Neg",
    "Pow",
    "PowVariable",
    "Sub",
    "add",
    "div",
    "floor_divide",
    "mod",
    "mul",
    "neg",
    "pow",
    "rdiv",
    "reciprocal",
    "rpow",
    "rsub",
    "square",
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
        return _zeros(self.inputs[0]), _zeros(self.inputs[1])


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


def _zeros(x):
    xp = cuda.get_array_module(x.data)
    return as_variable(xp.zeros_like(x.data))


class SafeMul(Elementwise):
    """``x0 * x1``, and 0 where ``x0`` is 0 even if ``x1`` is infinite.

    For gradients: where nothing depends on a value, its infinite slope does no harm.
    """

    reads_outputs = False
    fresh_gradients = True

    def forward(self, x0, x1):
        return _unless_invalid("multiply", x0, x1, lambda: x0 == 0)

    def backward(self, gy):
        x0, x1 = self.inputs
        need0, need1 = self.needs_grad
        return SafeMul()(gy, x1) if need0 else None, gy * x0 if need1 else None


class SafeDiv(Elementwise):
    """``x0 / x1``, and 0 where ``x0`` is 0; or, for a kink, 0 where ``x1`` is 0.

    For gradients. The first form is the slope of log or sqrt: infinite at 0, unless
    nothing depends on the value. The second is a direction, as in the gradient of a
    length: at length 0 there is none, and none of its derivatives.
    """

    reads_outputs = False
    fresh_gradients = True

    def __init__(self, kink=False):
        self.kink = kink

    def forward(self, x0, x1):
        if self.kink:
            return _unless_invalid("divide", x0, x1, lambda: x1 == 0, divide="raise")
        return _unless_invalid("divide", x0, x1, lambda: x0 == 0)

    def backward(self, gy):
        x0, x1 = self.inputs
        need0, need1 = self.needs_grad
        gx0 = SafeDiv(self.kink)(gy, x1) if need0 else None
        if not need1:
            return gx0, None
        return gx0, -SafeDiv(self.kink)(SafeDiv(self.kink)(gy * x0, x1), x1)


def _unless_invalid(name, x0, x1, is_zero, divide="ignore"):
    """The ufunc ``name`` of both, with zeros where ``is_zero()`` says so.

    The mask is only computed if the processor flagged an invalid operation (0 * inf,
    0 / 0), which costs nothing to find out. On a GPU there is no such flag.
    """
    xp = cuda.get_array_module(x0)
    ufunc = getattr(xp, name)
    if xp is np:
        try:
            with np.errstate(invalid="raise", divide=divide):
                return ufunc(x0, x1)
        except FloatingPointError:
            pass
    with np.errstate(invalid="ignore", divide="ignore"):
        y = ufunc(x0, x1)
    return xp.where(is_zero(), y.dtype.type(0), y)


class Pow(Function):
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, c):
        # A NumPy scalar would not be weak: float32 ** np.float64(2) is float64.
        self.c = c.item() if isinstance(c, np.generic) else c

    def forward(self, x):
        return _power(x, self.c)

    def backward(self, gy):
        return PowGrad(self.c)(self.inputs[0], gy)


class PowGrad(Function):
    """``gy * c * x**(c - 1)``, and 0 where ``gy`` is 0, be the power infinite."""

    reads_outputs = False
    fresh_gradients = True

    def __init__(self, c):
        self.c = c

    def forward(self, x, gy):
        c = self.c
        if c == 2:
            return gy * 2 * x
        if c == 1:
            return gy.copy()
        if c == 0:
            return cuda.get_array_module(gy).zeros_like(gy)
        if c > 1:
            return _power(x, c - 1) * c * gy
        # A quotient, so that an infinite slope at 0 comes without a warning.
        if x.dtype.kind != "f":
            x = x * 1.0
        return _unless_invalid("divide", gy * c, _power(x, 1 - c), lambda: gy == 0)

    def backward(self, ggx):
        x, gy = self.inputs
        need0, need1 = self.needs_grad
        # gy * c * (c - 1) * x**(c - 2)
        gx = PowGrad(self.c - 1)(x, gy * ggx * self.c) if need0 else None
        return gx, PowGrad(self.c)(x, ggx) if need1 else None


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
            return y * log**self.k

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
