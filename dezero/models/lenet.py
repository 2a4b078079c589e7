"""LeNet: the small convolutional network that reads digits."""

from __future__ import annotations

import dezero.functions as F
import dezero.layers as L
from dezero.core import ArrayLike, Variable
from dezero.layers.arguments import as_size
from dezero.models.base import Model


class LeNet(Model):
    """Two convolutions and three Linear layers, for small images such as digits.

        Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, Gradient-Based Learning Applied
        to Document Recognition, Proceedings of the IEEE 86, 1998 (LeNet-5).

    It has that network's sizes, with what came later: ReLU in place of tanh, maxima in
    place of means, and class scores for :func:`dezero.functions.softmax_cross_entropy`.
    Both convolutions pad by 2, so that images of 4x4 and more fit, and the second one
    sees all channels of the first.

    The first call tells the size and the channels of the images, 1 for grey ones.

    Args:
        num_classes: Number of scores that come out.

    Raises:
        TypeError: ``num_classes`` is no integer.
        ValueError: It is below 1.
    """

    def __init__(self, num_classes: int = 10) -> None:
        super().__init__()
        num_classes = as_size("LeNet", "num_classes", num_classes)
        he = L.initializers.HeNormal()
        self.conv1 = L.Conv2d(6, 5, pad=2, initial_W=he)
        self.conv2 = L.Conv2d(16, 5, pad=2, initial_W=he)
        self.fc3 = L.Linear(120, initial_W=he)
        self.fc4 = L.Linear(84, initial_W=he)
        self.fc5 = L.Linear(num_classes)

    def forward(self, x: ArrayLike) -> Variable:
        """Map images ``x``, (N, C, H, W), to scores (N, num_classes).

        Raises:
            ValueError: An image is smaller than 4x4, or of another size than those that
                the first call got.
        """
        x = F.pooling(F.relu(self.conv1(x)), 2, 2)  # (N, 6, H // 2, W // 2)
        x = F.pooling(F.relu(self.conv2(x)), 2, 2)  # (N, 16, H // 4, W // 4)
        x = F.relu(self.fc3(F.flatten(x)))
        x = F.relu(self.fc4(x))
        return self.fc5(x)
