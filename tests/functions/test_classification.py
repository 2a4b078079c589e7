"""Losses of classification."""

import tracemalloc

import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, between, integers_below, same_shape


def labels(x):
    shape = st.sampled_from([(len(x),), (len(x), 1), (1, len(x))])
    ids = shape.flatmap(lambda s: integers_below(x.shape[1], s))
    return st.fixed_dictionaries({"t": ids})


@st.composite
def with_probabilities(draw, first):
    (like,) = draw(same_shape(1))
    return draw(first(shape=like.shape)), draw(between(0.0, 1.0, shape=like.shape))


def probabilities(shape):
    return between(0.1, 0.9, shape=shape)


def batch(x):
    return len(x) if x.ndim else 1


def softmax_cross_entropy(x, t):
    return -np.mean(sp.log_softmax(x, 1)[np.arange(len(x)), t.ravel()])


def sigmoid_cross_entropy(x, t):
    return binary_cross_entropy(sp.expit(x), t)


def binary_cross_entropy(p, t):
    return -np.sum(t * np.log(p) + (1 - t) * np.log(1 - p)) / batch(p)


scores = arrays(min_dims=2, max_dims=2)


CASES = [
    Case(
        F.softmax_cross_entropy,
        scores,
        reference=softmax_cross_entropy,
        options=labels,
    ),
    Case(
        F.softmax_cross_entropy_simple,
        scores,
        reference=softmax_cross_entropy,
        options=labels,
    ),
    Case(
        F.sigmoid_cross_entropy,
        with_probabilities(arrays),
        reference=sigmoid_cross_entropy,
    ),
    Case(
        F.sigmoid_cross_entropy_simple,
        with_probabilities(arrays),
        reference=sigmoid_cross_entropy,
    ),
    Case(
        F.binary_cross_entropy,
        with_probabilities(probabilities),
        reference=binary_cross_entropy,
    ),
    Case(
        F.binary_cross_entropy_simple,
        with_probabilities(probabilities),
        reference=binary_cross_entropy,
    ),
]


def zeros(*shape):
    return np.zeros(shape)


def classes(*ids):
    return np.array(ids)


ERRORS = [
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(0, -1)),
        ValueError,
        r"softmax_cross_entropy: .* in \[0, 3\) for 3 classes, got -1",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(3, 0)),
        ValueError,
        r"softmax_cross_entropy: .* in \[0, 3\) for 3 classes, got 3",
    ),
    (
        lambda: F.softmax_cross_entropy_simple(zeros(2, 3), classes(3, 0)),
        ValueError,
        r"softmax_cross_entropy_simple: .* for 3 classes, got 3",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), zeros(2)),
        TypeError,
        r"softmax_cross_entropy: expected integer class ids as t, got dtype float64",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), zeros(2) == 0),
        TypeError,
        r"softmax_cross_entropy: expected integer class ids as t, got dtype bool",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(2, 3), classes(0, 1, 2)),
        ValueError,
        r"softmax_cross_entropy: .* shape \(2, 3\), got t of shape \(3,\)",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(3), classes(0)),
        ValueError,
        r"softmax_cross_entropy: .* shape \(N, C\) .* got \(3,\)",
    ),
    (
        lambda: F.softmax_cross_entropy(zeros(0, 3), np.zeros(0, int)),
        ValueError,
        r"softmax_cross_entropy: .* N and C > 0, got \(0, 3\)",
    ),
    (
        lambda: F.sigmoid_cross_entropy(zeros(3, 1), zeros(1, 3)),
        ValueError,
        r"sigmoid_cross_entropy: expected t of shape \(3, 1\), .* got \(1, 3\)",
    ),
    (
        lambda: F.sigmoid_cross_entropy(zeros(0), zeros(0)),
        ValueError,
        r"sigmoid_cross_entropy: .* one sample, got x of shape \(0,\)",
    ),
    (
        lambda: F.sigmoid_cross_entropy_simple(zeros(3), zeros(2)),
        ValueError,
        r"sigmoid_cross_entropy_simple: expected t of shape \(3,\), .* got \(2,\)",
    ),
    (
        lambda: F.binary_cross_entropy(zeros(3), zeros(2)),
        ValueError,
        r"binary_cross_entropy: expected t of shape \(3,\), .* got \(2,\)",
    ),
    (
        lambda: F.binary_cross_entropy(np.array([0.5, 1.5]), zeros(2)),
        ValueError,
        r"binary_cross_entropy: .* in \[0, 1\], got 1\.5; sigmoid_cross_entropy",
    ),
    (
        lambda: F.binary_cross_entropy(np.array([-0.5, 0.5]), zeros(2)),
        ValueError,
        r"binary_cross_entropy: .* in \[0, 1\], got -0\.5",
    ),
    (
        lambda: F.binary_cross_entropy_simple(zeros(0), zeros(0)),
        ValueError,
        r"binary_cross_entropy_simple: .* one sample, got x of shape \(0,\)",
    ),
]


