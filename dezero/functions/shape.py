"""Functions that change the shape of an array, the order of its axes, or its dtype.

None changes a value, but for ``sum_to``, which is what takes ``broadcast_to`` back.
"""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array

__all__ = [
    "BroadcastTo",
    "Cast",
    "Reshape",
    "SumTo",
    "Transpose",
    "broadcast_to",
    "cast",
    "expand_dims",
    "flatten",
    "moveaxis",
    "ravel",
    "reshape",
    "squeeze",
    "sum_to",
    "swapaxes",
    "transpose",
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


def as_axis(function: str, axis: int, shape: tuple[int, ...]) -> int:
    """``axis`` of an array of this ``shape``, counted from the front.

    Raises:
        TypeError: ``axis`` is no integer.
        ValueError: There is no such axis.
    """
    ndim = len(shape)
    try:
        i = operator.index(axis)
    except TypeError:
        raise TypeError(
            f"{function}: expected an integer as axis, got {type(axis).__name__}"
        ) from None
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


def broadcasts(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Does an array of shape ``small`` broadcast to exactly the shape ``large``?"""
    lead = len(large) - len(small)
    if lead < 0:
        return False
    tail = large[lead:]
    return small == tail or all(
        [s == n or s == 1 for s, n in zip(small, tail, strict=True)]
    )


# =============================================================================
# sum_to and broadcast_to: each is the other's backward
# =============================================================================


def sum_to_array(x: Array, shape: tuple[int, ...]) -> Array:
    """:func:`sum_to` on plain arrays, for a ``shape`` that broadcasts to that of ``x``.

    The dtype is that of ``x.sum()``; half precision is added up in single precision.
    """
    if x.shape == shape:
        return x
    lead = x.ndim - len(shape)
    half = x.dtype.char == "e"
    if x.shape[lead:] != shape:
        kept = enumerate(shape, lead)
        axes: Any = (*range(lead), *[i for i, n in kept if n == 1 and x.shape[i] != 1])
    elif lead == 1 and x.shape[0] < 1024:  # the gradient of a bias
        axes = 0
    else:
        size = math.prod(shape)
        if x.size >= 1024 * size > 1024 and _is_plain(x):
            # einsum adds many short rows up to 4 times as fast as sum does.
            return np.einsum("ij->j", x.reshape(-1, size)).reshape(shape)
        axes = tuple(range(lead))
    # keepdims: NumPy would make a 0-d result a scalar.
    y = x.sum(axis=axes, dtype=np.float32 if half else None, keepdims=True)
    return y.reshape(shape).astype(x.dtype) if half else y.reshape(shape)


def _is_plain(x: Array) -> bool:
    """Is ``x`` a NumPy array of single or double precision in one block?"""
    return isinstance(x, np.ndarray) and x.dtype.char in "fd" and x.flags.c_contiguous


class SumTo(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, shape):
        self.shape = shape

    def forward(self, x):
        self.x_shape = x.shape
        return sum_to_array(x, self.shape)

    def backward(self, gy):
        return broadcast_to(gy, self.x_shape)


def sum_to(x: ArrayLike, shape: int | Sequence[int]) -> Variable:
    """Sum over the axes along which an array of shape ``shape`` was broadcast to ``x``.

    Axes in front that ``shape`` lacks are summed away; axes where it has size 1 are
    summed and kept: ``(4, 2, 3) -> (2, 1)`` sums over the first and the last axis.

    Args:
        x: Any shape that ``shape`` broadcasts to.
        shape: The shape of the result.

    Returns:
        Variable of shape ``shape``; ``x`` itself if it has this shape already.

    Raises:
        ValueError: ``shape`` does not broadcast to the shape of ``x``.
    """
    x = as_variable(x)
    if x.data.shape == shape:
        return x
    if type(shape) is not tuple:
        shape = as_shape("sum_to", shape)
    if not broadcasts(shape, x.shape):
        raise ValueError(
            f"sum_to: expected a shape that broadcasts to the shape {x.shape} of x, "
            f"got {shape}"
        )
    return x if shape == x.shape else SumTo(shape)(x)


class BroadcastTo(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, shape):
        self.shape = shape

    def forward(self, x):
        self.x_shape = x.shape
        xp = cuda.get_array_module(x)
        if xp is np and math.prod(self.shape) <= 1024:
            y = np.empty(self.shape, x.dtype)  # a copy costs less than such a view here
            y[...] = x
            return y
        return xp.broadcast_to(x, self.shape)

    def backward(self, gy):
        return sum_to(gy, self.x_shape)


def broadcast_to(x: ArrayLike, shape: int | Sequence[int]) -> Variable:
    """Repeat ``x`` along new axes in front and along axes of size 1.

    Args:
        x: A shape that broadcasts to ``shape`` by NumPy's rules.
        shape: The shape of the result.

    Returns:
        Variable of shape ``shape``, whose data may be a read-only view; ``x`` itself
        if it has this shape already.

    Raises:
        ValueError: The shape of ``x`` does not broadcast to ``shape``.
    """
    x = as_variable(x)
    if x.data.shape == shape:
        return x
    if type(shape) is not tuple:
        shape = as_shape("broadcast_to", shape)
    if not broadcasts(x.shape, shape):
        raise ValueError(
            f"broadcast_to: expected a shape that the shape {x.shape} of x broadcasts "
            f"to, got {shape}"
        )
    return x if shape == x.shape else BroadcastTo(shape)(x)


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
    if x.data.shape == shape:
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


# =============================================================================
# The same axes in another order
# =============================================================================


class Transpose(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, axes):
        self.axes = axes

    def forward(self, x):
        return x.transpose(self.axes)

    def backward(self, gy):
        return transpose(gy, sorted(range(len(self.axes)), key=self.axes.__getitem__))


def transpose(x: ArrayLike, axes: Sequence[int] | None = None) -> Variable:
    """The axes of ``x`` in another order: ``y.shape[i] == x.shape[axes[i]]``.

    Args:
        x: Any shape.
        axes: A permutation of the axes; by default they are reversed.

    Returns:
        Variable with a view of the data; ``x`` itself if the order stays.

    Raises:
        ValueError: ``axes`` does not name every axis once.
    """
    x = as_variable(x)
    ndim = x.ndim
    if axes is None:
        order = tuple(range(ndim - 1, -1, -1))
    else:
        order = as_axes("transpose", axes, x.shape)
        if len(order) != ndim:
            raise ValueError(
                f"transpose: expected each of {ndim} axes once, got {axes} for an "
                f"array of shape {x.shape}"
            )
    return x if order == tuple(range(ndim)) else Transpose(order)(x)


def swapaxes(x: ArrayLike, axis1: int, axis2: int) -> Variable:
    """Exchange two axes of ``x``.

    Args:
        x: Any shape.
        axis1: One axis.
        axis2: The other; the same one leaves ``x`` as it is.

    Returns:
        Variable with a view of the data.

    Raises:
        ValueError: There is no such axis.
    """
    x = as_variable(x)
    i, j = (as_axis("swapaxes", axis, x.shape) for axis in (axis1, axis2))
    order = list(range(x.ndim))
    order[i], order[j] = j, i
    return transpose(x, order)


def moveaxis(
    x: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Variable:
    """Move axes to other places; the rest keep their order.

    Args:
        x: Any shape.
        source: The axis or axes to move.
        destination: Where each of them stands in the result.

    Returns:
        Variable with a view of the data.

    Raises:
        ValueError: An axis does not exist or is there twice, or the two differ in
            length.
    """
    x = as_variable(x)
    come = as_axes("moveaxis", source, x.shape)
    go = as_axes("moveaxis", destination, x.shape)
    if len(come) != len(go):
        raise ValueError(
            f"moveaxis: expected as many destinations as sources, got {source} and "
            f"{destination}"
        )
    order = [i for i in range(x.ndim) if i not in come]
    for place, axis in sorted(zip(go, come, strict=True)):
        order.insert(place, axis)
    return transpose(x, order)


# =============================================================================
# Another dtype
# =============================================================================


class Cast(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, dtype):
        self.dtype = dtype

    def forward(self, x):
        return x.astype(self.dtype)

    def backward(self, gy):
        return gy  # fit_gradient gives it the dtype of x


def cast(x: ArrayLike, dtype: Any) -> Variable:
    """``x`` in another dtype; its gradient comes back in the dtype of ``x``.

    From a floating dtype to an integer one, and from any to booleans, the result is a
    constant: it changes in jumps, so no gradient goes through, and the chain ends here.

    Args:
        x: Any shape.
        dtype: A floating, integer or boolean dtype, or its name.

    Returns:
        Variable of the shape of ``x``; ``x`` itself if it has this dtype already.

    Raises:
        TypeError: ``dtype`` is none of these.
    """
    x = as_variable(x)
    dtype = np.dtype(dtype)
    if x.dtype == dtype:
        return x
    if dtype.kind not in "fiub":
        raise TypeError(f"cast: expected booleans, integers or floats, got {dtype}")
    if dtype.kind == "b" or (dtype.kind != "f" and x.dtype.kind == "f"):
        return as_variable(x.data.astype(dtype))
    return Cast(dtype)(x)
