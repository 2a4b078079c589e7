"""Loss functions."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F


# Label -1 (padding) silently meant "the last class".
def test_negative_label_is_not_the_last_class():
    x = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 5.0]])
    with pytest.raises(ValueError, match="softmax_cross_entropy: .*-1"):
        F.softmax_cross_entropy(dz.Variable(x), np.array([0, -1]))


# Labels as a column; forward accepted them, backward made a cube.
def test_labels_as_a_column():
    x = dz.Variable(np.array([[1.0, 2.0], [3.0, 1.0], [0.0, 0.0]]))
    t = np.array([[1], [0], [1]])
    F.softmax_cross_entropy(x, t).backward()
    p = np.exp(x.data) / np.exp(x.data).sum(1, keepdims=True)
    assert x.grad.shape == (3, 2)
    np.testing.assert_allclose(x.grad.data, (p - np.eye(2)[t.ravel()]) / 3)


# A column against a vector was broadcast to a matrix.
def test_mean_squared_error_of_different_shapes():
    a, b = dz.Variable(np.zeros((3, 1))), dz.Variable(np.array([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="mean_squared_error: "):
        F.mean_squared_error(a, b)


# Sigmoid cross entropy of a large score was NaN.
def test_sigmoid_cross_entropy_of_large_scores():
    x = np.array([60.0, -60.0, 40.0])
    t = np.array([1, 0, 0])
    v = dz.Variable(x)
    loss = F.sigmoid_cross_entropy(v, t)
    loss.backward()
    want = (np.maximum(x, 0) - x * t + np.log1p(np.exp(-np.abs(x)))).sum() / 3
    np.testing.assert_allclose(loss.data, want, rtol=1e-6)
    np.testing.assert_allclose(v.grad.data, (1 / (1 + np.exp(-x)) - t) / 3, atol=1e-9)


# Binary cross entropy stopped at p = 0.999 and lost the gradient above.
def test_binary_cross_entropy_near_one():
    p = dz.Variable(np.array([0.9999, 0.5]))
    loss = F.binary_cross_entropy(p, np.array([1, 1]))
    loss.backward()
    np.testing.assert_allclose(
        loss.data, -(np.log(0.9999) + np.log(0.5)) / 2, rtol=1e-5
    )
    np.testing.assert_allclose(p.grad.data, [-1 / 0.9999 / 2, -1.0], rtol=1e-5)
