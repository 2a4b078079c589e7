"""Exponentials and logarithms."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, between, broadcastable, positive

CASES = [
    Case(F.exp, arrays(), reference=np.exp),
    Case(F.exp2, arrays(), reference=np.exp2),
    Case(F.expm1, arrays(), reference=np.expm1),
    Case(F.log, positive(), reference=np.log),
    Case(F.log2, positive(), reference=np.log2),
    Case(F.log10, positive(), reference=np.log10),
    Case(F.log1p, between(-0.5, 2), reference=np.log1p),
    Case(F.logaddexp, broadcastable(2), reference=np.logaddexp),
]


@pytest.mark.parametrize(
    ("f", "edge"), [(F.log, 0), (F.log2, 0), (F.log10, 0), (F.log1p, -1)]
)
def test_logarithms_at_their_edge(slopes, f, edge):
    assert f(np.array([edge])).data.tolist() == [-np.inf]
    assert slopes(f, [edge]) == [[np.inf]]
    assert slopes(f, [edge, edge + 1], gy=[0, 0]) == [[0, 0]]
    chosen = slopes(lambda x: F.where(x > edge, f(x), 0.0), [edge, edge + 1.0])[0]
    assert chosen[0] == 0 and np.isfinite(chosen[1])


@pytest.mark.parametrize("f", [F.log, F.log2, F.log10, F.log1p])
def test_outside_the_domain_is_nan_and_warns(f):
    with pytest.warns(RuntimeWarning, match="invalid value"):
        y = f(np.array([-2.0]))
    assert np.isnan(y.data).all()


def test_expm1_and_log1p_of_tiny_numbers(slopes):
    tiny = np.array([1e-20])
    assert F.expm1(tiny).data.tolist() == F.log1p(tiny).data.tolist() == [1e-20]
    np.testing.assert_allclose(slopes(F.expm1, [-50.0]), [[np.exp(-50)]], rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_logaddexp_of_large_and_infinite_numbers(slopes, dtype):
    x = np.array([1e4, -1e4, 1e4, -np.inf, np.inf, -np.inf, np.inf], dtype=dtype)
    y = np.array([1e4, -1e4, -1e4, 0, 0, -np.inf, np.inf], dtype=dtype)
    expected = np.logaddexp(x, y)
    assert F.logaddexp(x, y).data.tolist() == expected.tolist()
    assert F.logaddexp(x, y).dtype == dtype
    by_x, by_y = slopes(F.logaddexp, x, y, dtype=dtype)
    np.testing.assert_allclose(by_x, [0.5, 0.5, 1, 0, 1, 0.5, 0.5], rtol=1e-3)
    np.testing.assert_allclose(by_y, [0.5, 0.5, 0, 1, 0, 0.5, 0.5], rtol=1e-3)


@pytest.mark.parametrize("f", [F.exp, F.log, F.log1p, F.expm1])
def test_integers_become_floating_and_0d_stays(f):
    x = Variable(np.array(4))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == ()
    assert y.dtype == x.grad.dtype == np.float64


@pytest.mark.parametrize("f", [F.exp, F.log])
def test_empty_arrays(slopes, f):
    assert slopes(f, np.empty((0, 3))) == [[]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("f", [F.log2, F.log10])
def test_the_slope_of_a_logarithm_does_not_overflow(f, dtype):
    x = Variable(np.array([np.finfo(dtype).max]))
    f(x).backward()
    assert np.isfinite(x.grad.data).all()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64", "int16"])
def test_slopes_of_integers_do_not_wrap_around(dtype):
    x0, x1 = (
        Variable(np.array([1, 2, 127], dtype)),
        Variable(np.array([2, 1, 3], dtype)),
    )
    F.logaddexp(x0, x1).backward()
    d = np.array([1.0, -1, -124])
    np.testing.assert_allclose(x0.grad.data, 1 / (1 + np.exp(d)), atol=1e-3)
    np.testing.assert_allclose(x1.grad.data, 1 / (1 + np.exp(-d)), atol=1e-3)
    x = Variable(np.array([np.iinfo(dtype).max]))
    F.log1p(x).backward()
    np.testing.assert_allclose(x.grad.data, 1 / (x.data + 1.0), rtol=1e-3)


def test_logaddexp_of_numbers_farther_apart_than_the_greatest_one(slopes):
    most = np.finfo(np.float64).max
    assert slopes(F.logaddexp, [most, -most], [-most, most]) == [[1, 0], [0, 1]]


def test_logaddexp_of_nan_is_nan(slopes):
    nan = np.array([np.nan, 1]), np.array([1, np.nan])
    assert np.isnan(F.logaddexp(*nan).data).all()
    assert np.isnan(slopes(F.logaddexp, *nan)).all()
