"""tile, repeat and pad."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays

MODES = ["edge", "reflect", "symmetric", "wrap"]


def copies(x):
    several = st.lists(st.integers(0, 2), max_size=x.ndim + 1).map(tuple)
    return st.fixed_dictionaries({"reps": st.one_of(st.integers(0, 2), several)})


@st.composite
def repeats(draw, x):
    axis = draw(st.sampled_from([None, *range(-x.ndim, x.ndim)]))
    n = x.size if axis is None else x.shape[axis]
    each = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    return {"repeats": draw(st.one_of(st.integers(0, 3), each)), "axis": axis}


@st.composite
def borders(draw, x):
    width = st.integers(0, 3)
    pairs = st.lists(st.tuples(width, width), min_size=x.ndim, max_size=x.ndim)
    forms = [width, st.tuples(width, width)] + [pairs] * (x.ndim > 0)
    return {"pad_width": draw(st.one_of(forms))}


@st.composite
def constant_borders(draw, x):
    return {**draw(borders(x)), "constant_values": draw(st.sampled_from([0.0, 1.5]))}


def borders_from_inside(x):
    modes = st.fixed_dictionaries({"mode": st.sampled_from(MODES)})
    return st.tuples(borders(x), modes).map(lambda both: {**both[0], **both[1]})


CASES = [
    Case(F.tile, arrays(), reference=np.tile, options=copies),
    Case(F.repeat, arrays(), reference=np.repeat, options=repeats),
    Case(F.pad, arrays(), reference=np.pad, options=constant_borders),
    Case(F.pad, arrays(min_dims=1), reference=np.pad, options=borders_from_inside),
]

M = np.ones((2, 3))
ERRORS = [
    (
        lambda: F.pad(M, 1, constant_values=Variable(np.array(2.0))),
        TypeError,
        "pad: expected a number as constant_values, got Variable",
    ),
    (
        lambda: F.pad(M, [(1, 2), 3]),
        ValueError,
        r"pad: .* a pair for each axis as pad_width, got \[\(1, 2\), 3\]",
    ),
    (lambda: F.tile(M, -1), ValueError, r"tile: .*negative.*\(-1,\)"),
    (lambda: F.tile(M, 1.5), TypeError, "tile: .*integer.*got 1.5"),
    (lambda: F.repeat(M, -1), ValueError, r"repeat: .*negative.*\(-1,\)"),
    (lambda: F.repeat(M, [0.5]), TypeError, r"repeat: .*integer.*\[0.5\]"),
    (lambda: F.repeat(M, [1, 2], 1), ValueError, "repeat: .*1 or 3 .*axis 1 .*got 2"),
    (lambda: F.repeat(M, 2, 2), ValueError, "repeat: .*axis 2 "),
    (lambda: F.pad(M, 1, "mirror"), ValueError, "pad: .*'reflect'.*got 'mirror'"),
    (lambda: F.pad(M, -1), ValueError, "pad: .*negative pad_width, got -1"),
    (lambda: F.pad(M, 0.5), TypeError, "pad: .*integers as pad_width, got 0.5"),
    (
        lambda: F.pad(M, (1, 2, 3)),
        ValueError,
        r"pad: .*\(2, 2\).*\(2, 3\), got \(1, 2, 3",
    ),
    (lambda: F.pad(M[:0], 1, "edge"), ValueError, r"pad: .*axis 0 .*'edge'.*\(0, 3\)"),
]


def test_repeats_of_each_element_may_be_an_array():
    x = Variable(np.array([1.0, 2.0, 3.0]))
    y = F.repeat(x, np.array([2, 0, 3]))
    np.testing.assert_array_equal(y.data, [1, 1, 3, 3, 3])
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [2, 0, 3])


def test_a_0d_variable():
    x = Variable(np.array(2.0))
    for y, shape in [
        (F.tile(x, (2, 3)), (2, 3)),
        (F.repeat(x, 4), (4,)),
        (F.pad(x, 3), ()),
        (F.pad(x, 3, "edge"), ()),
    ]:
        assert y.shape == shape
        x.cleargrad()
        y.backward()
        assert x.grad.data == y.size


def test_reflections_of_reflections():
    x = Variable(np.array([1.0, 2.0, 3.0]))
    y = F.pad(x, 5, "reflect")
    np.testing.assert_array_equal(y.data, np.pad(x.data, 5, "reflect"))
    y.backward(grad=np.ones(13))
    assert x.grad.data.sum() == 13


def test_an_axis_without_a_border_may_be_empty():
    x = Variable(np.ones((0, 3)))
    assert F.pad(x, ((0, 0), (1, 1)), "reflect").shape == (0, 5)
    assert F.pad(x, 1).shape == (2, 5)


@pytest.mark.parametrize("mode", ["constant", *MODES])
def test_pad_keeps_the_dtype(mode):
    x = Variable(np.ones((2, 3), np.float32))
    y = F.pad(x, 1, mode)
    y.backward()
    assert y.dtype == x.grad.dtype == np.float32


def test_no_repeats_of_an_empty_array():
    x = Variable(np.ones((0, 2)))
    assert F.repeat(x, 3, axis=0).shape == (0, 2)
    assert F.repeat(x, [], axis=0).shape == (0, 2)
    assert F.tile(x, 2).shape == (0, 4)
