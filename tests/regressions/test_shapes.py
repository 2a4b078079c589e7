"""Broadcasting, reductions, axes, products."""

import numpy as np

import dezero as dz
import dezero.functions as F


# Expand_dims with a negative axis put the new axis one place too early.
def test_expand_dims_last():
    x = dz.Variable(np.zeros((2, 3)))
    assert F.expand_dims(x, -1).shape == (2, 3, 1)
    assert F.expand_dims(x, 0).shape == (1, 2, 3)


# Max over axis=-1 broke in backward.
def test_max_over_negative_axis():
    x = dz.Variable(np.array([[1.0, 5.0, 2.0], [7.0, 0.0, 3.0]]))
    y = F.max(x, axis=-1)
    y.backward()
    np.testing.assert_array_equal(y.data, [5.0, 7.0])
    np.testing.assert_array_equal(x.grad.data, [[0, 1, 0], [1, 0, 0]])


# Batches of matrices.
def test_batched_matmul():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 4, 5))
    va, vb = dz.Variable(a), dz.Variable(b)
    y = F.matmul(va, vb)
    F.sum(y).backward()
    np.testing.assert_allclose(y.data, a @ b)
    np.testing.assert_allclose(va.grad.data, np.ones((2, 3, 5)) @ b.swapaxes(1, 2))
    np.testing.assert_allclose(vb.grad.data, a.swapaxes(1, 2) @ np.ones((2, 3, 5)))


# A linear layer on (batch, time, features).
def test_linear_on_three_axes():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5))
    vx, vw, vb = dz.Variable(x), dz.Variable(w), dz.Variable(np.zeros(5))
    y = F.linear(vx, vw, vb)
    F.sum(y * y).backward()
    np.testing.assert_allclose(y.data, x @ w)
    np.testing.assert_allclose(vx.grad.data, 2 * (x @ w) @ w.T)
    np.testing.assert_allclose(vw.grad.data, np.einsum("bti,bto->io", x, 2 * (x @ w)))
    np.testing.assert_allclose(vb.grad.data, (2 * (x @ w)).sum((0, 1)))
