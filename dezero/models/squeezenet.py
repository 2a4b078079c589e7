"""SqueezeNet: a network for ImageNet with few parameters."""

from __future__ import annotations

import dezero.functions as F
import dezero.layers as L
from dezero.core import ArrayLike, Variable
from dezero.layers.arguments import as_size
from dezero.models.base import Model


class _Fire(L.Layer):
    """Squeeze to few channels, then expand by 1x1 and 3x3 convolutions in parallel."""

    def __init__(self, squeezed: int, expanded: int) -> None:
        super().__init__()
        he = L.initializers.HeNormal()
        self.squeeze = L.Conv2d(squeezed, 1, initial_W=he)
        self.expand1x1 = L.Conv2d(expanded, 1, initial_W=he)
        self.expand3x3 = L.Conv2d(expanded, 3, pad=1, initial_W=he)

    def forward(self, x):
        x = F.relu(self.squeeze(x))
        y = F.concatenate([self.expand1x1(x), self.expand3x3(x)], axis=1)
        return F.relu(y)  # (N, 2 * expanded, H, W)


class SqueezeNet(Model):
    """Convolutions, eight Fire modules and no Linear layer: 1,248,424 parameters.

        F. N. Iandola, S. Han, M. W. Moskewicz, K. Ashraf, W. J. Dally and K. Keutzer,
        SqueezeNet: AlexNet-level accuracy with 50x fewer parameters and <0.5MB model
        size, 2016, https://arxiv.org/abs/1602.07360 (version 1.0, without bypass).

    The layers are ``conv1``, ``fire2`` ... ``fire9`` and ``conv10``. Images may have
    any size from 21x21, and differ from call to call.

    Args:
        pretrained: False: no weights are published.
        num_classes: Number of scores that come out.

    Raises:
        TypeError: ``num_classes`` is no integer.
        ValueError: It is below 1, or ``pretrained`` is true.
    """

    def __init__(self, pretrained: bool = False, num_classes: int = 1000) -> None:
        if pretrained:
            raise ValueError(
                "SqueezeNet: expected pretrained=False, got "
                f"{pretrained!r}; there are no published weights to load"
            )
        super().__init__()
        num_classes = as_size("SqueezeNet", "num_classes", num_classes)
        self.conv1 = L.Conv2d(96, 7, stride=2, initial_W=L.initializers.HeNormal())
        self.fire2 = _Fire(16, 64)
        self.fire3 = _Fire(16, 64)
        self.fire4 = _Fire(32, 128)
        self.fire5 = _Fire(32, 128)
        self.fire6 = _Fire(48, 192)
        self.fire7 = _Fire(48, 192)
        self.fire8 = _Fire(64, 256)
        self.fire9 = _Fire(64, 256)
        self.conv10 = L.Conv2d(num_classes, 1)

    def forward(self, x: ArrayLike) -> Variable:
        """Map images ``x``, (N, C, H, W), to scores (N, num_classes).

        Raises:
            ValueError: An image is too small.
        """
        x = _halve(F.relu(self.conv1(x)))  # (N, 96, 54, 54) from 224x224
        x = _halve(self.fire4(self.fire3(self.fire2(x))))  # (N, 256, 27, 27)
        x = self.fire7(self.fire6(self.fire5(x)))
        x = _halve(self.fire8(x))  # (N, 512, 13, 13)
        x = F.dropout(self.fire9(x))
        return F.global_average_pooling(F.relu(self.conv10(x)))


def _halve(x: Variable) -> Variable:
    return F.pooling(x, 3, 2, ceil_mode=True)
