"""Shapes and axes as arguments; the same elements in another shape."""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero.core import ArrayLike, Function, Variable, as_variable

__all__ = [
    "Reshape",
    "expand_dims",
    "flatten",
    "ravel",
    "reshape",
    "squeeze",
]

# =============================================================================
# Shapes and axes as arguments
# =============================================================================


def as_shape(function: str, shape: int | Sequence[int]) -> tuple[int, ...]:
    """``shape`` as a tuple of Python integers; one integer stands for a single axis.

    Raises:
        TypeError: It is neither an integer nor a sequence of them.
    """
    try:
        if isinstance(shape, (tuple, list)):
            return tuple([operator.index(size) for size in shape])
        return (operator.index(shape),)  # type: ignore[arg-type]  # others fail here
    except TypeError:
        raise TypeError(
            f"{function}: expected an integer or a tuple of integers, got {shape!r}"
        ) from None


def as_integer(function: str, name: str, value: Any) -> int:
    """``value`` as a Python integer.

    Raises:
        TypeError: It is none, nor anything that counts as one.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{function}: expected an integer as {name}, got {type(value).__name__}"
        ) from None


def as_axis(function: str, axis: int, shape: tuple[int, ...]) -> int:
    """``axis`` of an array of this ``shape``, counted from the front.

    Raises:
        TypeError: ``axis`` is no integer.
        ValueError: There is no such axis.
    """
    ndim = len(shape)
    i = as_integer(function, "axis", axis)
    if not -ndim <= i < ndim:
        where = f"an axis in [-{ndim}, {ndim})" if ndim else "no axis"
        raise ValueError(
            f"{function}: expected {where}, got axis {i} for an array of shape {shape}"
        )
    return i % ndim


def as_axes(
    function: str, axes: int | Sequence[int], shape: tuple[int, ...]
) -> tuple[int, ...]:
    """One axis or several different ones, counted from the front.

    Raises:
        TypeError: One is no integer.
        ValueError: One does not exist, or is there twice.
    """
    given: Any = axes if isinstance(axes, (tuple, list)) else (axes,)
    result = tuple([as_axis(function, axis, shape) for axis in given])
    if len(set(result)) < len(result):
        raise ValueError(f"{function}: expected different axes, got {tuple(given)}")
    return result


# =============================================================================
# The same elements in another shape
# =============================================================================


class Reshape(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, shape):
        self.shape = shape

    def forward(self, x):
        self.x_shape = x.shape
        return x.reshape(self.shape)

    def backward(self, gy):
        return reshape(gy, self.x_shape)


def reshape(x: ArrayLike, shape: int | Sequence[int]) -> Variable:
    """The elements of ``x``, last axis first, in another shape.

    Args:
        x: Any shape.
        shape: The shape of the result. One size may be -1: it follows from the others.

    Returns:
        Variable of shape ``shape``; ``x`` itself if it has this shape already.

    Raises:
        TypeError: ``shape`` is no integer or tuple of integers.
        ValueError: ``shape`` does not hold as many elements as ``x``.
    """
    x = as_variable(x)
    if type(shape) is tuple and x.data.shape == shape:
        return x
    shape = as_shape("reshape", shape)
    size = x.data.size
    filled = shape
    if -1 in shape:
        known = math.prod([n for n in shape if n != -1])
        if known and size % known == 0:
            filled = tuple([size // known if n == -1 else n for n in shape])
    # A second -1 and other negative sizes are caught here as well.
    if math.prod(filled) != size or min(filled, default=0) < 0:
        raise ValueError(
            f"reshape: expected a shape of {size} elements, as x of shape {x.shape} "
            f"has, got {shape}"
        )
    return x if filled == x.data.shape else Reshape(filled)(x)


def ravel(x: ArrayLike) -> Variable:
    """All elements of ``x`` along one axis.

    Args:
        x: Any shape.

    Returns:
        Variable of shape ``(x.size,)``.
    """
    return reshape(x, -1)


def flatten(x: ArrayLike) -> Variable:
    """Each sample of a batch as one row: ``(N, ...) -> (N, D)``.

    Args:
        x: At least one axis, the batch axis, which is kept. ``(N,)`` becomes
            ``(N, 1)``, an empty batch ``(0, C, H, W)`` becomes ``(0, C*H*W)``.

    Returns:
        Variable of two axes.

    Raises:
        ValueError: ``x`` is 0-d: it has no batch axis.
    """
    x = as_variable(x)
    if not x.ndim:
        raise ValueError("flatten: expected a batch axis, got x of shape ()")
    return reshape(x, (x.shape[0], math.prod(x.shape[1:])))


def squeeze(x: ArrayLike, axis: int | Sequence[int] | None = None) -> Variable:
    """Drop axes of size 1.

    Args:
        x: Any shape.
        axis: The axis or axes to drop; by default all of size 1.

    Returns:
        Variable with the same elements.

    Raises:
        ValueError: There is no such axis, or its size is not 1.
    """
    x = as_variable(x)
    if axis is None:
        return reshape(x, tuple([n for n in x.shape if n != 1]))
    axes = as_axes("squeeze", axis, x.shape)
    if any([x.shape[i] != 1 for i in axes]):
        raise ValueError(
            f"squeeze: expected size 1 along axis {axis}, got x of shape {x.shape}"
        )
    return reshape(x, tuple([n for i, n in enumerate(x.shape) if i not in axes]))


def expand_dims(x: ArrayLike, axis: int) -> Variable:
    """Insert an axis of size 1.

    Args:
        x: Any shape.
        axis: Where the new axis stands in the result; a negative one counts from the
            end of the result, so that -1 is the last. One beyond the end appends.

    Returns:
        Variable with the same elements and one axis more.

    Raises:
        TypeError: ``axis`` is no integer.
        ValueError: ``axis`` counts back beyond the first axis.
    """
    x = as_variable(x)
    ndim = x.ndim + 1
    if isinstance(axis, (int, np.integer)) and axis >= ndim:
        axis = ndim - 1
    i = as_axis("expand_dims", axis, (*x.shape, 1))
    return reshape(x, (*x.shape[:i], 1, *x.shape[i:]))
