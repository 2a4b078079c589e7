"""Exponentials, logarithms, roots, absolute value and sign."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable
from dezero.testing import (
    Case,
    arrays,
    away_from_zero,
    between,
    broadcastable,
    positive,
)

CASES = [
    Case(F.exp, arrays(), reference=np.exp),
    Case(F.exp2, arrays(), reference=np.exp2),
    Case(F.expm1, arrays(), reference=np.expm1),
    Case(F.log, positive(), reference=np.log),
    Case(F.log2, positive(), reference=np.log2),
    Case(F.log10, positive(), reference=np.log10),
    Case(F.log1p, between(-0.5, 2), reference=np.log1p),
    Case(F.logaddexp, broadcastable(2), reference=np.logaddexp),
    Case(F.sqrt, positive(), reference=np.sqrt),
    Case(F.cbrt, away_from_zero(), reference=np.cbrt),
    Case(F.abs, away_from_zero(), reference=np.abs),
    Case(F.sign, away_from_zero(), reference=np.sign),
]


def slopes(f, *xs, gy=None, dtype=float):
    """The gradients of f by all its inputs, which are lists of numbers."""
    xs = [Variable(np.array(x, dtype=dtype)) for x in xs]
    f(*xs).backward(grad=None if gy is None else np.array(gy, dtype=dtype))
    return [x.grad.data.tolist() for x in xs]


def second_slopes(f, x):
    """The second derivatives of an elementwise f at each element of x."""
    x = Variable(np.array(x, dtype=float))
    f(x).backward(create_graph=True)
    gx = x.grad
    x.cleargrad()
    gx.backward()
    return x.grad.data.tolist()


@pytest.mark.parametrize(
    ("f", "edge"), [(F.log, 0), (F.log2, 0), (F.log10, 0), (F.log1p, -1)]
)
def test_logarithms_at_their_edge(f, edge):
    assert f(np.array([edge])).data.tolist() == [-np.inf]
    assert slopes(f, [edge]) == [[np.inf]]
    assert slopes(f, [edge, edge + 1], gy=[0, 0]) == [[0, 0]]
    chosen = slopes(lambda x: F.where(x > edge, f(x), 0.0), [edge, edge + 1.0])[0]
    assert chosen[0] == 0 and np.isfinite(chosen[1])


@pytest.mark.parametrize("f", [F.log, F.log2, F.log10, F.log1p, F.sqrt])
def test_outside_the_domain_is_nan_and_warns(f):
    with pytest.warns(RuntimeWarning, match="invalid value"):
        y = f(np.array([-2.0]))
    assert np.isnan(y.data).all()


@pytest.mark.parametrize("f", [F.sqrt, F.cbrt])
def test_roots_at_zero(f):
    assert f(np.array([0.0])).data.tolist() == [0]
    assert slopes(f, [0]) == [[np.inf]]
    assert slopes(f, [0, 1], gy=[0, 0]) == [[0, 0]]
    masked = slopes(lambda x: F.where(x > 0, f(x), 0.0), [0, 1.0])[0]
    assert masked[0] == 0 and np.isfinite(masked[1])
    # A sum that uses only some of the roots has a second derivative as well.
    x = Variable(np.array([0.0, 1.0]))
    F.sum(f(x) * np.array([0.0, 1.0])).backward(create_graph=True)
    gx = x.grad
    x.cleargrad()
    F.sum(gx * np.array([0.0, 1.0])).backward()
    assert x.grad.data[0] == 0 and np.isfinite(x.grad.data[1])


def test_cbrt_of_negative_numbers_is_real():
    np.testing.assert_allclose(F.cbrt(np.array([-8.0])).data, [-2])
    np.testing.assert_allclose(slopes(F.cbrt, [-8.0]), [[1 / 12]])


def test_abs_and_sign_at_zero():
    assert slopes(F.abs, [0.0, -0.0, 2, -2]) == [[0, 0, 1, -1]]
    assert slopes(F.sign, [0.0, 2, -2]) == [[0, 0, 0]]
    assert second_slopes(F.abs, [0.0, 2, -2]) == [0, 0, 0]


def test_expm1_and_log1p_of_tiny_numbers():
    tiny = np.array([1e-20])
    assert F.expm1(tiny).data.tolist() == F.log1p(tiny).data.tolist() == [1e-20]
    np.testing.assert_allclose(slopes(F.expm1, [-50.0]), [[np.exp(-50)]], rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_logaddexp_of_large_and_infinite_numbers(dtype):
    x = np.array([1e4, -1e4, 1e4, -np.inf, np.inf, -np.inf, np.inf], dtype=dtype)
    y = np.array([1e4, -1e4, -1e4, 0, 0, -np.inf, np.inf], dtype=dtype)
    expected = np.logaddexp(x, y)
    assert F.logaddexp(x, y).data.tolist() == expected.tolist()
    assert F.logaddexp(x, y).dtype == dtype
    by_x, by_y = slopes(F.logaddexp, x, y, dtype=dtype)
    np.testing.assert_allclose(by_x, [0.5, 0.5, 1, 0, 1, 0.5, 0.5], rtol=1e-3)
    np.testing.assert_allclose(by_y, [0.5, 0.5, 0, 1, 0, 0.5, 0.5], rtol=1e-3)


@pytest.mark.parametrize("f", [F.exp, F.log, F.sqrt, F.log1p, F.expm1, F.cbrt])
def test_integers_become_floating_and_0d_stays(f):
    x = Variable(np.array(4))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == ()
    assert y.dtype == x.grad.dtype == np.float64


@pytest.mark.parametrize("f", [F.exp, F.log, F.sqrt, F.abs, F.sign, F.cbrt])
def test_empty_arrays(f):
    assert slopes(f, np.empty((0, 3))) == [[]]
