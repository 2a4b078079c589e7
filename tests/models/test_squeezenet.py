"""SqueezeNet."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.models import SqueezeNet


def test_has_as_many_parameters_as_known(zero_weights, image):
    model = SqueezeNet()
    with dz.no_grad(), dz.test_mode():
        y = model(image)
        assert model(image[..., :21, :21]).shape == (1, 1000)
    assert y.shape == (1, 1000) and y.dtype == np.float32
    assert sum(p.size for p in model.params()) == 1_248_424


def test_names_and_shapes_of_weights(image):
    model = SqueezeNet(num_classes=3)
    with dz.no_grad(), dz.test_mode():
        assert model(image).shape == (1, 3)
    shapes = {name: p.shape for name, p in model.named_params()}
    assert shapes["conv1/W"] == (96, 3, 7, 7)
    assert shapes["fire5/squeeze/W"] == (32, 256, 1, 1)
    assert shapes["fire9/expand1x1/W"] == (256, 64, 1, 1)
    assert shapes["fire9/expand3x3/W"] == (256, 64, 3, 3)
    assert shapes["conv10/W"] == (3, 512, 1, 1)
    assert len(shapes) == 2 * (2 + 8 * 3)


def test_gradients_reach_every_parameter(image):
    np.random.seed(0)
    model = SqueezeNet(num_classes=5)
    F.softmax_cross_entropy(model(image), np.array([2])).backward()
    for name, p in model.named_params():
        assert p.grad is not None and np.any(p.grad.data), name


def test_errors():
    with pytest.raises(ValueError, match=r"SqueezeNet: expected pretrained=False, got"):
        SqueezeNet(pretrained=True)
    with pytest.raises(ValueError, match=r"SqueezeNet: expected num_classes .* got 0"):
        SqueezeNet(num_classes=0)
    with pytest.raises(ValueError, match="pooling: expected"):
        SqueezeNet()(np.ones((1, 3, 8, 8), np.float32))
