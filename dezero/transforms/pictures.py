"""Transforms of pictures: PIL images, and their way to arrays (C, H, W) and back."""

from __future__ import annotations

import importlib
import operator
from typing import Any

import numpy as np

from dezero import cuda
from dezero.cuda import Array
from dezero.transforms.arrays import require_array


def is_picture(x: Any) -> bool:
    """Is ``x`` a PIL image? Asked without importing Pillow: x cannot be one then."""
    return hasattr(x, "getbands") and hasattr(x, "convert")


def pillow(name: str) -> Any:
    """The module PIL.Image.

    Raises:
        ImportError: Pillow is not installed.
    """
    try:
        return importlib.import_module("PIL.Image")
    except ImportError as error:
        raise ImportError(
            f"{name}: expected the package Pillow, got none; pip install pillow"
        ) from error


def require_picture(name: str, x: Any) -> Any:
    """``x`` if it is a PIL image; otherwise a TypeError says how to make one of it."""
    if is_picture(x):
        return x
    remedy = "; ToPIL() makes one of an array" if cuda.is_array(x) else ""
    raise TypeError(f"{name}: expected a PIL image, got {type(x).__name__}{remedy}")


def require_either(name: str, x: Any) -> Any:
    """``x`` if it is a PIL image or an array with the axes H and W at its end."""
    if is_picture(x):
        return x
    if not cuda.is_array(x):
        raise TypeError(
            f"{name}: expected a PIL image or an array (C, H, W), "
            f"got {type(x).__name__}"
        )
    if x.ndim < 2:
        raise ValueError(
            f"{name}: expected an array (C, H, W), got one of shape {x.shape}"
        )
    return x


def size_of(x: Any) -> tuple[int, int]:
    """Height and width of a PIL image or an array (C, H, W)."""
    if is_picture(x):
        W, H = x.size
        return H, W
    return x.shape[-2], x.shape[-1]


def crop(x: Any, top: int, left: int, height: int, width: int) -> Any:
    """A part of a PIL image or an array; it lies inside."""
    if is_picture(x):
        return x.crop((left, top, left + width, top + height))
    return x[..., top : top + height, left : left + width]


def width_and_height(name: str, size: Any) -> tuple[int, int]:
    """A size as the pair (width, height) of positive integers, as Pillow counts."""
    pair = tuple(size) if isinstance(size, (tuple, list)) else (size, size)
    try:
        pair = tuple([operator.index(n) for n in pair])
    except TypeError:
        pair = ()
    if len(pair) != 2 or min(pair) < 1:
        raise ValueError(
            f"{name}: expected size to be a positive integer or a pair "
            f"(width, height) of them, got {size!r}"
        )
    return pair


class Convert:
    """A PIL image in another mode.

    Args:
        mode: One of Pillow's, such as 'RGB' or 'L' (grey), or 'BGR': red and blue
            change places, as networks trained with Caffe expect.
    """

    def __init__(self, mode: str = "RGB") -> None:
        self.mode = mode

    def __call__(self, picture: Any) -> Any:
        """Give a picture in the mode."""
        picture = require_picture("Convert", picture)
        if self.mode != "BGR":
            return picture.convert(self.mode)
        red, green, blue = picture.convert("RGB").split()
        return pillow("Convert").merge("RGB", (blue, green, red))


class Resize:
    """A PIL image in another size; its proportions are not kept.

    Args:
        size: Width and height in pixels, or one number for both.
        mode: One of Pillow's filters; bilinear if None.

    Raises:
        TypeError: What comes is no PIL image.
        ValueError: ``size`` is no positive integer, nor a pair of them.
    """

    def __init__(self, size: Any, mode: int | None = None) -> None:
        self.size = width_and_height("Resize", size)
        self.mode = mode

    def __call__(self, picture: Any) -> Any:
        """Give a picture in the size."""
        picture = require_picture("Resize", picture)
        mode = pillow("Resize").Resampling.BILINEAR if self.mode is None else self.mode
        return picture.resize(self.size, mode)


class CenterCrop:
    """The middle of a PIL image or an array (C, H, W).

    Args:
        size: Width and height in pixels, or one number for both.

    Raises:
        TypeError: What comes is neither.
        ValueError: It is smaller than ``size``, or ``size`` is no positive integer, nor
            a pair of them.
    """

    def __init__(self, size: Any) -> None:
        self.size = width_and_height("CenterCrop", size)

    def __call__(self, picture: Any) -> Any:
        """Cut the middle out of a picture."""
        picture = require_either("CenterCrop", picture)
        (H, W), (width, height) = size_of(picture), self.size
        if H < height or W < width:
            raise ValueError(
                f"CenterCrop: expected a picture of at least {width} x {height}, "
                f"got {W} x {H}; Resize comes first"
            )
        return crop(picture, (H - height) // 2, (W - width) // 2, height, width)


class ToArray:
    """A PIL image as an array (C, H, W); one without colours has C = 1.

    An array is passed on as it is, but for its dtype.

    Args:
        dtype: Of the array. Values stay as they are: 0 to 255 for usual pictures.

    Raises:
        TypeError: What comes is neither.
    """

    def __init__(self, dtype: Any = np.float32) -> None:
        self.dtype = np.dtype(dtype)

    def __call__(self, picture: Any) -> Array:
        """Give the array of a picture."""
        if cuda.is_array(picture):
            return picture.astype(self.dtype, copy=False)
        picture = require_picture("ToArray", picture)
        if picture.mode == "P":  # numbers of a palette mean nothing to a network
            picture = picture.convert("RGB")
        x = np.array(picture)  # (H, W) or (H, W, C)
        x = x[np.newaxis] if x.ndim == 2 else x.transpose(2, 0, 1)
        return np.ascontiguousarray(x, dtype=self.dtype)  # (C, H, W)


class ToPIL:
    """An array (C, H, W) or (H, W) as a PIL image.

    With C = 1 it is grey, with C = 3 RGB, with C = 4 RGB and opacity. What is not uint8
    is rounded, and cut to 0 ... 255.

    Raises:
        TypeError: What comes is no array.
        ValueError: It has another shape, or a value that is no number.
    """

    def __call__(self, array: Array) -> Any:
        """Give the picture of an array."""
        x = cuda.as_numpy(require_array("ToPIL", array))
        if x.ndim == 2:
            x = x[np.newaxis]
        if x.ndim != 3 or x.shape[0] not in (1, 3, 4) or not x.size:
            raise ValueError(
                "ToPIL: expected an array (C, H, W) with C = 1, 3 or 4, "
                f"got one of shape {array.shape}"
            )
        if x.dtype != np.uint8:
            if not np.all(np.isfinite(x)):
                raise ValueError("ToPIL: expected finite numbers, got inf or nan")
            x = np.clip(np.rint(x.astype(np.float64)), 0, 255).astype(np.uint8)
        x = x[0] if len(x) == 1 else x.transpose(1, 2, 0)  # (H, W) or (H, W, C)
        return pillow("ToPIL").fromarray(np.ascontiguousarray(x))
