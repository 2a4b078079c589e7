"""ResNet: deep networks whose blocks add to what they are given."""

from __future__ import annotations

from typing import Any

import dezero.functions as F
import dezero.layers as L
from dezero.core import ArrayLike, Variable
from dezero.downloads import get_file
from dezero.layers.arguments import as_size
from dezero.models.base import Model

_WEIGHTS = (
    "https://github.com/koki0702/dezero-models/releases/download/v0.1/resnet{}.npz"
)
# Blocks in each of the four stages, which have images half as large one by one.
_BLOCKS = {
    18: (2, 2, 2, 2),
    34: (3, 4, 6, 3),
    50: (3, 4, 6, 3),
    101: (3, 4, 23, 3),
    152: (3, 8, 36, 3),
}
_CHANNELS = (64, 128, 256, 512)
_PUBLISHED = (50, 101, 152)


def _conv(channels: int, kernel_size: int, stride: int = 1, pad: int = 0) -> L.Conv2d:
    # The batch normalization that follows would take away a bias.
    he = L.initializers.HeNormal()
    return L.Conv2d(channels, kernel_size, stride, pad, nobias=True, initial_W=he)


class _Basic(L.Layer):
    """Two 3x3 convolutions; a third one, 1x1, where the shortcut has to be fitted."""

    growth = 1  # channels that come out, as a multiple of those inside

    def __init__(self, channels: int, stride: int, fitted: bool) -> None:
        super().__init__()
        self.conv1 = _conv(channels, 3, stride, pad=1)
        self.bn1 = L.BatchNorm()
        self.conv2 = _conv(channels, 3, pad=1)
        self.bn2 = L.BatchNorm()
        self.fitted = fitted
        if fitted:
            self.conv3 = _conv(channels, 1, stride)
            self.bn3 = L.BatchNorm()

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        return F.relu(y + (self.bn3(self.conv3(x)) if self.fitted else x))


class _Bottleneck(L.Layer):
    """1x1 to few channels, 3x3, 1x1 to four times as many; a fourth fits the shortcut.

    The first one takes the stride, as in the paper.
    """

    growth = 4

    def __init__(self, channels: int, stride: int, fitted: bool) -> None:
        super().__init__()
        self.conv1 = _conv(channels, 1, stride)
        self.bn1 = L.BatchNorm()
        self.conv2 = _conv(channels, 3, pad=1)
        self.bn2 = L.BatchNorm()
        self.conv3 = _conv(channels * self.growth, 1)
        self.bn3 = L.BatchNorm()
        self.fitted = fitted
        if fitted:
            self.conv4 = _conv(channels * self.growth, 1, stride)
            self.bn4 = L.BatchNorm()

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return F.relu(y + (self.bn4(self.conv4(x)) if self.fitted else x))


class _Stage(L.Layer):
    """Blocks one after the other, ``a``, ``b1``, ``b2``, ...; ``a`` has the stride."""

    def __init__(self, block: Any, blocks: int, channels: int, stride: int) -> None:
        super().__init__()
        # Where channels and size stay, and that is in the first stage of basic blocks,
        # the input itself is the shortcut.
        self.a = block(channels, stride, fitted=stride > 1 or block.growth > 1)
        self._names = ["a"]
        for i in range(1, blocks):
            setattr(self, f"b{i}", block(channels, 1, fitted=False))
            self._names.append(f"b{i}")

    def forward(self, x):
        for name in self._names:
            x = getattr(self, name)(x)
        return x


