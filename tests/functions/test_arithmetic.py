"""Sums, products, quotients and powers."""

import numpy as np
import pytest
from hypothesis import strategies as st

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


def exponents(*numbers):
    return lambda x: st.fixed_dictionaries({"x1": st.sampled_from(numbers)})


# For // and %: quotients between 0.3 and 0.7 off a whole number, away from the jumps.
off_the_jumps = (
    lambda **kwargs: between(0.3, 0.7, **kwargs),
    lambda **kwargs: arrays(low=1, high=1, **kwargs),
)

CASES = [
    Case(F.add, broadcastable(2), reference=np.add),
    Case(F.sub, broadcastable(2), reference=np.subtract),
    Case(F.rsub, broadcastable(2), reference=lambda x0, x1: x1 - x0),
    Case(F.mul, broadcastable(2), reference=np.multiply),
    Case(
        F.div, broadcastable(2, elements=(arrays, away_from_zero)), reference=np.divide
    ),
    Case(
        F.rdiv,
        broadcastable(2, elements=(away_from_zero, arrays)),
        reference=lambda x0, x1: x1 / x0,
    ),
    Case(F.reciprocal, away_from_zero(), reference=np.reciprocal),
    Case(F.neg, arrays(), reference=np.negative),
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
    Case(F.pow, broadcastable(2, elements=(positive, arrays)), reference=np.power),
    Case(
        F.rpow,
        broadcastable(2, elements=(arrays, positive)),
        reference=lambda x0, x1: x1**x0,
    ),
    Case(
        lambda x0, x1: F.floor_divide(x0 + 3, x1),
        broadcastable(2, elements=off_the_jumps),
        reference=lambda x0, x1: (x0 + 3) // x1,
        order=1,
        name="floor_divide",
    ),
    Case(
        lambda x0, x1: F.mod(x0 + 3, x1),
        broadcastable(2, elements=off_the_jumps),
        reference=lambda x0, x1: (x0 + 3) % x1,
        name="mod",
    ),
]


ERRORS = [
    (lambda: F.add([1.0], [2.0]), TypeError, r"Add: expected a NumPy .* got list"),
    (lambda: F.pow(np.ones(2), "2"), TypeError, r"PowVariable: .* got str"),
]


def slopes(f, *xs, gy=None):
    """The gradients of f by all its inputs, which are lists of numbers."""
    xs = [Variable(np.array(x, dtype=float)) for x in xs]
    f(*xs).backward(grad=None if gy is None else np.array(gy, dtype=float))
    return [x.grad.data.tolist() for x in xs]


def second_slopes(f, x):
    """The second derivatives of an elementwise f at each element of x."""
    x = Variable(np.array(x, dtype=float))
    f(x).backward(create_graph=True)
    gx = x.grad
    x.cleargrad()
    gx.backward()
    return x.grad.data.tolist()


# =============================================================================
# Powers at the edges
# =============================================================================


@pytest.mark.parametrize("c", [0, 0.0, False])
def test_pow_zero_is_one_and_flat_everywhere(c):
    assert F.pow(np.array([0.0, -2.0]), c).data.tolist() == [1, 1]
    assert slopes(lambda x: x**c, [0, -2, 3]) == [[0, 0, 0]]
    assert second_slopes(lambda x: x**c, [0, -2, 3]) == [0, 0, 0]


def test_pow_at_zero_has_the_slopes_of_calculus():
    assert slopes(lambda x: x**1, [0]) == [[1]]
    assert slopes(lambda x: x**2, [0]) == [[0]]
    assert slopes(lambda x: x**1.5, [0]) == [[0]]
    assert slopes(lambda x: x**0.5, [0]) == [[np.inf]]
    assert second_slopes(lambda x: x**1, [0, 2]) == [0, 0]
    assert second_slopes(lambda x: x**2, [0, 2]) == [2, 2]
    assert second_slopes(lambda x: x**3, [0, -2]) == [0, -12]
    assert second_slopes(lambda x: x**1.5, [0]) == [np.inf]


