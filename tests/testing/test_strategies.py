"""Do the strategies reach every shape, value and layout that they promise?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dezero.testing import (
    arrays,
    away_from_zero,
    axis,
    axis_and_keepdims,
    between,
    broadcastable,
    integers_below,
    masks,
    positive,
    same_shape,
    shapes,
)
from dezero.testing.strategies import LAYOUTS, with_layout


def drawn(strategy, n=150):
    """Examples of a strategy, the same in every run."""
    found = []

    @settings(max_examples=n, database=None, derandomize=True)
    @given(strategy)
    def collect(x):
        found.append(x)

    collect()
    return found


def test_arrays_are_float64_in_range():
    for x in drawn(arrays(low=-1.0, high=3.0)):
        assert x.dtype == np.float64
        assert x.ndim <= 3
        assert all(1 <= n <= 4 for n in x.shape)
        assert ((x >= -1) & (x <= 3)).all()


def test_arrays_reach_every_rank_zeros_ends_and_ties():
    found = drawn(arrays())
    assert {x.ndim for x in found} == {0, 1, 2, 3}
    values = np.concatenate([x.ravel() for x in found])
    assert {0.0, -2.0, 2.0} <= set(values)
    assert any(len(np.unique(x)) < x.size for x in found)
    small = abs(values[values != 0])
    assert small.min() > 1e-3


def test_arrays_reach_every_layout():
    found = [x for x in drawn(arrays(shape=(3, 4)))]
    assert any(x.flags.c_contiguous for x in found)
    assert any(x.flags.f_contiguous for x in found)
    assert any(x.strides[-1] < 0 for x in found)
    assert any(x.strides[-1] > x.itemsize and not x.flags.forc for x in found)
    assert all(x.flags.writeable for x in found)


def test_arrays_of_a_fixed_shape():
    assert {x.shape for x in drawn(arrays(shape=(2, 0, 3)), 20)} == {(2, 0, 3)}
    assert {x.shape for x in drawn(arrays(shape=()), 20)} == {()}


def test_empty_arrays_on_request():
    found = drawn(arrays(min_side=0))
    assert any(x.size == 0 for x in found)
    assert any(x.size > 1 for x in found)
    assert all(x.size for x in drawn(arrays()))


def test_unique_arrays_keep_apart():
    for x in drawn(arrays(unique=True)) + drawn(away_from_zero(unique=True)):
        gaps = np.diff(np.sort(x.ravel()))
        assert gaps.min(initial=1.0) > 0.02


def test_positive_between_and_away_from_zero():
    assert all(((x >= 0.2) & (x <= 3)).all() for x in drawn(positive()))
    assert all(((x >= 5) & (x <= 6)).all() for x in drawn(between(5, 6)))
    found = drawn(away_from_zero())
    assert all(((abs(x) >= 0.2) & (abs(x) <= 2)).all() for x in found)
    values = np.concatenate([x.ravel() for x in found])
    assert values.min() < 0 < values.max()


def test_shapes_reach_all():
    found = set(drawn(shapes(min_dims=1, max_dims=2, min_side=0, max_side=2), 300))
    assert found == set(np.ndindex(3)) | set(np.ndindex(3, 3))


def test_broadcastable_shapes_broadcast_and_differ():
    found = drawn(broadcastable(2))
    for x0, x1 in found:
        np.broadcast_shapes(x0.shape, x1.shape)
    # What a missing sum over broadcast axes would break: most examples.
    broadcast = [(x0 + x1).shape != x0.shape for x0, x1 in found]
    assert sum(broadcast) > len(found) / 5
    assert any(x0.ndim < x1.ndim for x0, x1 in found)
    assert any(x0.ndim > x1.ndim for x0, x1 in found)
    both = [(x0 + x1).shape not in (x0.shape, x1.shape) for x0, x1 in found]
    assert any(both)


def test_broadcastable_takes_elements_per_array():
    strategy = broadcastable(2, elements=(positive, away_from_zero))
    assert all((x0 > 0).all() for x0, _ in drawn(strategy, 50))


def test_unique_holds_over_all_arrays_drawn_together():
    for xs in drawn(broadcastable(2, unique=True)) + drawn(same_shape(2, unique=True)):
        values = np.concatenate([x.ravel() for x in xs])
        assert len(np.unique(values)) == values.size


def test_same_shape():
    found = drawn(same_shape(3, elements=positive, min_dims=2, max_dims=2))
    assert all(len({x.shape for x in xs}) == 1 for xs in found)
    assert {xs[0].ndim for xs in found} == {2}


def test_axis():
    assert {o["axis"] for o in drawn(axis(np.ones((2, 3))))} == {-2, -1, 0, 1}
    assert drawn(axis(np.ones(())), 5)[0] == {}


def test_axis_and_keepdims():
    x = np.ones((2, 3, 4))
    found = drawn(axis_and_keepdims(x))
    for options in found:
        np.sum(x, **options)
    kinds = {type(o["axis"]) for o in found}
    assert kinds == {type(None), int, tuple}
    assert {o["keepdims"] for o in found} == {True, False}
    assert {o["axis"] for o in drawn(axis_and_keepdims(np.ones(())))} == {None}


def test_integers_and_masks():
    found = drawn(integers_below(3, (2, 2)))
    assert {x.shape for x in found} == {(2, 2)}
    assert set(np.ravel(found)) == {0, 1, 2}
    assert all(m.dtype == bool and m.shape == (3,) for m in drawn(masks((3,))))
    assert {bool(m) for m in drawn(masks())} == {True, False}


@given(arrays(min_side=0), st.sampled_from(LAYOUTS))
def test_layouts_keep_values_and_copy(x, layout):
    y = with_layout(x, layout)
    assert np.array_equal(x, y)
    assert x.shape == y.shape
    assert not np.shares_memory(x, y)


def test_unknown_layout():
    with pytest.raises(
        ValueError, match=r"with_layout: expected one of .* got 'spiral'"
    ):
        with_layout(np.ones(2), "spiral")
