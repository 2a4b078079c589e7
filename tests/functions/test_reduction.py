"""Sums, means and truth over axes."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable
from dezero.functions.reduction import kept_shape
from dezero.testing import Case, arrays, axis_and_keepdims

CASES = [
    Case(F.sum, arrays(), reference=np.sum, options=axis_and_keepdims),
    Case(F.mean, arrays(), reference=np.mean, options=axis_and_keepdims),
    *[
        Case(
            f,
            arrays(),
            reference=reference,
            options=axis_and_keepdims,
            differentiable=False,
        )
        for f, reference in ((F.any, np.any), (F.all, np.all))
    ],
]

OF_ANY_SIZE = [F.sum, F.any, F.all]
OF_SOME = [F.mean, F.max, F.min, F.logsumexp, F.argmax, F.argmin]


def errors_of(f):
    name = f.__name__
    yield (
        lambda: f(np.ones(3), axis=1),
        ValueError,
        rf"{name}: .* axis 1 .* \(3,\)",
    )
    yield (
        lambda: f(np.array(1.0), axis=0),
        ValueError,
        rf"{name}: expected no axis, got axis 0 .* \(\)",
    )
    yield (
        lambda: f(np.ones(3), axis=1.0),
        TypeError,
        rf"{name}: expected an integer as axis, got float",
    )
    if f not in (F.argmax, F.argmin):
        yield (
            lambda: f(np.ones((3, 2)), axis=(0, -2)),
            ValueError,
            rf"{name}: expected different axes, got \(0, -2\)",
        )
    if f in OF_SOME:
        yield (
            lambda: f(np.ones((0, 3)), axis=0),
            ValueError,
            rf"{name}: expected at least one element over axis .*0.*, got .*\(0, 3\)",
        )
        yield (
            lambda: f(np.ones((2, 0))),
            ValueError,
            rf"{name}: expected at least one element, got x of shape \(2, 0\)",
        )


ERRORS = [error for f in OF_ANY_SIZE + OF_SOME for error in errors_of(f)]


# =============================================================================
# Sum and mean
# =============================================================================


def test_sum_of_nothing_is_0(slope):
    assert F.sum(np.empty((0, 3))).data == 0
    assert F.sum(np.empty((0, 3)), axis=0).data.tolist() == [0, 0, 0]
    assert slope(F.sum, np.empty((0, 3))) == []


def test_reductions_that_leave_nothing_are_no_error(slope):
    x = np.empty((3, 0))
    for f in (*OF_ANY_SIZE, *OF_SOME):
        assert f(x, axis=0).shape == (0,)
    for f in F.sum, F.mean, F.max, F.min, F.logsumexp:
        assert slope(lambda x, f=f: f(x, axis=0), x) == [[], [], []]


def test_reductions_over_no_axis_change_nothing(slope):
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for f in F.sum, F.mean, F.max, F.min, F.logsumexp:
        np.testing.assert_allclose(f(x, axis=()).data, x)
        assert slope(lambda x, f=f: f(x, axis=()), x) == [[1, 1], [1, 1]]


def test_axis_may_be_a_list():
    x = np.arange(24.0).reshape(2, 3, 4)
    assert F.sum(x, axis=[0, -1]).data.tolist() == x.sum(axis=(0, 2)).tolist()


def test_sum_of_integers_and_booleans():
    assert F.sum(np.array([True, True])).data == 2
    assert F.mean(np.array([True, False])).data == 0.5
    assert F.mean(np.array([1, 2])).dtype == np.float64
    assert F.sum(np.int8([100, 100])).data == 200
    x = Variable(np.array([1, 2]))
    F.sum(x).backward()
    assert x.grad.data.tolist() == [1, 1]


def test_half_precision_is_added_up_in_single_precision():
    x = np.full((3, 40_000), 2.0, dtype=np.float16)
    assert F.mean(x, axis=1).data.tolist() == [2, 2, 2]
    assert F.mean(x).data == 2
    small = np.full((40_000, 2), 0.1, dtype=np.float16)
    np.testing.assert_allclose(F.sum(small, axis=0).data, 4000, rtol=1e-3)
    assert F.sum(small, axis=0).dtype == F.mean(small).dtype == np.float16


def test_sum_over_rows_takes_every_way_to_the_same():
    for rows in 10, 3000:
        x = np.random.rand(rows, 4).astype(np.float32)
        np.testing.assert_allclose(F.sum(x, axis=0).data, x.sum(axis=0), rtol=1e-5)
        assert F.sum(x, axis=0).dtype == np.float32
        assert F.sum(x.T, axis=1).data.tolist() == x.T.sum(axis=1).tolist()


@pytest.mark.parametrize("name", ["Sum", "Mean", "Var", "Std"])
def test_classes_take_an_axis_as_it_is(slope, name):
    x = np.array([[1.0, 5.0, 2.0], [7.0, 0.0, 3.0]])
    cls, f = getattr(F, name), getattr(F, name.lower())
    for axis in None, 1, -1, (0, -1):
        assert cls(axis)(x).data.tolist() == f(x, axis).data.tolist()
        by_class = slope(lambda x, axis=axis: cls(axis)(x), x)
        assert by_class == slope(lambda x, axis=axis: f(x, axis), x)


def test_kept_shape():
    assert kept_shape((2, 3, 4), None) == (1, 1, 1)
    assert kept_shape((2, 3, 4), -1) == (2, 3, 1)
    assert kept_shape((2, 3, 4), (0, 2)) == (1, 3, 1)
    assert kept_shape((), None) == ()


def test_any_and_all_are_constants():
    x = Variable(np.array([[0.0, 1.0], [1.0, 1.0]]))
    assert F.any(x, axis=1).data.tolist() == [True, True]
    assert F.all(x, axis=1).data.tolist() == [False, True]
    assert not F.any(x).requires_grad and not F.all(x).requires_grad
    assert not F.any(np.empty(0)).data and F.all(np.empty(0)).data
