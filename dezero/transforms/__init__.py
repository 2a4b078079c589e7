"""Transforms: what is done to an item when it is read. Pictures need Pillow.

A picture is a PIL image, or an array (C, H, W); a transform that takes both says so.
What draws random numbers takes a ``seed``; without one it follows ``np.random.seed``.
"""

from dezero.transforms.arrays import (
    AsType,
    Compose,
    Flatten,
    Normalize,
    ToFloat,
    ToInt,
)
from dezero.transforms.augmentation import (
    ColorJitter,
    Cutout,
    RandomCrop,
    RandomHorizontalFlip,
    RandomRotation,
    RandomVerticalFlip,
)
from dezero.transforms.mixing import Mixup
from dezero.transforms.pictures import CenterCrop, Convert, Resize, ToArray, ToPIL

__all__ = [
    "AsType",
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "Convert",
    "Cutout",
    "Flatten",
    "Mixup",
    "Normalize",
    "RandomCrop",
    "RandomHorizontalFlip",
    "RandomRotation",
    "RandomVerticalFlip",
    "Resize",
    "ToArray",
    "ToFloat",
    "ToInt",
    "ToPIL",
]
