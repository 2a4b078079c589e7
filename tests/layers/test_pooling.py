"""Pooling layers. What they compute is tested with the functions."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L


def images(*shape):
    return np.random.randn(*shape).astype(np.float32)


@pytest.mark.parametrize(
    ("layer", "function"),
    [
        (L.MaxPool2d((3, 2)), lambda x: F.pooling(x, (3, 2), (3, 2))),
        (L.MaxPool2d(2, 1, 1), lambda x: F.pooling(x, 2, 1, 1)),
        (L.MaxPool2d(2, 2, 0, 2, True), lambda x: F.pooling(x, 2, 2, 0, 2, True)),
        (L.AvgPool2d(2), lambda x: F.average_pooling(x, 2, 2)),
        (
            L.AvgPool2d(3, 2, 1, 1, True, False),
            lambda x: F.average_pooling(x, 3, 2, 1, 1, True, False),
        ),
        (L.GlobalAveragePooling(), F.global_average_pooling),
        (
            L.GlobalAveragePooling(True),
            lambda x: F.global_average_pooling(x, keepdims=True),
        ),
    ],
)
def test_calls_its_function(layer, function):
    x = images(2, 3, 7, 6)
    np.testing.assert_array_equal(layer(x).data, function(x).data)


def test_one_and_three_axes():
    assert L.MaxPool1d(2)(images(2, 3, 6)).shape == (2, 3, 3)
    assert L.AvgPool1d(2)(images(2, 3, 6)).shape == (2, 3, 3)
    assert L.MaxPool3d((1, 2, 3))(images(2, 3, 2, 4, 6)).shape == (2, 3, 2, 2, 2)
    assert L.AvgPool3d(2, 1)(images(2, 3, 2, 4, 6)).shape == (2, 3, 1, 3, 5)


def test_repr():
    assert repr(L.MaxPool2d(2)) == "MaxPool2d(2)"
    assert repr(L.MaxPool2d(3, 2, "same")) == "MaxPool2d(3, stride=2, pad=same)"
    text = "AvgPool1d(2, dilation=2, ceil_mode=True, count_include_pad=False)"
    layer = L.AvgPool1d(2, dilation=2, ceil_mode=True, count_include_pad=False)
    assert repr(layer) == text
    assert repr(L.GlobalAveragePooling()) == "GlobalAveragePooling()"
    assert repr(L.GlobalAveragePooling(True)) == "GlobalAveragePooling(keepdims=True)"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: L.MaxPool2d(2)(images(2, 3, 4)),
            ValueError,
            r"MaxPool2d\(2\): expected x of shape \(N, C, H, W\), got \(2, 3, 4\)",
        ),
        (
            lambda: L.AvgPool1d(2)(images(2, 3, 4, 4)),
            ValueError,
            r"AvgPool1d\(2\): expected x of shape \(N, C, W\), got \(2, 3, 4, 4\)",
        ),
        (
            lambda: L.MaxPool2d(0),
            ValueError,
            "MaxPool2d: expected kernel_size of at least 1, got 0",
        ),
        (
            lambda: L.MaxPool2d((2, 2, 2)),
            ValueError,
            "MaxPool2d: expected an integer or 2 integers as kernel_size",
        ),
        (
            lambda: L.AvgPool2d(2, 0),
            ValueError,
            "AvgPool2d: expected stride of at least 1",
        ),
        (
            lambda: L.AvgPool2d(2, dilation=1.5),
            TypeError,
            "AvgPool2d: expected an integer or 2 integers as dilation",
        ),
        (lambda: L.AvgPool2d(2, pad=-1), ValueError, "AvgPool2d: expected pad of at"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
