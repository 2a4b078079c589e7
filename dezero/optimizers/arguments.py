"""Checks of the numbers that optimizers, hooks and schedules are given."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np


def check_number(
    owner: object, name: str, value: Any, low: float = 0.0, high: float = math.inf
) -> float:
    """``value`` if it is a number in [low, high).

    Raises:
        TypeError: It is no number.
        ValueError: It is outside, or not a number in the sense of NaN.
    """
    kind = type(owner).__name__
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        several = isinstance(value, Iterable) and not isinstance(value, str)
        is_target = several or hasattr(value, "params")
        hint = "; parameters are given to setup" if is_target else ""
        raise TypeError(
            f"{kind}: expected {name} to be a number, got {type(value).__name__}{hint}"
        )
    if not low <= value < high:
        raise ValueError(f"{kind}: expected {name} in [{low:g}, {high:g}), got {value}")
    return float(value)


def check_count(owner: object, name: str, value: Any, low: int = 1) -> int:
    """``value`` if it is an integer of at least ``low``.

    Raises:
        TypeError: It is no integer.
        ValueError: It is below.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(
            f"{type(owner).__name__}: expected {name} to be an integer, "
            f"got {type(value).__name__}"
        )
    if value < low:
        raise ValueError(
            f"{type(owner).__name__}: expected {name} of at least {low}, got {value}"
        )
    return int(value)
