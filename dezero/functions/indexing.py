"""Elements picked by their position and put back there; tables of vectors."""

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.shape import as_axis, broadcasts, ravel, sum_to

__all__ = [
    "GetItem",
    "GetItemGrad",
    "ScatterAdd",
    "embed_id",
    "get_item",
    "one_hot",
    "scatter_add",
    "take",
    "take_along_axis",
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
    if isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype.kind in "iu":
        return int(part)
    return xp.asarray(part)


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


def take(x: ArrayLike, indices: Any, axis: int | None = None) -> Variable:
    """The elements at ``indices`` along one axis: ``y[..., i] = x[..., indices[i]]``.

    Args:
        x: Any shape.
        indices: Integers, any shape: an array, a Variable, a list or a single one.
            Negative ones count from the end.
        axis: The axis to pick from; by default ``x`` is raveled first.

    Returns:
        Variable of the shape of ``x`` with ``indices.shape`` in place of ``axis``.

    Raises:
        IndexError: An index is out of range.
        TypeError: ``indices`` are no integers.
        ValueError: There is no such axis.
    """
    x = as_variable(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = as_axis("take", axis, x.shape)
    indices = _integers("take", indices, x.data)
    return get_item(x, (slice(None),) * axis + (indices,))


def take_along_axis(x: ArrayLike, indices: Any, axis: int | None = -1) -> Variable:
    """One element for each index: ``y[i, j] = x[i, indices[i, j]]`` along axis 1.

    What ``argsort`` and ``argmax(keepdims=True)`` return fits as ``indices``.

    Args:
        x: Any shape.
        indices: Integers in as many axes as ``x`` has, which broadcast against ``x``
            along all axes but ``axis``. Negative ones count from the end.
        axis: The axis that ``indices`` refer to; with None, ``x`` is raveled first.

    Returns:
        Variable of the shape of ``indices`` (broadcast).

    Raises:
        IndexError: An index is out of range.
        TypeError: ``indices`` are no integers.
        ValueError: There is no such axis, or ``x`` and ``indices`` differ in their
            number.
    """
    x = as_variable(x)
    if axis is None:
        x, axis = ravel(x), 0
    axis = as_axis("take_along_axis", axis, x.shape)
    indices = _integers("take_along_axis", indices, x.data)
    if indices.ndim != x.ndim:
        raise ValueError(
            f"take_along_axis: expected indices of {x.ndim} axes, as x of shape "
            f"{x.shape} has, got shape {indices.shape}"
        )
    xp = cuda.get_array_module(x.data)
    index = []
    for i, n in enumerate(x.shape):
        along = tuple([-1 if j == i else 1 for j in range(x.ndim)])
        index.append(indices if i == axis else xp.arange(n).reshape(along))
    return get_item(x, tuple(index))


def _integers(function: str, indices: Any, x: Array) -> Array:
    """``indices`` as an array of integers in the library of ``x``."""
    if isinstance(indices, Variable):
        indices = indices.data
    xp = cuda.get_array_module(x)
    empty = isinstance(indices, (list, tuple)) and not len(indices)
    indices = xp.asarray(indices, dtype=np.intp if empty else None)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"{function}: expected integers, got dtype {indices.dtype}")
    return indices


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


# =============================================================================
# Tables of vectors
# =============================================================================


def _class_ids(function: str, ids: Any, n: int, x: Array) -> Array:
    """``ids`` as an array of integers in [0, n), in the library of ``x``."""
    ids = _integers(function, ids, x)
    if ids.size and not (0 <= ids.min() and ids.max() < n):
        wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
        raise IndexError(f"{function}: expected ids in [0, {n}), got {wrong}")
    return ids


def embed_id(x: ArrayLike, W: ArrayLike) -> Variable:
    """The rows of ``W`` that ``x`` names: ``y[i, j] = W[x[i, j]]``.

    The gradient of a row is the sum over all places where the row was looked up.

    Args:
        x: Integer ids, any shape (N, T, ...).
        W: The table, (V, D).

    Returns:
        Variable of shape (N, T, ..., D).

    Raises:
        IndexError: An id is not in [0, V).
        TypeError: The ids are no integers.
        ValueError: ``W`` has no axis.
    """
    W = as_variable(W)
    if not W.ndim:
        raise ValueError("embed_id: expected W of shape (V, D), got ()")
    return get_item(W, _class_ids("embed_id", x, len(W), W.data))


def one_hot(ids: ArrayLike, n: int, dtype: Any = np.float32) -> Variable:
    """A vector of length ``n`` for each id: 1 at the id, 0 elsewhere.

    Args:
        ids: Integers in [0, n), any shape (N, ...).
        n: The number of classes.
        dtype: The dtype of the result.

    Returns:
        Variable of shape (N, ..., n), a constant.

    Raises:
        IndexError: An id is not in [0, n).
        TypeError: The ids are no integers.
    """
    xp = cuda.get_array_module(ids)
    index = _class_ids("one_hot", ids, n, xp.empty(0))
    return as_variable((index[..., None] == xp.arange(n)).astype(dtype))
