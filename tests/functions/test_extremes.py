"""Extremes and logsumexp over axes."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.functions.extremes import logsumexp_array
from dezero.testing import Case, arrays, axis_and_keepdims


def one_axis_and_keepdims(x):
    axes = st.sampled_from([None, *range(-x.ndim, x.ndim)])
    return st.fixed_dictionaries({"axis": axes, "keepdims": st.booleans()})


CASES = [
    Case(F.max, arrays(unique=True), reference=np.max, options=axis_and_keepdims),
    Case(F.min, arrays(unique=True), reference=np.min, options=axis_and_keepdims),
    Case(
        F.logsumexp,
        arrays(),
        reference=lambda x, **options: np.log(np.sum(np.exp(x), **options)),
        options=axis_and_keepdims,
    ),
    *[
        Case(
            f,
            arrays(),
            reference=reference,
            options=one_axis_and_keepdims,
            differentiable=False,
        )
        for f, reference in ((F.argmax, np.argmax), (F.argmin, np.argmin))
    ],
]


@pytest.mark.parametrize("name", ["Max", "Min", "LogSumExp"])
def test_classes_take_an_axis_as_it_is(slope, name):
    x = np.array([[1.0, 5.0, 2.0], [7.0, 0.0, 3.0]])
    cls, f = getattr(F, name), getattr(F, name.lower())
    for axis in None, 1, -1, (0, -1):
        assert cls(axis)(x).data.tolist() == f(x, axis).data.tolist()
        by_class = slope(lambda x, axis=axis: cls(axis)(x), x)
        assert by_class == slope(lambda x, axis=axis: f(x, axis), x)


# =============================================================================
# Extremes
# =============================================================================


@pytest.mark.parametrize("f", [F.max, F.min])
def test_equal_extremes_share_the_gradient(slope, f):
    assert slope(f, [2, 2, 2, 2]) == [0.25] * 4
    x = [[1, 1, 1], [0, 2, 1]]
    rows = slope(lambda x: f(x, axis=1), x, gy=[3, 6])
    assert rows[0] == [1, 1, 1]
    assert rows[1] == ([0, 6, 0] if f is F.max else [6, 0, 0])
    both = slope(lambda x: f(x, axis=(0, 1), keepdims=True), [[1, 1], [1, 1]])
    assert both == [[0.25, 0.25], [0.25, 0.25]]
    assert slope(f, [1, 1], dtype=np.float16) == [0.5, 0.5]


@pytest.mark.parametrize("f", [F.max, F.min])
def test_extremes_of_infinite_numbers_and_nan(slope, f):
    assert slope(f, [np.inf, np.inf]) == [0.5, 0.5]
    assert slope(f, [-np.inf, np.inf]) == ([0, 1] if f is F.max else [1, 0])
    assert np.isnan(f(np.array([np.nan, 1])).data)
    assert slope(f, [np.nan, 1]) == [0, 0]


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


# =============================================================================
# logsumexp
# =============================================================================


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_logsumexp_of_large_numbers(slope, dtype):
    x = np.array([[1e4, 1e4], [-1e4, -1e4], [1e4, -1e4]], dtype=dtype)
    y = F.logsumexp(x, axis=1)
    assert y.dtype == dtype
    expected = [1e4 + np.log(2), -1e4 + np.log(2), 1e4]
    np.testing.assert_allclose(y.data.astype(float), expected, rtol=1e-3)
    rows = slope(lambda x: F.logsumexp(x, axis=1), x, dtype=dtype)
    assert rows == [[0.5, 0.5], [0.5, 0.5], [1, 0]]


def test_logsumexp_shares_are_exact_beside_a_large_maximum(slope):
    x = np.float32([1e4, 9999, 9998])
    e = np.exp([0.0, -1, -2])
    np.testing.assert_allclose(
        slope(F.logsumexp, x, dtype=np.float32), e / e.sum(), rtol=1e-6
    )


def test_logsumexp_of_infinite_numbers(slope):
    inf = np.inf
    x = np.array([[-inf, -inf], [inf, 0], [-inf, 0], [inf, inf], [inf, -inf]])
    assert F.logsumexp(x, axis=1).data.tolist() == [-inf, inf, 0, inf, inf]
    rows = slope(lambda x: F.logsumexp(x, axis=1), x)
    assert rows == [[0.5, 0.5], [1, 0], [0, 1], [0.5, 0.5], [1, 0]]


def test_logsumexp_of_integers_and_0d(slope):
    assert F.logsumexp(np.array([0, 0])).data == np.log(2)
    assert F.logsumexp(np.array(3.0)).data == 3
    assert slope(F.logsumexp, 3.0) == 1
    assert slope(lambda x: F.logsumexp(x, keepdims=True), [1.0]) == [1]


def test_logsumexp_array():
    x = np.random.rand(2, 3)
    expected = np.log(np.exp(x).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(logsumexp_array(x), expected)
    np.testing.assert_allclose(logsumexp_array(x, keepdims=False), expected[:, 0])


def test_an_infinite_slope_does_no_harm_to_what_is_not_the_extreme(slope):
    assert slope(lambda x: F.sqrt(F.max(x)), [-1, 0]) == [0, np.inf]
    assert slope(lambda x: F.sqrt(F.min(x)), [1, 0]) == [0, np.inf]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_logsumexp_of_numbers_farther_apart_than_the_greatest_one(dtype):
    most = np.finfo(dtype).max
    x = Variable(np.array([most, -most]))
    y = F.logsumexp(x)
    y.backward()
    assert (y.data, x.grad.data.tolist()) == (most, [1, 0])
