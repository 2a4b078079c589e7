"""Checks of what pictures are made of: arrays of any library, Variables, lists."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda


def as_array(function: str, name: str, x: Any) -> np.ndarray:
    """``x`` as a NumPy array of numbers; lists may hold Variables.

    Raises:
        TypeError: It has no numbers.
        ValueError: It is a list of unequal lists.
    """
    if isinstance(x, (list, tuple)):
        try:
            x = np.array([cuda.as_numpy(item) for item in x])
        except ValueError:
            raise ValueError(
                f"{function}: expected {name} to be an array, got a list whose parts "
                "have different shapes"
            ) from None
    x = cuda.as_numpy(x)
    if x.dtype.kind not in "fiub":
        got = "None" if x.dtype == object and x.ndim == 0 else f"dtype {x.dtype}"
        raise TypeError(f"{function}: expected {name} to hold numbers, got {got}")
    return x


def as_finite(function: str, name: str, x: Any) -> np.ndarray:
    """The same in double precision.

    Raises:
        TypeError: It has no numbers.
        ValueError: One is NaN or infinite, or there is none.
    """
    x = as_array(function, name, x).astype(np.float64)
    if not x.size:
        raise ValueError(f"{function}: expected {name} to hold numbers, got none")
    bad = int(x.size - np.isfinite(x).sum())
    if bad:
        raise ValueError(
            f"{function}: expected {name} to be finite, got {bad} of {x.size} numbers "
            "that are NaN or infinite"
        )
    return x


def as_labels(
    function: str, name: str, t: Any, classes: int | None = None
) -> np.ndarray:
    """Class ids (N,) as integers from 0, below ``classes`` if that is known.

    Raises:
        TypeError: They are no integers.
        ValueError: The shape is another, there are none, or one is out of range.
    """
    t = as_array(function, name, t)
    if t.dtype.kind == "f":
        raise TypeError(
            f"{function}: expected {name} to be integers, got {t.dtype}; class ids "
            f"stored as floats are {name}.astype(int)"
        )
    if t.ndim != 1 or not t.size:
        raise ValueError(
            f"{function}: expected {name} of shape (N,), got shape {t.shape}"
        )
    t = t.astype(np.int64)
    low, high = int(t.min()), int(t.max())
    if low < 0 or (classes is not None and high >= classes):
        bound = "0 or above" if classes is None else f"in [0, {classes})"
        raise ValueError(
            f"{function}: expected {name} {bound}, got {low if low < 0 else high}"
        )
    return t


def as_predictions(function: str, y: Any) -> tuple[np.ndarray, int | None]:
    """Class ids from ids (N,) or from scores (N, C); and C, of scores alone.

    Raises:
        TypeError: Ids are no integers.
        ValueError: The shape is another, or scores are NaN.
    """
    y = as_array(function, "y", y)
    if y.ndim == 2 and y.size and y.shape[1] > 1:
        if np.isnan(y).any():
            raise ValueError(f"{function}: expected y without NaN, got NaN among them")
        return y.argmax(axis=1), y.shape[1]
    if y.ndim != 1:
        raise ValueError(
            f"{function}: expected y to be class ids (N,) or scores (N, C) of two "
            f"classes or more, got shape {y.shape}"
        )
    return as_labels(function, "y", y), None


def as_names(
    function: str, name: str, names: Any, count: int | None = None
) -> list[str] | None:
    """A list of texts, or None.

    Raises:
        TypeError: It is one text, or no list.
        ValueError: There are not ``count`` of them.
    """
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, (Sequence, np.ndarray)):
        raise TypeError(
            f"{function}: expected {name} to be a list of texts, got "
            f"{type(names).__name__}"
        )
    if count is not None and len(names) != count:
        raise ValueError(
            f"{function}: expected {name} to have {count} texts, got {len(names)}"
        )
    return [str(text) for text in names]


def as_count(function: str, name: str, value: Any, low: int = 1) -> int:
    """An integer of at least ``low``.

    Raises:
        TypeError: It is no integer.
        ValueError: It is below.
    """
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{function}: expected {name} to be an integer, got {type(value).__name__}"
        ) from None
    if count < low:
        raise ValueError(f"{function}: expected {name} >= {low}, got {count}")
    return count