def test_pow_with_an_infinite_slope_that_nothing_depends_on():
    assert slopes(lambda x: x**0.5, [0, 4], gy=[0, 1]) == [[0, 0.25]]
    assert slopes(lambda x: x**-1, [0.0, 2], gy=[0, 1]) == [[0, -0.25]]
    a, b = slopes(F.pow, [0, 4], [0.5, 0.5], gy=[0, 1])
    assert a == [0, 0.25]
    assert b == [0, 2 * np.log(4)]


def test_pow_of_zero_to_a_negative_power_is_infinite():
    assert F.pow(np.array([0.0]), -1).data.tolist() == [np.inf]
    assert F.pow(np.array([0.0]), np.array([-1.0])).data.tolist() == [np.inf]


def test_pow_of_negative_bases_to_whole_powers():
    assert slopes(lambda x: x**3, [-2]) == [[12]]
    assert slopes(lambda x: x**3.0, [-2]) == [[12]]
    assert slopes(lambda x: x**-1, [-2]) == [[-0.25]]
    assert slopes(lambda x: x ** np.array([2.0]), [-2]) == [[-4]]


def test_pow_with_a_variable_exponent_at_base_zero():
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


def test_pow_third_derivative():
    x = Variable(np.array([2.0]))
    y = x**3
    for expected in 12, 12, 6, 0:
        x.cleargrad()
        y.backward(create_graph=True)
        y = x.grad
        assert y.data.tolist() == [expected]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(
    "c", [2, 2.0, np.float64(2), np.int64(2), -1, 0.5, 3, 0, 1, True]
)
def test_pow_keeps_the_dtype(dtype, c):
    x = Variable(np.array([1.0, 2.0], dtype=dtype))
    y = x**c
    y.backward(create_graph=True)
    gx = x.grad
    gx.backward()
    assert y.dtype == gx.dtype == x.grad.dtype == dtype


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


def test_pow_of_empty_and_0d_arrays():
    assert slopes(lambda x: x**2, []) == [[]]
    assert slopes(lambda x: x**0.5, 4.0) == [0.25]
    assert slopes(F.pow, 4.0, 2.0) == [8, 16 * np.log(4)]


# =============================================================================
# Others
# =============================================================================


def test_scalars_are_weak():
    x = Variable(np.array([1.0, 2.0], dtype=np.float16))
    for y in x + 1, 2.5 - x, x * np.float64(2), 1 / x, x // 2, x % 0.7, F.reciprocal(x):
        assert y.dtype == np.float16
    ints = Variable(np.array([1, 2]))
    assert (ints + 1).dtype == ints.dtype
    assert (ints * 0.5).dtype == (ints / 2).dtype == F.reciprocal(ints).dtype == float


def test_div_far_from_one_does_not_overflow():
    x = np.array([1e200], dtype=float)
    assert slopes(F.div, x * 1e100, x) == [[1e-200], [-1e-100]]
    tiny = np.float32([1e-30])
    x0, x1 = Variable(tiny), Variable(tiny * 2)
    (x0 / x1).backward()
    np.testing.assert_allclose(x1.grad.data, [-0.25e30], rtol=1e-6)


def test_sub_with_itself_cancels():
    assert slopes(lambda x: x - x, [3]) == [[0]]
    assert slopes(lambda x: x / x, [3]) == [[0]]
    assert slopes(lambda x: x * x, [3]) == [[6]]


@pytest.mark.parametrize("sign0", [-1, 1])
@pytest.mark.parametrize("sign1", [-1, 1])
def test_mod_and_floor_divide_at_the_jumps_and_for_all_signs(sign0, sign1):
    x0, x1 = sign0 * np.array([6.0, 7.5]), sign1 * np.array([3.0, 2.0])
    quotient = F.floor_divide(x0, x1).data
    assert quotient.tolist() == np.floor(x0 / x1).tolist()
    assert (F.mod(x0, x1).data + x1 * quotient).tolist() == x0.tolist()
    assert slopes(F.mod, x0, x1) == [[1, 1], (-quotient).tolist()]
    assert slopes(F.floor_divide, x0, x1) == [[0, 0], [0, 0]]


def test_square_is_the_second_power():
    assert F.square(np.array([3])).data.tolist() == [9]
    assert second_slopes(F.square, [0, -3]) == [2, 2]
