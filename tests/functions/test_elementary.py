"""Roots, absolute value and sign."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, away_from_zero, positive

CASES = [
    Case(F.sqrt, positive(), reference=np.sqrt),
    Case(F.cbrt, away_from_zero(), reference=np.cbrt),
    Case(F.abs, away_from_zero(), reference=np.abs),
    Case(F.sign, away_from_zero(), reference=np.sign),
]


@pytest.mark.parametrize("f", [F.sqrt])
def test_outside_the_domain_is_nan_and_warns(f):
    with pytest.warns(RuntimeWarning, match="invalid value"):
        y = f(np.array([-2.0]))
    assert np.isnan(y.data).all()


@pytest.mark.parametrize("f", [F.sqrt, F.cbrt])
def test_roots_at_zero(slopes, f):
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


def test_cbrt_of_negative_numbers_is_real(slopes):
    np.testing.assert_allclose(F.cbrt(np.array([-8.0])).data, [-2])
    np.testing.assert_allclose(slopes(F.cbrt, [-8.0]), [[1 / 12]])


def test_abs_and_sign_at_zero(slopes, second_slopes):
    assert slopes(F.abs, [0.0, -0.0, 2, -2]) == [[0, 0, 1, -1]]
    assert slopes(F.sign, [0.0, 2, -2]) == [[0, 0, 0]]
    assert second_slopes(F.abs, [0.0, 2, -2]) == [0, 0, 0]


@pytest.mark.parametrize("f", [F.sqrt, F.cbrt])
def test_integers_become_floating_and_0d_stays(f):
    x = Variable(np.array(4))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == ()
    assert y.dtype == x.grad.dtype == np.float64


@pytest.mark.parametrize("f", [F.sqrt, F.abs, F.sign, F.cbrt])
def test_empty_arrays(slopes, f):
    assert slopes(f, np.empty((0, 3))) == [[]]


def test_an_infinite_slope_does_no_harm_where_abs_is_flat(slopes):
    assert slopes(lambda x: F.sqrt(F.abs(x)), [0, -4]) == [[0, -0.25]]
