"""Sums, differences, products, quotients."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, away_from_zero, between, broadcastable

# For // and %: quotients between 3.3 and 3.7, away from the jumps.
off_the_jumps = (
    lambda **kwargs: between(3.3, 3.7, **kwargs),
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
    Case(
        F.floor_divide,
        broadcastable(2, elements=off_the_jumps),
        reference=np.floor_divide,
    ),
    Case(F.mod, broadcastable(2, elements=off_the_jumps), reference=np.mod),
]

ERRORS = [
    (lambda: F.add([1.0], [2.0]), TypeError, r"Add: expected a NumPy .* got list"),
]


def test_pow_at_zero_has_the_slopes_of_calculus(slopes, second_slopes):
    assert slopes(lambda x: x**1, [0]) == [[1]]
    assert slopes(lambda x: x**2, [0]) == [[0]]
    assert slopes(lambda x: x**1.5, [0]) == [[0]]
    assert slopes(lambda x: x**0.5, [0]) == [[np.inf]]
    assert second_slopes(lambda x: x**1, [0, 2]) == [0, 0]
    assert second_slopes(lambda x: x**2, [0, 2]) == [2, 2]
    assert second_slopes(lambda x: x**3, [0, -2]) == [0, -12]
    assert second_slopes(lambda x: x**1.5, [0]) == [np.inf]


def test_pow_of_negative_bases_to_whole_powers(slopes):
    assert slopes(lambda x: x**3, [-2]) == [[12]]
    assert slopes(lambda x: x**3.0, [-2]) == [[12]]
    assert slopes(lambda x: x**-1, [-2]) == [[-0.25]]
    assert slopes(lambda x: x ** np.array([2.0]), [-2]) == [[-4]]


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


def test_div_far_from_one_does_not_overflow(slopes):
    x = np.array([1e200], dtype=float)
    assert slopes(F.div, x * 1e100, x) == [[1e-200], [-1e-100]]
    tiny = np.float32([1e-30])
    x0, x1 = Variable(tiny), Variable(tiny * 2)
    (x0 / x1).backward()
    np.testing.assert_allclose(x1.grad.data, [-0.25e30], rtol=1e-6)


def test_sub_with_itself_cancels(slopes):
    assert slopes(lambda x: x - x, [3]) == [[0]]
    assert slopes(lambda x: x / x, [3]) == [[0]]
    assert slopes(lambda x: x * x, [3]) == [[6]]


@pytest.mark.parametrize("sign0", [-1, 1])
@pytest.mark.parametrize("sign1", [-1, 1])
def test_mod_and_floor_divide_at_the_jumps_and_for_all_signs(slopes, sign0, sign1):
    x0, x1 = sign0 * np.array([6.0, 7.5]), sign1 * np.array([3.0, 2.0])
    quotient = F.floor_divide(x0, x1).data
    assert quotient.tolist() == np.floor(x0 / x1).tolist()
    assert (F.mod(x0, x1).data + x1 * quotient).tolist() == x0.tolist()
    assert slopes(F.mod, x0, x1) == [[1, 1], (-quotient).tolist()]
    assert slopes(F.floor_divide, x0, x1) == [[0, 0], [0, 0]]