class ResNet(Model):
    """A convolution, four stages of blocks ``relu(f(x) + x)``, a Linear layer.

        K. He, X. Zhang, S. Ren and J. Sun, Deep Residual Learning for Image
        Recognition, 2015, https://arxiv.org/abs/1512.03385 (table 1; shortcuts with
        projections where sizes change, option B).

    With 18 or 34 layers a block is two convolutions 3x3, with more of them 1x1, 3x3 and
    1x1. The layers are ``conv1``, ``bn1``, the stages ``res2`` ... ``res5`` and
    ``fc6``; a weight is called ``res2/b1/conv1/W``, for instance. Images may have any
    size from 3x3, and differ from call to call.

    Args:
        n_layers: 18, 34, 50, 101 or 152.
        pretrained: Load the weights for ImageNet that are published for 50, 101 and 152
            layers, which are downloaded on first use (100 to 240 MB). Whether all names
            in those files are the ones here has not been tried: where they are not,
            the error lists the names, and no model is made.
        num_classes: Number of scores that come out; 1000 with ``pretrained``.

    Raises:
        ConnectionError: The weights could not be downloaded.
        TypeError: A number is no integer.
        ValueError: ``n_layers`` is another one, has no published weights, or these do
            not fit; or ``num_classes`` is below 1.
    """

    def __init__(
        self, n_layers: int = 152, pretrained: bool = False, num_classes: int = 1000
    ) -> None:
        super().__init__()
        name = type(self).__name__
        n_layers = as_size(name, "n_layers", n_layers)
        num_classes = as_size(name, "num_classes", num_classes)
        if n_layers not in _BLOCKS:
            raise ValueError(
                f"{name}: expected n_layers to be one of "
                f"{', '.join(map(str, _BLOCKS))}, got {n_layers}"
            )
        if pretrained and n_layers not in _PUBLISHED:
            raise ValueError(
                f"{name}: expected pretrained=False with {n_layers} layers, got "
                f"{pretrained!r}; weights are published for 50, 101 and 152 layers"
            )
        block = _Basic if n_layers < 50 else _Bottleneck
        self.conv1 = _conv(64, 7, stride=2, pad=3)
        self.bn1 = L.BatchNorm()
        for i, blocks in enumerate(_BLOCKS[n_layers]):
            stride = 1 if i == 0 else 2
            stage = _Stage(block, blocks, _CHANNELS[i], stride)
            setattr(self, f"res{i + 2}", stage)
        self.fc6 = L.Linear(num_classes)
        if pretrained:
            self.load_weights(get_file(_WEIGHTS.format(n_layers)))

    def forward(self, x: ArrayLike) -> Variable:
        """Map images ``x``, (N, C, H, W), to scores (N, num_classes).

        Raises:
            ValueError: An image is too small.
        """
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.pooling(x, 3, 2, ceil_mode=True)  # (N, 64, 56, 56) from 224x224
        for i in range(len(_CHANNELS)):
            x = getattr(self, f"res{i + 2}")(x)
        x = F.global_average_pooling(x)  # (N, C, 7, 7) -> (N, C)
        return self.fc6(x)


class ResNet50(ResNet):
    """:class:`ResNet` with 50 layers: 25,557,032 parameters to be trained."""

    def __init__(self, pretrained: bool = False, num_classes: int = 1000) -> None:
        super().__init__(50, pretrained, num_classes)


class ResNet101(ResNet):
    """:class:`ResNet` with 101 layers: 44,549,160 parameters to be trained."""

    def __init__(self, pretrained: bool = False, num_classes: int = 1000) -> None:
        super().__init__(101, pretrained, num_classes)


class ResNet152(ResNet):
    """:class:`ResNet` with 152 layers: 60,192,808 parameters to be trained."""

    def __init__(self, pretrained: bool = False, num_classes: int = 1000) -> None:
        super().__init__(152, pretrained, num_classes)


class ResNet18(ResNet):
    """:class:`ResNet` with 18 layers: 11,689,512 parameters to be trained."""

    def __init__(self, pretrained: bool = False, num_classes: int = 1000) -> None:
        super().__init__(18, pretrained, num_classes)


class ResNet34(ResNet):
    """:class:`ResNet` with 34 layers: 21,797,672 parameters to be trained."""

    def __init__(self, pretrained: bool = False, num_classes: int = 1000) -> None:
        super().__init__(34, pretrained, num_classes)
