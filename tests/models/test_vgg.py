"""VGG16."""

import numpy as np
import pytest

import dezero as dz
from dezero import downloads, serializers
from dezero.models import VGG16, vgg

IN_SIZE = 512 * 7 * 7  # of fc6 for images of 224x224


def test_has_as_many_parameters_as_known(zero_weights, image):
    model = VGG16()
    with dz.no_grad(), dz.test_mode():
        y = model(image)
    assert y.shape == (1, 1000) and y.dtype == np.float32
    W = model.fc6.W
    assert W.shape == (512, 4096)  # the images are 32x32: one place is left of 7x7
    count = sum(p.size for p in model.params())
    assert count - W.size + IN_SIZE * 4096 == 138_357_544


def test_names_and_shapes_of_weights(zero_weights, image):
    model = VGG16()
    with dz.no_grad(), dz.test_mode():
        model(image)
    shapes = {name: p.shape for name, p in model.named_params() if name[-1] == "W"}
    assert list(shapes) == [
        *["conv1_1/W", "conv1_2/W", "conv2_1/W", "conv2_2/W"],
        *["conv3_1/W", "conv3_2/W", "conv3_3/W", "conv4_1/W", "conv4_2/W", "conv4_3/W"],
        *["conv5_1/W", "conv5_2/W", "conv5_3/W", "fc6/W", "fc7/W", "fc8/W"],
    ]
    assert shapes["conv1_1/W"] == (64, 3, 3, 3)
    assert shapes["conv5_3/W"] == (512, 512, 3, 3)
    assert shapes["fc8/W"] == (4096, 1000)


def test_dropout_in_training_alone(image):
    np.random.seed(0)
    model = VGG16(num_classes=2)
    with dz.no_grad():
        assert np.any(model(image).data != model(image).data)
        with dz.test_mode():
            np.testing.assert_array_equal(model(image).data, model(image).data)


def test_pretrained_loads_the_file_of_that_name(monkeypatch, tmp_path):
    # A real file has 550 MB; the names in a small one are compared before the shapes.
    path = tmp_path / "vgg16.npz"
    serializers.save_npz(path, {"conv1_1/W": np.zeros((64, 3, 3, 3), np.float32)})
    monkeypatch.setattr(downloads, "cache_dir", str(tmp_path))
    with pytest.raises(ValueError, match=r"VGG16.load_weights: .* missing: conv1_1/b"):
        VGG16(pretrained=True)


def test_pretrained_without_network(monkeypatch, tmp_path):
    monkeypatch.setattr(downloads, "cache_dir", str(tmp_path))
    monkeypatch.setattr(vgg, "_WEIGHTS", (tmp_path / "none" / "vgg16.npz").as_uri())
    with pytest.raises(ConnectionError, match=r"get_file: .* vgg16\.npz"):
        VGG16(pretrained=True)


def test_errors(image):
    with pytest.raises(ValueError, match=r"VGG16: expected num_classes .* got 0"):
        VGG16(num_classes=0)
    with pytest.raises(ValueError, match="pooling: expected"):
        VGG16()(image[..., :16, :16])


# ---- preprocess ---------------------------------------------------------------------

RGB = np.random.RandomState(0).randint(0, 256, (5, 7, 3)).astype(np.uint8)


@pytest.mark.parametrize("size", [None, (7, 5)])
def test_preprocess_is_bgr_minus_the_means(size):
    x = VGG16.preprocess(RGB, size)
    assert x.shape == (3, 5, 7) and x.dtype == np.float32 and x.flags.c_contiguous
    blue, green, red = x
    np.testing.assert_allclose(blue, RGB[:, :, 2] - 103.939, rtol=1e-5)
    np.testing.assert_allclose(green, RGB[:, :, 1] - 116.779, rtol=1e-5)
    np.testing.assert_allclose(red, RGB[:, :, 0] - 123.68, rtol=1e-5)


def test_preprocess_takes_pictures():
    Image = pytest.importorskip("PIL.Image")
    picture = Image.fromarray(RGB)
    np.testing.assert_array_equal(
        VGG16.preprocess(picture, None), VGG16.preprocess(RGB, None)
    )
    x = VGG16.preprocess(picture)
    assert x.shape == (3, 224, 224)
    np.testing.assert_array_equal(x, VGG16.preprocess(RGB))
    assert VGG16.preprocess(picture.convert("L"), (4, 6), np.float64).shape == (3, 6, 4)
    assert VGG16.preprocess(picture, 6, np.float16).dtype == np.float16


def test_preprocess_leaves_its_input_alone():
    x = RGB.astype(np.float32)
    VGG16.preprocess(x, None)
    np.testing.assert_array_equal(x, RGB)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("cat.jpg",), TypeError, "preprocess: expected a PIL image, got str"),
        ((RGB[0],), ValueError, r"preprocess: expected .* \(H, W, 3\), got \(7, 3\)"),
        ((RGB, 0), ValueError, "preprocess: expected size to be a positive"),
        ((RGB, None, np.uint8), TypeError, "preprocess: expected a floating dtype"),
    ],
)
def test_preprocess_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        VGG16.preprocess(*arguments)
