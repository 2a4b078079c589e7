"""Sums, means, extremes and logsumexp over axes."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.functions.reduction import kept_shape, logsumexp_array
from dezero.testing import Case, arrays, axis_and_keepdims


def one_axis_and_keepdims(x):
    axes = st.sampled_from([None, *range(-x.ndim, x.ndim)])
    return st.fixed_dictionaries({"axis": axes, "keepdims": st.booleans()})


CASES = [
    Case(F.sum, arrays(), reference=np.sum, options=axis_and_keepdims),
    Case(F.mean, arrays(), reference=np.mean, options=axis_and_keepdims),
    Case(F.max, arrays(unique=True), reference=np.max, options=axis_and_keepdims),
    Case(F.min, arrays(unique=True), reference=np.min, options=axis_and_keepdims),
    Case(
        F.logsumexp,
        arrays(),
        reference=lambda x, **options: np.log(np.sum(np.exp(x), **options)),
        options=axis_and_keepdims,
    ),
    Case(
        F.argmax,
        arrays(),
        reference=np.argmax,
        options=one_axis_and_keepdims,
        differentiable=False,
    ),
    Case(
        F.argmin,
        arrays(),
        reference=np.argmin,
        options=one_axis_and_keepdims,
        differentiable=False,
    ),
    Case(
        F.any,
        arrays(),
        reference=np.any,
        options=axis_and_keepdims,
        differentiable=False,
    ),
    Case(
        F.all,
        arrays(),
        reference=np.all,
        options=axis_and_keepdims,
        differentiable=False,
    ),
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


def slopes(f, x, gy=None, dtype=float):
    """The gradient of f at x, which is a list of numbers."""
    x = Variable(np.array(x, dtype=dtype))
    f(x).backward(grad=None if gy is None else np.array(gy, dtype=dtype))
    return x.grad.data.tolist()


# =============================================================================
# Sum and mean
# =============================================================================


def test_sum_of_nothing_is_0():
    assert F.sum(np.empty((0, 3))).data == 0
    assert F.sum(np.empty((0, 3)), axis=0).data.tolist() == [0, 0, 0]
    assert slopes(F.sum, np.empty((0, 3))) == []


def test_reductions_that_leave_nothing_are_no_error():
    x = np.empty((3, 0))
    for f in (*OF_ANY_SIZE, *OF_SOME):
        assert f(x, axis=0).shape == (0,)
    for f in F.sum, F.mean, F.max, F.min, F.logsumexp:
        assert slopes(lambda x, f=f: f(x, axis=0), x) == [[], [], []]


def test_reductions_over_no_axis_change_nothing():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    for f in F.sum, F.mean, F.max, F.min, F.logsumexp:
        np.testing.assert_allclose(f(x, axis=()).data, x)
        assert slopes(lambda x, f=f: f(x, axis=()), x) == [[1, 1], [1, 1]]


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


@pytest.mark.parametrize(
    "name", ["Sum", "Mean", "Max", "Min", "LogSumExp", "Var", "Std"]
)
def test_classes_take_an_axis_as_it_is(name):
    x = np.array([[1.0, 5.0, 2.0], [7.0, 0.0, 3.0]])
    cls, f = getattr(F, name), getattr(F, name.lower())
    for axis in None, 1, -1, (0, -1):
        assert cls(axis)(x).data.tolist() == f(x, axis).data.tolist()
        by_class = slopes(lambda x, axis=axis: cls(axis)(x), x)
        assert by_class == slopes(lambda x, axis=axis: f(x, axis), x)


def test_kept_shape():
    assert kept_shape((2, 3, 4), None) == (1, 1, 1)
    assert kept_shape((2, 3, 4), -1) == (2, 3, 1)
    assert kept_shape((2, 3, 4), (0, 2)) == (1, 3, 1)
    assert kept_shape((), None) == ()


# =============================================================================
# Extremes
# =============================================================================


@pytest.mark.parametrize("f", [F.max, F.min])
def test_equal_extremes_share_the_gradient(f):
    assert slopes(f, [2, 2, 2, 2]) == [0.25] * 4
    x = [[1, 1, 1], [0, 2, 1]]
    rows = slopes(lambda x: f(x, axis=1), x, gy=[3, 6])
    assert rows[0] == [1, 1, 1]
    assert rows[1] == ([0, 6, 0] if f is F.max else [6, 0, 0])
    both = slopes(lambda x: f(x, axis=(0, 1), keepdims=True), [[1, 1], [1, 1]])
    assert both == [[0.25, 0.25], [0.25, 0.25]]
    assert slopes(f, [1, 1], dtype=np.float16) == [0.5, 0.5]


@pytest.mark.parametrize("f", [F.max, F.min])
def test_extremes_of_infinite_numbers_and_nan(f):
    assert slopes(f, [np.inf, np.inf]) == [0.5, 0.5]
    assert slopes(f, [-np.inf, np.inf]) == ([0, 1] if f is F.max else [1, 0])
    assert np.isnan(f(np.array([np.nan, 1])).data)
    assert slopes(f, [np.nan, 1]) == [0, 0]


@pytest.mark.parametrize("f", [F.max, F.min])
def test_extremes_of_integers(f):
    x = Variable(np.array([2, 2]))
    y = f(x)
    y.backward()
    assert y.dtype == x.dtype
    assert x.grad.data.tolist() == [0.5, 0.5]


def test_argmax_and_argmin_take_the_first_and_are_constants():
    x = Variable(np.array([[3.0, 1.0, 3.0], [0.0, 0.0, 5.0]]))
    for f, expected in (F.argmax, [0, 2]), (F.argmin, [1, 0]):
        y = f(x, axis=1)
        assert y.data.tolist() == expected
        assert y.dtype.kind == "i" and not y.requires_grad


def test_any_and_all_are_constants():
    x = Variable(np.array([[0.0, 1.0], [1.0, 1.0]]))
    assert F.any(x, axis=1).data.tolist() == [True, True]
    assert F.all(x, axis=1).data.tolist() == [False, True]
    assert not F.any(x).requires_grad and not F.all(x).requires_grad
    assert not F.any(np.empty(0)).data and F.all(np.empty(0)).data


# =============================================================================
# logsumexp
# =============================================================================


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_logsumexp_of_large_numbers(dtype):
    x = np.array([[1e4, 1e4], [-1e4, -1e4], [1e4, -1e4]], dtype=dtype)
    y = F.logsumexp(x, axis=1)
    assert y.dtype == dtype
    expected = [1e4 + np.log(2), -1e4 + np.log(2), 1e4]
    np.testing.assert_allclose(y.data.astype(float), expected, rtol=1e-3)
    rows = slopes(lambda x: F.logsumexp(x, axis=1), x, dtype=dtype)
    assert rows == [[0.5, 0.5], [0.5, 0.5], [1, 0]]


def test_logsumexp_shares_are_exact_beside_a_large_maximum():
    x = np.float32([1e4, 9999, 9998])
    e = np.exp([0.0, -1, -2])
    np.testing.assert_allclose(
        slopes(F.logsumexp, x, dtype=np.float32), e / e.sum(), rtol=1e-6
    )


def test_logsumexp_of_infinite_numbers():
    inf = np.inf
    x = np.array([[-inf, -inf], [inf, 0], [-inf, 0], [inf, inf], [inf, -inf]])
    assert F.logsumexp(x, axis=1).data.tolist() == [-inf, inf, 0, inf, inf]
    rows = slopes(lambda x: F.logsumexp(x, axis=1), x)
    assert rows == [[0.5, 0.5], [1, 0], [0, 1], [0.5, 0.5], [1, 0]]


def test_logsumexp_of_integers_and_0d():
    assert F.logsumexp(np.array([0, 0])).data == np.log(2)
    assert F.logsumexp(np.array(3.0)).data == 3
    assert slopes(F.logsumexp, 3.0) == 1
    assert slopes(lambda x: F.logsumexp(x, keepdims=True), [1.0]) == [1]


def test_logsumexp_array():
    x = np.random.rand(2, 3)
    expected = np.log(np.exp(x).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(logsumexp_array(x), expected)
    np.testing.assert_allclose(logsumexp_array(x, keepdims=False), expected[:, 0])
