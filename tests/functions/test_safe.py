"""Products and quotients in gradients: where infinities do no harm."""

import numpy as np
import pytest

import dezero as dz
from dezero import Variable
from dezero.functions.safe import SafeDiv, SafeMul, unless_invalid

X = np.array([0.0, 0.0, 2.0, -1.0])
Y = np.array([np.inf, -np.inf, 4.0, np.inf])


def test_zero_times_infinity_is_zero():
    assert SafeMul()(X, Y).data.tolist() == [0, 0, 8, -np.inf]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_a_mask_keeps_and_drops(dtype):
    x = np.array([1, -2, np.inf, -np.inf, np.nan, 3], dtype)
    mask = np.array([True, False, False, True, False, True])
    y = SafeMul().forward(mask, x)
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, [1, 0, 0, -np.inf, np.nan, 3])
    np.testing.assert_array_equal(mask, [True, False, False, True, False, True])


def test_a_mask_of_no_axes_or_other_shape():
    x = np.array(-2.0)
    for keep in (True, False):
        y = SafeMul().forward(np.float64(keep) > 0, x)  # a comparison gives a scalar
        assert y == (-2 if keep else 0)
    rows = SafeMul().forward(np.array([[True], [False]]), np.array([1.0, np.inf]))
    assert rows.tolist() == [[1, np.inf], [0, 0]]


@pytest.mark.parametrize("kink", [False, True])
def test_zero_over_zero_is_zero(kink):
    y = SafeDiv(kink)(np.array([0.0, 0.0, 6.0]), np.array([0.0, 5.0, 3.0]))
    assert y.data.tolist() == [0, 0, 2]


def test_a_kink_has_no_direction_and_a_slope_is_infinite():
    x0, x1 = np.array([1.0, -1.0]), np.zeros(2)
    assert SafeDiv(kink=True)(x0, x1).data.tolist() == [0, 0]
    assert SafeDiv()(x0, x1).data.tolist() == [np.inf, -np.inf]


def test_what_nothing_comes_into_gives_no_gradient(slopes):
    by_x0, by_x1 = slopes(SafeMul().__call__, [0, 3.0], [np.inf, 2], gy=[0, 1])
    assert (by_x0, by_x1) == ([0, 2], [0, 3])
    by_x0, by_x1 = slopes(SafeDiv().__call__, [0, 3.0], [0, 2], gy=[0, 1])
    assert (by_x0, by_x1) == ([0, 0.5], [0, -0.75])


@pytest.mark.parametrize("function", [SafeMul, SafeDiv])
def test_second_derivatives_are_those_of_the_plain_operator(function, derivatives):
    plain = {SafeMul: np.multiply, SafeDiv: np.divide}[function]
    x0, x1 = np.array([1.5, -2.0]), np.array([0.5, 3.0])
    found = derivatives(lambda a, b: function()(a, b), x0, x1)
    expected = derivatives(lambda a, b: plain(a, b), x0, x1)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)


def test_shapes_broadcast():
    x = Variable(np.ones((3, 1), np.float32))
    y = SafeMul()(x, np.ones(2, np.float32))
    y.backward()
    assert (y.shape, y.dtype) == ((3, 2), np.float32)
    assert x.grad.data.tolist() == [[2], [2], [2]]


def test_unless_invalid_asks_for_zeros_only_where_the_operation_was_invalid():
    def never():
        raise AssertionError

    assert unless_invalid("divide", np.ones(2), np.zeros(2), never).tolist() == [
        np.inf,
        np.inf,
    ]


def test_nan_stays_whatever_stands_beside_it():
    zero, nan = np.zeros(2), np.array([np.nan, np.inf])
    assert np.isnan(SafeMul()(zero, nan).data).tolist() == [True, False]
    assert np.isnan(SafeDiv()(zero, np.array([np.nan, 0])).data).tolist() == [
        True,
        False,
    ]
    directions = SafeDiv(kink=True)(np.array([np.nan, 0]), zero)
    assert np.isnan(directions.data).tolist() == [True, False]


def test_what_nothing_comes_into_gives_none_in_the_second_derivative_either(slopes):
    def gradient(x0, x1):
        y = SafeMul()(x0, x1)
        return dz.grad(y, [x1], [Variable(np.array([np.inf, 1.0]))], True)[0]

    by_x0, _ = slopes(lambda x0, x1: gradient(x0, x1) + 0 * x1, [0, 3], [5, 2])
    assert gradient(
        Variable(np.array([0.0, 3])), Variable(np.ones(2))
    ).data.tolist() == [
        0,
        3,
    ]
    assert by_x0 == [np.inf, 1]
