"""Hypothesis strategies for arrays to test functions on: shapes, values and layouts.

Every array is float64 and its values lie on a grid across the interval asked for: a
coarse one, so that zeros, ties and both ends come up often, or a fine one. None is so
small that a finite difference fails. Shapes shrink. Some arrays are transposed,
reversed or strided views.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

Shape = tuple[int, ...]
Factory = Callable[..., SearchStrategy[np.ndarray]]

LAYOUTS = ("contiguous", "transposed", "reversed", "strided")


def shapes(
    min_dims: int = 0, max_dims: int = 3, min_side: int = 1, max_side: int = 4
) -> SearchStrategy[Shape]:
    """Shapes of ``min_dims`` to ``max_dims`` axes of ``min_side`` to ``max_side`` each.

    ``min_side=0`` allows empty arrays, ``min_dims=0`` allows 0-d ones.
    """
    return st.sampled_from(_shape_table(min_dims, max_dims, min_side, max_side))


def arrays(
    shape: Shape | None = None,
    min_dims: int = 0,
    max_dims: int = 3,
    min_side: int = 1,
    max_side: int = 4,
    low: float = -2.0,
    high: float = 2.0,
    unique: bool = False,
) -> SearchStrategy[np.ndarray]:
    """Arrays with elements in [low, high].

    Args:
        shape: A fixed shape; by default it is drawn, see :func:`shapes`.
        min_dims: Fewest axes of a drawn shape.
        max_dims: Most axes of a drawn shape.
        min_side: Smallest size of a drawn axis.
        max_side: Largest size of a drawn axis.
        low: Least element.
        high: Greatest element.
        unique: Keep all elements well apart, for functions with kinks at ties.
    """

    def elements(rng: np.random.RandomState, grid: int, size: int) -> np.ndarray:
        return low + (high - low) * _fractions(rng, grid, size, unique)

    return _build(shape, (min_dims, max_dims, min_side, max_side), elements)


def between(low: float, high: float, **kwargs: Any) -> SearchStrategy[np.ndarray]:
    """As :func:`arrays`, with elements in [low, high]."""
    return arrays(low=low, high=high, **kwargs)


def positive(
    low: float = 0.2, high: float = 3.0, **kwargs: Any
) -> SearchStrategy[np.ndarray]:
    """As :func:`arrays`, with elements above zero: in [0.2, 3]."""
    return arrays(low=low, high=high, **kwargs)


def away_from_zero(
    shape: Shape | None = None,
    min_dims: int = 0,
    max_dims: int = 3,
    min_side: int = 1,
    max_side: int = 4,
    low: float = 0.2,
    high: float = 2.0,
    unique: bool = False,
) -> SearchStrategy[np.ndarray]:
    """As :func:`arrays`, with elements of both signs and a magnitude in [low, high].

    With ``unique`` the magnitudes differ too.
    """

    def elements(rng: np.random.RandomState, grid: int, size: int) -> np.ndarray:
        sizes = low + (high - low) * _fractions(rng, grid, size, unique)
        return sizes * rng.choice([-1.0, 1.0], size)

    return _build(shape, (min_dims, max_dims, min_side, max_side), elements)


def same_shape(
    n: int,
    elements: Factory | tuple[Factory, ...] = arrays,
    unique: bool = False,
    **sides: int,
) -> SearchStrategy[tuple[np.ndarray, ...]]:
    """Tuples of ``n`` arrays of one shape.

    Args:
        n: How many arrays.
        elements: Makes the strategy of one array, given ``shape=``; or ``n`` such.
        unique: Keep the elements of all ``n`` arrays apart from each other.
        **sides: As in :func:`shapes`.
    """
    return _together(shapes(**sides).map(lambda shape: (shape,) * n), elements, unique)


def broadcastable(
    n: int,
    elements: Factory | tuple[Factory, ...] = arrays,
    unique: bool = False,
    **sides: int,
) -> SearchStrategy[tuple[np.ndarray, ...]]:
    """Tuples of ``n`` arrays whose shapes broadcast against each other.

    Args:
        n: How many arrays.
        elements: Makes the strategy of one array, given ``shape=``; or ``n`` such.
        unique: Keep the elements of all ``n`` arrays apart from each other.
        **sides: As in :func:`shapes`, for the shape they broadcast to.
    """

    def narrowed(drawn: tuple[Shape, int]) -> tuple[Shape, ...]:
        full, code = drawn
        rng = np.random.RandomState(code)
        return tuple([_narrower(full, rng) if code else full for _ in range(n)])

    drawn = st.tuples(shapes(**sides), _seeds).map(narrowed)
    return _together(drawn, elements, unique)


def axis(x: np.ndarray, *others: np.ndarray) -> SearchStrategy[dict[str, Any]]:
    """Options ``{"axis": i}``, an axis of ``x`` counted from either end; {} if 0-d."""
    return _axis(x.ndim)


def axes(x: np.ndarray, *others: np.ndarray) -> SearchStrategy[dict[str, Any]]:
    """Options of a transposition: ``axes``, an order of all axes of ``x``, or None.

    Axes are counted from either end.
    """
    ndim = x.ndim
    orders = st.tuples(st.permutations(range(ndim)), st.booleans()).map(
        lambda drawn: tuple([i - ndim if drawn[1] else i for i in drawn[0]])
    )
    return st.fixed_dictionaries({"axes": st.one_of(st.none(), orders)})


def axis_and_keepdims(
    x: np.ndarray, *others: np.ndarray
) -> SearchStrategy[dict[str, Any]]:
    """Options of a reduction: ``axis`` (None, one or a tuple) and ``keepdims``."""
    return _axis_and_keepdims(x.ndim)


def integers_below(n: int, shape: Shape = ()) -> SearchStrategy[np.ndarray]:
    """Integer arrays of ``shape`` with elements in [0, n): class ids, indices."""
    return _seeds.map(lambda seed: np.random.RandomState(seed).randint(0, n, shape))


def masks(shape: Shape = ()) -> SearchStrategy[np.ndarray]:
    """Boolean arrays of ``shape``."""
    return integers_below(2, shape).map(lambda bits: np.asarray(bits == 1))


def with_layout(x: np.ndarray, layout: str) -> np.ndarray:
    """A copy of ``x`` whose memory is laid out as one of ``LAYOUTS`` says.

    Raises:
        ValueError: There is no such layout.
    """
    if layout not in LAYOUTS:
        raise ValueError(f"with_layout: expected one of {LAYOUTS}, got {layout!r}")
    if layout == "transposed":
        return np.array(x.T, order="C").T
    if layout == "contiguous" or x.ndim == 0:
        return np.array(x, order="C")
    if layout == "reversed":
        return np.array(x[..., ::-1], order="C")[..., ::-1]
    wide = np.repeat(x, 2, axis=-1)
    return wide[..., ::2]


# =============================================================================
# How values are drawn
# =============================================================================

# Values come from a seed, one draw however large the array: Hypothesis's time goes by
# the number of draws, and shrinking helps with shapes and options only.
_seeds = st.sampled_from(range(256))

# Numbers of intervals. Both have a point in the middle (zero, in a symmetric interval);
# 192 has thirds, which are no exact binary fractions.
_GRIDS = (192, 8)

Elements = Callable[[np.random.RandomState, int, int], np.ndarray]


def _fractions(
    rng: np.random.RandomState, grid: int, size: int, unique: bool
) -> np.ndarray:
    """Numbers in [0, 1], on a grid of points; all different if ``unique``."""
    if unique:
        return (rng.permutation(size) + 0.5) / max(size, 1)
    return rng.randint(0, grid + 1, size) / grid


def _build(
    shape: Shape | None, sides: tuple[int, int, int, int], elements: Elements
) -> SearchStrategy[np.ndarray]:
    def build(drawn: tuple[Shape, int]) -> np.ndarray:
        shape, seed = drawn
        rng = np.random.RandomState(seed)
        grid = _GRIDS[rng.randint(len(_GRIDS))]
        layout = LAYOUTS[rng.randint(len(LAYOUTS))]
        return with_layout(elements(rng, grid, math.prod(shape)).reshape(shape), layout)

    drawn_shape = shapes(*sides) if shape is None else st.just(shape)
    return st.tuples(drawn_shape, _seeds).map(build)


_PER_NDIM = 64


@functools.lru_cache
def _shape_table(
    min_dims: int, max_dims: int, min_side: int, max_side: int
) -> list[Shape]:
    """Shapes to choose from, simplest first, as many of each number of axes.

    Choosing a shape is one draw from a short list. Hypothesis likes to repeat what it
    drew before, and small numbers in a long range: drawing axis by axis would give few
    different shapes.
    """
    table: list[Shape] = []
    for ndim in range(min_dims, max_dims + 1):
        count = (max_side - min_side + 1) ** ndim
        some: Sequence[int] = range(count)
        if count > _PER_NDIM:
            rng = np.random.RandomState(ndim)
            some = [0, *sorted(rng.choice(count, _PER_NDIM - 1, replace=False))]
        for code in some:
            sizes = np.unravel_index(code, (max_side - min_side + 1,) * ndim)
            shape = tuple([min_side + int(n) for n in sizes])
            table += [shape] * max(1, min(_PER_NDIM // count, _PER_NDIM // 4))
    return table


def _narrower(full: Shape, rng: np.random.RandomState) -> Shape:
    """A shape that broadcasts to ``full``: leading axes dropped, others of size 1."""
    ones = rng.randint(0, 2, len(full))
    lead = rng.randint(0, len(full) + 1) if rng.randint(0, 2) else 0
    return tuple([1 if one else n for one, n in zip(ones, full, strict=True)][lead:])


@st.composite
def _together(
    draw: Callable[[SearchStrategy], Any],
    several: SearchStrategy[tuple[Shape, ...]],
    elements: Factory | tuple[Factory, ...],
    unique: bool,
) -> tuple[np.ndarray, ...]:
    drawn = draw(several)
    makers = elements if isinstance(elements, tuple) else (elements,) * len(drawn)
    if not unique:
        pairs = zip(makers, drawn, strict=True)
        return tuple([draw(_of_shape(make, shape)) for make, shape in pairs])
    # One long array with distinct elements, cut into the shapes.
    sizes = [math.prod(shape) for shape in drawn]
    flat = draw(makers[0](shape=(sum(sizes),), unique=True))
    layout = draw(st.sampled_from(LAYOUTS))
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return tuple(
        [
            with_layout(part.reshape(shape), layout)
            for part, shape in zip(parts, drawn, strict=True)
        ]
    )


# Making a strategy costs more than drawing from it.


@functools.lru_cache(maxsize=4096)
def _of_shape(make: Factory, shape: Shape) -> SearchStrategy[np.ndarray]:
    return make(shape=shape)


@functools.lru_cache
def _axis(ndim: int) -> SearchStrategy[dict[str, Any]]:
    if ndim == 0:
        return st.just({})
    return st.fixed_dictionaries({"axis": st.integers(-ndim, ndim - 1)})


@functools.lru_cache
def _axis_and_keepdims(ndim: int) -> SearchStrategy[dict[str, Any]]:
    choices: list[SearchStrategy] = [st.none()]
    if ndim > 0:
        one = st.integers(-ndim, ndim - 1)
        choices.append(one)
        several = st.lists(one, min_size=1, unique_by=lambda i: i % ndim)
        choices.append(several.map(tuple))
    return st.fixed_dictionaries(
        {"axis": st.one_of(choices), "keepdims": st.booleans()}
    )
