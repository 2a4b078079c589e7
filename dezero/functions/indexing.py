"""Elements picked by their position, and values added there."""

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.broadcasting import broadcasts, sum_to

__all__ = [
    "GetItem",
    "GetItemGrad",
    "ScatterAdd",
    "get_item",
    "scatter_add",
]

# =============================================================================
# Indices, and adding at them: on plain arrays
# =============================================================================


def _as_index(index: Any, xp: Any) -> Any:
    """``index`` without Variables, its sequences as arrays of the library ``xp``."""
    if type(index) is tuple:
        return tuple([_as_index_part(part, xp) for part in index])
    return _as_index_part(index, xp)


def _as_index_part(part: Any, xp: Any) -> Any:
    if isinstance(part, Variable):
        part = part.data
    elif isinstance(part, (list, tuple, range)):
        # An empty list would become an array of floats.
        part = np.asarray(part) if len(part) else np.zeros(0, np.intp)
    if not cuda.is_array(part):
        return part
    if not isinstance(part, np.ndarray):
        return xp.asarray(part)
    if part.ndim == 0 and part.dtype.kind in "iu":
        return int(part)
    return cuda.constant(part, xp)


def _is_integer_array(part: Any) -> bool:
    return cuda.is_array(part) and part.dtype.kind in "iu"


def _may_repeat(index: Any) -> bool:
    """Can ``index`` name a place twice? Slices and masks cannot, integer arrays can."""
    parts = index if type(index) is tuple else (index,)
    return any([_is_integer_array(part) for part in parts])


def _rows(index: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, tuple[int, ...]]:
    """What ``index`` names in an array of this shape: row numbers, the shape of a row.

    A row is all that belongs to one position along the axes in front: as much as
    ``index`` leaves whole at the end.
    """
    parts = list(index) if type(index) is tuple else [index]
    while (
        parts[-1] is Ellipsis or type(parts[-1]) is slice and parts[-1] == slice(None)
    ):
        parts.pop()
    if all([type(part) is int or _is_integer_array(part) for part in parts]):
        rows = np.zeros((), np.intp)
        for part, n in zip(parts, shape[: len(parts)], strict=True):
            rows = rows * n + np.asarray(part, np.intp) % n  # -1 is the last one
        return rows, shape[len(parts) :]
    return np.arange(math.prod(shape)).reshape(shape)[index], ()


def _add_at(y: Array, index: Any, values: Array) -> None:
    """``y[index] += values`` in place, ``y`` in one block; repeated indices add up."""
    if not _may_repeat(index):
        y[index] += values
        return
    if not isinstance(y, np.ndarray):
        cuda.scatter_add(y, index, values)
        return
    # np.add.at alone takes 2 to 4 times as long as what follows: wide rows one by one,
    # narrow ones element by element along a single axis, in pieces that stay in cache.
    rows, row = _rows(index, y.shape)
    width = math.prod(row)
    values = np.broadcast_to(values.astype(y.dtype, copy=False), rows.shape + row)
    values = values.reshape(rows.size, width)
    rows = rows.reshape(-1)
    if width >= 256:
        table = y.reshape(-1, width)
        for i, value in zip(rows.tolist(), values, strict=True):
            table[i] += value
    elif y.size:
        flat = y.reshape(-1)
        step = 1 + 32768 // width
        for k in range(0, rows.size, step):
            places = rows[k : k + step, None] * width + np.arange(width)
            np.add.at(flat, places.reshape(-1), values[k : k + step].reshape(-1))


# =============================================================================
# Indexing
# =============================================================================


class GetItem(Function):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, slices):
        self.slices = slices

    def forward(self, x):
        self.x_shape = x.shape
        return x[self.slices]

    def backward(self, gy):
        return GetItemGrad(self.slices, self.x_shape)(gy)


class GetItemGrad(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, slices, x_shape):
        self.slices = slices
        self.x_shape = x_shape

    def forward(self, gy):
        xp = cuda.get_array_module(gy)
        if not _may_repeat(self.slices):
            gx = xp.zeros(self.x_shape, gy.dtype)
            gx[self.slices] = gy
            return gx
        half = gy.dtype.char == "e"  # added up in single precision
        gx = xp.zeros(self.x_shape, np.float32 if half else gy.dtype)
        _add_at(gx, self.slices, gy)
        return gx.astype(gy.dtype) if half else gx

    def backward(self, ggx):
        return get_item(ggx, self.slices)


def get_item(x: ArrayLike, slices: Any) -> Variable:
    """``x[slices]``, with every form of index that NumPy has.

    The gradient of an element is the sum over the places where the result shows it: an
    integer array may name an element any number of times.

    Args:
        x: Any shape.
        slices: An integer, slice, ``...``, None, an array of integers or booleans, or a
            tuple of these. Variables count as the arrays they hold.

    Returns:
        Variable with a view of the data for integers and slices, else with a copy.

    Raises:
        IndexError: An index is out of range, of the wrong type, or one too many.
    """
    x = as_variable(x)
    return GetItem(_as_index(slices, cuda.get_array_module(x.data)))(x)


# =============================================================================
# Adding at an index
# =============================================================================


class ScatterAdd(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, index):
        self.index = index

    def forward(self, x, values):
        self.values_shape = values.shape
        dtype = np.result_type(x.dtype, values.dtype)
        half = dtype.char == "e"  # added up in single precision
        # astype copies, and makes one block of it for _add_at.
        y = x.astype(np.float32 if half else dtype, order="C")
        _add_at(y, self.index, values)
        return y.astype(dtype) if half else y

    def backward(self, gy):
        if not self.needs_grad[1]:
            return gy, None
        return gy, sum_to(get_item(gy, self.index), self.values_shape)


def scatter_add(x: ArrayLike, index: Any, values: ArrayLike) -> Variable:
    """``x`` with ``values`` added at ``index``, as ``np.add.at`` does, in a new array.

    Where ``index`` names a place several times, all its values are added there.

    Args:
        x: Any shape.
        index: Any form of index that :func:`get_item` takes.
        values: A shape that broadcasts to that of ``x[index]``.

    Returns:
        Variable of the shape of ``x``.

    Raises:
        IndexError: An index is out of range.
        ValueError: ``values`` does not broadcast to the shape of ``x[index]``.
    """
    x = as_variable(x)
    index = _as_index(index, cuda.get_array_module(x.data))
    try:
        return ScatterAdd(index)(x, values)
    except ValueError:
        shape = x.data[index].shape
        if broadcasts(np.shape(values), shape):
            raise
        raise ValueError(
            f"scatter_add: expected values that broadcast to the shape {shape} of "
            f"x[index], got {np.shape(values)}"
        ) from None
