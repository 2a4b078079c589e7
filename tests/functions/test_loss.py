"""Losses of regression."""

import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, away_from_zero, same_shape


def batch(x):
    return len(x) if x.ndim else 1


def mean_squared_error(x0, x1):
    return np.sum((x0 - x1) ** 2) / batch(x0)


def reduce(y, reduction):
    """Losses as they are, their sum, or that over the batch size."""
    sums = {"none": y, "sum": np.sum(y), "mean": np.sum(y) / batch(y)}
    return sums[reduction]


def absolute(x0, x1, reduction="mean"):
    return reduce(abs(x0 - x1), reduction)


def squared(x0, x1, reduction="mean"):
    return reduce((x0 - x1) ** 2, reduction)


def huber(x0, x1, delta=1.0, reduction="mean"):
    return reduce(sp.huber(delta, x0 - x1), reduction)


REDUCTIONS = st.sampled_from(["mean", "sum", "none"])


def reductions(x0, x1):
    return st.fixed_dictionaries({"reduction": REDUCTIONS})


def deltas(x0, x1):
    # 1 / 7 is no difference of numbers drawn, so none is at a kink.
    delta = st.sampled_from([1 / 7, 8 / 7, 9.0])
    return st.fixed_dictionaries({"delta": delta, "reduction": REDUCTIONS})


def apart():
    """Pairs whose differences are between 0.2 and 2 in size."""
    pairs = same_shape(2, elements=(arrays, away_from_zero))
    return pairs.map(lambda pair: (pair[0], np.asarray(pair[0] + pair[1])))


CASES = [
    Case(F.mean_squared_error, same_shape(2), reference=mean_squared_error),
    Case(F.mean_squared_error, same_shape(2), reference=squared, options=reductions),
    Case(
        F.mean_absolute_error, apart(), reference=absolute, options=reductions, order=1
    ),
    Case(F.huber, same_shape(2), reference=huber, options=deltas),
    Case(F.mean_squared_error_simple, same_shape(2), reference=mean_squared_error),
]


def zeros(*shape):
    return np.zeros(shape)


ERRORS = [
    (
        lambda: F.mean_squared_error(zeros(3, 1), zeros(3)),
        ValueError,
        r"mean_squared_error: expected .* one shape, got \(3, 1\) and \(3,\)",
    ),
    (
        lambda: F.mean_squared_error(zeros(0, 2), zeros(0, 2)),
        ValueError,
        r"mean_squared_error: .* one sample, got x of shape \(0, 2\)",
    ),
    (
        lambda: F.mean_squared_error_simple(zeros(3, 1), zeros(3)),
        ValueError,
        r"mean_squared_error_simple: expected .* got \(3, 1\) and \(3,\)",
    ),
    (
        lambda: F.mean_squared_error_simple(zeros(0, 2), zeros(0, 2)),
        ValueError,
        r"mean_squared_error_simple: .* one sample, got x of shape \(0, 2\)",
    ),
    (
        lambda: F.mean_squared_error([1.0], zeros(1)),
        TypeError,
        r"as_variable: .* got list",
    ),
    (
        lambda: F.mean_squared_error(zeros(3), zeros(3), "average"),
        ValueError,
        r"mean_squared_error: expected 'mean', 'sum' or 'none' .* got 'average'",
    ),
    (
        lambda: F.mean_absolute_error(zeros(3, 1), zeros(3)),
        ValueError,
        r"mean_absolute_error: expected .* one shape, got \(3, 1\) and \(3,\)",
    ),
    (
        lambda: F.mean_absolute_error(zeros(0, 2), zeros(0, 2)),
        ValueError,
        r"mean_absolute_error: .* one sample, got x of shape \(0, 2\)",
    ),
    (
        lambda: F.mean_absolute_error(zeros(3), zeros(3), None),
        ValueError,
        r"mean_absolute_error: expected 'mean', .* got None",
    ),
    (
        lambda: F.huber(zeros(3, 1), zeros(3)),
        ValueError,
        r"huber: expected .* one shape, got \(3, 1\) and \(3,\)",
    ),
    (
        lambda: F.huber(zeros(3), zeros(3), 0),
        ValueError,
        r"huber: expected delta > 0, got 0",
    ),
    (
        lambda: F.huber(zeros(3), zeros(3), "mean"),
        TypeError,
        r"huber: expected a number as delta, got str",
    ),
]


