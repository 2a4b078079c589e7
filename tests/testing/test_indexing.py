"""Do the index expressions reach every kind, and fit the array?"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dezero.testing import (
    array_indices,
    axes,
    basic_indices,
    indices,
    mask_indices,
    slices_of,
)

SHAPES = [(), (1,), (3,), (2, 3), (4, 1, 2)]


def drawn(strategy, n=200):
    """Examples of a strategy, the same in every run."""
    found = []

    @settings(max_examples=n, database=None, derandomize=True)
    @given(strategy)
    def collect(x):
        found.append(x)

    collect()
    return found


def parts(index):
    return index if isinstance(index, tuple) else (index,)


@pytest.mark.parametrize("strategy", [basic_indices, array_indices, mask_indices])
def test_indices_fit_the_shape(strategy):
    for shape in SHAPES[strategy is not basic_indices :]:
        x = np.zeros(shape)
        for index in drawn(strategy(shape), 60):
            x[index]


def test_basic_indices_give_views_of_every_kind():
    x = np.zeros((3, 4))
    found = [part for index in drawn(basic_indices(x.shape)) for part in parts(index)]
    assert {type(part) for part in found} == {int, slice, type(None), type(...)}
    assert any(isinstance(part, int) and part < 0 for part in found)
    steps = {part.step for part in found if isinstance(part, slice)}
    assert steps == {None, 1, 2, -1, -2}


def test_array_indices_repeat_and_count_from_both_ends():
    found = [p for i in drawn(array_indices((3, 4))) for p in parts(i)]
    ids = [p for p in found if isinstance(p, np.ndarray)]
    assert any(isinstance(p, list) for p in found)
    assert any(len(np.unique(a)) < a.size for a in ids)
    assert any((a < 0).any() for a in ids)
    assert any(a.size == 0 for a in ids)
    assert any(a.ndim == 2 for a in ids)


def test_masks_stand_alone_and_beside_slices():
    found = drawn(mask_indices((3, 4)))
    assert {len(parts(index)) for index in found} == {1, 2}
    assert {parts(index)[0].shape for index in found} == {(3,), (3, 4)}


def test_indices_are_of_all_three_kinds():
    def kind(index):
        kinds = [getattr(p, "dtype", np.dtype("O")).kind for p in parts(index)]
        return "b" if "b" in kinds else "i" if "i" in kinds else "basic"

    assert {kind(index) for index in drawn(indices((2, 3)))} == {"b", "i", "basic"}
    assert {kind(index) for index in drawn(indices(()), 20)} == {"basic"}
    assert {kind(index) for index in drawn(indices((0, 2)), 60)} == {"basic"}


def test_slices_reach_both_ends():
    found = drawn(slices_of(3))
    assert all(isinstance(s, slice) for s in found)
    assert {s.start for s in found} >= {None, -4, 4}


@given(
    st.sampled_from(SHAPES).flatmap(lambda s: st.tuples(st.just(s), axes(np.zeros(s))))
)
def test_axes_are_an_order_of_all(drawn):
    shape, options = drawn
    y = np.transpose(np.zeros(shape), options["axes"])
    assert sorted(y.shape) == sorted(shape)


def test_axes_count_from_both_ends_and_may_be_left_out():
    found = {options["axes"] for options in drawn(axes(np.zeros((2, 3))))}
    assert found == {None, (0, 1), (1, 0), (-2, -1), (-1, -2)}
