"""What one comparison is made of, and the random arrays that go into it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import dezero.functions as F

RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    """The same function in both libraries, on the same arrays."""

    function: str  # its name in F.__all__
    options: str  # shapes and options, to be printed
    peer: str  # what torch calls it, or how it is put together there
    inputs: Sequence[np.ndarray]  # what to differentiate by, unless order is 0
    ours: Callable[..., Any]
    theirs: Callable[..., Any]
    order: int  # 2: gradients and their derivatives; 1: gradients; 0: values alone


def case(
    function: str,
    peer: str,
    *inputs: np.ndarray,
    ours: Mapping[str, Any] | None = None,
    theirs: Mapping[str, Any] | None = None,
    as_ours: Callable[..., Any] | None = None,
    as_theirs: Callable[..., Any] | None = None,
    note: str = "",
    order: int = 2,
) -> Case:
    """One comparison.

    Args:
        function: A name in ``F.__all__``.
        peer: A name below ``torch``; with ``as_theirs`` any text that says what it is.
        inputs: Arrays for the differentiable arguments.
        ours: Keyword arguments of our side.
        theirs: Keyword arguments of the other side; arrays become tensors.
        as_ours: Called instead of ``F.<function>``, where the arguments differ.
        as_theirs: Called instead of ``torch.<peer>``, likewise.
        note: What ``as_ours`` fixes, to be printed beside the options.
        order: 1 where torch has no second derivative, 0 where there is no gradient.
    """
    arrays = [np.asarray(x) for x in inputs]  # NumPy makes numbers of 0-d results
    options = dict(ours or {})
    peer_options = {k: as_tensor(v) for k, v in (theirs or {}).items()}
    return Case(
        function,
        _describe(arrays, options, note),
        peer,
        arrays,
        # Looked up by name when called: a missing one is then an error of its row.
        lambda *xs: (as_ours or getattr(F, function))(*xs, **options),
        lambda *xs: (as_theirs or _peer(peer))(*xs, **peer_options),
        order,
    )


def as_tensor(value: Any) -> Any:
    """An array as a tensor that shares nothing with it; anything else as it is."""
    return torch.tensor(value) if isinstance(value, np.ndarray) else value


def _peer(name: str) -> Callable[..., Any]:
    return functools.reduce(getattr, name.split("."), torch)


def _describe(inputs: Sequence[Any], options: Mapping[str, Any], note: str) -> str:
    shapes = " ".join([_text(x.shape) for x in inputs])
    keywords = [f"{name}={_text(value)}" for name, value in options.items()]
    return ", ".join([text for text in (shapes, note, *keywords) if text])


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype.kind}{_text(value.shape)}"
    if isinstance(value, slice):
        parts = ["" if v is None else str(v) for v in (value.start, value.stop)]
        return ":".join([*parts, *([] if value.step is None else [str(value.step)])])
    if isinstance(value, (tuple, list)):
        return "(" + ",".join([_text(v) for v in value]) + ")"
    return "..." if value is Ellipsis else str(value)


# =============================================================================
# Random arrays
# =============================================================================


def normal(*shape: int) -> np.ndarray:
    """Numbers of both signs around 0."""
    return RNG.standard_normal(shape)


def uniform(low: float, high: float, *shape: int) -> np.ndarray:
    """Numbers in [low, high)."""
    return RNG.uniform(low, high, shape)


def positive(*shape: int) -> np.ndarray:
    """Numbers in [0.2, 3)."""
    return uniform(0.2, 3, *shape)


def integers(high: int, *shape: int) -> np.ndarray:
    """Integers in [0, high), some of them several times."""
    return RNG.integers(0, high, shape)


def booleans(*shape: int) -> np.ndarray:
    """True in about two thirds of the places."""
    return RNG.random(shape) < 0.67


def with_ties(*shape: int) -> np.ndarray:
    """Few different numbers, so that the greatest is there more than once."""
    return RNG.integers(-2, 3, shape).astype(float)
