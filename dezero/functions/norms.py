"""Trace and norm: what sums a matrix or a vector up in one number."""

from collections.abc import Sequence

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.dtypes import cast
from dezero.functions.reduction import scale_of
from dezero.functions.safe import SafeDiv, SafeMul
from dezero.functions.shape import as_axes, as_integer, reshape

__all__ = ["Norm", "Trace", "norm", "trace"]


class Trace(Function):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, offset=0, axis1=0, axis2=1):
        self.offset, self.axis1, self.axis2 = offset, axis1, axis2

    def forward(self, x):
        xp = cuda.get_array_module(x)
        self.x_shape = x.shape
        return xp.asarray(xp.trace(x, self.offset, self.axis1, self.axis2))

    def backward(self, gy):
        xp = cuda.get_array_module(gy)
        i, j = self.axis1, self.axis2
        N, M = self.x_shape[i], self.x_shape[j]
        if i < j:
            eye = xp.eye(N, M, self.offset, dtype=gy.dtype)
        else:  # the axis of columns comes first
            eye = xp.eye(M, N, -self.offset, dtype=gy.dtype)
        ones = [n if k in (i, j) else 1 for k, n in enumerate(self.x_shape)]
        rest = [1 if k in (i, j) else n for k, n in enumerate(self.x_shape)]
        return SafeMul()(eye.reshape(ones), reshape(gy, rest))


def trace(x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Variable:
    """Sum along a diagonal: ``y = sum_i x[i, i + offset]``.

    Args:
        x: At least two axes.
        offset: Which diagonal: above (> 0) or below (< 0) the main one.
        axis1: The axis of rows.
        axis2: The axis of columns.

    Returns:
        Variable of the shape of ``x`` without the two axes.

    Raises:
        TypeError: ``offset`` or an axis is no integer.
        ValueError: An axis does not exist or the two are the same.
    """
    x = as_variable(x)
    if x.ndim < 2:
        raise ValueError(f"trace: expected at least two axes, got x of shape {x.shape}")
    axis1, axis2 = as_axes("trace", (axis1, axis2), x.shape)
    offset = as_integer("trace", "offset", offset)
    return Trace(offset, axis1, axis2)(x)


class Norm(Function):
    fresh_gradients = True

    def __init__(self, ord=2, axes=(0,), keepdims=False):
        self.ord, self.axes, self.keepdims = ord, axes, keepdims

    def forward(self, x):
        xp = cuda.get_array_module(x)
        shape = x.shape
        self.kept = tuple([1 if i in self.axes else n for i, n in enumerate(shape)])
        u = xp.abs(x)
        if x.size == 0:
            return u.sum(axis=self.axes, keepdims=self.keepdims)
        scale = scale_of(u, self.axes)
        u = u / scale
        wide = np.float32 if x.dtype == np.float16 else None
        if self.ord == 2:
            y = xp.sqrt((u * u).sum(axis=self.axes, keepdims=True, dtype=wide))
        elif self.ord == 1:
            y = u.sum(axis=self.axes, keepdims=True, dtype=wide)
        else:
            y = (u**self.ord).sum(axis=self.axes, keepdims=True, dtype=wide)
            y = y ** (1 / self.ord)
        y = y.astype(scale.dtype, copy=False) * scale
        return y if self.keepdims else y.reshape([shape[i] for i in self.free()])

    def free(self):
        return [i for i in range(len(self.kept)) if i not in self.axes]

    def backward(self, gy):
        x, y = self.inputs[0], reshape(self.outputs[0](), self.kept)
        xp = cuda.get_array_module(x)
        gy = reshape(gy, self.kept)
        if self.ord == 1:
            return SafeMul()(xp.sign(x.data), gy)
        r = SafeDiv(kink=True)(x, y)  # at norm 0 every x is 0 too
        if self.ord == 2:
            return SafeMul()(r, gy)
        return SafeMul()(xp.sign(x.data) * abs(r) ** (self.ord - 1), gy)


def norm(
    x: ArrayLike,
    ord: float | str | None = None,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
) -> Variable:
    """Norm ``(sum |x|**p)**(1/p)``; p is 2 unless ``ord`` says otherwise.

    Computed on elements divided by the greatest one, so that squares do not overflow.
    At norm 0, where there is no derivative, the gradient is 0; so it is for p = 1 at an
    element 0, and ties in ``max |x|`` share it.

    Args:
        x: Any shape.
        ord: None or "fro" for the root of the sum of squares over all of ``axis``. A
            number p >= 1 or ``inf`` (the greatest ``|x|``) for the p-norm of vectors.
        axis: The axis or axes to sum over; by default all.
        keepdims: Keep the summed axes, with size 1.

    Returns:
        Variable of the shape of ``x`` without the axes summed over.

    Raises:
        TypeError: ``ord`` is of another type.
        ValueError: An axis does not exist, or ``ord`` is none of these. Numbers over
            two axes are refused: for matrices they name other norms (2 the greatest
            singular value).
    """
    x = as_variable(x)
    if x.dtype.kind != "f":
        x = cast(x, np.float64)
    axes = as_axes("norm", tuple(range(x.ndim)) if axis is None else axis, x.shape)
    if ord is None or (isinstance(ord, str) and ord == "fro"):
        return Norm(2, axes, keepdims)(x)
    if not isinstance(ord, (str, int, float, np.integer, np.floating)):
        raise TypeError(
            "norm: expected None, 'fro', inf or a number >= 1 as ord, "
            f"got {type(ord).__name__}"
        )
    if isinstance(ord, str) or not ord >= 1:
        raise ValueError(
            f"norm: expected None, 'fro', inf or a number >= 1 as ord, got {ord!r}"
        )
    if len(axes) > 1:
        raise ValueError(
            f"norm: expected one axis for ord={ord!r}, got axes {axes} of shape "
            f"{x.shape}; ord=None sums the squares over several"
        )
    if ord == np.inf:
        return abs(x).max(axis=axes, keepdims=keepdims)
    return Norm(float(ord), axes, keepdims)(x)
