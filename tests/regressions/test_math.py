"""Values at the edge: zero bases, overflow, masks, dropout limits."""

import numpy as np

import dezero as dz
import dezero.functions as F


# The slope of x**0 at zero is 0, not NaN.
def test_power_zero_at_zero():
    x = dz.Variable(np.array([0.0, 1.0]))
    y = x**0
    y.backward()
    np.testing.assert_array_equal(y.data, [1.0, 1.0])
    np.testing.assert_array_equal(x.grad.data, [0.0, 0.0])


# Dropping everything divided by zero.
def test_dropout_of_everything():
    x = dz.Variable(np.ones((2, 3)))
    y = F.dropout(x, 1.0)
    F.sum(y).backward()
    np.testing.assert_array_equal(y.data, np.zeros((2, 3)))
    np.testing.assert_array_equal(x.grad.data, np.zeros((2, 3)))


# Clip with one open side.
def test_clip_with_an_open_side():
    x = dz.Variable(np.array([-2.0, 0.5, 3.0]))
    y = F.clip(x, None, 1.0)
    y.backward()
    np.testing.assert_array_equal(y.data, [-2.0, 0.5, 1.0])
    np.testing.assert_array_equal(x.grad.data, [1.0, 1.0, 0.0])


# The standard deviation of equal numbers had a NaN gradient.
def test_std_of_equal_numbers():
    x = dz.Variable(np.full(4, 3.0))
    F.std(x).backward()
    assert not np.isnan(x.grad.data).any()
