"""The same values in another dtype."""

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.cuda import Array

__all__ = [
    "Cast",
    "cast",
]

# =============================================================================
# On plain arrays, for what computes in another dtype than its own
# =============================================================================


def as_floating(x: Array) -> Array:
    """``x``; integers as float64, for an unsigned one has no negative."""
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def wide(x: Array) -> Array:
    """``x``, half precision made single: sums of squares overflow beyond 65504."""
    return x.astype(np.float32) if x.dtype.char == "e" else x


def wide_dtype(x: Array) -> np.dtype:
    """The dtype of :func:`wide` of ``x``."""
    return np.dtype(np.float32) if x.dtype.char == "e" else x.dtype


def working_dtypes(*arrays: Any) -> tuple[np.dtype, np.dtype]:
    """The dtype of a result, and that to compute in, single precision for half.

    Args:
        *arrays: Arrays or Variables; those that are None do not count. Integers and
            booleans alone make double precision, however short they are.
    """
    dtype = np.result_type(*[a.dtype for a in arrays if a is not None])
    if dtype.kind != "f":
        dtype = np.dtype(np.float64)
    return dtype, np.dtype(np.float32) if dtype.char == "e" else dtype


def sum_dtype(x: Array) -> type | None:
    """The dtype to add up in: single precision for half, else (None) that of ``x``."""
    return np.float32 if x.dtype.char == "e" else None


# =============================================================================
# On Variables
# =============================================================================


def as_dtype(function: str, dtype: Any) -> np.dtype:
    """``dtype``, or what names one, as a dtype of booleans, integers or floats.

    Raises:
        TypeError: It is none of these; None, which NumPy takes for float64, neither.
    """
    try:
        result = None if dtype is None else np.dtype(dtype)
    except TypeError:
        result = None
    if result is None or result.kind not in "fiub":
        raise TypeError(
            f"{function}: expected a dtype of booleans, integers or floats, "
            f"got {dtype!r}"
        )
    return result


def as_variables(*xs: ArrayLike) -> list[Variable]:
    """All as Variables; a number takes the dtype that the arrays beside it ask for."""
    arrays = [x for x in xs if cuda.is_array(x) or isinstance(x, Variable)]
    dtypes = [x.dtype for x in arrays]
    result = []
    for x in xs:
        if isinstance(x, np.generic):
            x = x.item()
        if isinstance(x, (bool, int, float)) and arrays:
            xp = cuda.get_array_module(arrays[0])
            x = xp.asarray(x, dtype=np.result_type(*dtypes, x))
        result.append(as_variable(x))
    return result


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
    dtype = as_dtype("cast", dtype)
    if x.dtype == dtype:
        return x
    if dtype.kind == "b" or (dtype.kind != "f" and x.dtype.kind == "f"):
        return as_variable(x.data.astype(dtype))
    return Cast(dtype)(x)
