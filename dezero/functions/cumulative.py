"""Running sums and products along an axis, and the product of all elements.

No derivative here divides, so zeros are nothing special. What the derivatives need
instead is one recurrence, :class:`Scan`, whose derivative is the same one backwards.
"""

import math

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.axes import moveaxis, transpose
from dezero.functions.dtypes import cast, wide
from dezero.functions.reduction import Axis, checked
from dezero.functions.safe import SafeMul, unless_invalid
from dezero.functions.shape import as_axis, ravel, reshape

__all__ = ["CumProd", "CumSum", "Prod", "cumprod", "cumsum", "prod"]


class CumSum(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, axis, reverse=False):
        self.axis = axis
        self.reverse = reverse

    def forward(self, x):
        y = wide(x)
        if self.reverse:
            xp = cuda.get_array_module(x)
            y = xp.flip(xp.cumsum(xp.flip(y, self.axis), axis=self.axis), self.axis)
        else:
            y = y.cumsum(axis=self.axis)
        return y.astype(x.dtype) if x.dtype.char == "e" else y

    def backward(self, gy):
        return CumSum(self.axis, not self.reverse)(gy)


def cumsum(x: ArrayLike, axis: int | None = None) -> Variable:
    """Running sum ``y[k] = x[0] + ... + x[k]`` along an axis.

    Half precision is added up in single precision.

    Args:
        x: Any shape.
        axis: One axis, or None for the flattened ``x``.

    Returns:
        Variable of the shape of ``x``; with one axis if ``axis`` is None.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x, axis = _line("cumsum", x, axis)
    return CumSum(axis)(x)


class CumProd(Function):
    """Along the last axis."""

    fresh_gradients = True

    def forward(self, x):
        return x.cumprod(axis=-1)

    def backward(self, gy):
        # The gradient by x[i] is the sum over k >= i of gy[k] times the product of all
        # others up to k: those before i, times a recurrence for those after i.
        before = Shift(1, fill=1)(self.outputs[0]())
        return SafeMul()(before, Scan(reverse=True)(self.inputs[0], gy))


def cumprod(x: ArrayLike, axis: int | None = None) -> Variable:
    """Running product ``y[k] = x[0] * ... * x[k]`` along an axis; zeros are no problem.

    Args:
        x: Any shape.
        axis: One axis, or None for the flattened ``x``.

    Returns:
        Variable of the shape of ``x``; with one axis if ``axis`` is None.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x, axis = _line("cumprod", x, axis)
    if axis == x.ndim - 1:
        return CumProd()(x)
    return moveaxis(CumProd()(moveaxis(x, axis, -1)), -1, axis)


class Prod(Function):
    """Along the last axis."""

    reads_outputs = False
    fresh_gradients = True

    def forward(self, x):
        y = wide(x).prod(axis=-1)
        return y.astype(x.dtype) if x.dtype.char == "e" else y

    def backward(self, gy):
        # As for a running product of which only the last element is used.
        x = self.inputs[0]
        if x.dtype.char == "e":  # products on the way may be beyond its range
            x = cast(x, np.float32)
        xp = cuda.get_array_module(x.data)
        last = xp.zeros(x.shape, gy.dtype)
        last[..., -1:] = 1
        gy = reshape(gy, (*gy.shape, 1)) * last
        before = Shift(1, fill=1)(CumProd()(x))
        return SafeMul()(before, Scan(reverse=True)(x, gy))


def prod(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Product over axes; 1 where there is nothing to multiply. Zeros are no problem.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Variable of the shape of ``x`` without these axes.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x, axis = checked("prod", x, axis)
    axes = tuple(range(x.ndim)) if axis is None else axis
    rest = tuple([i for i in range(x.ndim) if i not in axes])
    shape = tuple([x.shape[i] for i in rest])
    n = math.prod([x.shape[i] for i in axes])
    y = Prod()(
        reshape(transpose(x, rest + axes), (*shape, n))
    )  # (rest..., n) -> (rest...)
    if keepdims:
        y = reshape(y, [1 if i in axes else size for i, size in enumerate(x.shape)])
    return y


def _line(function, x, axis):
    """``x`` and the axis to run along; for None, ``x`` flattened."""
    x = as_variable(x)
    if axis is None:
        return ravel(x), 0
    return x, as_axis(function, axis, x.shape)


class Scan(Function):
    """The recurrence ``y[t] = b[t] + a[t] * y[t - 1]`` along the last axis.

    ``a[t]`` belongs to the link between places t - 1 and t; ``a[0]`` is not used. With
    ``reverse``, the links carry the other way: ``y[t] = b[t] + a[t + 1] * y[t + 1]``.
    """

    fresh_gradients = True

    def __init__(self, reverse=False):
        self.reverse = reverse

    def forward(self, a, b):
        # Doubling: after each round, y[t] holds the terms of the 2 * d nearest places
        # and a[t] the product of the links to them: log2(n) rounds on whole arrays.
        xp = cuda.get_array_module(a)
        dtype = xp.result_type(a, b)
        a, y = wide(a), wide(b)
        n = y.shape[-1]
        if self.reverse:  # as the same recurrence on the mirrored axis
            a = xp.roll(a, -1, axis=-1)[..., ::-1]
            y = y[..., ::-1]
        a = xp.array(a, dtype=xp.result_type(a, y))
        y = xp.array(y, dtype=a.dtype)
        a[..., :1] = 1  # there is no link: it would only spoil products
        d = 1
        while d < n:
            y[..., d:] = y[..., d:] + _product(a[..., d:], y[..., :-d])
            if 2 * d < n:
                a[..., d:] = _product(a[..., d:], a[..., :-d])
            d *= 2
        return (y[..., ::-1] if self.reverse else y).astype(dtype)

    def backward(self, gy):
        a = self.inputs[0]
        gb = Scan(not self.reverse)(a, gy)
        if not self.needs_grad[0]:
            return None, gb
        y = self.outputs[0]()
        # Each link gets what comes in at one end times what came in at the other.
        return (gb * Shift(1)(y) if not self.reverse else Shift(1)(gb) * y), gb


def _product(a, b):
    """``a * b``, and 0 where one is 0, though the other may be an overflow."""
    return unless_invalid(
        "multiply", a, b, lambda: ((a == 0) | (b == 0)) & (a == a) & (b == b)
    )


class Shift(Function):
    """Each element ``by`` places on along the last axis; ``fill`` moves in."""

    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, by, fill=0):
        self.by = by
        self.fill = fill

    def forward(self, x):
        y = cuda.get_array_module(x).full_like(x, self.fill)
        if self.by > 0:
            y[..., self.by :] = x[..., : -self.by]
        else:
            y[..., : self.by] = x[..., -self.by :]
        return y

    def backward(self, gy):
        return Shift(-self.by)(gy)
