"""What the tests of large models share."""

import numpy as np
import pytest

from dezero.layers import convolution, linear


@pytest.fixture
def zero_weights(monkeypatch):
    """Weights start as zeros: memory that is only read takes no room."""

    def zeros(layer, initializer, shape, fan_in, fan_out, dtype, xp):
        return xp.zeros(shape, dtype)

    monkeypatch.setattr(convolution, "draw", zeros)
    monkeypatch.setattr(linear, "draw", zeros)


@pytest.fixture
def image():
    return np.random.RandomState(0).rand(1, 3, 32, 32).astype(np.float32)
