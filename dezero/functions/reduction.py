"""What reductions over axes have in common; sums, means and truth."""

import math
from collections.abc import Sequence

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.broadcasting import broadcast_to, sum_to_array
from dezero.functions.dtypes import wide
from dezero.functions.shape import as_axes, reshape

__all__ = [
    "Mean",
    "Sum",
    "all",
    "any",
    "mean",
    "sum",
]

# =============================================================================
# Axes
# =============================================================================


Axis = int | Sequence[int] | None


def kept_shape(shape: tuple[int, ...], axis: Axis) -> tuple[int, ...]:
    """The shape that a reduction over ``axis`` leaves when it keeps the axes, as 1."""
    if axis is None:
        return (1,) * len(shape)
    axes = as_axes("kept_shape", axis, shape)
    return tuple([1 if i in axes else n for i, n in enumerate(shape)])


def checked(
    function: str, x: ArrayLike, axis: Axis, empty: bool = True
) -> tuple[Variable, tuple[int, ...] | None]:
    """``x`` as a Variable and ``axis`` in the form NumPy wants.

    Raises:
        ValueError: No such axis; or nothing to reduce, unless ``empty`` allows that.
    """
    x = as_variable(x)
    axes = None if axis is None else as_axes(function, axis, x.shape)
    if not empty and not count(x.shape, axes):
        over = "" if axes is None else f" over axis {axes}"
        raise ValueError(
            f"{function}: expected at least one element{over}, got x of shape {x.shape}"
        )
    return x, axes


def count(shape, axis):
    """How many elements each result of a reduction stands for."""
    return math.prod(shape if axis is None else [shape[i] for i in axis])


def scale_of(u: Array, axis: Axis) -> Array:
    """What to divide ``u >= 0`` by before it is squared: its maximum, kept, or 1.

    Powers of numbers between 0 and 1 neither overflow nor all vanish.
    """
    xp = cuda.get_array_module(u)
    scale = u.max(axis=axis, keepdims=True)
    return xp.where((scale > 0) & (scale < np.inf), scale, xp.ones_like(scale))


class Reduction(Function):
    """A function that makes one element of all those along ``axis``."""

    def __init__(self, axis=None, keepdims=False):
        self.axis = (axis,) if isinstance(axis, int) else axis
        self.keepdims = keepdims


# =============================================================================
# Sum and mean
# =============================================================================


class Sum(Reduction):
    reads_inputs = False
    reads_outputs = False

    def forward(self, x):
        self.shape = x.shape
        if x.dtype.char == "e":
            return wide(x).sum(axis=self.axis, keepdims=self.keepdims).astype(x.dtype)
        return _sum(x, self.axis, self.keepdims)

    def backward(self, gy):
        if self.axis is not None and not self.keepdims:
            gy = reshape(gy, kept_shape(self.shape, self.axis))
        return broadcast_to(gy, self.shape)


def sum(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Sum over axes; 0 where there is nothing to add.

    Half precision is added up in single precision.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the summed axes, as 1.

    Returns:
        Variable of the shape of ``x`` without these axes.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x, axis = checked("sum", x, axis)
    return Sum(axis, keepdims)(x)


class Mean(Reduction):
    reads_inputs = False
    reads_outputs = False

    def forward(self, x):
        self.shape = x.shape
        y = _sum(wide(x), self.axis, self.keepdims) / count(x.shape, self.axis)
        return y.astype(x.dtype) if x.dtype.char == "e" else y

    def backward(self, gy):
        gy = gy * (1 / count(self.shape, self.axis))
        if self.axis is not None and not self.keepdims:
            gy = reshape(gy, kept_shape(self.shape, self.axis))
        return broadcast_to(gy, self.shape)


def mean(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Arithmetic mean over axes.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Variable of the shape of ``x`` without these axes, floating for integers too.

    Raises:
        ValueError: ``x`` has no such axis, or no element along it.
    """
    x, axis = checked("mean", x, axis, empty=False)
    return Mean(axis, keepdims)(x)


def _sum(x, axis, keepdims):
    """Sum over ``axis`` (a tuple or None), by the fastest way."""
    if axis and not keepdims and axis == tuple(range(len(axis))):
        return sum_to_array(x, x.shape[len(axis) :])
    return x.sum(axis=axis, keepdims=keepdims)


# =============================================================================
# Truth
# =============================================================================


def any(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Is any element along axes true (not 0)? False where there is none.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Constant boolean Variable of the shape of ``x`` without these axes.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x, axis = checked("any", x, axis)
    return as_variable(x.data.any(axis=axis, keepdims=keepdims))


def all(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Variable:
    """Are all elements along axes true (not 0)? True where there is none.

    Args:
        x: Any shape.
        axis: One axis, several, or None for all of them.
        keepdims: Keep the reduced axes, as 1.

    Returns:
        Constant boolean Variable of the shape of ``x`` without these axes.

    Raises:
        ValueError: ``x`` has no such axis.
    """
    x, axis = checked("all", x, axis)
    return as_variable(x.data.all(axis=axis, keepdims=keepdims))
