"""A curve as a line of text, for terminals. Needs no matplotlib."""

from __future__ import annotations

import sys
from typing import Any, TextIO

import numpy as np

from dezero.visualize.arrays import as_array, as_count

BLOCKS = "▁▂▃▄▅▆▇█"
# More ink is more, where there are no blocks.
ASCII = ".:-=+*#@"
GAP = "x"  # NaN and infinity


def sparkline(
    values: Any,
    width: int = 60,
    low: float | None = None,
    high: float | None = None,
    stream: TextIO | None = None,
) -> str:
    """A curve as a line of text: ``sparkline([1, 2, 3, 5, 8])`` gives ``▁▂▃▅█``.

    Values that do not fit are put together in ``width`` groups of nearly equal size,
    each shown by its mean. What is NaN or infinite is an ``x``, and so is a group with
    such a value.

    Args:
        values: (N,), N at least 1: a list, array or Variable.
        width: The most characters.
        low: The value of the lowest block; by default the least that is shown.
        high: That of the highest.
        stream: Where it will be printed; by default the standard output. Where its
            encoding has no blocks, the line is made of ``.:-=+*#@``.

    Returns:
        One line, without an end of line.

    Raises:
        TypeError: ``values`` has no numbers, or ``width`` is no integer.
        ValueError: There are no values, the shape is another, ``width`` is below 1,
            or ``low`` is above ``high``.
    """
    x = as_array("sparkline", "values", values).astype(np.float64)
    if x.ndim != 1 or not x.size:
        raise ValueError(
            f"sparkline: expected values of shape (N,), N >= 1, got {x.shape}"
        )
    width = as_count("sparkline", "width", width)
    x[np.isinf(x)] = np.nan
    if x.size > width:
        x = np.array([part.mean() for part in np.array_split(x, width)])
    finite = x[np.isfinite(x)]
    low = finite.min(initial=np.inf) if low is None else low
    high = finite.max(initial=-np.inf) if high is None else high
    if finite.size and not low <= high:
        raise ValueError(f"sparkline: expected low <= high, got {low:g} and {high:g}")
    steps = BLOCKS if _has_blocks(sys.stdout if stream is None else stream) else ASCII
    return "".join([_step(v, low, high, steps) for v in x.tolist()])


def _step(v: float, low: float, high: float, steps: str) -> str:
    if v != v:
        return GAP
    if not high > low:
        return steps[len(steps) // 2]  # all the same: neither low nor high
    # By halves: the distance itself may be more than a float can be.
    share = (v / 2 - low / 2) / (high / 2 - low / 2)
    return steps[min(len(steps) - 1, max(0, int(share * len(steps))))]


def _has_blocks(stream: Any) -> bool:
    encoding = getattr(stream, "encoding", None) or "ascii"
    try:
        BLOCKS.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True
