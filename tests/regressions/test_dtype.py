"""Element types, with NumPy 2 promotion rules in mind."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import optimizers


def f32(*values):
    return dz.Variable(np.array(values, dtype=np.float32))


# A Python number turned a float32 variable into float64.
@pytest.mark.parametrize(
    "op",
    [
        lambda x: x * 2.0,
        lambda x: x + 1,
        lambda x: 1 - x,
        lambda x: x / 3,
        lambda x: 0.5 / x,
    ],
    ids=["mul", "add", "rsub", "div", "rdiv"],
)
def test_python_number_keeps_float32(op):
    assert op(f32(1.0, 2.0)).dtype == np.float32


# Float32 input, float64 gradient.
def test_power_gradient_keeps_float32():
    x = f32(1.0, 2.0, 3.0)
    y = F.sum(x**2)
    y.backward()
    assert x.grad.dtype == np.float32
    np.testing.assert_allclose(x.grad.data, [2.0, 4.0, 6.0])


# Scaling the initial weights by a NumPy scalar made them float64 under NumPy 2.
def test_linear_weights_are_float32():
    layer = L.Linear(4, in_size=3)
    assert layer.W.dtype == np.float32
    assert layer.b.dtype == np.float32


# Integer labels mixed into the backward pass promoted the gradient.
def test_cross_entropy_gradient_keeps_float32():
    x = dz.Variable(np.array([[1, 2, 3], [3, 1, 2]], dtype=np.float32))
    t = np.array([0, 2])
    loss = F.softmax_cross_entropy(x, t)
    loss.backward()
    assert loss.dtype == np.float32
    assert x.grad.dtype == np.float32


# One training step must leave float32 weights float32.
def test_training_step_stays_float32():
    np.random.seed(0)
    model = dz.models.MLP((8, 3), activation=F.relu)
    opt = optimizers.Adam().setup(model)
    x = np.random.randn(5, 4).astype(np.float32)
    t = np.array([0, 1, 2, 0, 1])
    loss = F.softmax_cross_entropy(model(x), t)
    loss.backward()
    opt.update()
    assert loss.dtype == np.float32
    for p in model.params():
        assert p.dtype == np.float32, p.name
        assert p.grad.dtype == np.float32, p.name
