import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, integers_below, same_shape


def labels(y):
    shape = st.sampled_from([(len(y),), (len(y), 1)])
    ids = shape.flatmap(lambda s: integers_below(y.shape[1], s))
    return st.fixed_dictionaries({"t": ids})


def accuracy(y, t):
    return np.mean(y.argmax(1) == t.ravel())


def with_k(y):
    return st.fixed_dictionaries(
        {
            "t": integers_below(y.shape[1], (len(y),)),
            "k": st.integers(1, y.shape[1]),
        }
    )


def top_k_accuracy(y, t, k):
    # A stable sort of the negative: of equal scores the first comes first.
    best = np.argsort(-y, axis=1, kind="stable")[:, :k]
    return np.mean([label in row for label, row in zip(t, best, strict=True)])


def r2_score(y, t):
    y, t = y.reshape(len(y), -1), t.reshape(len(t), -1)
    scores = []
    for predicted, true in zip(y.T, t.T, strict=True):
        off = np.sum((predicted - true) ** 2)
        if (true == true[0]).all():
            scores.append(float(off == 0))
        else:
            scores.append(1 - off / np.sum((true - true.mean()) ** 2))
    return np.mean(scores)


def of_labels(y):
    return st.fixed_dictionaries(
        {
            "t": integers_below(y.shape[1], y.shape[:1] + y.shape[2:]),
            "ignore_label": st.sampled_from([None, 0, -1]),
        }
    )


def perplexity(y, t, ignore_label):
    log_p = np.moveaxis(sp.log_softmax(y, 1), 1, -1)
    kept = [i for i in np.ndindex(t.shape) if t[i] != ignore_label]
    return np.exp(-np.mean([log_p[i][t[i]] for i in kept])) if kept else 1.0


CASES = [
    Case(
        F.top_k_accuracy,
        arrays(min_dims=2, max_dims=2),
        reference=top_k_accuracy,
        options=with_k,
        differentiable=False,
    ),
    Case(
        F.r2_score,
        same_shape(2, min_dims=1),
        reference=r2_score,
        differentiable=False,
        dtypes=(),
    ),
    Case(
        F.perplexity,
        arrays(min_dims=2),
        reference=perplexity,
        options=of_labels,
        differentiable=False,
        dtypes=("float32",),
    ),
    Case(
        F.accuracy,
        arrays(min_dims=2, max_dims=2),
        reference=accuracy,
        options=labels,
        differentiable=False,
    ),
]

ERRORS = [
    (
        lambda: F.top_k_accuracy(np.zeros((2, 3)), np.array([0, 1])),
        ValueError,
        r"top_k_accuracy: expected k in \[1, 3\], got 5",
    ),
    (
        lambda: F.top_k_accuracy(np.zeros((2, 3)), np.array([0, 1]), 0),
        ValueError,
        r"top_k_accuracy: expected k in \[1, 3\], got 0",
    ),
    (
        lambda: F.top_k_accuracy(np.zeros((2, 3)), np.array([0, 1]), 1.5),
        TypeError,
        r"top_k_accuracy: expected an integer as k, got float",
    ),
    (
        lambda: F.top_k_accuracy(np.zeros((2, 3)), np.array([0, -1]), 1),
        ValueError,
        r"top_k_accuracy: expected labels in \[0, 3\) for 3 classes, got -1",
    ),
    (
        lambda: F.r2_score(np.zeros((2, 1)), np.zeros(2)),
        ValueError,
        r"r2_score: .* N > 0, got \(2, 1\) and \(2,\)",
    ),
    (
        lambda: F.r2_score(np.zeros((0, 1)), np.zeros((0, 1))),
        ValueError,
        r"r2_score: .* got \(0, 1\) and \(0, 1\)",
    ),
    (
        lambda: F.perplexity(np.zeros((2, 3)), np.array([0, 3])),
        ValueError,
        r"perplexity: expected labels in \[0, 3\) for 3 classes, got 3",
    ),
    (
        lambda: F.accuracy(np.zeros(3), np.array([0])),
        ValueError,
        r"accuracy: expected scores of shape \(N, C\) .* got \(3,\)",
    ),
    (
        lambda: F.accuracy(np.zeros((0, 3)), np.zeros(0, int)),
        ValueError,
        r"accuracy: .* N and C > 0, got \(0, 3\)",
    ),
    (
        lambda: F.accuracy(np.zeros((2, 3)), np.array([0, 1, 2])),
        ValueError,
        r"accuracy: .* shape \(2, 3\), got t of shape \(3,\)",
    ),
    (
        lambda: F.accuracy(np.zeros((2, 3)), np.zeros(2)),
        TypeError,
        r"accuracy: expected integer class ids as t, got dtype float64",
    ),
    (
        lambda: F.perplexity(np.zeros((2, 3)), np.array([0, 1]), ignore_label="pad"),
        TypeError,
        r"perplexity: expected an integer as ignore_label, got str",
    ),
]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_a_constant_of_the_dtype_of_the_scores(dtype):
    y = Variable(np.array([[1, 0], [0, 1], [0, 1]], dtype))
    share = F.accuracy(y, Variable(np.array([0, 1, 0])))
    assert share.dtype == dtype and share.shape == ()
    assert not share.requires_grad and share.creator is None
    np.testing.assert_allclose(float(share), 2 / 3, rtol=1e-3)


