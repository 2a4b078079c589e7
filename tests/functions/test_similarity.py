import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import (
    Case,
    arrays,
    away_from_zero,
    between,
    check_gradients,
    same_shape,
)


def cosine_similarity(x0, x1, axis=1):
    dot = np.sum(x0 * x1, axis)
    return dot / (np.linalg.norm(x0, axis=axis) * np.linalg.norm(x1, axis=axis))


def axes(x0, x1):
    return st.fixed_dictionaries({"axis": st.integers(-x0.ndim, x0.ndim - 1)})


@st.composite
def distributions(draw):
    (like,) = draw(same_shape(1))
    p = between(0.2, 1.0, shape=like.shape)
    return draw(arrays(like.shape)), draw(p)


def kl_divergence(log_q, p, reduction="mean"):
    y = sp.rel_entr(p, np.exp(log_q))
    N = len(y) if y.ndim else 1
    return {"none": y, "sum": np.sum(y), "mean": np.sum(y) / N}[reduction]


def reductions(log_q, p):
    return st.fixed_dictionaries(
        {"reduction": st.sampled_from(["mean", "sum", "none"])}
    )


CASES = [
    Case(
        F.cosine_similarity,
        same_shape(2, elements=away_from_zero, min_dims=1),
        reference=cosine_similarity,
        options=axes,
    ),
    Case(
        F.cosine_similarity,
        away_from_zero((4, 3, 1)),
        away_from_zero((1, 3, 2)),
        reference=cosine_similarity,
    ),
    Case(F.kl_divergence, distributions(), reference=kl_divergence, options=reductions),
]

ERRORS = [
    (
        lambda: F.cosine_similarity(np.ones(3), np.ones(3)),
        ValueError,
        r"cosine_similarity: .* got axis 1 for an array of shape \(3,\)",
    ),
    (
        lambda: F.cosine_similarity(np.ones((2, 3)), np.ones(3)),
        ValueError,
        r"cosine_similarity: .* as many axes, got shapes \(2, 3\) and \(3,\)",
    ),
    (
        lambda: F.kl_divergence(np.zeros((3, 1)), np.ones(3)),
        ValueError,
        r"kl_divergence: .* one shape, got \(3, 1\) and \(3,\)",
    ),
    (
        lambda: F.kl_divergence(np.zeros((0, 3)), np.ones((0, 3))),
        ValueError,
        r"kl_divergence: .* one sample, got x of shape \(0, 3\)",
    ),
    (
        lambda: F.kl_divergence(np.zeros(3), np.ones(3), "batchmean"),
        ValueError,
        r"kl_divergence: expected 'mean', 'sum' or 'none' .* got 'batchmean'",
    ),
    (
        lambda: F.cosine_similarity(np.ones((2, 3)), np.ones((2, 4))),
        ValueError,
        r"cosine_similarity: expected shapes that broadcast, got \(2, 3\) and \(2, 4\)",
    ),
]


def test_a_vector_0_has_no_direction(slopes):
    x0, x1 = [[0.0, 0.0], [1.0, 0.0]], [[1.0, 2.0], [0.0, 2.0]]
    assert F.cosine_similarity(np.array(x0), np.array(x1)).data.tolist() == [0, 0]
    assert slopes(F.cosine_similarity, x0, x1) == [[[0, 0], [0, 1]], [[0, 0], [0.5, 0]]]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_extreme_vectors(dtype):
    x0 = Variable(np.array([[1e4, 1e4], [1e-4, 0]], dtype))
    x1 = Variable(np.array([[-1e4, -1e4], [1e4, 1e4]], dtype))
    y = F.cosine_similarity(x0, x1)
    y.backward()
    np.testing.assert_allclose(y.data, [-1, np.sqrt(0.5)], rtol=2e-3)
    assert np.isfinite(x0.grad.data).all() and np.isfinite(x1.grad.data).all()
    assert y.dtype == x0.grad.dtype == dtype


def test_integer_vectors():
    x = np.array([[3, 4], [200, 0]], np.uint8)
    np.testing.assert_allclose(F.cosine_similarity(x, x).data, [1, 1])


def test_no_vectors():
    x = Variable(np.zeros((0, 3)))
    y = F.cosine_similarity(x, x)
    y.backward()
    assert y.shape == (0,) and x.grad.shape == (0, 3)
    assert F.cosine_similarity(np.zeros((2, 0)), np.zeros((2, 0))).data.tolist() == [
        0,
        0,
    ]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_kl_divergence_where_a_probability_is_0(dtype):
    log_q = Variable(np.array([[np.log(0.5), np.log(0.5), -np.inf]], dtype))
    p = Variable(np.array([[1.0, 0.0, 0.0]], dtype))
    y = F.kl_divergence(log_q, p)
    y.backward()
    np.testing.assert_allclose(y.data, np.log(2), rtol=1e-3)
    np.testing.assert_array_equal(log_q.grad.data, [[-1, 0, 0]])
    np.testing.assert_allclose(p.grad.data[0, 0], 1 + np.log(2), rtol=1e-3)
    assert y.dtype == log_q.grad.dtype == dtype


def test_kl_divergence_of_the_smallest_probability():
    for dtype in ("f2", "f4", "f8"):
        least = np.finfo(dtype).smallest_subnormal
        log_q = Variable(np.zeros(1, dtype))
        y = F.kl_divergence(log_q, np.full(1, least), "none")
        y.backward()
        np.testing.assert_array_equal(log_q.grad.data, [-least])


def test_kl_divergence_of_the_same_is_0():
    p = sp.softmax(np.random.default_rng(0).normal(size=(4, 3)), 1)
    np.testing.assert_allclose(F.kl_divergence(np.log(p), p).data, 0, atol=1e-15)


def test_targets_in_double_precision_do_not_widen_the_divergence():
    y = F.kl_divergence(np.zeros(2, np.float32), np.full(2, 0.5))
    assert y.dtype == np.float32


def test_no_distributions():
    log_q = Variable(np.zeros((0, 3)))
    y = F.kl_divergence(log_q, np.zeros((0, 3)), "sum")
    y.backward()
    assert y.data == 0 and log_q.grad.shape == (0, 3)


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (1, 4), (2, 4)])
def test_a_number_along_the_axis_is_a_vector_of_equal_ones(shape):
    x0, x1 = Variable(np.random.randn(2, 4)), Variable(np.random.randn(*shape))
    y = F.cosine_similarity(x0, x1)
    a, b = x0.data, np.broadcast_to(x1.data, (2, 4))
    norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    np.testing.assert_allclose(y.data, (a * b).sum(axis=1) / norms)
    check_gradients(F.cosine_similarity, x0.data, x1.data)
