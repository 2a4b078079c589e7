import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, integers_below


def labels(y):
    shape = st.sampled_from([(len(y),), (len(y), 1)])
    ids = shape.flatmap(lambda s: integers_below(y.shape[1], s))
    return st.fixed_dictionaries({"t": ids})


def accuracy(y, t):
    return np.mean(y.argmax(1) == t.ravel())


CASES = [
    Case(
        F.accuracy,
        arrays(min_dims=2, max_dims=2),
        reference=accuracy,
        options=labels,
        differentiable=False,
    )
]

ERRORS = [
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