def test_of_integer_scores():
    share = F.accuracy(np.array([[1, 0]]), np.array([0]))
    assert share.dtype == np.float64 and share.data == 1


def test_many_samples_in_half_precision():
    # 70,000 hits are more than half precision can count.
    share = F.accuracy(np.zeros((70_000, 2), np.float16), np.zeros(70_000, int))
    assert share.data == 1


def test_top_1_is_the_accuracy_also_of_ties():
    y = np.random.default_rng(0).integers(0, 3, (50, 4)).astype(float)
    t = np.random.default_rng(1).integers(0, 4, 50)
    assert F.top_k_accuracy(y, t, 1).data == F.accuracy(y, t).data
    assert F.top_k_accuracy(y, t, 4).data == 1


def test_r2_score_of_the_mean_and_of_the_truth():
    t = np.array([1.0, 2.0, 6.0])
    assert F.r2_score(t, t).data == 1
    assert F.r2_score(np.full(3, 3.0), t).data == 0
    assert F.r2_score(-t, t).data < 0


def test_r2_score_of_targets_without_variance():
    # The rounded mean of three times 0.1 is not 0.1.
    t = np.full((3, 2), 0.1)
    assert F.r2_score(t, t).data == 1
    assert F.r2_score(np.array([[0.1, 0.2]] * 3), t).data == 0.5
    assert F.r2_score(np.array([2.0]), np.array([2.0])).data == 1


def test_r2_score_in_half_precision_does_not_overflow():
    t = np.array([-1000, 1000], np.float16)
    y = F.r2_score(t / 2, t)
    assert y.data == 0.75 and y.dtype == np.float16


def test_r2_score_of_integers():
    y, t = np.array([0, 200], np.uint8), np.array([200, 0], np.uint8)
    assert F.r2_score(y, t).data == -3


def test_perplexity_of_the_undecided_is_the_number_of_classes():
    np.testing.assert_allclose(F.perplexity(np.zeros((5, 7)), np.zeros(5, int)).data, 7)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_perplexity_out_of_range_is_infinite(dtype):
    y = F.perplexity(np.array([[1e4, -1e4]], dtype), np.array([1]))
    assert y.data == np.inf and y.dtype == dtype


def test_perplexity_of_nothing_that_counts():
    assert F.perplexity(np.zeros((2, 3)), np.array([9, 9]), ignore_label=9).data == 1


@pytest.mark.parametrize("axis", [1, -1])
def test_perplexity_along_an_axis(axis):
    y = np.random.default_rng(0).normal(size=(2, 3, 3))
    t = np.random.default_rng(1).integers(0, 3, (2, 3))
    loss = F.softmax_cross_entropy(y, t, axis=axis).data
    np.testing.assert_allclose(F.perplexity(y, t, axis=axis).data, np.exp(loss))


def test_measures_have_no_gradient():
    y = Variable(np.array([[1.0, 0.0]]))
    for value in (
        F.top_k_accuracy(y, np.array([0]), 1),
        F.r2_score(y, y),
        F.perplexity(y, np.array([0])),
    ):
        assert not value.requires_grad and value.creator is None


def test_r2_score_of_huge_numbers():
    t = np.array([1, 2, 4], np.float32) * np.float32(1e30)
    y = F.r2_score(t, t[::-1])
    assert y.dtype == np.float32
    expected = F.r2_score(np.array([1.0, 2, 4]), np.array([4.0, 2, 1]))
    np.testing.assert_allclose(y.data, expected.data, rtol=1e-5)


def test_scores_that_are_no_numbers_are_not_right():
    y = np.full((2, 3), np.nan)
    for k in (1, 2, 3):
        assert float(F.top_k_accuracy(y, np.array([0, 1]), k)) == 0
    y = np.array([[np.nan, 2.0, 1.0]])
    t = np.array([1])
    assert [float(F.top_k_accuracy(y, t, k)) for k in (1, 2)] == [0, 1]
