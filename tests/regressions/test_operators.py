"""The Python face of a variable: operators, conversion, iteration."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F


# A number to the power of a variable.
def test_number_to_the_power_of_a_variable():
    x = dz.Variable(np.array([1.0, 3.0]))
    y = 2**x
    y.backward()
    np.testing.assert_allclose(y.data, [2.0, 8.0])
    np.testing.assert_allclose(x.grad.data, np.log(2) * np.array([2.0, 8.0]))


# Variable exponent, base zero: d(a**b)/db is 0 there, not NaN.
def test_variable_exponent():
    a = dz.Variable(np.array([0.0, 2.0]))
    b = dz.Variable(np.array([1.0, 3.0]))
    y = a**b
    y.backward()
    np.testing.assert_allclose(y.data, [0.0, 8.0])
    np.testing.assert_allclose(a.grad.data, [1.0, 12.0])
    np.testing.assert_allclose(b.grad.data, [0.0, 8.0 * np.log(2)])


# No @ operator, so its author wrote one.
def test_matmul_operator():
    x = dz.Variable(np.array([[1.0, 2.0], [3.0, 4.0]]))
    w = dz.Variable(np.array([[1.0], [10.0]]))
    y = x @ w
    F.sum(y).backward()
    np.testing.assert_allclose(y.data, [[21.0], [43.0]])
    np.testing.assert_allclose(w.grad.data, [[4.0], [6.0]])


# Iterating a 0-d variable silently yielded nothing.
def test_iterating_a_scalar_is_an_error():
    with pytest.raises(TypeError):
        list(dz.Variable(np.array(1.0)))


# A loss in an "if" or in float().
def test_scalar_conversions():
    assert float(dz.Variable(np.array(2.5))) == 2.5
    assert bool(dz.Variable(np.array(0.0))) is False


# Comparisons give plain masks.
def test_comparison_gives_a_mask():
    x = dz.Variable(np.array([-1.0, 0.0, 2.0]))
    mask = x > 0
    mask = getattr(mask, "data", mask) if isinstance(mask, dz.Variable) else mask
    np.testing.assert_array_equal(np.asarray(mask), [False, False, True])


# Np.asarray(variable) built an object array, element by element.
def test_asarray_gives_numbers():
    a = np.asarray(dz.Variable(np.array([[1.0, 2.0]])))
    assert a.dtype == np.float64 and a.shape == (1, 2)
