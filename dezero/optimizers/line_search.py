"""How far to go along a direction: the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from dezero.cuda import Array


class Point(NamedTuple):
    """A place on the line: how far along, the loss there, its slope and gradient."""

    a: float
    loss: float
    slope: float
    grad: Array


def strong_wolfe(
    evaluate: Callable[[float], Point],
    start: Point,
    a: float,
    c1: float,
    c2: float,
    evaluations: int,
) -> Point:
    """A point that lies low enough and where it is flat enough.

    ``loss(a) <= loss(0) + c1 * a * slope(0)`` and ``|slope(a)| <= c2 * |slope(0)|``.
    Algorithms 3.5 and 3.6 of Nocedal and Wright, "Numerical Optimization" (2006), with
    a loss or slope that is not finite as a loss that is too high.

    Args:
        evaluate: Gives the Point at a distance.
        start: The Point at distance 0, with a negative slope.
        a: The first distance to try.
        c1: Share of the slope at the start by which the loss must fall.
        c2: Share of the slope at the start that may be left.
        evaluations: After so many, the lowest point that meets the first condition is
            good enough. It may be ``start``.

    Returns:
        The Point found.
    """

    def too_high(point: Point) -> bool:
        low_enough = point.loss <= start.loss + c1 * point.a * start.slope
        return not (low_enough and math.isfinite(point.slope))

    def flat(point: Point) -> bool:
        return abs(point.slope) <= -c2 * start.slope

    low, high = start, None
    for _ in range(evaluations):
        if high is not None:
            if abs(high.a - low.a) <= 1e-12 * max(high.a, low.a):
                break
            a = _between(low, high)
        point = evaluate(a)
        if too_high(point) or point.loss >= low.loss:
            if high is None and not too_high(point) and flat(point):
                return point  # as low as rounding can tell
            high = point
        elif flat(point):
            return point
        elif high is None and point.slope < 0:
            low, a = point, 2 * a  # still falling steeply, so go on
        else:
            ahead = 1.0 if high is None else high.a - low.a
            if point.slope * ahead >= 0:
                high = low
            low = point
    return low


def _between(low: Point, high: Point) -> float:
    """Where the cubic through both is lowest, not too near to either; else halfway."""
    width = high.a - low.a
    share = 0.5
    if math.isfinite(high.loss) and math.isfinite(high.slope):
        # Nocedal and Wright, equation 3.59, in shares of the width
        p, q = low.slope * width, high.slope * width
        d = p + q - 3 * (high.loss - low.loss)
        root = d * d - p * q
        if root >= 0:
            root = math.sqrt(root)
            bottom = q - p + 2 * root
            if bottom != 0:
                share = 1 - (q + root - d) / bottom
    return low.a + width * (min(max(share, 0.1), 0.9))
