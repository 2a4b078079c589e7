"""Confusion of classes, against counting by hand and scikit-learn's conventions."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, integers_below


def labels(y):
    return st.fixed_dictionaries({"t": integers_below(y.shape[1], (len(y),))})


def confusion_matrix(y, t):
    c = np.zeros((y.shape[1],) * 2, int)
    for i, j in zip(t, y.argmax(1), strict=True):
        c[i, j] += 1
    return c


def options(y):
    return st.fixed_dictionaries(
        {
            "t": integers_below(y.shape[1], (len(y),)),
            "average": st.sampled_from(["macro", None]),
            "zero_division": st.sampled_from([0.0, 1.0, np.nan]),
        }
    )


def measure(counted):
    """The measure whose class j gets the quotient of the two numbers counted."""

    def reference(y, t, average, zero_division):
        shares = []
        for j in range(y.shape[1]):
            part, whole = counted(y.argmax(1) == j, t == j)
            shares.append(part / whole if whole else zero_division)
        return np.mean(shares) if average else np.array(shares, float)

    return reference


def two_axes():
    return arrays(min_dims=2, max_dims=2)


CASES = [
    Case(
        F.confusion_matrix,
        two_axes(),
        reference=confusion_matrix,
        options=labels,
        differentiable=False,
    ),
    Case(
        F.precision,
        two_axes(),
        reference=measure(lambda y, t: ((y & t).sum(), y.sum())),
        options=options,
        differentiable=False,
        dtypes=(),
    ),
    Case(
        F.recall,
        two_axes(),
        reference=measure(lambda y, t: ((y & t).sum(), t.sum())),
        options=options,
        differentiable=False,
        dtypes=(),
    ),
    Case(
        F.f1_score,
        two_axes(),
        reference=measure(lambda y, t: (2 * (y & t).sum(), y.sum() + t.sum())),
        options=options,
        differentiable=False,
        dtypes=(),
    ),
]

MEASURES = [F.precision, F.recall, F.f1_score]
T = np.array([0, 0, 0, 1, 1])
Y = np.array([0, 1, 1, 1, 0])


def errors_of(f):
    name = f.__name__
    yield (
        lambda: f(np.zeros((2, 3)), np.array([0, 3])),
        ValueError,
        rf"{name}: expected labels in \[0, 3\) for 3 classes, got 3",
    )
    yield (
        lambda: f(np.zeros((2, 3)), np.array([0])),
        ValueError,
        rf"{name}: .* shape \(2, 3\), got t of shape \(1,\)",
    )
    yield (
        lambda: f(np.zeros((0, 3)), np.zeros(0, int)),
        ValueError,
        rf"{name}: .* N and C > 0, got \(0, 3\)",
    )
    yield (
        lambda: f(np.zeros((2, 3)), np.array([0, 1]), n_classes=4),
        ValueError,
        rf"{name}: expected n_classes=3 for scores of shape \(2, 3\), got 4",
    )
    yield (
        lambda: f(np.zeros(2), np.array([0, 1])),
        TypeError,
        rf"{name}: .* integer class ids, got y of dtype float64 and shape \(2,\)",
    )
    yield (
        lambda: f(np.array([0, 1]), np.array([0])),
        ValueError,
        rf"{name}: .* got y of shape \(2,\) and t of shape \(1,\)",
    )
    yield (
        lambda: f(np.zeros(0, int), np.zeros(0, int)),
        ValueError,
        rf"{name}: .* N > 0, got y of shape \(0,\)",
    )
    yield (
        lambda: f(np.array([0, 1]), np.array([0, 2]), n_classes=2),
        ValueError,
        rf"{name}: expected labels in \[0, 2\) for 2 classes, got 2",
    )
    yield (
        lambda: f(np.array([0, -1]), np.array([0, 2])),
        ValueError,
        rf"{name}: expected labels in \[0, 3\) for 3 classes, got -1",
    )
    yield (
        lambda: f(np.array([0, 1]), np.array([0, 1]), n_classes=2.5),
        TypeError,
        rf"{name}: expected an integer as n_classes, got float",
    )
    if f is F.confusion_matrix:
        return
    yield (
        lambda: f(Y, T, "micro"),
        ValueError,
        rf"{name}: expected 'macro', 'binary' or None as average, got 'micro'",
    )
    yield (
        lambda: f(np.zeros((2, 3)), np.array([0, 1]), "binary"),
        ValueError,
        rf"{name}: expected two classes for average='binary', got 3",
    )
    yield (
        lambda: f(Y, T, zero_division="warn"),
        TypeError,
        rf"{name}: expected a number as zero_division, got str",
    )


ERRORS = [error for f in [F.confusion_matrix, *MEASURES] for error in errors_of(f)]


def test_rows_are_true_classes_and_columns_predictions():
    assert F.confusion_matrix(Y, T).data.tolist() == [[1, 2], [1, 1]]
    assert F.confusion_matrix(Y, T, 3).data.tolist() == [
        [1, 2, 0],
        [1, 1, 0],
        [0, 0, 0],
    ]


@pytest.mark.parametrize(
    ("f", "each"),
    [
        (F.precision, [1 / 2, 1 / 3]),
        (F.recall, [1 / 3, 1 / 2]),
        (F.f1_score, [2 / 5, 2 / 5]),
    ],
)
def test_averages(f, each):
    np.testing.assert_allclose(f(Y, T, None).data, each)
    np.testing.assert_allclose(f(Y, T).data, np.mean(each))
    np.testing.assert_allclose(f(Y, T, "binary").data, each[1])


def test_class_1_may_not_be_there():
    y = np.array([0, 0])
    for f in MEASURES:
        assert f(y, y, "binary").data == 0
        assert f(y, y, "binary", zero_division=1).data == 1


@pytest.mark.parametrize("f", MEASURES)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_constants_of_the_dtype_of_the_scores(f, dtype):
    y = Variable(np.array([[1, 0], [0, 1], [0, 1]], dtype))
    share = f(y, Variable(np.array([0, 1, 0])))
    assert share.dtype == dtype and share.shape == ()
    assert not share.requires_grad and share.creator is None
    assert f(Y, T).dtype == np.float64


def test_small_integers_do_not_overflow():
    y = np.arange(200, dtype=np.uint8)
    c = F.confusion_matrix(y, y).data
    np.testing.assert_array_equal(c, np.eye(200))


def test_the_first_of_equal_scores_is_the_prediction():
    assert F.confusion_matrix(np.zeros((2, 2)), np.array([0, 1])).data.tolist() == [
        [1, 0],
        [1, 0],
    ]
