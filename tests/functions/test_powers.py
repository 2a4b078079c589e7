"""Powers, at their edges too."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import (
    Case,
    arrays,
    away_from_zero,
    broadcastable,
    positive,
    same_shape,
)


def exponents(*numbers):
    return lambda x: st.fixed_dictionaries({"x1": st.sampled_from(numbers)})


CASES = [
    Case(F.square, arrays(), reference=np.square),
    Case(
        F.pow,
        arrays(),
        options=exponents(0, 1, 2, 3, 4, 5, 0.0, 2.0, 3.0, np.float64(2), np.int32(3)),
        reference=lambda x0, x1: np.power(x0, x1),
    ),
    Case(
        F.pow,
        away_from_zero(low=0.5),
        options=exponents(-1, -2, -3, -1.0),
        reference=lambda x0, x1: x0 ** float(x1),
    ),
    Case(
        F.pow,
        positive(),
        options=exponents(0.5, 1.5, 2.5, -0.5, 1 / 3),
        reference=lambda x0, x1: np.power(x0, x1),
    ),
    # Sums over broadcast axes can cancel, which leaves little in a low precision.
    Case(
        F.pow,
        broadcastable(2, elements=(positive, arrays)),
        reference=np.power,
        dtypes=(),
    ),
    Case(
        F.rpow,
        broadcastable(2, elements=(arrays, positive)),
        reference=lambda x0, x1: x1**x0,
        dtypes=(),
    ),
    Case(F.pow, same_shape(2, elements=(positive, arrays)), reference=np.power),
    Case(
        F.rpow,
        same_shape(2, elements=(arrays, positive)),
        reference=lambda x0, x1: x1**x0,
    ),
]

ERRORS = [
    (lambda: F.pow(np.ones(2), "2"), TypeError, r"PowVariable: .* got str"),
]


# =============================================================================
# Powers at the edges
# =============================================================================


@pytest.mark.parametrize("c", [0, 0.0, False])
def test_pow_zero_is_one_and_flat_everywhere(slopes, second_slopes, c):
    assert F.pow(np.array([0.0, -2.0]), c).data.tolist() == [1, 1]
    assert slopes(lambda x: x**c, [0, -2, 3]) == [[0, 0, 0]]
    assert second_slopes(lambda x: x**c, [0, -2, 3]) == [0, 0, 0]


def test_pow_with_an_infinite_slope_that_nothing_depends_on(slopes):
    assert slopes(lambda x: x**0.5, [0, 4], gy=[0, 1]) == [[0, 0.25]]
    assert slopes(lambda x: x**-1, [0.0, 2], gy=[0, 1]) == [[0, -0.25]]
    a, b = slopes(F.pow, [0, 4], [0.5, 0.5], gy=[0, 1])
    assert a == [0, 0.25]
    assert b == [0, 2 * np.log(4)]


def test_pow_of_zero_to_a_negative_power_is_infinite():
    assert F.pow(np.array([0.0]), -1).data.tolist() == [np.inf]
    assert F.pow(np.array([0.0]), np.array([-1.0])).data.tolist() == [np.inf]


def test_pow_with_a_variable_exponent_at_base_zero(slopes):
    a, b = slopes(F.pow, [0, 0, 0, 2], [1, 2, 0, 3])
    assert a == [1, 0, 0, 12]
    np.testing.assert_allclose(b, [0, 0, 0, 8 * np.log(2)])
    x, y = Variable(np.array([0.0, 0.0])), Variable(np.array([2.0, 3.0]))
    F.pow(x, y).backward(create_graph=True)
    gx, gy = x.grad, y.grad
    for g, by_x, by_y in (gx, [2, 0], [0, 0]), (gy, [0, 0], [0, 0]):
        x.cleargrad()
        y.cleargrad()
        g.backward()
        assert (x.grad.data.tolist(), y.grad.data.tolist()) == (by_x, by_y)


def test_pow_takes_no_logarithm_for_a_constant_exponent():
    # The logarithm of a negative base would warn, and warnings are errors here.
    x = Variable(np.array([-2.0]))
    F.pow(x, np.array([3.0])).backward()
    assert x.grad.data.tolist() == [12]


def test_pow_of_integers():
    x = np.array([1, 2, -4])
    assert F.pow(x, 2).dtype == x.dtype
    assert F.pow(x, 2).data.tolist() == [1, 4, 16]
    assert F.pow(x, 2.0).dtype == np.float64
    assert F.pow(x, -1).data.tolist() == [1, 0.5, -0.25]
    assert F.pow(x, np.array([2, -2, -1])).data.tolist() == [1, 0.25, -0.25]
    assert F.pow(2, Variable(np.array([-1, 3]))).data.tolist() == [0.5, 8]
    assert F.pow(3, 2).data == 9
    small = Variable(np.uint8([200]))
    for c in 2.0, 3.0:
        y = small**c  # in floating point: nothing wraps around
        y.backward()
        assert (y.data, small.grad.data) == (200**c, c * 200 ** (c - 1))
        small.cleargrad()
    ints = Variable(np.array([1, 2]))
    (ints**-1).backward()
    assert ints.grad.data.tolist() == [-1, -0.25]


def test_pow_of_empty_and_0d_arrays(slopes):
    assert slopes(lambda x: x**2, []) == [[]]
    assert slopes(lambda x: x**0.5, 4.0) == [0.25]
    assert slopes(F.pow, 4.0, 2.0) == [8, 16 * np.log(4)]


def test_square_is_the_second_power(second_slopes):
    assert F.square(np.array([3])).data.tolist() == [9]
    assert second_slopes(F.square, [0, -3]) == [2, 2]


@pytest.mark.parametrize("c", [0, 1, 2, 3])
def test_pow_to_a_whole_number_has_every_derivative_at_zero(derivatives, c):
    x = np.array([0.0, 2.0])
    found = derivatives(lambda x: x**c, x, order=6)
    expected = derivatives(lambda x: math.prod([x] * c) + 0 * x, x, order=6)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_pow_of_an_infinite_base(slopes):
    assert slopes(F.pow, [np.inf], [-1.0]) == [[-0.0], [0]]
    assert slopes(F.pow, [np.inf], [2.0]) == [[np.inf], [np.inf]]
