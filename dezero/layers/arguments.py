"""What layers do with their arguments: check them, show them, make weights of them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dezero.cuda import Array
from dezero.functions.arguments import as_number
from dezero.layers.initializers import LeCunNormal

# Called with the shape of W, fan_in, fan_out and the array module; gives an array.
Initializer = Callable[[tuple[int, ...], int, int, Any], Array]


def as_size(layer: str, name: str, value: Any) -> int:
    """``value`` as an integer of at least 1.

    Raises:
        TypeError: It is no integer.
        ValueError: It is below 1.
    """
    try:
        size = operator.index(value)
    except TypeError:
        raise TypeError(
            f"{layer}: expected {name} to be an integer, got {type(value).__name__}"
        ) from None
    if size < 1:
        raise ValueError(f"{layer}: expected {name} to be at least 1, got {size}")
    return size


def as_size_or_none(layer: str, name: str, value: Any) -> int | None:
    """The same where None stands for a size that the first call tells."""
    return None if value is None else as_size(layer, name, value)


def as_floating(layer: str, dtype: Any) -> np.dtype:
    """``dtype`` as a floating dtype.

    Raises:
        TypeError: It is another one.
    """
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        raise TypeError(f"{layer}: expected a floating dtype, got {dtype}")
    return dtype


def as_ratio(layer: str, name: str, value: float) -> float:
    """``value`` as a number in [0, 1].

    Raises:
        TypeError: It is no number.
        ValueError: It is outside.
    """
    value = as_number(layer, name, value, low=0)
    if value > 1:
        raise ValueError(f"{layer}: expected {name} <= 1, got {value:g}")
    return value


def as_initializer(layer: str, initial_W: Any) -> Initializer:
    """``initial_W``, or what takes its place where it is None.

    Raises:
        TypeError: It cannot be called.
    """
    if initial_W is None:
        return LeCunNormal()
    if not callable(initial_W) or isinstance(initial_W, type):
        text = initial_W.__name__ if isinstance(initial_W, type) else repr(initial_W)
        raise TypeError(
            f"{layer}: expected initial_W to be an initializer such as HeNormal(), "
            f"got {text}"
        )
    return initial_W


def draw(
    layer: str,
    initial_W: Initializer,
    shape: tuple[int, ...],
    fan_in: int,
    fan_out: int,
    dtype: np.dtype,
    xp: Any,
) -> Array:
    """A new weight.

    Raises:
        ValueError: The initializer gave an array of another shape.
    """
    W = initial_W(shape, fan_in, fan_out, xp)
    if getattr(W, "shape", None) != shape:
        got = f"shape {W.shape}" if hasattr(W, "shape") else type(W).__name__
        raise ValueError(
            f"{layer}: expected initial_W to give an array of shape {shape}, got {got}"
        )
    return W.astype(dtype, copy=False)


def call_text(layer: Any, *args: Any, **options: tuple[Any, Any]) -> str:
    """How to make ``layer``: its class, arguments, and options that are no defaults.

    Each option is a pair (value, default).
    """
    parts = [str(a) for a in args]
    for name, (value, default) in options.items():
        if (value is None) != (default is None) or value != default:
            parts.append(f"{name}={value}")
    return f"{type(layer).__name__}({', '.join(parts)})"
