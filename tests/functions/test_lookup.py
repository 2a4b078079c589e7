"""take, take_along_axis and tables of vectors."""

import numpy as np
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, integers_below


@st.composite
def places(draw, x):
    axis = draw(st.sampled_from([None, *range(-x.ndim, x.ndim)]))
    n = x.size if axis is None else x.shape[axis]
    shape = draw(st.sampled_from([(), (3,), (0,), (2, 2)]))
    return {"indices": draw(integers_below(2 * n, shape)) - n, "axis": axis}


@st.composite
def places_along_axis(draw, x):
    axis = draw(st.sampled_from([None, *range(-x.ndim, x.ndim)]))
    shape = [x.size] if axis is None else list(x.shape)
    along = -1 if axis is None else axis
    n, shape[along] = shape[along], draw(st.integers(0, 3))
    return {"indices": draw(integers_below(2 * n, tuple(shape))) - n, "axis": axis}


@st.composite
def ids_of_rows(draw, W):
    shape = draw(st.sampled_from([(), (3,), (2, 3), (0,)]))
    return {"x": draw(integers_below(len(W), shape))}


CASES = [
    Case(F.take, arrays(), reference=np.take, options=places),
    Case(
        F.take_along_axis,
        arrays(min_dims=1),
        reference=np.take_along_axis,
        options=places_along_axis,
    ),
    Case(
        lambda W, x: F.embed_id(x, W),
        arrays(min_dims=2, max_dims=2),
        reference=lambda W, x: W[x],
        options=ids_of_rows,
        name="embed_id",
    ),
    Case(
        lambda ids: F.one_hot(ids.astype(int), 3),
        arrays(low=0, high=2),
        reference=lambda ids: np.eye(3, dtype=np.float32)[ids.astype(int)],
        differentiable=False,
        dtypes=(),
        name="one_hot",
    ),
]

M = np.arange(6.0).reshape(2, 3)
FLOATS = np.zeros(2)
ERRORS = [
    (
        lambda: F.take_along_axis(M, np.zeros((3, 2), int), 1),
        ValueError,
        r"take_along_axis: .* x of shape \(2, 3\) .* axes but 1, got .* \(3, 2\)",
    ),
    (lambda: F.one_hot([0], 2.0), TypeError, "one_hot: .* integer as n, got float"),
    (lambda: F.one_hot([0], 2, "no"), TypeError, "one_hot: .*floats, got 'no'"),
    (lambda: F.one_hot([], -1), ValueError, "one_hot: expected n >= 0, got -1"),
    (lambda: F.take(M, 6), IndexError, "index 6 is out of bounds .* size 6"),
    (lambda: F.take(M, FLOATS), TypeError, "take: .*integers, got dtype float64"),
    (lambda: F.take(M, [0], 2), ValueError, r"take: .*axis 2 .*\(2, 3\)"),
    (
        lambda: F.take_along_axis(M, [0], 1),
        ValueError,
        r"take_along_axis: .*2 axes.*\(2, 3\).*\(1,\)",
    ),
    (
        lambda: F.take_along_axis(M, M, 1),
        TypeError,
        "take_along_axis: .*integers, got dtype float64",
    ),
    (lambda: F.take_along_axis(M, [[0]], 2), ValueError, "take_along_axis: .*axis 2 "),
    (lambda: F.take_along_axis(M, [[3]], 1), IndexError, "index 3 is out of bounds"),
    (lambda: F.embed_id([0, 2], M), IndexError, r"embed_id: .*\[0, 2\), got 2"),
    (lambda: F.embed_id([0, -1], M), IndexError, r"embed_id: .*\[0, 2\), got -1"),
    (
        lambda: F.embed_id(FLOATS, M),
        TypeError,
        "embed_id: .*integers, got dtype float64",
    ),
    (lambda: F.embed_id(FLOATS > 0, M), TypeError, "embed_id: .*got dtype bool"),
    (
        lambda: F.embed_id([0], np.ones(())),
        ValueError,
        r"embed_id: .*\(V, D\), got \(\)",
    ),
    (lambda: F.one_hot([3], 3), IndexError, r"one_hot: .*\[0, 3\), got 3"),
    (lambda: F.one_hot([-1], 3), IndexError, r"one_hot: .*\[0, 3\), got -1"),
    (lambda: F.one_hot(FLOATS, 3), TypeError, "one_hot: .*integers, got dtype float64"),
]


def test_one_infinite_gradient_stays_in_its_row():
    W = Variable(np.zeros((3, 2)))
    g = np.array([[np.inf, 1.0], [2.0, np.nan]])
    F.embed_id(np.array([0, 2]), W).backward(grad=g)
    np.testing.assert_array_equal(W.grad.data, [[np.inf, 1], [0, 0], [2, np.nan]])


def test_take_of_one_index_drops_the_axis():
    x = Variable(np.arange(6.0).reshape(2, 3))
    y = F.take(x, 1, axis=1)
    np.testing.assert_array_equal(y.data, [1, 4])
    assert F.take(x, [], axis=0).shape == (0, 3)
    assert F.take(Variable(np.array(2.0)), [0, 0]).shape == (2,)


def test_take_along_axis_broadcasts():
    x = Variable(np.arange(6.0).reshape(2, 3))
    y = F.take_along_axis(x, np.array([[2, 2]]), axis=1)
    np.testing.assert_array_equal(y.data, [[2, 2], [5, 5]])
    y.backward()
    np.testing.assert_array_equal(x.grad.data, [[0, 0, 2], [0, 0, 2]])
    best = x.data.argmax(axis=1, keepdims=True)
    np.testing.assert_array_equal(F.take_along_axis(x, best).data, [[2], [5]])


def test_embedding_adds_up_repeated_ids():
    W = Variable(np.ones((5, 3), np.float32))
    y = F.embed_id(Variable(np.array([[1, 1], [4, 1]])), W)
    assert y.shape == (2, 2, 3)
    y.backward()
    np.testing.assert_array_equal(W.grad.data[:, 0], [0, 3, 0, 0, 1])
    assert W.grad.dtype == np.float32


def test_no_ids():
    W = Variable(np.ones((5, 3)))
    y = F.embed_id([], W)
    assert y.shape == (0, 3)
    y.backward()
    np.testing.assert_array_equal(W.grad.data, np.zeros((5, 3)))
    assert F.one_hot([], 4).shape == (0, 4)


def test_one_hot():
    y = F.one_hot(np.array([[0, 2]], np.uint8), 3)
    np.testing.assert_array_equal(y.data, [[[1, 0, 0], [0, 0, 1]]])
    assert y.dtype == np.float32
    assert not y.requires_grad
    assert F.one_hot(1, 2, dtype=np.float64).dtype == np.float64
