"""Arrays made larger from their own elements: copies and borders."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.broadcasting import broadcast_to
from dezero.functions.indexing import get_item
from dezero.functions.lookup import take
from dezero.functions.shape import as_axis, as_shape, ravel, reshape

__all__ = ["Pad", "pad", "repeat", "tile"]

# =============================================================================
# Copies of itself
# =============================================================================


def tile(x: ArrayLike, reps: int | Sequence[int]) -> Variable:
    """Copies of the whole array side by side: ``tile([a, b], 2) = [a, b, a, b]``.

    Args:
        x: Any shape.
        reps: How many copies along each axis, counted from the last one. Of ``reps``
            and the shape of ``x``, the shorter is filled with ones in front.

    Returns:
        Variable whose sizes are those of ``x`` times ``reps``.

    Raises:
        TypeError: ``reps`` are no integers.
        ValueError: One is negative.
    """
    x = as_variable(x)
    reps = _counts("tile", reps)
    ndim = max(x.ndim, len(reps))
    counts = (1,) * (ndim - len(reps)) + reps
    sizes = (1,) * (ndim - x.ndim) + x.shape
    pairs = [n for pair in zip(counts, sizes, strict=True) for n in pair]
    ones = [n for size in sizes for n in (1, size)]
    # (s0, s1) -> (1, s0, 1, s1) -> (r0, s0, r1, s1) -> (r0*s0, r1*s1)
    y = broadcast_to(reshape(x, ones), pairs)
    return reshape(y, [r * s for r, s in zip(counts, sizes, strict=True)])


def repeat(
    x: ArrayLike, repeats: int | Sequence[int], axis: int | None = None
) -> Variable:
    """Copies of each element next to it: ``repeat([a, b], 2) = [a, a, b, b]``.

    Args:
        x: Any shape.
        repeats: How many copies of every element, or a sequence: how many of each along
            ``axis``.
        axis: The axis to extend; by default ``x`` is raveled first.

    Returns:
        Variable that is longer along ``axis``.

    Raises:
        TypeError: ``repeats`` are no integers.
        ValueError: One is negative, their number does not fit, or there is no such
            axis.
    """
    x = as_variable(x)
    if axis is None:
        x, axis = ravel(x), 0
    i = as_axis("repeat", axis, x.shape)
    counts = _counts("repeat", repeats)
    before, n, after = x.shape[:i], x.shape[i], x.shape[i + 1 :]
    if len(counts) == 1:
        # (..., n, ...) -> (..., n, 1, ...) -> (..., n, r, ...) -> (..., n*r, ...)
        y = broadcast_to(
            reshape(x, (*before, n, 1, *after)), (*before, n, *counts, *after)
        )
        return reshape(y, (*before, n * counts[0], *after))
    if len(counts) != n:
        raise ValueError(
            f"repeat: expected 1 or {n} repeats for axis {axis} of shape {x.shape}, "
            f"got {len(counts)}"
        )
    return take(x, np.repeat(np.arange(n), counts), i)


def _counts(function: str, counts: Any) -> tuple[int, ...]:
    if isinstance(counts, np.ndarray):
        counts = counts.tolist()
    counts = as_shape(function, counts)
    if any([n < 0 for n in counts]):
        raise ValueError(f"{function}: expected no negative numbers, got {counts}")
    return counts


# =============================================================================
# A border
# =============================================================================


class Pad(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, widths, value):
        self.widths = widths
        self.value = value

    def forward(self, x):
        xp = cuda.get_array_module(x)
        pairs = list(zip(self.widths, x.shape, strict=True))
        self.inside = tuple([slice(before, before + n) for (before, _), n in pairs])
        shape = [before + n + after for (before, after), n in pairs]
        y = xp.full(shape, self.value, dtype=x.dtype)
        y[self.inside] = x
        return y

    def backward(self, gy):
        return get_item(gy, self.inside)


def pad(
    x: ArrayLike,
    pad_width: Any,
    mode: str = "constant",
    constant_values: float = 0.0,
) -> Variable:
    """A border around ``x``.

    Args:
        x: Any shape.
        pad_width: How wide: one number for all sides, ``(before, after)`` for every
            axis, or such a pair for each axis.
        mode: What the border holds: ``"constant"`` one value, ``"edge"`` the outermost
            element, ``"reflect"`` what lies inside, mirrored at the outermost element,
            ``"symmetric"`` likewise with that element twice, ``"wrap"`` the other side.
        constant_values: The value for ``"constant"``.

    Returns:
        Variable with ``before + after`` more elements along each axis.

    Raises:
        TypeError: ``pad_width`` are no integers, or ``constant_values`` is no number.
        ValueError: A width is negative or their number does not fit, the mode is
            unknown, or an axis without elements would have to be mirrored.
    """
    x = as_variable(x)
    widths = _pad_widths(pad_width, x.shape)
    if mode == "constant":
        if not isinstance(constant_values, (int, float, np.generic)):
            # A Variable would stay without a gradient.
            raise TypeError(
                "pad: expected a number as constant_values, "
                f"got {type(constant_values).__name__}"
            )
        return Pad(widths, constant_values)(x)
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        raise ValueError(
            "pad: expected mode 'constant', 'edge', 'reflect', 'symmetric' or 'wrap', "
            f"got {mode!r}"
        )
    for axis, (width, n) in enumerate(zip(widths, x.shape, strict=True)):
        if width == (0, 0):
            continue
        if not n:
            raise ValueError(
                f"pad: expected elements along axis {axis} for mode {mode!r}, got x of "
                f"shape {x.shape}"
            )
        # Which element each place of the longer axis shows.
        np_pad: Any = np.pad  # its type knows modes as literals only
        x = take(x, np_pad(np.arange(n), width, mode=mode), axis)
    return x


def _pad_widths(pad_width: Any, shape: tuple[int, ...]) -> list[tuple[int, int]]:
    try:
        widths = np.asarray(pad_width)
    except ValueError:  # rows of different lengths
        raise ValueError(
            "pad: expected one number, one pair or a pair for each axis as pad_width, "
            f"got {pad_width!r}"
        ) from None
    if widths.dtype.kind not in "iu":
        raise TypeError(f"pad: expected integers as pad_width, got {pad_width!r}")
    try:
        table = np.broadcast_to(widths, (len(shape), 2)).tolist()
    except ValueError:
        raise ValueError(
            f"pad: expected a pad_width that broadcasts to {(len(shape), 2)}, for x of "
            f"shape {shape}, got {pad_width!r}"
        ) from None
    if any([n < 0 for pair in table for n in pair]):
        raise ValueError(f"pad: expected no negative pad_width, got {pad_width!r}")
    return [(before, after) for before, after in table]
