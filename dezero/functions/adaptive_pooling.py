"""Pooling whose result has a given size: global and adaptive."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable
from dezero.functions.averaging import average_pooling
from dezero.functions.dtypes import cast
from dezero.functions.extending import pad
from dezero.functions.extremes import max
from dezero.functions.lookup import take
from dezero.functions.max_pooling import pooling
from dezero.functions.reduction import mean, sum
from dezero.functions.window_arguments import as_sizes
from dezero.functions.window_reduction import least
from dezero.functions.windows import Sizes

__all__ = [
    "adaptive_average_pooling",
    "adaptive_max_pooling",
    "global_average_pooling",
    "global_max_pooling",
]

# =============================================================================
# To a single element
# =============================================================================


def global_average_pooling(x: ArrayLike, keepdims: bool = False) -> Variable:
    """Mean of each channel over its whole image.

    Args:
        x: (N, C, IH, IW), or with any other number of axes after the first two.
        keepdims: Keep the axes of the image, as 1.

    Returns:
        Variable of shape (N, C), or (N, C, 1, 1) with ``keepdims``.

    Raises:
        ValueError: ``x`` has fewer than three axes, or one of no elements.
    """
    x = as_variable(x)
    return mean(x, _image_axes("global_average_pooling", x), keepdims)


def global_max_pooling(x: ArrayLike, keepdims: bool = False) -> Variable:
    """Maximum of each channel over its whole image; equal ones share the gradient.

    Args:
        x: (N, C, IH, IW), or with any other number of axes after the first two.
        keepdims: Keep the axes of the image, as 1.

    Returns:
        Variable of shape (N, C), or (N, C, 1, 1) with ``keepdims``.

    Raises:
        ValueError: ``x`` has fewer than three axes, or one of no elements.
    """
    x = as_variable(x)
    return max(x, _image_axes("global_max_pooling", x), keepdims)


# =============================================================================
# To a given size
# =============================================================================


def adaptive_average_pooling(
    x: ArrayLike, output_size: int | Sequence[int]
) -> Variable:
    """Means over as many parts of the image as the result shall have elements.

    Along an axis of size I, element i of O is the mean from ``floor(i*I/O)`` up to,
    but without, ``ceil((i+1)*I/O)``: parts overlap where O does not divide I.

    Args:
        x: (N, C, IH, IW), or with any other number of axes after the first two.
        output_size: (OH, OW), or one number for all axes.

    Returns:
        Variable of shape (N, C, OH, OW).

    Raises:
        TypeError: ``output_size`` are no integers.
        ValueError: ``x`` has fewer than three axes or one of no elements,
            ``output_size`` does not fit their number, or is below 1.
    """
    x = as_variable(x)
    sizes = _output_sizes("adaptive_average_pooling", x, output_size)
    factors = _factors(x.shape[2:], sizes)
    if factors is not None:
        return average_pooling(x, factors, factors)
    xp = cuda.get_array_module(x)
    y = x if x.dtype.kind == "f" else cast(x, np.float64)
    for axis, size in enumerate(sizes, start=2):
        counts = [stop - start for start, stop in _parts(x.shape[axis], size)]
        column = size, *[1] * (x.ndim - axis)
        # Divided first: sums may be out of the range of half precision.
        divisors = np.asarray(counts, y.dtype).reshape(column)
        parts = _in_parts(y, axis, size, 0) / cuda.constant(divisors, xp)
        y = sum(parts, axis=axis + 1)
    return y


def adaptive_max_pooling(x: ArrayLike, output_size: int | Sequence[int]) -> Variable:
    """Maxima over as many parts of the image as the result shall have elements.

    The parts are those of :func:`adaptive_average_pooling`. Of equal elements the first
    takes the gradient, as in :func:`pooling`, where ``output_size`` divides the size
    of the image and is not 1; otherwise they share it.

    Args:
        x: (N, C, IH, IW), or with any other number of axes after the first two.
        output_size: (OH, OW), or one number for all axes.

    Returns:
        Variable of shape (N, C, OH, OW).

    Raises:
        TypeError: ``output_size`` are no integers.
        ValueError: ``x`` has fewer than three axes or one of no elements,
            ``output_size`` does not fit their number, or is below 1.
    """
    x = as_variable(x)
    sizes = _output_sizes("adaptive_max_pooling", x, output_size)
    if math.prod(sizes) == 1:  # pooling would loop over the whole image
        return global_max_pooling(x, keepdims=True)
    factors = _factors(x.shape[2:], sizes)
    if factors is not None:
        return pooling(x, factors, factors)
    y = x
    for axis, size in enumerate(sizes, start=2):
        y = max(_in_parts(y, axis, size, least(x.dtype)), axis=axis + 1)
    return y


def _in_parts(x: Variable, axis: int, size: int, neutral: Any) -> Variable:
    """(..., I, ...) -> (..., size, n, ...), n elements of each part of an axis.

    A part that is shorter than the others ends with ``neutral``.
    """
    I = x.shape[axis]
    parts = _parts(I, size)
    n = np.max([stop - start for start, stop in parts])
    # Row i has the elements of part i; a short one ends with the border, I.
    rows = np.array([[*range(*part), I, I][:n] for part in parts])
    border = [(0, 0)] * x.ndim
    border[axis] = (0, 1)
    x = pad(x, border, constant_values=neutral)  # (..., I + 1, ...)
    return take(x, rows, axis)


def _parts(size: int, count: int) -> list[tuple[int, int]]:
    """Where each of ``count`` parts of an axis starts and stops."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _factors(sizes: Sizes, output_sizes: Sizes) -> Sizes | None:
    """How many times larger the image is, if these are whole numbers."""
    pairs = list(zip(sizes, output_sizes, strict=True))
    if any([size % out for size, out in pairs]):
        return None
    return tuple([size // out for size, out in pairs])


def _image_axes(function: str, x: Variable) -> Sizes:
    if x.ndim < 3 or 0 in x.shape[2:]:
        raise ValueError(
            f"{function}: expected x with axes, of one element at least, after batch "
            f"and channel, got shape {x.shape}"
        )
    return tuple(range(2, x.ndim))


def _output_sizes(
    function: str, x: Variable, output_size: int | Sequence[int]
) -> Sizes:
    axes = _image_axes(function, x)
    return as_sizes(function, "output_size", output_size, len(axes))
