"""Convolution layers. What they compute is tested with the functions."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L


def images(*shape):
    return np.random.randn(*shape).astype(np.float32)


def test_convolves():
    layer = L.Conv2d(4, (3, 2), 2, (1, 0), dilation=2, groups=2)
    x = images(2, 6, 9, 8)
    y = layer(x)
    want = F.conv2d(x, layer.W, layer.b, 2, (1, 0), 2, 2)
    assert layer.W.shape == (4, 3, 3, 2)
    np.testing.assert_array_equal(y.data, want.data)


def test_deconvolves():
    layer = L.Deconv2d(4, 3, 2, 1, outsize=(8, 6), groups=2)
    x = images(2, 6, 4, 3)
    y = layer(x)
    assert layer.W.shape == (6, 2, 3, 3)
    assert y.shape == (2, 4, 8, 6)
    want = F.deconv2d(x, layer.W, layer.b, 2, 1, (8, 6), 1, 2)
    np.testing.assert_array_equal(y.data, want.data)


@pytest.mark.parametrize(
    ("layer", "shape", "out"),
    [
        (L.Conv1d(4, 3, pad="same"), (2, 3, 5), (2, 4, 5)),
        (L.Conv3d(4, (1, 2, 3)), (2, 3, 4, 5, 6), (2, 4, 4, 4, 4)),
        (L.Deconv1d(4, 3, 2), (2, 3, 5), (2, 4, 11)),
        (L.Deconv3d(4, 2, 2), (2, 3, 1, 2, 3), (2, 4, 2, 4, 6)),
        (L.Conv2d(4, 3), (0, 3, 5, 5), (0, 4, 3, 3)),
    ],
)
def test_shapes(layer, shape, out):
    assert layer(images(*shape)).shape == out


def test_initial_distribution():
    np.random.seed(0)
    for layer in L.Conv2d(64, 5, in_channels=32), L.Deconv2d(64, 5, in_channels=32):
        W = layer.W.data
        np.testing.assert_allclose(W.std(), (32 * 25) ** -0.5, rtol=2e-2)
        assert abs(W.mean()) < 1e-3
        np.testing.assert_array_equal(layer.b.data, np.zeros(64))
    W = L.Conv2d(64, 5, in_channels=32, groups=4).W.data
    np.testing.assert_allclose(W.std(), (8 * 25) ** -0.5, rtol=2e-2)


def test_arguments_in_the_order_of_dezero():
    layer = L.Conv2d(4, 3, 2, 1, True, np.float64, 5)
    assert repr(layer) == (
        "Conv2d(4, 3, stride=2, pad=1, nobias=True, dtype=float64, in_channels=5)"
    )
    assert layer.b is None
    layer = L.Deconv2d(4, (3, 2), 2, 1, True, np.float64, 5)
    assert repr(layer) == (
        "Deconv2d(4, (3, 2), stride=2, pad=1, nobias=True, dtype=float64, "
        "in_channels=5)"
    )


def test_repr():
    layer = L.Conv2d(4, 3, groups=2)
    assert repr(layer) == "Conv2d(4, 3, groups=2)"
    layer(images(1, 4, 3, 3))
    assert repr(layer) == "Conv2d(4, 3, in_channels=4, groups=2)"
    assert layer.in_channels == 4
    assert repr(L.Deconv1d(1, 2, outsize=7)) == "Deconv1d(1, 2, outsize=7)"


def test_initializer():
    layer = L.Conv2d(4, 3, in_channels=2, initial_W=L.initializers.Constant(0.5))
    assert (layer.W.data == 0.5).all()


def wrong_weight():
    layer = L.Conv2d(4, 3, in_channels=2)
    layer.W.data = images(4, 2, 5, 5)
    return layer(images(1, 2, 8, 8))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: L.Conv2d(4, 3, in_channels=2)(images(1, 3, 5, 5)),
            ValueError,
            r"Conv2d\(4, 3, in_channels=2\): expected x with 2 channels, "
            r"got shape \(1, 3, 5, 5\)",
        ),
        (
            lambda: L.Conv2d(4, 3)(images(3, 5, 5)),
            ValueError,
            r"Conv2d\(4, 3\): expected x of shape \(N, C, H, W\), got \(3, 5, 5\)",
        ),
        (
            lambda: L.Conv1d(4, 3)(images(3, 5)),
            ValueError,
            r"expected x of shape \(N, C, W\), got \(3, 5\)",
        ),
        (
            lambda: L.Deconv3d(4, 3)(images(3, 5)),
            ValueError,
            r"expected x of shape \(N, C, D, H, W\), got \(3, 5\)",
        ),
        (
            lambda: L.Conv2d(4, 3)(images(1, 0, 5, 5)),
            ValueError,
            r"expected x with channels divisible by groups=1, got shape \(1, 0, 5, 5\)",
        ),
        (
            lambda: L.Conv2d(4, 3, groups=2)(images(1, 3, 5, 5)),
            ValueError,
            r"expected x with channels divisible by groups=2, got shape \(1, 3, 5, 5\)",
        ),
        (
            wrong_weight,
            ValueError,
            r"expected W of shape \(4, 2, 3, 3\), got \(4, 2, 5, 5\)",
        ),
        (
            lambda: L.Conv2d(3, 3, groups=2),
            ValueError,
            "Conv2d: expected out_channels divisible by groups=2, got 3",
        ),
        (
            lambda: L.Deconv2d(4, 3, groups=2, in_channels=3),
            ValueError,
            "Deconv2d: expected in_channels divisible by groups=2, got 3",
        ),
        (
            lambda: L.Conv2d(0, 3),
            ValueError,
            "Conv2d: expected out_channels to be at least 1, got 0",
        ),
        (
            lambda: L.Conv2d(4, (3, 3, 3)),
            ValueError,
            "Conv2d: expected an integer or 2 integers as kernel_size",
        ),
        (
            lambda: L.Conv2d(4, 3, stride=0),
            ValueError,
            "Conv2d: expected stride of at least 1",
        ),
        (lambda: L.Conv2d(4, 3, pad=-1), ValueError, "Conv2d: expected pad of at"),
        (
            lambda: L.Conv2d(4, 3, dilation=1.5),
            TypeError,
            "Conv2d: expected an integer or 2 integers as dilation",
        ),
        (
            lambda: L.Deconv2d(4, 3, outsize="big"),
            TypeError,
            "Deconv2d: expected an integer or 2 integers as outsize",
        ),
        (
            lambda: L.Conv2d(4, 3, dtype=int),
            TypeError,
            "Conv2d: expected a floating dtype, got int64",
        ),
        (
            lambda: L.Conv2d("4", 3),
            TypeError,
            "Conv2d: expected out_channels to be an integer, got str",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
