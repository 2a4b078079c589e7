"""One array put together from several, and several cut out of one."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.dtypes import as_variables
from dezero.functions.shape import as_axis, as_shape, ravel, reshape

__all__ = [
    "Concatenate",
    "Split",
    "Stack",
    "concatenate",
    "hstack",
    "split",
    "stack",
    "vstack",
]

# =============================================================================
# concatenate and split: each is the other's backward
# =============================================================================


class Concatenate(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, axis):
        self.axis = axis

    def forward(self, *xs):
        xp = cuda.get_array_module(xs[0])
        self.bounds = np.cumsum([x.shape[self.axis] for x in xs])[:-1].tolist()
        return xp.concatenate(xs, axis=self.axis)

    def backward(self, gy):
        return split(gy, self.bounds, self.axis)


def concatenate(xs: Iterable[ArrayLike], axis: int | None = 0) -> Variable:
    """Join arrays along an axis that they have.

    Args:
        xs: At least one array; shapes equal but along ``axis``.
        axis: The axis to join along; with None, every array is raveled first.

    Returns:
        Variable whose size along ``axis`` is the sum of the sizes of ``xs``.

    Raises:
        TypeError: ``xs`` is no sequence of arrays.
        ValueError: There is no array or no such axis, or the shapes do not fit.
    """
    arrays = _arrays("concatenate", xs)
    if axis is None:
        arrays, axis = [ravel(x) for x in arrays], 0
    return _concatenate("concatenate", arrays, axis)


def _concatenate(function: str, xs: list[Variable], axis: int) -> Variable:
    i = as_axis(function, axis, xs[0].shape)
    shapes = [x.shape for x in xs]
    if len({(*shape[:i], None, *shape[i + 1 :]) for shape in shapes}) > 1:
        raise ValueError(
            f"{function}: expected shapes equal but along axis {axis}, "
            f"got {_list(shapes)}"
        )
    return Concatenate(i)(*xs)


def _arrays(function: str, xs: Iterable[ArrayLike]) -> list[Variable]:
    """``xs`` as Variables; numbers take the dtype that the other arrays ask for."""
    try:
        given = tuple(xs)
    except TypeError:
        raise TypeError(
            f"{function}: expected a sequence of arrays, got {type(xs).__name__}"
        ) from None
    if not given:
        raise ValueError(f"{function}: expected at least one array, got none")
    return as_variables(*given)


def _list(shapes: Iterable[tuple[int, ...]]) -> str:
    return ", ".join(map(str, shapes))


class Split(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, bounds, axis):
        self.bounds = bounds
        self.axis = axis

    def forward(self, x):
        whole = (slice(None),) * self.axis
        bounds = [0, *self.bounds, x.shape[self.axis]]
        return tuple([x[(*whole, slice(i, j))] for i, j in pairwise(bounds)])

    def backward(self, *gys):
        return concatenate(gys, self.axis)


def split(
    x: ArrayLike, indices_or_sections: int | Sequence[int], axis: int = 0
) -> tuple[Variable, ...]:
    """Cut an array along one axis.

    Args:
        x: At least one axis.
        indices_or_sections: How many parts of equal size, or where to cut:
            ``[2, 5]`` gives ``x[:2]``, ``x[2:5]`` and ``x[5:]``.
        axis: The axis to cut.

    Returns:
        Tuple of Variables with views of the data.

    Raises:
        TypeError: ``indices_or_sections`` is no integer or sequence of them.
        ValueError: The parts would not be of equal size, the places to cut do not
            rise, or there is no such axis.
    """
    x = as_variable(x)
    axis = as_axis("split", axis, x.shape)
    n = x.shape[axis]
    if isinstance(indices_or_sections, (int, np.integer)):
        parts = int(indices_or_sections)
        if parts < 1 or n % parts:
            raise ValueError(
                f"split: expected a number of parts that divides the size {n} of axis "
                f"{axis}, got {parts} for x of shape {x.shape}"
            )
        bounds = [i * (n // parts) for i in range(1, parts)]
    else:
        places: Any = indices_or_sections
        given = as_shape("split", list(places) if np.ndim(places) else places)
        bounds = [min(max(i + n if i < 0 else i, 0), n) for i in given]
        if any([i > j for i, j in pairwise(bounds)]):
            raise ValueError(
                f"split: expected rising places to cut an axis of size {n}, got {given}"
            )
    parts_of_x = Split(bounds, axis)(x)
    return parts_of_x if isinstance(parts_of_x, tuple) else (parts_of_x,)


# =============================================================================
# A new axis
# =============================================================================


class Stack(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, axis):
        self.axis = axis

    def forward(self, *xs):
        xp = cuda.get_array_module(xs[0])
        self.x_shape = xs[0].shape
        self.count = len(xs)
        return xp.stack(xs, axis=self.axis)

    def backward(self, gy):
        gxs = split(gy, self.count, self.axis)
        return tuple([reshape(gx, self.x_shape) for gx in gxs])


def stack(xs: Iterable[ArrayLike], axis: int = 0) -> Variable:
    """Join arrays of one shape along a new axis.

    Args:
        xs: At least one array; all of one shape.
        axis: Where the new axis stands in the result; -1 is the last.

    Returns:
        Variable of one axis more, of size ``len(xs)``.

    Raises:
        TypeError: ``xs`` is no sequence of arrays.
        ValueError: There is no array or no such axis, or the shapes differ.
    """
    arrays = _arrays("stack", xs)
    shapes = [x.shape for x in arrays]
    if len(set(shapes)) > 1:
        raise ValueError(f"stack: expected arrays of one shape, got {_list(shapes)}")
    return Stack(as_axis("stack", axis, (len(arrays), *shapes[0])))(*arrays)


def vstack(xs: Iterable[ArrayLike]) -> Variable:
    """Join arrays as rows: along the first axis, after ``(n,)`` has become ``(1, n)``.

    Args:
        xs: At least one array; shapes equal but along the first axis.

    Returns:
        Variable of at least two axes.

    Raises:
        ValueError: There is no array, or the shapes do not fit.
    """
    arrays = [
        reshape(x, (1, x.size)) if x.ndim < 2 else x for x in _arrays("vstack", xs)
    ]
    return _concatenate("vstack", arrays, 0)


def hstack(xs: Iterable[ArrayLike]) -> Variable:
    """Join arrays side by side: along the second axis, those of one axis along that.

    Args:
        xs: At least one array; shapes equal but along that axis. A 0-d one counts
            as ``(1,)``.

    Returns:
        Variable of at least one axis.

    Raises:
        ValueError: There is no array, or the shapes do not fit.
    """
    arrays = [x if x.ndim else ravel(x) for x in _arrays("hstack", xs)]
    return _concatenate("hstack", arrays, 0 if arrays[0].ndim == 1 else 1)
