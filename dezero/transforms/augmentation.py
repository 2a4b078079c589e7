"""Random transforms: what a picture may look like and still show the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dezero import cuda
from dezero.cuda import Array
from dezero.transforms.arrays import require_array
from dezero.transforms.pictures import (
    crop,
    is_picture,
    pillow,
    require_either,
    size_of,
    width_and_height,
)


class Random:
    """Base class of what draws random numbers.

    Args:
        seed: None to draw from ``np.random``; an integer for numbers of its own, which
            no other code moves on.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._own = None if seed is None else np.random.RandomState(seed)

    @property
    def _random(self) -> Any:
        return np.random if self._own is None else self._own  # a module is not pickled

    def state_dict(self) -> dict[str, Any]:
        """Where the numbers of its own stand; empty if it draws from ``np.random``."""
        return {} if self._own is None else dict(self._own.get_state(legacy=False))

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on with the numbers from where :meth:`state_dict` was.

        Raises:
            TypeError: ``state`` is no such dict.
            ValueError: One of the two transforms has a seed and the other one has none.
        """
        function = f"{type(self).__name__}.load_state_dict"
        names = {"bit_generator", "state", "has_gauss", "gauss"}
        if not isinstance(state, dict) or set(state) not in (names, set()):
            raise TypeError(
                f"{function}: expected a dict that state_dict gave, got "
                f"{type(state).__name__}"
            )
        if bool(state) != (self._own is not None):
            has = ["no seed", "a seed"]
            raise ValueError(
                f"{function}: expected the state of a transform with "
                f"{has[self._own is not None]}, got one of {has[bool(state)]}"
            )
        if self._own is not None:
            self._own.set_state(state)

    def _happens(self, p: float) -> bool:
        return self._random.random_sample() < p


def _probability(name: str, p: float) -> float:
    if not 0 <= p <= 1:
        raise ValueError(f"{name}: expected a probability p in [0, 1], got {p}")
    return p


class RandomHorizontalFlip(Random):
    """Left and right of a PIL image or an array (C, H, W) change places, with chance p.

    Args:
        p: The probability.
        seed: As in all random transforms.

    Raises:
        ValueError: ``p`` is no probability.
    """

    def __init__(self, p: float = 0.5, seed: int | None = None) -> None:
        super().__init__(seed)
        self.p = _probability(type(self).__name__, p)

    def __call__(self, picture: Any) -> Any:
        """Flip a picture, or give it back as it is."""
        name = type(self).__name__
        picture = require_either(name, picture)
        return self._flip(picture) if self._happens(self.p) else picture

    def _flip(self, picture: Any) -> Any:
        if is_picture(picture):
            transpose = pillow("RandomHorizontalFlip").Transpose
            return picture.transpose(transpose.FLIP_LEFT_RIGHT)
        return picture[..., ::-1].copy()


class RandomVerticalFlip(RandomHorizontalFlip):
    """Top and bottom of a PIL image or an array (C, H, W) change places, with chance p.

    Args:
        p: The probability.
        seed: As in all random transforms.
    """

    def _flip(self, picture: Any) -> Any:
        if is_picture(picture):
            transpose = pillow("RandomVerticalFlip").Transpose
            return picture.transpose(transpose.FLIP_TOP_BOTTOM)
        return picture[..., ::-1, :].copy()


class RandomCrop(Random):
    """A part of a PIL image or an array (C, H, W), anywhere in it.

    Args:
        size: Width and height in pixels, or one number for both.
        pad: Pixels of zeros that are put around it first.
        seed: As in all random transforms.

    Raises:
        ValueError: The padded picture is smaller than ``size``, or ``pad`` is negative.
    """

    def __init__(self, size: Any, pad: int = 0, seed: int | None = None) -> None:
        super().__init__(seed)
        self.size = width_and_height("RandomCrop", size)
        if pad < 0:
            raise ValueError(f"RandomCrop: expected pad >= 0, got {pad}")
        self.pad = pad

    def __call__(self, picture: Any) -> Any:
        """Cut a part out of a picture."""
        x = require_either("RandomCrop", picture)
        if self.pad:
            x = _padded(x, self.pad)
        (H, W), (width, height) = size_of(x), self.size
        if H < height or W < width:
            raise ValueError(
                f"RandomCrop: expected a picture of at least {width} x {height}, "
                f"got {W} x {H}"
            )
        top = int(self._random.randint(H - height + 1))
        left = int(self._random.randint(W - width + 1))
        return crop(x, top, left, height, width)


def _padded(x: Any, pad: int) -> Any:
    H, W = size_of(x)
    if is_picture(x):  # a part that reaches beyond the picture is black there
        return x.crop((-pad, -pad, W + pad, H + pad))
    widths = [(0, 0)] * (x.ndim - 2) + [(pad, pad)] * 2
    return cuda.get_array_module(x).pad(x, widths)


class RandomRotation(Random):
    """A PIL image or an array (C, H, W), turned about its centre.

    Each pixel takes the value of the nearest one, so labels of pixels may be turned
    too. What comes from outside is zero.

    Args:
        degrees: The angle is uniform in [-degrees, degrees].
        seed: As in all random transforms.

    Raises:
        ValueError: ``degrees`` is negative or not finite.
    """

    def __init__(self, degrees: float, seed: int | None = None) -> None:
        super().__init__(seed)
        if not 0 <= degrees < math.inf:
            raise ValueError(f"RandomRotation: expected degrees >= 0, got {degrees}")
        self.degrees = degrees

    def __call__(self, picture: Any) -> Any:
        """Turn a picture; its size stays."""
        x = require_either("RandomRotation", picture)
        angle = self._random.uniform(-self.degrees, self.degrees)
        return x.rotate(angle) if is_picture(x) else rotate(x, angle)


def rotate(x: Array, degrees: float) -> Array:
    """An array (..., H, W) turned counter-clockwise about its centre.

    Args:
        x: Array.
        degrees: The angle.

    Returns:
        Array of the shape of ``x``; each element is the nearest one of ``x``, or zero.
    """
    xp = cuda.get_array_module(x)
    H, W = x.shape[-2:]
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    down = (np.arange(H) - (H - 1) / 2)[:, np.newaxis]  # (H, 1)
    right = (np.arange(W) - (W - 1) / 2)[np.newaxis]  # (1, W)
    # Where each pixel comes from: turned back. Rows count downwards. The tiny shift
    # makes the same choice of two equally near pixels, whatever cos rounds to.
    row = np.rint(cos * down + sin * right + (H - 1) / 2 + 1e-9).astype(int)  # (H, W)
    column = np.rint(cos * right - sin * down + (W - 1) / 2 + 1e-9).astype(int)
    inside = (row >= 0) & (row < H) & (column >= 0) & (column < W)
    row, column = row.clip(0, H - 1), column.clip(0, W - 1)
    y = x[..., xp.asarray(row), xp.asarray(column)]
    return xp.where(xp.asarray(inside), y, xp.zeros((), x.dtype))


class ColorJitter(Random):
    """Other light and colours for an array (C, H, W), C = 1 or 3.

    With b, c and s uniform in 1 ± ``brightness``, ``contrast`` and ``saturation``:
    x becomes ``b x``, then ``c x + (1 - c) mean(x)``, then, if C = 3,
    ``s x + (1 - s) grey(x)``, where grey(x) weighs red, green and blue by 0.299, 0.587
    and 0.114 (ITU-R BT.601). The result is cut to the range 0 ... ``high``.

    Args:
        brightness: From 0, which leaves it as it is, to 1.
        contrast: Likewise.
        saturation: Likewise.
        high: The largest value of a pixel; 255 for integers and 1 for others if None.
        seed: As in all random transforms.

    Raises:
        TypeError: What comes is no array.
        ValueError: It has another shape, or a strength is not in [0, 1].
    """

    def __init__(
        self,
        brightness: float = 0.0,
        contrast: float = 0.0,
        saturation: float = 0.0,
        high: float | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(seed)
        self.brightness, self.contrast = brightness, contrast
        self.saturation, self.high = saturation, high
        for key in "brightness", "contrast", "saturation":
            value = getattr(self, key)
            if not 0 <= value <= 1:
                raise ValueError(f"ColorJitter: expected {key} in [0, 1], got {value}")

    def __call__(self, array: Array) -> Array:
        """Change light and colours of an array."""
        x = require_array("ColorJitter", array)
        if x.ndim != 3 or x.shape[0] not in (1, 3):
            raise ValueError(
                "ColorJitter: expected an array (C, H, W) with C = 1 or 3, "
                f"got one of shape {x.shape}"
            )
        is_float = x.dtype.kind == "f"
        high = self.high if self.high is not None else 1.0 if is_float else 255.0
        strengths = self.brightness, self.contrast, self.saturation
        b, c, s = [float(self._random.uniform(1 - r, 1 + r)) for r in strengths]
        xp = cuda.get_array_module(x)
        y = b * x.astype(np.float32)
        y = c * y + (1 - c) * y.mean()
        if len(y) == 3:
            grey = 0.299 * y[0] + 0.587 * y[1] + 0.114 * y[2]  # (H, W)
            y = s * y + (1 - s) * grey
        y = y.clip(0, high)
        return (y if is_float else xp.rint(y)).astype(x.dtype)


class Cutout(Random):
    """A square of an array (C, H, W) set to zero, its centre anywhere in the picture.

    T. DeVries and G. W. Taylor, Improved Regularization of Convolutional Neural
    Networks with Cutout, 2017, arXiv:1708.04552. At the border the square is cut.

    Args:
        size: Side of the square in pixels.
        seed: As in all random transforms.

    Raises:
        TypeError: What comes is no array.
        ValueError: It has less than two axes, or ``size`` is below one.
    """

    def __init__(self, size: int, seed: int | None = None) -> None:
        super().__init__(seed)
        if size < 1:
            raise ValueError(f"Cutout: expected size >= 1, got {size}")
        self.size = size

    def __call__(self, array: Array) -> Array:
        """Give a copy of an array with a hole."""
        x = require_either("Cutout", require_array("Cutout", array)).copy()
        H, W = size_of(x)
        top = int(self._random.randint(H)) - self.size // 2
        left = int(self._random.randint(W)) - self.size // 2
        x[..., max(0, top) : top + self.size, max(0, left) : left + self.size] = 0
        return x
