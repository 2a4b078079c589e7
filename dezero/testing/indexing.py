"""Hypothesis strategies for index expressions: what may stand in ``x[...]``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from dezero.testing.strategies import integers_below, masks

Draw = Callable[[SearchStrategy], Any]


def slices_of(n: int) -> SearchStrategy[slice]:
    """Slices of an axis of size ``n``: both ends anywhere, steps of both signs."""
    ends = st.one_of(st.none(), st.integers(-n - 1, n + 1))
    return st.builds(slice, ends, ends, st.sampled_from([None, 1, 2, -1, -2]))


def indices(shape: tuple[int, ...]) -> SearchStrategy[Any]:
    """Index expressions of every kind for an array of ``shape``: the three below."""
    kinds = [basic_indices(shape)]
    if shape and 0 not in shape:
        kinds += [array_indices(shape), mask_indices(shape)]
    return st.one_of(kinds)


@st.composite
def basic_indices(draw: Draw, shape: tuple[int, ...]) -> Any:
    """Integers, slices, ``None`` and ``...``: what gives a view.

    For some of the axes in front; integers from either end, slices with steps of both
    signs.
    """
    parts: list[Any] = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        several = slices_of(n)
        parts.append(draw(st.one_of(st.integers(-n, n - 1), several) if n else several))
    return _with_extras(draw, parts)


@st.composite
def array_indices(draw: Draw, shape: tuple[int, ...]) -> Any:
    """Arrays and lists of integers that broadcast, between slices and integers.

    Places come up several times, and negative ones as well; some arrays are empty. For
    shapes of one axis or more, none of size 0.
    """
    size = draw(st.sampled_from([(3,), (2, 3), (1,), (0,)]))
    parts: list[Any] = []
    for n in shape[: draw(st.integers(1, len(shape)))]:
        wide = integers_below(n, size[draw(st.integers(0, len(size) - 1)) :])
        some = wide.map(functools.partial(_some_from_the_end, n))
        one, several = st.integers(-n, n - 1), slices_of(n)
        parts.append(draw(st.one_of(some, some.map(np.ndarray.tolist), one, several)))
    return _with_extras(draw, parts)


@st.composite
def mask_indices(draw: Draw, shape: tuple[int, ...]) -> Any:
    """A boolean mask over some axes in front, alone or beside a slice.

    For shapes of one axis or more.
    """
    lead = draw(st.integers(1, len(shape)))
    mask = draw(masks(shape[:lead]))
    if lead < len(shape) and draw(st.booleans()):
        return mask, draw(slices_of(shape[lead]))
    return mask


def _with_extras(draw: Draw, parts: list[Any]) -> Any:
    """The parts with a new axis somewhere and ``...`` at the end, or without them."""
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), None)
    if draw(st.booleans()):
        parts.append(...)
    return parts[0] if len(parts) == 1 else tuple(parts)


def _some_from_the_end(n: int, ids: np.ndarray) -> np.ndarray:
    """The same places of an axis of size ``n``; odd ones counted from its end."""
    return ids - n * (ids % 2)
