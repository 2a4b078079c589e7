"""Activations as layers. What they compute is tested with the functions."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L


@pytest.mark.parametrize(
    ("layer", "function", "text"),
    [
        (L.ReLU(), F.relu, "ReLU()"),
        (L.LeakyReLU(), F.leaky_relu, "LeakyReLU()"),
        (L.LeakyReLU(0.1), lambda x: F.leaky_relu(x, 0.1), "LeakyReLU(slope=0.1)"),
        (L.PReLU(), lambda x: F.leaky_relu(x, 0.25), "PReLU()"),
        (
            L.PReLU(4, np.float64),
            lambda x: F.leaky_relu(x, 0.25),
            "PReLU(in_channels=4, dtype=float64)",
        ),
        (L.Sigmoid(), F.sigmoid, "Sigmoid()"),
        (L.Tanh(), F.tanh, "Tanh()"),
        (L.GELU(), F.gelu, "GELU()"),
        (L.GELU(True), lambda x: F.gelu(x, True), "GELU(approximate=True)"),
        (L.SiLU(), F.silu, "SiLU()"),
        (L.Softmax(), F.softmax, "Softmax()"),
        (L.Softmax(-1), lambda x: F.softmax(x, axis=-1), "Softmax(axis=-1)"),
    ],
)
def test_calls_its_function(layer, function, text):
    x = np.random.randn(3, 4, 2).astype(np.float32)
    np.testing.assert_allclose(layer(x).data, function(x).data, rtol=1e-6)
    assert repr(layer) == text


def test_slopes_are_learned():
    layer = L.PReLU(2)
    x = np.array([[-1.0, -2.0], [3.0, -4.0]], np.float32)
    layer(x).sum().backward()
    assert layer.slope.grad.data.tolist() == [-1, -6]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: L.PReLU(0), ValueError, "PReLU: expected in_channels to be at least"),
        (lambda: L.PReLU(2, int), TypeError, "PReLU: expected a floating dtype"),
        (lambda: L.PReLU(3)(np.ones((2, 4))), ValueError, r"slope of shape .*\(3,\)"),
        (
            lambda: L.LeakyReLU("0.1"),
            TypeError,
            "LeakyReLU: expected a number as slope, got str",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