rng = np.random.default_rng(0)
X, P, T = rng.normal(size=(4, 3)), rng.uniform(0.2, 0.8, (4, 3)), rng.random((4, 3))
IDS = np.array([0, 2, 1, 2])


@pytest.mark.parametrize(
    ("name", "arrays", "order"),
    [
        ("softmax_cross_entropy", (X,), 3),
        ("sigmoid_cross_entropy", (X, T), 3),
        ("binary_cross_entropy", (P, T), 3),
    ],
)
def test_fused_equals_simple(derivatives, name, arrays, order):
    fixed = (IDS,) if name == "softmax_cross_entropy" else ()

    def found(f):
        return derivatives(lambda *xs: f(*xs, *fixed), *arrays, order=order)

    fused, simple = found(getattr(F, name)), found(getattr(F, name + "_simple"))
    for a, b in zip(fused, simple, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_softmax_cross_entropy_of_extreme_scores(dtype):
    x = Variable(np.array([[1e4, 0, -1e4], [1e4, 1e4, 0]], dtype))
    loss = F.softmax_cross_entropy(x, np.array([0, 0]))
    loss.backward()
    np.testing.assert_allclose(loss.data, np.log(2) / 2, rtol=1e-3)
    expected = [[0, 0, 0], [-0.25, 0.25, 0]]
    np.testing.assert_allclose(x.grad.data, expected, atol=1e-3)
    assert loss.dtype == x.grad.dtype == dtype


def test_softmax_cross_entropy_of_close_large_scores():
    # log(sum(exp(x))) rounded to single precision would be off by 5e-4.
    x = Variable(np.array([[1e4, 1e4 - 1]], np.float32))
    F.softmax_cross_entropy(x, np.array([1])).backward()
    p = 1 / (1 + np.exp(-1.0))
    np.testing.assert_allclose(x.grad.data, [[p, -p]], rtol=1e-6)


def test_softmax_cross_entropy_of_masked_scores():
    x = Variable(np.array([[0.0, -np.inf, 0.0]]))
    loss = F.softmax_cross_entropy(x, np.array([0]))
    loss.backward()
    np.testing.assert_allclose(loss.data, np.log(2))
    np.testing.assert_allclose(x.grad.data, [[-0.5, 0, 0.5]])


@pytest.mark.parametrize("dtype", ["u1", "i4", "i8"])
def test_labels_as_a_variable_of_integers(dtype):
    t = Variable(IDS.astype(dtype))
    x = Variable(X.copy())
    F.softmax_cross_entropy(x, t).backward()
    assert t.grad is None
    again = Variable(X.copy())
    F.softmax_cross_entropy(again, IDS).backward()
    np.testing.assert_array_equal(x.grad.data, again.grad.data)


def test_softmax_cross_entropy_class_takes_scores_and_labels():
    loss = F.SoftmaxCrossEntropy()(Variable(X), IDS[:, None])
    np.testing.assert_array_equal(loss.data, F.softmax_cross_entropy(X, IDS).data)


def test_softmax_cross_entropy_of_integer_scores():
    x = np.array([[250, 0], [3, 5]], np.uint8)
    ids = np.array([1, 0])
    found = F.softmax_cross_entropy(x, ids).data
    expected = F.softmax_cross_entropy(x.astype("f8"), ids).data
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_sigmoid_cross_entropy_of_extreme_scores(dtype):
    x = Variable(np.array([1e4, -1e4, 1e4, 20], dtype))
    loss = F.sigmoid_cross_entropy(x, np.array([1, 0, 1, 1]))
    loss.backward()
    np.testing.assert_allclose(loss.data, np.exp(-20.0) / 4, rtol=1e-2, atol=1e-7)
    np.testing.assert_allclose(x.grad.data, np.zeros(4), atol=1e-7)
    assert loss.dtype == x.grad.dtype == dtype


def test_sigmoid_cross_entropy_of_a_sure_answer_is_not_rounded_away():
    loss = F.sigmoid_cross_entropy(np.array([20.0], np.float32), np.array([1]))
    np.testing.assert_allclose(loss.data, np.exp(-20.0), rtol=1e-6)


@pytest.mark.parametrize("f", [F.sigmoid_cross_entropy, F.binary_cross_entropy])
def test_targets_as_a_vector_beside_a_column(f):
    column, vector = np.full((3, 1), 0.5), np.array([1, 0, 1])
    x = Variable(column)
    loss = f(x, vector)
    loss.backward()
    np.testing.assert_array_equal(loss.data, f(column, vector[:, None]).data)
    assert x.grad.shape == (3, 1)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_binary_cross_entropy_at_0_and_1(dtype):
    tiny = float(np.finfo(dtype).tiny)
    p = Variable(np.array([0, 0, 1, 1], dtype))
    loss = F.binary_cross_entropy(p, np.array([0, 1, 1, 0]))
    loss.backward()
    np.testing.assert_allclose(loss.data, -np.log(tiny) / 2, rtol=1e-3)
    expected = [0.25, -0.25 / tiny, -0.25, 0.25 / tiny]
    np.testing.assert_allclose(x := p.grad.data, expected, rtol=1e-3)
    assert np.isfinite(x).all() and loss.dtype == x.dtype == dtype


def test_binary_cross_entropy_of_small_probabilities():
    # log(1 - p) would be 0 in single precision.
    loss = F.binary_cross_entropy(np.array([1e-10], np.float32), np.array([0]))
    np.testing.assert_allclose(loss.data, 1e-10, rtol=1e-6)


def test_binary_cross_entropy_second_derivative_of_a_perfect_answer():
    p = Variable(np.array([1.0, 0.0], np.float32))
    F.binary_cross_entropy(p, np.array([1, 0])).backward(create_graph=True)
    g = p.grad
    p.cleargrad()
    F.sum(g).backward()
    np.testing.assert_allclose(p.grad.data, [0.5, 0.5])


@pytest.mark.parametrize("f", [F.softmax_cross_entropy, F.softmax_cross_entropy_simple])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_scores_farther_apart_than_the_greatest_one(f, dtype):
    most = np.finfo(dtype).max
    x = Variable(np.array([[most, -most], [0, 0]], dtype))
    y = f(x, np.array([0, 1]))
    y.backward(create_graph=True)
    gx = x.grad
    x.cleargrad()
    F.sum(gx * gx).backward()
    assert y.dtype == gx.dtype == x.grad.dtype == dtype
    assert gx.data.tolist() == [[0, 0], [0.25, -0.25]]
    np.testing.assert_allclose(x.grad.data, [[0, 0], [0.125, -0.125]], rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_binary_cross_entropy_of_wrong_answers_held_at_the_edge(dtype):
    p = Variable(np.array([0, 1, 0.5], dtype))
    t = Variable(np.array([1, 0, 1], dtype))
    F.binary_cross_entropy(p, t).backward(create_graph=True)
    gp, gt = p.grad, t.grad
    assert np.isfinite(gp.data).all() and gp.dtype == dtype
    p.cleargrad()
    (F.sum(gp) + F.sum(gt)).backward()
    # The logarithm that is held has no slope, the other one -1. At 0.5, by p and t,
    # 1 / p**2 - 1 / p - 1 / (1 - p) is 0.
    np.testing.assert_allclose(p.grad.data, [-1 / 3, -1 / 3, 0], rtol=1e-3, atol=1e-6)


def test_a_loss_that_is_kept_does_not_keep_the_exponentials():
    x = Variable(np.zeros((1000, 100)))
    tracemalloc.start()
    try:
        y = F.softmax_cross_entropy(x, np.zeros(1000, int))
        y.backward(retain_graph=False)
        x.cleargrad()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 100_000 and float(y) > 0


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    "f",
    [
        F.sigmoid_cross_entropy,
        F.sigmoid_cross_entropy_simple,
        F.binary_cross_entropy,
        F.binary_cross_entropy_simple,
    ],
)
def test_targets_in_double_precision_do_not_widen_the_loss(f, dtype):
    x = Variable(np.array([0.25, 0.5], dtype))
    t = Variable(np.array([1.0, 0.0]))
    y = f(x, t)
    y.backward()
    assert (y.dtype, x.grad.dtype, t.grad.dtype) == (dtype, dtype, np.float64)
