"""Losses that ask for a margin."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, away_from_zero, integers_below, same_shape

REDUCTIONS = st.sampled_from(["mean", "sum", "none"])


def reduce(losses, reduction):
    total = np.sum(losses)
    return {"none": losses, "sum": total, "mean": total / losses.size}[reduction]


def hinge(x, t, margin=1.0, reduction="mean"):
    losses = [
        np.sum([max(0, row[j] - row[i] + margin) for j in range(len(row)) if j != i])
        for row, i in zip(x, t.ravel(), strict=True)
    ]
    return reduce(np.array(losses, float), reduction)


def near_halves():
    """Scores whose differences are 0.1 or less from a multiple of 0.5."""
    scores = arrays(min_dims=2, max_dims=2)
    return scores.map(lambda x: np.round(2 * x) / 2 + 0.05 * np.sin(7 * x))


def hinge_options(x):
    shape = st.sampled_from([(len(x),), (len(x), 1)])
    return st.fixed_dictionaries(
        {
            "t": shape.flatmap(lambda s: integers_below(x.shape[1], s)),
            # Halfway between the differences of near_halves, far from the kink.
            "margin": st.sampled_from([0.25, 1.25, 9.25]),
            "reduction": REDUCTIONS,
        }
    )


def triplet_margin(a, p, n, margin=1.0, reduction="mean"):
    d = np.linalg.norm(a - p, axis=-1) - np.linalg.norm(a - n, axis=-1)
    return reduce(np.maximum(0, d + margin), reduction)


def with_margin(*xs):
    # Far from the kink: all triplets count, or none.
    return st.fixed_dictionaries(
        {"margin": st.sampled_from([20.0, -20.0]), "reduction": REDUCTIONS}
    )


@st.composite
def triplets(draw):
    """Points whose distances are not 0."""
    a, p, n = draw(same_shape(3, elements=away_from_zero, min_dims=1))
    return a, np.asarray(a + p), np.asarray(a + n)


def cosine_embedding_loss(x0, x1, t, margin=0.0, reduction="mean"):
    lengths = np.linalg.norm(x0, axis=1) * np.linalg.norm(x1, axis=1)
    c = np.sum(x0 * x1, 1) / lengths
    return reduce(np.where(t == 1, 1 - c, np.maximum(0, c - margin)), reduction)


def pairs_options(x0, x1):
    return st.fixed_dictionaries(
        {
            "t": integers_below(2, x0.shape[:1]).map(lambda t: 2 * t - 1),
            "margin": st.sampled_from([-2.0, 2.0]),
            "reduction": REDUCTIONS,
        }
    )


CASES = [
    Case(
        F.hinge,
        near_halves(),
        reference=hinge,
        options=hinge_options,
    ),
    Case(F.triplet_margin, triplets(), reference=triplet_margin, options=with_margin),
    Case(
        F.cosine_embedding_loss,
        same_shape(2, elements=away_from_zero, min_dims=2, max_dims=2),
        reference=cosine_embedding_loss,
        options=pairs_options,
    ),
]


def zeros(*shape):
    return np.zeros(shape)


IDS = np.array([0, 1])
PAIR = np.array([1, -1])

ERRORS = [
    (
        lambda: F.hinge(zeros(3), IDS),
        ValueError,
        r"hinge: expected scores of shape \(N, C\) .* got \(3,\)",
    ),
    (
        lambda: F.hinge(zeros(0, 3), np.zeros(0, int)),
        ValueError,
        r"hinge: .* N and C > 0, got \(0, 3\)",
    ),
    (
        lambda: F.hinge(zeros(2, 3), zeros(2)),
        TypeError,
        r"hinge: expected integer class ids as t, got dtype float64",
    ),
    (
        lambda: F.hinge(zeros(2, 3), np.array([0, 3])),
        ValueError,
        r"hinge: expected labels in \[0, 3\) for 3 classes, got 3",
    ),
    (
        lambda: F.hinge(zeros(2, 3), IDS, zeros(2)),
        TypeError,
        r"hinge: expected a number as margin, got ndarray",
    ),
    (
        lambda: F.hinge(zeros(2, 3), IDS, reduction="max"),
        ValueError,
        r"hinge: expected 'mean', 'sum' or 'none' as reduction, got 'max'",
    ),
    (
        lambda: F.triplet_margin(zeros(2, 3), zeros(2, 3), zeros(3)),
        ValueError,
        r"triplet_margin: .* \(\.\.\., D\), got \(2, 3\), \(2, 3\) and \(3,\)",
    ),
    (
        lambda: F.triplet_margin(zeros(), zeros(), zeros()),
        ValueError,
        r"triplet_margin: .* got \(\), \(\) and \(\)",
    ),
    (
        lambda: F.triplet_margin(zeros(0, 3), zeros(0, 3), zeros(0, 3)),
        ValueError,
        r"triplet_margin: expected at least one loss, got shape \(0,\)",
    ),
    (
        lambda: F.triplet_margin(zeros(2, 3), zeros(2, 3), zeros(2, 3), "1"),
        TypeError,
        r"triplet_margin: expected a number as margin, got str",
    ),
    (
        lambda: F.triplet_margin(zeros(3), zeros(3), zeros(3), reduction=1),
        ValueError,
        r"triplet_margin: expected 'mean', 'sum' or 'none' as reduction, got 1",
    ),
    (
        lambda: F.cosine_embedding_loss(zeros(2, 3), zeros(2, 3), PAIR[:1]),
        ValueError,
        r"cosine_embedding_loss: .* got \(2, 3\), \(2, 3\) and \(1,\)",
    ),
    (
        lambda: F.cosine_embedding_loss(zeros(2, 3), zeros(2, 3), IDS),
        ValueError,
        r"cosine_embedding_loss: expected 1 and -1 as t, got other numbers",
    ),
    (
        lambda: F.cosine_embedding_loss(zeros(0, 3), zeros(0, 3), zeros(0)),
        ValueError,
        r"cosine_embedding_loss: expected at least one loss, got shape \(0,\)",
    ),
    (
        lambda: F.cosine_embedding_loss(zeros(2, 3), zeros(2, 3), PAIR, None),
        TypeError,
        r"cosine_embedding_loss: expected a number as margin, got NoneType",
    ),
    (
        lambda: F.cosine_embedding_loss(
            zeros(2, 3), zeros(2, 3), PAIR, reduction="average"
        ),
        ValueError,
        r"cosine_embedding_loss: expected 'mean', .* got 'average'",
    ),
    (
        lambda: F.hinge(np.ones((1, 2), bool), np.array([2])),
        ValueError,
        r"hinge: expected labels in \[0, 2\) for 2 classes, got 2",
    ),
]


def test_hinge_is_0_ahead_by_the_margin(slope):
    x = [[2.0, 1.0, 0.0], [0.0, 3.0, 1.0]]
    assert F.hinge(np.array(x), IDS).data == 0
    assert slope(lambda x: F.hinge(x, IDS), x) == zeros(2, 3).tolist()


def test_hinge_of_equal_scores(slope):
    x = zeros(2, 3)
    assert F.hinge(x, IDS).data == 2
    found = slope(lambda x: F.hinge(x, IDS, reduction="sum"), x)
    assert found == [[-2, 1, 1], [1, -2, 1]]


def test_hinge_of_one_class_and_of_integers():
    assert F.hinge(zeros(2, 1), np.array([0, 0])).data == 0
    assert F.hinge(np.array([[3, 5]]), np.array([0])).data == 3


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_extreme_scores(dtype):
    x = Variable(np.array([[1e4, -1e4], [1e4, -1e4]], dtype))
    loss = F.hinge(x, IDS)
    loss.backward()
    np.testing.assert_allclose(loss.data, 1e4, rtol=1e-3)
    np.testing.assert_array_equal(x.grad.data, [[0, 0], [0.5, -0.5]])
    assert loss.dtype == x.grad.dtype == dtype


def test_triplets_at_distance_0(slopes):
    found = slopes(F.triplet_margin, zeros(2, 3), zeros(2, 3), zeros(2, 3))
    assert found == [zeros(2, 3).tolist()] * 3
    assert F.triplet_margin(zeros(2, 3), zeros(2, 3), zeros(2, 3)).data == 1


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_triplets_far_apart(dtype):
    xs = [Variable(np.full((2, 4), number, dtype)) for number in (1e4, -1e4, 1e4)]
    loss = F.triplet_margin(*xs)
    loss.backward()
    np.testing.assert_allclose(loss.data, 4e4, rtol=1e-3)
    np.testing.assert_allclose(xs[0].grad.data, np.full((2, 4), 0.25), rtol=1e-3)
    assert loss.dtype == xs[0].grad.dtype == dtype


def test_triplets_of_integers():
    a, p, n = np.array([[3, 4]]), np.array([[0, 0]]), np.array([[3, 5]])
    assert F.triplet_margin(a, p, n).data == 5


@pytest.mark.parametrize("shape", [(3,), (2, 4, 3)])
def test_triplets_of_other_shapes(shape):
    xs = np.random.default_rng(0).normal(size=(3, *shape))
    loss = F.triplet_margin(*xs, reduction="none")
    np.testing.assert_allclose(loss.data, triplet_margin(*xs, reduction="none"))
    assert loss.shape == shape[:-1]


def test_pairs_of_vectors_0(slopes):
    def f(x0, x1):
        return F.cosine_embedding_loss(x0, x1, PAIR)

    assert f(zeros(2, 3), zeros(2, 3)).data == 0.5
    assert slopes(f, zeros(2, 3), np.ones((2, 3))) == [zeros(2, 3).tolist()] * 2


def test_nothing_sums_up_to_0():
    x = Variable(zeros(0, 3))
    for loss in (
        F.triplet_margin(x, x, x, reduction="sum"),
        F.cosine_embedding_loss(x, x, zeros(0), reduction="sum"),
    ):
        loss.backward()
        assert loss.data == 0 and x.grad.shape == (0, 3)
    assert F.triplet_margin(x, x, x, reduction="none").shape == (0,)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint64, np.int64, bool])
def test_hinge_of_scores_without_a_sign(dtype):
    y = F.hinge(np.array([[0, 1]], dtype), np.array([1]))
    assert y.dtype == np.float64 and float(y) == 0
    assert float(F.hinge(np.array([[0, 1]], dtype), np.array([0]))) == 2
