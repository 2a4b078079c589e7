"""What pooling does to plain arrays: windows reduced to an element, and back."""

import functools
from typing import Any

import numpy as np

from dezero import cuda
from dezero.cuda import Array
from dezero.functions.window_arguments import make_window
from dezero.functions.windows import Window


def pooling_window(function: str, x: Any, *arguments: Any) -> Window:
    """The window of these arguments on the image x (N, C, *sizes), which is checked."""
    if x.ndim < 3:
        raise ValueError(
            f"{function}: expected x with axes after batch and channel, got shape "
            f"{x.shape}"
        )
    return make_window(function, x.shape[2:], *arguments)


@functools.lru_cache(maxsize=512)
def check_company(function: str, window: Window) -> None:
    """Refuse a window that meets nothing but padding somewhere."""
    for axis in range(len(window.sizes)):
        if 0 in window.meets(axis):
            raise ValueError(
                f"{function}: expected padding so narrow that each window meets the "
                f"image, got pad {window.pads} around an image of size {window.sizes} "
                f"for a window of size {window.kernel}"
            )


def reduce_windows(ufunc: Any, x: Array, window: Window, neutral: Any) -> Array:
    """What ``ufunc`` makes of the elements of each window, axis after axis.

    Args:
        ufunc: Of two arguments, associative.
        x: (N, C, *sizes).
        window: Of these sizes.
        neutral: The element that changes nothing, for the padding.
    """
    xp = cuda.get_array_module(x)
    y = x
    for axis, steps in enumerate(window.steps):
        before = (slice(None),) * (2 + axis)
        n = window.places[axis]
        parts = [(y[(*before, met)], places) for met, places in steps]
        if all([places == slice(0, n) for _, places in parts]):
            y = parts[0][0]
            for i, (part, _) in enumerate(parts[1:]):
                y = ufunc(y, part, out=y if i else None)
        else:
            shape = (*y.shape[: 2 + axis], n, *y.shape[3 + axis :])
            y = xp.full(shape, neutral, y.dtype)
            for part, places in parts:
                met = y[(*before, places)]
                ufunc(met, part, out=met)
    return y.copy() if xp.may_share_memory(x, y) else y


def spread_windows(y: Array, window: Window) -> Array:
    """Each element of y added to all that its window meets; y (N, C, *places)."""
    xp = cuda.get_array_module(y)
    for axis in reversed(range(len(window.sizes))):
        before = (slice(None),) * (2 + axis)
        shape = (*y.shape[: 2 + axis], window.sizes[axis], *y.shape[3 + axis :])
        x = xp.zeros(shape, y.dtype)
        for image, places in window.steps[axis]:
            if window.is_apart:
                x[(*before, image)] = y[(*before, places)]
            else:
                met = x[(*before, image)]
                xp.add(met, y[(*before, places)], out=met)
        y = x
    return y


def least(dtype: np.dtype) -> Any:
    """What no maximum is below: the padding of max pooling."""
    if dtype.kind == "f":
        return -np.inf
    return False if dtype.kind == "b" else np.iinfo(dtype).min
