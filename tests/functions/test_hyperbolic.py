"""Hyperbolic sine and its relatives."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, between

CASES = [
    Case(F.sinh, arrays(), reference=np.sinh),
    Case(F.cosh, arrays(), reference=np.cosh),
    Case(F.tanh, arrays(), reference=np.tanh),
    Case(F.arcsinh, arrays(), reference=np.arcsinh),
    Case(F.arccosh, between(1.2, 3), reference=np.arccosh),
    Case(F.arctanh, between(-0.8, 0.8), reference=np.arctanh),
]


@pytest.mark.parametrize(
    ("f", "edge", "slope"),
    [(F.arccosh, [1, 1], np.inf), (F.arctanh, [-1, 1], np.inf)],
)
def test_inverses_at_the_edge_of_their_domain(slopes, f, edge, slope):
    assert slopes(f, edge) == [[slope, slope]]
    assert slopes(f, edge, gy=[0, 0]) == [[0, 0]]


def test_arctanh_at_its_edge_is_infinite():
    assert F.arctanh(np.array([-1.0, 1.0])).data.tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize("f", [F.arctanh])
def test_outside_the_domain_is_nan_and_warns(f):
    with pytest.warns(RuntimeWarning, match="invalid value"):
        y = f(np.array([2.0]))
    assert np.isnan(y.data).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("f", [F.arcsinh, F.tanh])
def test_slopes_far_out_do_not_overflow(slopes, f, dtype):
    far = np.finfo(dtype).max / 2
    for slope in slopes(f, [-far, far], dtype=dtype)[0]:
        assert 0 <= slope < 1e-3


def test_tanh_has_every_derivative():
    x = Variable(np.array([0.5]))
    t = np.tanh(0.5)
    s = 1 - t * t
    y = F.tanh(x)
    for expected in s, -2 * t * s, s * (6 * t * t - 2), 8 * t * s * (2 - 3 * t * t):
        x.cleargrad()
        y.backward(create_graph=True)
        y = x.grad
        np.testing.assert_allclose(y.data, [expected], rtol=1e-13)


@pytest.mark.parametrize("f", [F.tanh, F.cosh])
def test_integers_become_floating_and_0d_stays(f):
    x = Variable(np.array(2))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == ()
    assert y.dtype == x.grad.dtype == np.float64


@pytest.mark.parametrize("f", [F.tanh])
def test_empty_arrays(slopes, f):
    assert slopes(f, np.empty((0, 3))) == [[]]


def test_slope_of_the_greatest_small_integer():
    x = Variable(np.array([127], np.int8))
    F.arccosh(x).backward()
    np.testing.assert_allclose(x.grad.data, 1 / np.sqrt(127.0**2 - 1), rtol=1e-2)
