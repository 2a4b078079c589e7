"""ResNet."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero import downloads, serializers
from dezero.models import (
    ResNet,
    ResNet18,
    ResNet34,
    ResNet50,
    ResNet101,
    ResNet152,
    resnet,
)


def trained(model):
    """The parameters that are no running statistics."""
    return [(name, p) for name, p in model.named_params() if "/avg_" not in name]


@pytest.mark.parametrize(
    ("make", "count"),
    [
        (ResNet18, 11_689_512),
        (ResNet34, 21_797_672),
        (ResNet50, 25_557_032),
        (ResNet101, 44_549_160),
        (ResNet152, 60_192_808),
        (ResNet, 60_192_808),
    ],
)
def test_has_as_many_parameters_as_known(make, count, zero_weights, image):
    model = make()
    with dz.no_grad(), dz.test_mode():
        y = model(image)
    assert y.shape == (1, 1000) and y.dtype == np.float32
    assert sum(p.size for _, p in trained(model)) == count
    assert f"{count:,}" in type(model).__doc__ or make is ResNet


def test_names_and_shapes_of_weights(zero_weights, image):
    model = ResNet50(num_classes=3)
    with dz.no_grad(), dz.test_mode():
        assert model(image).shape == (1, 3)
    shapes = {name: p.shape for name, p in model.named_params()}
    assert shapes["conv1/W"] == (64, 3, 7, 7)
    assert shapes["bn1/avg_var"] == (64,)
    assert shapes["res2/a/conv4/W"] == (256, 64, 1, 1)
    assert shapes["res3/b1/conv1/W"] == (128, 512, 1, 1)
    assert shapes["res5/b2/conv2/W"] == (512, 512, 3, 3)
    assert shapes["res5/a/bn4/gamma"] == (2048,)
    assert shapes["fc6/W"] == (2048, 3)
    assert "res2/b1/conv4/W" not in shapes and "res2/b3/conv1/W" not in shapes


def test_weighted_layers_are_as_many_as_the_name_says():
    for n in (18, 34, 50, 101, 152):
        names = [name for name, p in ResNet(n).named_params() if name.endswith("/W")]
        fitted = "conv3/W" if n < 50 else "conv4/W"  # of the shortcuts; not counted
        assert len([name for name in names if not name.endswith(fitted)]) == n


def test_each_stage_halves_the_image(zero_weights):
    model = ResNet18()
    x = np.zeros((1, 3, 64, 96), np.float32)
    y = F.pooling(model.bn1(model.conv1(x)), 3, 2, ceil_mode=True)
    assert y.shape == (1, 64, 16, 24)
    for stage, shape in [
        (model.res2, (1, 64, 16, 24)),
        (model.res3, (1, 128, 8, 12)),
        (model.res4, (1, 256, 4, 6)),
        (model.res5, (1, 512, 2, 3)),
    ]:
        y = stage(y)
        assert y.shape == shape


@pytest.mark.parametrize("n_layers", [18, 50])
def test_gradients_reach_every_parameter(n_layers, image):
    np.random.seed(0)
    model = ResNet(n_layers, num_classes=3)
    x = np.concatenate([image, image[..., ::-1] ** 2])
    F.softmax_cross_entropy(model(x), np.array([0, 2])).backward()
    for name, p in trained(model):
        assert p.grad is not None and np.any(p.grad.data), name
        assert np.all(np.isfinite(p.grad.data)), name


def test_a_block_adds_to_its_input(image):
    # With a last gamma of zero, f(x) is zero, and what is left is the shortcut.
    model = ResNet(18)
    x = F.relu(model.bn1(model.conv1(image)))
    block = model.res2.a
    block(x)
    block.bn2.gamma.data = np.zeros_like(block.bn2.gamma.data)
    np.testing.assert_array_equal(block(x).data, x.data)


def test_weights_are_saved_and_loaded(tmp_path, image):
    model = ResNet18(num_classes=2)
    model(image)  # moves the running statistics too
    model.save_weights(tmp_path / "weights")
    again = ResNet18(num_classes=2)
    again.load_weights(tmp_path / "weights")
    with dz.no_grad(), dz.test_mode():
        np.testing.assert_array_equal(again(image).data, model(image).data)


def test_pretrained_loads_a_file_that_fits(monkeypatch, tmp_path, zero_weights, image):
    model = ResNet50()
    with dz.no_grad(), dz.test_mode():
        model(image)
    model.fc6.b.data = np.arange(1000, dtype=np.float32)
    # Kept under the name that the published file has.
    model.save_weights(tmp_path / "resnet50.npz")
    monkeypatch.setattr(downloads, "cache_dir", str(tmp_path))
    again = ResNet50(pretrained=True)
    np.testing.assert_array_equal(again.fc6.b.data, model.fc6.b.data)
    assert again.res5.b2.conv3.W.shape == (2048, 512, 1, 1)


def test_pretrained_does_not_load_another_file(monkeypatch, tmp_path):
    serializers.save_npz(tmp_path / "resnet101.npz", {"x/W": np.zeros(1, np.float32)})
    monkeypatch.setattr(downloads, "cache_dir", str(tmp_path))
    with pytest.raises(ValueError, match=r"ResNet101.load_weights: .* unexpected: x/W"):
        ResNet101(pretrained=True)


def test_pretrained_without_network(monkeypatch, tmp_path):
    monkeypatch.setattr(downloads, "cache_dir", str(tmp_path))
    missing = (tmp_path / "none").as_uri() + "/resnet{}.npz"
    monkeypatch.setattr(resnet, "_WEIGHTS", missing)
    with pytest.raises(ConnectionError, match=r"get_file: .* resnet152\.npz"):
        ResNet152(pretrained=True)


def test_small_images(zero_weights):
    model = ResNet50()
    with dz.no_grad(), dz.test_mode():
        assert model(np.zeros((1, 3, 3, 5), np.float32)).shape == (1, 1000)
        with pytest.raises(ValueError, match="pooling: expected"):
            model(np.zeros((1, 3, 2, 5), np.float32))


def test_errors():
    with pytest.raises(ValueError, match=r"ResNet: .* 18, 34, 50, 101, 152, got 20"):
        ResNet(20)
    with pytest.raises(TypeError, match=r"ResNet: expected n_layers .* got str"):
        ResNet("50")
    with pytest.raises(ValueError, match=r"ResNet50: expected num_classes .* got 0"):
        ResNet50(num_classes=0)
    with pytest.raises(ValueError, match=r"ResNet18: expected pretrained=False with"):
        ResNet18(pretrained=True)
