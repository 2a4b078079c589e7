"""VGG16: sixteen layers with weights, all convolutions 3x3."""

from __future__ import annotations

from typing import Any

import numpy as np

import dezero.functions as F
import dezero.layers as L
from dezero import cuda
from dezero.core import ArrayLike, Variable
from dezero.cuda import Array
from dezero.downloads import get_file
from dezero.layers.arguments import as_size
from dezero.models.base import Model
from dezero.transforms.pictures import ToPIL, require_picture, width_and_height

_WEIGHTS = "https://github.com/koki0702/dezero-models/releases/download/v0.1/vgg16.npz"
# Blue, green, red: the means over ImageNet that the published weights expect.
_MEANS = (103.939, 116.779, 123.68)
# Channels and number of convolutions of each block; a pooling follows the block.
_BLOCKS = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))


class VGG16(Model):
    """Thirteen convolutions in five blocks, then three Linear layers.

        K. Simonyan and A. Zisserman, Very Deep Convolutional Networks for Large-Scale
        Image Recognition, 2015, https://arxiv.org/abs/1409.1556 (configuration D).

    The layers are ``conv1_1`` ... ``conv5_3``, ``fc6``, ``fc7`` and ``fc8``. ``fc6`` is
    made for the size of the images in the first call; those of 224x224 give the model
    138,357,544 parameters. Weights start by He's rule, so that it trains without being
    grown layer by layer, as the paper did.

    Args:
        pretrained: Load the published weights for ImageNet, which are downloaded on
            first use (about 550 MB). Images come from :meth:`preprocess` then.
        num_classes: Number of scores that come out; 1000 with ``pretrained``.

    Raises:
        ConnectionError: The weights could not be downloaded.
        TypeError: ``num_classes`` is no integer.
        ValueError: It is below 1, or the weights are of other shapes.
    """

    def __init__(self, pretrained: bool = False, num_classes: int = 1000) -> None:
        super().__init__()
        num_classes = as_size("VGG16", "num_classes", num_classes)
        he = L.initializers.HeNormal()
        for i, (channels, convolutions) in enumerate(_BLOCKS, start=1):
            for j in range(1, convolutions + 1):
                conv = L.Conv2d(channels, 3, pad=1, initial_W=he)
                setattr(self, f"conv{i}_{j}", conv)
        self.fc6 = L.Linear(4096, initial_W=he)
        self.fc7 = L.Linear(4096, initial_W=he)
        self.fc8 = L.Linear(num_classes)
        if pretrained:
            self.load_weights(get_file(_WEIGHTS))

    def forward(self, x: ArrayLike) -> Variable:
        """Map images ``x``, (N, C, H, W), to scores (N, num_classes).

        Raises:
            ValueError: An image is smaller than 32x32, or of another size than those
                that ``fc6`` was made for.
        """
        for i, (_, convolutions) in enumerate(_BLOCKS, start=1):
            for j in range(1, convolutions + 1):
                x = F.relu(getattr(self, f"conv{i}_{j}")(x))
            x = F.pooling(x, 2, 2)  # (N, C, H, W) -> (N, C, H // 2, W // 2)
        x = F.flatten(x)  # (N, 512, H // 32, W // 32) -> (N, ...)
        x = F.dropout(F.relu(self.fc6(x)))
        x = F.dropout(F.relu(self.fc7(x)))
        return self.fc8(x)

    @staticmethod
    def preprocess(
        image: Any, size: Any = (224, 224), dtype: Any = np.float32
    ) -> Array:
        """A picture as the published weights expect it: BGR, minus the mean colour.

        Args:
            image: A PIL image, or an RGB array (H, W, 3) of values from 0 to 255.
            size: Width and height to resize to, or one number for both; None leaves the
                size as it is. An array of that size is used without Pillow.
            dtype: Floating dtype of the result.

        Returns:
            Array of shape (3, H, W), one image; ``x[np.newaxis]`` is a batch.

        Raises:
            ImportError: An array is to be resized, and Pillow is not installed.
            TypeError: ``image`` is neither, or ``dtype`` is not floating.
            ValueError: An array has another shape, or ``size`` is no size.
        """
        dtype = np.dtype(dtype)
        if dtype.kind != "f":
            raise TypeError(f"VGG16.preprocess: expected a floating dtype, got {dtype}")
        if size is not None:
            size = width_and_height("VGG16.preprocess", size)
        if cuda.is_array(image):
            x = cuda.as_numpy(image)
            if x.ndim != 3 or x.shape[2] != 3:
                raise ValueError(
                    "VGG16.preprocess: expected an array of shape (H, W, 3), "
                    f"got {x.shape}"
                )
            if size is not None and x.shape[1::-1] != size:
                x = np.asarray(ToPIL()(x.transpose(2, 0, 1)).resize(size))
        else:
            picture = require_picture("VGG16.preprocess", image).convert("RGB")
            x = np.asarray(picture if size is None else picture.resize(size))
        # (H, W, RGB) -> (BGR, H, W)
        x = x[:, :, ::-1].astype(dtype) - np.array(_MEANS, dtype)
        return np.ascontiguousarray(x.transpose(2, 0, 1))
