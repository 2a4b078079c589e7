"""Broadcasting and the sum that undoes it: each is the other's backward."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.shape import as_shape

__all__ = [
    "BroadcastTo",
    "SumTo",
    "broadcast_to",
    "sum_to",
]


def broadcasts(small: tuple[int, ...], large: tuple[int, ...]) -> bool:
    """Does an array of shape ``small`` broadcast to exactly the shape ``large``?"""
    lead = len(large) - len(small)
    if lead < 0:
        return False
    tail = large[lead:]
    return small == tail or all(
        [s == n or s == 1 for s, n in zip(small, tail, strict=True)]
    )


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
        if not isinstance(x, np.ndarray) and x.size >= 1024 * size > 1024:
            return _column_sums(x.reshape(-1, size)).reshape(shape)
        axes = tuple(range(lead))
    # keepdims: NumPy would make a 0-d result a scalar.
    y = x.sum(axis=axes, dtype=np.float32 if half else None, keepdims=True)
    return y.reshape(shape).astype(x.dtype) if half else y.reshape(shape)


def _column_sums(x: Array) -> Array:
    """The sum of many rows on a GPU, in two stages.

    CuPy gives a column of sums 16 threads, however long it is: too few to keep a GPU
    busy.
    """
    rows, size = x.shape
    parts = math.gcd(rows, 64)
    dtype = np.float32 if x.dtype.char == "e" else None
    y = x.reshape(parts, rows // parts, size).sum(axis=1, dtype=dtype).sum(axis=0)
    return y if dtype is None else y.astype(x.dtype)


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
        TypeError: ``shape`` is no integer or tuple of integers.
        ValueError: ``shape`` does not broadcast to the shape of ``x``.
    """
    x = as_variable(x)
    if type(shape) is tuple and x.data.shape == shape:
        return x
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
        TypeError: ``shape`` is no integer or tuple of integers.
        ValueError: The shape of ``x`` does not broadcast to ``shape``.
    """
    x = as_variable(x)
    if type(shape) is tuple and x.data.shape == shape:
        return x
    shape = as_shape("broadcast_to", shape)
    if not broadcasts(x.shape, shape) or min(shape, default=0) < 0:
        raise ValueError(
            f"broadcast_to: expected a shape that the shape {x.shape} of x broadcasts "
            f"to, got {shape}"
        )
    return x if shape == x.shape else BroadcastTo(shape)(x)
