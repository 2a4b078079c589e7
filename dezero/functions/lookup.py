"""Elements and rows looked up by integers: along an axis, or in a table of vectors."""

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array
from dezero.functions.dtypes import as_dtype, wide_dtype
from dezero.functions.indexing import get_item
from dezero.functions.shape import as_axis, as_integer, ravel
from dezero.kernels import lookup as kernels

__all__ = [
    "embed_id",
    "one_hot",
    "take",
    "take_along_axis",
]

# =============================================================================
# Along an axis
# =============================================================================


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
            number, or they do not broadcast.
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
    fits = [n == m or 1 in (n, m) for n, m in zip(x.shape, indices.shape, strict=True)]
    if not all(fits[:axis] + fits[axis + 1 :]):
        raise ValueError(
            f"take_along_axis: expected indices that broadcast against x of shape "
            f"{x.shape} along all axes but {axis}, got shape {indices.shape}"
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
    if not cuda.is_array(indices):
        indices = np.asarray(indices, dtype=np.intp if empty else None)
    if isinstance(indices, np.ndarray):
        indices = cuda.constant(indices, xp)
    if cuda.get_array_module(indices) is not xp:
        cuda.check_one_device(function, (x, indices))
    if indices.dtype.kind not in "iu":
        raise TypeError(f"{function}: expected integers, got dtype {indices.dtype}")
    return indices


# =============================================================================
# Tables of vectors
# =============================================================================


def _class_ids(function: str, ids: Any, n: int, x: Array) -> Array:
    """``ids`` as an array of integers in the library of ``x``, in [0, n) on a CPU.

    To look at them, a GPU would have to be waited for.
    """
    ids = _integers(function, ids, x)
    if (
        isinstance(ids, np.ndarray)
        and ids.size
        and not (0 <= ids.min() and ids.max() < n)
    ):
        wrong = int(ids.min()) if ids.min() < 0 else int(ids.max())
        raise IndexError(f"{function}: expected ids in [0, {n}), got {wrong}")
    return ids


class LookUp(Function):
    """Rows of W as :func:`embed_id` looks them up on a GPU."""

    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, ids, missing=np.nan):
        self.ids = ids
        self.missing = missing  # instead of a row that there is not

    def forward(self, W):
        xp = cuda.get_array_module(W)
        self.shape, D = W.shape, math.prod(W.shape[1:])
        y = xp.empty((self.ids.size, D), W.dtype)
        W, rows = xp.ascontiguousarray(W), self.ids.reshape(-1, 1)
        kernels.look_up(W, rows, len(W), D, self.missing, y)
        return y.reshape(self.ids.shape + self.shape[1:])

    def backward(self, gy):
        return LookUpGrad(self.ids, self.shape)(gy)


class LookUpGrad(Function):
    """Add what has been looked up to its rows."""

    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, ids, shape):
        self.ids = ids
        self.shape = shape

    def forward(self, gy):
        xp = cuda.get_array_module(gy)
        V, D = self.shape[0], math.prod(self.shape[1:])
        gy = gy.reshape(self.ids.size, D)
        gW = xp.zeros((V, D), wide_dtype(gy))
        kernels.add_rows(gy, self.ids.reshape(-1, 1), V, D, gW)
        return gW.reshape(self.shape).astype(gy.dtype, copy=False)

    def backward(self, ggW):
        return LookUp(self.ids, 0.0)(ggW)


def embed_id(x: ArrayLike, W: ArrayLike) -> Variable:
    """The rows of ``W`` that ``x`` names: ``y[i, j] = W[x[i, j]]``.

    The gradient of a row is the sum over all places where the row was looked up.

    Args:
        x: Integer ids, any shape (N, T, ...).
        W: The table, (V, D).

    Returns:
        Variable of shape (N, T, ..., D).

    Raises:
        IndexError: An id is not in [0, V). On a GPU, which would have to be waited for,
            its row is NaN instead.
        TypeError: The ids are no integers.
        ValueError: ``W`` has no axis.
    """
    W = as_variable(W)
    if not W.ndim:
        raise ValueError("embed_id: expected W of shape (V, D), got ()")
    ids = _class_ids("embed_id", x, len(W), W.data)
    if isinstance(ids, np.ndarray) or W.dtype.kind != "f":
        return get_item(W, ids)
    return LookUp(ids)(W)


def one_hot(ids: ArrayLike, n: int, dtype: Any = np.float32) -> Variable:
    """A vector of length ``n`` for each id: 1 at the id, 0 elsewhere.

    Args:
        ids: Integers in [0, n), any shape (N, ...).
        n: The number of classes.
        dtype: The dtype of the result.

    Returns:
        Variable of shape (N, ..., n), a constant.

    Raises:
        IndexError: An id is not in [0, n). On a GPU, which would have to be waited for,
            its vector is NaN instead.
        TypeError: The ids or ``n`` are no integers, or ``dtype`` is no such dtype.
        ValueError: ``n`` is negative.
    """
    n = as_integer("one_hot", "n", n)
    if n < 0:
        raise ValueError(f"one_hot: expected n >= 0, got {n}")
    dtype = as_dtype("one_hot", dtype)
    xp = cuda.get_array_module(ids)
    index = _class_ids("one_hot", ids, n, xp.empty(0))
    if isinstance(index, np.ndarray):
        return as_variable((index[..., None] == xp.arange(n)).astype(dtype))
    y = xp.empty((*index.shape, n), dtype)
    missing = np.nan if dtype.kind == "f" else 0.0
    return as_variable(kernels.one_hot(index[..., None], n, missing, y))
