"""concatenate, stack and split."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, same_shape


@st.composite
def alike_but_along_axis_1(draw):
    """Three arrays of shapes (m, ?, n), of which one may be empty."""
    m, n = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    sizes = draw(st.lists(st.integers(0, 3), min_size=3, max_size=3))
    return tuple([draw(arrays(shape=(m, size, n))) for size in sizes])


def any_axis_of_equals(*xs):
    return st.fixed_dictionaries({"axis": st.integers(-xs[0].ndim, xs[0].ndim - 1)})


def new_axis(*xs):
    return st.fixed_dictionaries({"axis": st.integers(-xs[0].ndim - 1, xs[0].ndim)})


@st.composite
def where_to_split(draw, x):
    axis = draw(st.integers(-x.ndim, x.ndim - 1))
    n = x.shape[axis]
    cuts = draw(st.lists(st.integers(0, n + 1), max_size=3).map(sorted))
    divisors = [k for k in range(1, n + 1) if n % k == 0]
    sections = draw(st.sampled_from([cuts, *divisors, [1, -1][: n - 1]]))
    return {"indices_or_sections": sections, "axis": axis}


def concatenate(*xs, axis=0):
    return F.concatenate(xs, axis)


def stack(*xs, axis=0):
    return F.stack(xs, axis)


rows = st.tuples(arrays(shape=(2, 3)), arrays(shape=(3,)), arrays(shape=(1, 3)))
columns = st.tuples(arrays(shape=(2, 3, 2)), arrays(shape=(2, 1, 2)))
in_a_line = st.tuples(arrays(shape=(3,)), arrays(shape=()), arrays(shape=(1,)))

CASES = [
    Case(
        concatenate,
        same_shape(3, min_dims=1),
        reference=lambda *xs, axis: np.concatenate(xs, axis),
        options=any_axis_of_equals,
    ),
    Case(
        concatenate,
        alike_but_along_axis_1(),
        reference=lambda *xs, axis: np.concatenate(xs, axis),
        options=lambda *xs: st.just({"axis": 1}),
    ),
    Case(
        concatenate,
        arrays(),
        arrays(),
        reference=lambda *xs, axis: np.concatenate(xs, axis),
        options=lambda *xs: st.just({"axis": None}),
    ),
    Case(
        stack,
        same_shape(3),
        reference=lambda *xs, axis: np.stack(xs, axis),
        options=new_axis,
    ),
    Case(
        lambda *xs: F.vstack(xs),
        rows,
        reference=lambda *xs: np.vstack(xs),
        name="vstack",
    ),
    Case(
        lambda *xs: F.hstack(xs),
        st.one_of(columns, in_a_line),
        reference=lambda *xs: np.hstack(xs),
        name="hstack",
    ),
    Case(F.split, arrays(min_dims=1), reference=np.split, options=where_to_split),
]

M = np.ones((2, 3))
SCALAR = np.ones(())
ERRORS = [
    (lambda: F.concatenate([]), ValueError, "concatenate: .*at least one array"),
    (lambda: F.concatenate(3), TypeError, "concatenate: .*sequence of arrays, got int"),
    (lambda: F.concatenate([M, M.T]), ValueError, r"concatenate: .*\(2, 3\), \(3, 2\)"),
    (lambda: F.concatenate([M, M[0]]), ValueError, r"concatenate: .*\(2, 3\), \(3,\)"),
    (lambda: F.concatenate([M, M], 2), ValueError, "concatenate: .*axis 2 "),
    (lambda: F.concatenate([SCALAR]), ValueError, r"concatenate: .*no axis.*\(\)"),
    (lambda: F.concatenate(M, M), TypeError, "concatenate: .*axis, got ndarray"),
    (lambda: F.stack([]), ValueError, "stack: .*at least one array"),
    (lambda: F.stack([M, M.T]), ValueError, r"stack: .*\(2, 3\), \(3, 2\)"),
    (lambda: F.stack([M, M], 3), ValueError, "stack: .*axis 3 "),
    (lambda: F.vstack([]), ValueError, "vstack: .*at least one array"),
    (lambda: F.vstack([M, M.T]), ValueError, r"vstack: .*\(2, 3\), \(3, 2\)"),
    (lambda: F.hstack([]), ValueError, "hstack: .*at least one array"),
    (lambda: F.hstack([M, M.T]), ValueError, r"hstack: .*\(2, 3\), \(3, 2\)"),
    (
        lambda: F.split(M, 2, 1),
        ValueError,
        r"split: .*size 3 of axis 1, got 2 .*\(2, 3\)",
    ),
    (lambda: F.split(M, 0), ValueError, "split: .*got 0 "),
    (lambda: F.split(M, -1), ValueError, "split: .*got -1 "),
    (lambda: F.split(M, [2, 1], 1), ValueError, r"split: .*rising.*\(2, 1\)"),
    (lambda: F.split(M, [0.5]), TypeError, r"split: .*integers, got \[0.5\]"),
    (lambda: F.split(M, 1.5), TypeError, "split: .*integer.*got 1.5"),
    (lambda: F.split(M, 1, 2), ValueError, "split: .*axis 2 "),
    (lambda: F.split(SCALAR, 1), ValueError, r"split: .*no axis.*\(\)"),
]


def test_numbers_take_the_dtype_of_the_arrays():
    x = Variable(np.ones((), np.float32))
    for y in [F.stack([x, 2.0]), F.hstack([x, np.float64(2)]), F.vstack([x, 1])]:
        assert y.dtype == np.float32
        assert y.size == 2


def test_a_generator_and_an_array_are_sequences():
    x = Variable(np.arange(6.0).reshape(2, 3))
    np.testing.assert_array_equal(
        F.concatenate(2 * row for row in x).data, 2 * np.ravel(x)
    )
    np.testing.assert_array_equal(F.stack(x.data).data, x.data)


def test_one_array_gets_a_gradient_of_its_own():
    x = Variable(np.ones((2, 3)))
    y = F.concatenate([x])
    seed = np.full((2, 3), 2.0)
    y.backward(grad=seed)
    assert not np.shares_memory(x.grad.data, seed)


def test_the_same_array_twice():
    x = Variable(np.ones(2))
    F.concatenate([x, x]).backward(grad=np.arange(4.0))
    np.testing.assert_array_equal(x.grad.data, [2.0, 4.0])
    x.cleargrad()
    F.stack([x, x]).backward(grad=np.arange(4.0).reshape(2, 2))
    np.testing.assert_array_equal(x.grad.data, [2.0, 4.0])


def test_split_is_always_a_tuple():
    x = Variable(np.arange(3.0))
    for sections in (1, [], ()):
        ys = F.split(x, sections)
        assert type(ys) is tuple
        assert [y.shape for y in ys] == [(3,)]


def test_split_accepts_an_array_of_places_and_places_beyond_the_end():
    x = Variable(np.arange(3.0))
    ys = F.split(x, np.array([1, 5]))
    assert [y.shape for y in ys] == [(1,), (2,), (0,)]
    ys = F.split(x, [-1])
    assert [y.shape for y in ys] == [(2,), (1,)]


def test_split_of_an_empty_axis():
    ys = F.split(Variable(np.ones((0, 2))), 3)
    assert [y.shape for y in ys] == [(0, 2)] * 3


def test_unused_parts_of_a_split_get_zeros():
    x = Variable(np.arange(4.0))
    _, y, _ = F.split(x, [1, 3])
    (y * y).backward()
    np.testing.assert_array_equal(x.grad.data, [0.0, 2.0, 4.0, 0.0])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0)])
def test_empty_arrays(shape):
    x = Variable(np.ones(shape))
    for y in (F.concatenate([x, x], axis=-1), F.stack([x, x])):
        x.cleargrad()
        y.backward()
        assert x.grad.shape == shape
