import numpy as np
import pytest

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, away_from_zero


def between_kinks(*kinks, distance=0.2):
    """Numbers on all sides of the kinks, none close to one."""

    def moved(x):
        x = 2 * x
        for kink in kinks:
            x = np.where(abs(x - kink) < distance, kink + 2 * distance, x)
        return x

    return away_from_zero(high=4).map(moved)


CASES = [
    Case(F.softsign, away_from_zero(), reference=lambda x: x / (1 + abs(x)), order=3),
    Case(
        F.hard_tanh,
        between_kinks(-1, 1),
        reference=lambda x: np.clip(x, -1, 1),
        order=1,
    ),
    Case(F.relu6, between_kinks(0, 6), reference=lambda x: np.clip(x, 0, 6), order=1),
    Case(
        F.hard_sigmoid,
        between_kinks(-3, 3),
        reference=lambda x: np.clip(x / 6 + 0.5, 0, 1),
        order=1,
    ),
]

FUNCTIONS = [F.softsign, F.hard_tanh, F.relu6, F.hard_sigmoid]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_extreme_numbers(f, dtype):
    x = Variable(np.array([-1e4, -100, 0, 100, 1e4], dtype))
    y = f(x)
    y.backward()
    assert np.isfinite(y.data).all() and np.isfinite(x.grad.data).all()
    assert y.dtype == x.grad.dtype == dtype
    bounds = {F.relu6: (0, 6), F.hard_sigmoid: (0, 1)}.get(f, (-1, 1))
    np.testing.assert_allclose(y.data[[0, -1]], bounds, atol=1e-3)


def test_slope_of_softsign_far_out():
    x = Variable(np.array([1e4, -1e4], np.float32))
    F.softsign(x).backward()
    np.testing.assert_allclose(x.grad.data, [(1 + 1e4) ** -2] * 2, rtol=1e-6)


def test_slopes_at_the_kinks(slope):
    assert slope(F.hard_tanh, [-1.0, 1.0, 0.0]) == [0, 0, 1]
    assert slope(F.relu6, [0.0, 6.0, 3.0]) == [0, 0, 1]
    np.testing.assert_allclose(slope(F.hard_sigmoid, [-3.0, 3.0, 0.0]), [0, 0, 1 / 6])
    assert slope(F.softsign, [0.0]) == [1]


def test_softsign_bends_nowhere_at_0(second_slopes):
    assert second_slopes(F.softsign, [0.0]) == [0]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_infinity_and_no_number(f):
    x = Variable(np.array([np.nan]))
    assert np.isnan(f(x).data).all()
    if f is not F.softsign:  # inf / inf
        x = Variable(np.array([np.inf, -np.inf]))
        y = f(x)
        y.backward(grad=np.array([np.inf, 1.0]))
        assert np.isfinite(y.data).all() and (x.grad.data == 0).all()


@pytest.mark.parametrize("f", FUNCTIONS)
def test_empty(f):
    x = Variable(np.zeros((0, 3)))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == (0, 3)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["u1", "i1", "i8"])
def test_integers(f, dtype):
    x = np.array([0, 3, 127], dtype)
    np.testing.assert_allclose(f(x).data, f(x.astype("f8")).data)


def test_softsign_of_the_least_small_integer():
    x = Variable(np.array([-128], np.int8))
    y = F.softsign(x)
    y.backward()
    np.testing.assert_allclose(y.data, [-128 / 129])
    np.testing.assert_allclose(x.grad.data, [129.0**-2])


@pytest.mark.parametrize("bounds", [(-1, 1), (0, 6)])
def test_hard_tanh_class_takes_bounds(bounds):
    y = F.HardTanh(*bounds)(np.array([-9.0, 0.5, 9.0]))
    assert y.data.tolist() == [bounds[0], 0.5, bounds[1]]


ERRORS = [
    (lambda: F.softsign(None), TypeError, "expected .* got NoneType"),
    (lambda: F.relu6(None), TypeError, "expected .* got NoneType"),
    (lambda: F.hard_sigmoid([1]), TypeError, "expected .* got list"),
]