def test_fused_equals_simple(derivatives):
    rng = np.random.default_rng(0)
    arrays = rng.normal(size=(4, 3)), rng.random((4, 3))
    fused = derivatives(F.mean_squared_error, *arrays, order=2)
    simple = derivatives(F.mean_squared_error_simple, *arrays, order=2)
    for a, b in zip(fused, simple, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def test_mean_squared_error_of_other_kinds():
    x = Variable(np.array([1.0, 2.0], np.float32))
    loss = F.mean_squared_error(x, np.array([0, 0]))
    assert loss.dtype == np.float32 and loss.data == 2.5
    assert F.mean_squared_error(np.array(3, np.float32), 1.0).dtype == np.float32
    assert F.mean_squared_error(np.array(3.0), 1).data == 4
    small = np.array([1], np.uint8), np.array([2], np.uint8)
    assert F.mean_squared_error(*small).data == 1


def test_mean_squared_error_gives_integers_a_gradient():
    x0, x1 = Variable(np.array([1, 2])), Variable(np.array([3, 3]))
    F.mean_squared_error(x0, x1).backward()
    np.testing.assert_array_equal(x0.grad.data, [-2, -1])
    np.testing.assert_array_equal(x1.grad.data, [2, 1])


def test_mean_squared_error_in_half_precision_does_not_overflow():
    x = Variable(np.full(1000, 20, np.float16))
    loss = F.mean_squared_error(x, np.zeros(1000, np.float16))
    assert loss.data == 400 and loss.dtype == np.float16


def test_mean_squared_error_of_two_precisions_has_the_wider_one():
    half, single = np.ones(3, np.float16), np.ones(3, np.float32)
    assert F.mean_squared_error(half, single).dtype == np.float32
    assert F.mean_squared_error(single, half).dtype == np.float32


OF_PAIRS = [F.mean_squared_error, F.mean_absolute_error, F.huber]


@pytest.mark.parametrize("f", OF_PAIRS)
def test_nothing_sums_up_to_0(f):
    x = Variable(np.zeros((0, 3)))
    assert f(x, np.zeros((0, 3)), reduction="none").shape == (0, 3)
    loss = f(x, np.zeros((0, 3)), reduction="sum")
    loss.backward()
    assert loss.data == 0 and x.grad.shape == (0, 3)
    assert f(np.zeros((3, 0)), np.zeros((3, 0))).data == 0


@pytest.mark.parametrize("f", OF_PAIRS)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_precision_of_regression(f, reduction, dtype):
    x = Variable(np.array([[1, 2], [3, 4]], dtype))
    loss = f(x, np.array([[0, 0], [1, 1]]), reduction=reduction)
    loss.backward()
    assert loss.dtype == x.grad.dtype == dtype


@pytest.mark.parametrize("f", [F.mean_absolute_error, F.huber])
def test_half_precision_does_not_overflow(f):
    x = Variable(np.full(1000, 1000, np.float16))
    loss = f(x, np.zeros(1000, np.float16))
    loss.backward()
    np.testing.assert_allclose(loss.data, 1000, rtol=1e-3)
    np.testing.assert_allclose(x.grad.data, np.full(1000, 1e-3), rtol=1e-3)


def test_extreme_differences():
    x = Variable(np.array([1e4, -1e4], np.float32))
    loss = F.huber(x, np.zeros(2, np.float32), 2.0)
    loss.backward()
    np.testing.assert_array_equal(loss.data, np.float32(2 * 1e4 - 2))
    np.testing.assert_array_equal(x.grad.data, [1, -1])


def test_slopes_at_the_kinks(slopes):
    assert slopes(F.mean_absolute_error, [2.0, 1.0], [2.0, 0.0]) == [
        [0, 0.5],
        [0, -0.5],
    ]
    found = slopes(lambda x0, x1: F.huber(x0, x1, 1.0, "sum"), [1, -1, 0], [0, 0, 0])
    assert found == [[1, -1, 0], [-1, 1, 0]]


def test_huber_bends_at_0_but_not_far_out(second_slopes):
    def f(x):
        return F.huber(x, np.zeros(3), 1.0, "sum")

    assert second_slopes(f, [0, 0.5, 2]) == [1, 1, 0]


def test_mean_squared_error_of_two_numbers():
    for reduction in "mean", "sum", "none":
        y = F.mean_squared_error(np.array(5.0), np.array(2.0), reduction=reduction)
        assert y.shape == () and y.item() == 9
