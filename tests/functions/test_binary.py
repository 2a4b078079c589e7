"""Losses of yes and no."""

import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, between, integers_below, same_shape


@st.composite
def with_probabilities(draw, first):
    (like,) = draw(same_shape(1))
    return draw(first(shape=like.shape)), draw(between(0.0, 1.0, shape=like.shape))


def probabilities(shape):
    return between(0.1, 0.9, shape=shape)


def reduce(y, reduction):
    """Losses as they are, their sum, or that over the batch size."""
    N = len(y) if y.ndim else 1
    return {"none": y, "sum": np.sum(y), "mean": np.sum(y) / N}[reduction]


def sigmoid_cross_entropy(x, t, reduction="mean"):
    return binary_cross_entropy(sp.expit(x), t, reduction)


def binary_cross_entropy(p, t, reduction="mean"):
    return reduce(-(t * np.log(p) + (1 - t) * np.log(1 - p)), reduction)


def focal(x, t, alpha=0.25, gamma=2.0, reduction="mean"):
    right = np.where(t == 1, sp.expit(x), sp.expit(-x))
    weight = 1 if alpha is None else np.where(t == 1, alpha, 1 - alpha)
    return reduce(-weight * (1 - right) ** gamma * np.log(right), reduction)


REDUCTIONS = st.sampled_from(["mean", "sum", "none"])


def reductions(x, t):
    return st.fixed_dictionaries({"reduction": REDUCTIONS})


def focal_options(x):
    return st.fixed_dictionaries(
        {
            "t": integers_below(2, x.shape),
            "alpha": st.sampled_from([None, 0, 0.25, 1]),
            "gamma": st.sampled_from([0, 0.5, 2, 3.5]),
            "reduction": REDUCTIONS,
        }
    )


CASES = [
    Case(
        F.sigmoid_cross_entropy,
        with_probabilities(arrays),
        reference=sigmoid_cross_entropy,
    ),
    Case(
        F.sigmoid_cross_entropy,
        with_probabilities(arrays),
        reference=sigmoid_cross_entropy,
        options=reductions,
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
        F.binary_cross_entropy,
        with_probabilities(probabilities),
        reference=binary_cross_entropy,
        options=reductions,
    ),
    Case(
        F.binary_cross_entropy_simple,
        with_probabilities(probabilities),
        reference=binary_cross_entropy,
    ),
    Case(F.focal, arrays(), reference=focal, options=focal_options),
]


def zeros(*shape):
    return np.zeros(shape)


ERRORS = [
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
    (
        lambda: F.sigmoid_cross_entropy(zeros(3), zeros(3), "average"),
        ValueError,
        r"sigmoid_cross_entropy: expected 'mean', 'sum' or 'none' .* got 'average'",
    ),
    (
        lambda: F.binary_cross_entropy(zeros(3), zeros(3), ""),
        ValueError,
        r"binary_cross_entropy: expected 'mean', 'sum' or 'none' .* got ''",
    ),
    (
        lambda: F.focal(zeros(3), zeros(3), reduction="average"),
        ValueError,
        r"focal: expected 'mean', 'sum' or 'none' .* got 'average'",
    ),
    (
        lambda: F.focal(zeros(3), zeros(2)),
        ValueError,
        r"focal: expected t of shape \(3,\), .* got \(2,\)",
    ),
    (
        lambda: F.focal(zeros(0), zeros(0)),
        ValueError,
        r"focal: .* one sample, got x of shape \(0,\)",
    ),
    (
        lambda: F.focal(zeros(2), np.array([0, 0.5])),
        ValueError,
        r"focal: expected zeros and ones as t",
    ),
    (
        lambda: F.focal(zeros(2), zeros(2), alpha=1.5),
        ValueError,
        r"focal: expected alpha in \[0, 1\], got 1\.5",
    ),
    (
        lambda: F.focal(zeros(2), zeros(2), alpha=-1),
        ValueError,
        r"focal: expected alpha >= 0, got -1",
    ),
    (
        lambda: F.focal(zeros(2), zeros(2), gamma=-1),
        ValueError,
        r"focal: expected gamma >= 0, got -1",
    ),
    (
        lambda: F.focal(zeros(2), zeros(2), alpha=zeros(2)),
        TypeError,
        r"focal: expected a number as alpha, got ndarray",
    ),
]


rng = np.random.default_rng(0)
X, P, T = rng.normal(size=(4, 3)), rng.uniform(0.2, 0.8, (4, 3)), rng.random((4, 3))


@pytest.mark.parametrize(
    ("name", "x"), [("sigmoid_cross_entropy", X), ("binary_cross_entropy", P)]
)
def test_fused_equals_simple(derivatives, name, x):
    fused = derivatives(getattr(F, name), x, T)
    simple = derivatives(getattr(F, name + "_simple"), x, T)
    for a, b in zip(fused, simple, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


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


@pytest.mark.parametrize(
    "f", [F.sigmoid_cross_entropy, F.binary_cross_entropy, F.focal]
)
def test_nothing_sums_up_to_0(f):
    x = Variable(np.zeros((0, 3)))
    assert f(x, np.zeros((0, 3)), reduction="none").shape == (0, 3)
    loss = f(x, np.zeros((0, 3)), reduction="sum")
    loss.backward()
    assert loss.data == 0 and x.grad.shape == (0, 3)


@pytest.mark.parametrize("gamma", [0, 0.5, 2])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_focal_of_extreme_scores(gamma, dtype):
    x = Variable(np.array([1e4, -1e4, 100, -100], dtype))
    loss = F.focal(x, np.array([1, 0, 0, 1]), 0.5, gamma)
    loss.backward(create_graph=True)
    g = x.grad
    x.cleargrad()
    F.sum(g).backward()
    np.testing.assert_allclose(loss.data, 25, rtol=1e-3)
    np.testing.assert_allclose(g.data, [0, 0, 1 / 8, -1 / 8], rtol=1e-3)
    assert np.isfinite(x.grad.data).all()
    assert loss.dtype == g.dtype == dtype


def test_focal_takes_booleans_and_a_vector_beside_a_column():
    x = np.array([[0.5], [-1.0]])
    loss = F.focal(x, np.array([True, False]))
    np.testing.assert_array_equal(loss.data, F.focal(x, np.array([[1.0], [0.0]])).data)


def test_focal_in_half_precision_does_not_overflow():
    x = np.full(1000, 500, np.float16)
    loss = F.focal(x, np.zeros(1000, int), None)
    np.testing.assert_allclose(loss.data, 500, rtol=1e-3)
