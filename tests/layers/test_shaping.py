"""Dropout and Flatten."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero.core import test_mode


def test_dropout():
    layer, x = L.Dropout(0.3), np.ones((50, 40), np.float32)
    np.random.seed(0)
    y = layer(x)
    np.random.seed(0)
    np.testing.assert_array_equal(y.data, F.dropout(x, 0.3).data)
    assert 0.25 < (y.data == 0).mean() < 0.35
    with test_mode():
        np.testing.assert_array_equal(layer(x).data, x)


def test_flatten():
    assert L.Flatten()(np.ones((2, 3, 4))).shape == (2, 12)


def test_repr():
    assert repr(L.Dropout()) == "Dropout(0.5)"
    assert repr(L.Flatten()) == "Flatten()"


@pytest.mark.parametrize(
    ("ratio", "error", "message"),
    [
        (1.1, ValueError, "Dropout: expected dropout_ratio <= 1, got 1.1"),
        (-0.1, ValueError, "Dropout: expected dropout_ratio >= 0, got -0.1"),
        (None, TypeError, "Dropout: expected a number as dropout_ratio, got NoneType"),
    ],
)
def test_errors(ratio, error, message):
    with pytest.raises(error, match=message):
        L.Dropout(ratio)
