"""The slope of a function of one number at 0, and whether it has one there.

All numbers are float64. ``along`` maps a number t to f at the place that lies t times
a direction away from the inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dezero.testing.report import BANDS, LIMIT

Along = Callable[[float], float]

# Differences are taken at STEP, STEP/2 and STEP/4 and extrapolated. A step this large
# keeps rounding small; the extrapolation removes what it costs.
STEP = 2e-3
LEVELS = 3

# The step by the dtype in which f computes: about the 7th root of the rounding, where
# the error left by three levels (step**6) meets rounding (eps / step); in float64
# smaller, so that fewer kinks lie within it.
STEPS = {"float64": STEP, "float32": 0.05, "float16": 0.25}

# Where a kink near by may disturb the differences, they are taken closer as well.
_CLOSER = (16, 256, 4096)

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Judgement:
    """A numeric derivative and how far the analytic one is from it.

    ``kind`` is "" where there is a derivative, else "kink", "jump" or "not finite".
    """

    numeric: float
    error: float
    kind: str = ""

    @property
    def wrong(self) -> bool:
        """Is the analytic derivative wrong, as far as differences can say?"""
        return not self.kind and not self.error <= LIMIT


def slope(along: Along, step: float = STEP) -> float:
    """The derivative at 0 by central differences, Richardson-extrapolated.

    The error of a central difference is a series in the square of the step. Halving the
    step quarters the first term, so ``(4 * fine - coarse) / 3`` is free of it; the next
    round, with 16 for 4, removes the second term.
    """
    steps = [step / 2**k for k in range(LEVELS)]
    slopes = [(along(h) - along(-h)) / (2 * h) for h in steps]
    for k in range(1, LEVELS):
        slopes = [
            (4**k * fine - coarse) / (4**k - 1)
            for coarse, fine in zip(slopes, slopes[1:], strict=False)
        ]
    return slopes[0]


def judge(along: Along, analytic: float, weight: float, scale: float) -> Judgement:
    """Compare a derivative from ``backward`` with differences.

    Args:
        along: The function of t.
        analytic: Its derivative at 0.
        weight: ``sum |g_i d_i|``, what the error is relative to: large where the terms
            of ``analytic`` cancel.
        scale: The size of the numbers that ``along`` adds up.
    """
    numeric = slope(along)
    error = _relative(analytic, numeric, weight, scale, STEP)
    if error <= LIMIT:
        return Judgement(numeric, error)
    away = abs(analytic - numeric)
    for closer in _CLOSER:
        step = STEP / closer
        near = slope(along, step)
        # Only where the slope itself moved onto the analytic one, and by more than
        # rounding, was it a kink between the larger steps.
        moved = abs(numeric - near) > 0.9 * away and away > 100 * _rounding(scale, step)
        if moved or not np.isfinite(numeric):
            error_near = _relative(analytic, near, weight, scale, step)
            if error_near <= BANDS[0][0]:
                return Judgement(near, error_near)
    if not np.isfinite(analytic):
        return Judgement(numeric, np.inf)
    return Judgement(numeric, error, kind_at(along, scale, away))


def kind_at(along: Along, scale: float, away: float) -> str:
    """What keeps ``along`` from having a slope at 0: a "kink", a "jump", or nothing.

    One-sided differences at two small steps, one a sixteenth of the other. For a smooth
    function those of f shrink with the step, and the two slopes approach each other.
    ``away`` is by how much the slopes disagree: what cannot account for that, such as
    the noise of an iteration that was stopped early, is neither a kink nor a jump.
    """
    steps = STEP / 256, STEP / 4096
    middle = along(0.0)
    up = [along(h) - middle for h in steps]
    down = [middle - along(-h) for h in steps]
    if not np.isfinite([middle, *up, *down]).all():
        return "not finite"
    noise = 1000 * EPS * scale
    # A jump by D changes the extrapolated central difference by about 2.4 D / STEP.
    least = max(noise, 0.05 * STEP * away)
    if any([abs(d[1]) > max(least, 0.5 * abs(d[0])) for d in (up, down)]):
        return "jump"
    apart = [abs(u - d) / h for u, d, h in zip(up, down, steps, strict=True)]
    if apart[1] > max(noise / steps[1], 0.1 * away, 0.5 * apart[0]):
        return "kink"
    return ""


def lies_between(along: Along, analytic: float) -> bool:
    """Is ``analytic`` one of the slopes that meet in a kink at 0, or between them?"""
    h = STEP / 4096
    middle = along(0.0)
    slopes = (along(h) - middle) / h, (middle - along(-h)) / h
    spare = 1e-3 * abs(slopes[0] - slopes[1])
    return min(slopes) - spare <= analytic <= max(slopes) + spare


def _rounding(scale: float, step: float) -> float:
    # The slope is a difference of numbers of the size of `scale` over the smallest
    # step. So much is it uncertain, even where the gradient is 0.
    return 4 * EPS * scale / (step / 2 ** (LEVELS - 1))


def _relative(
    analytic: float, numeric: float, weight: float, scale: float, step: float
) -> float:
    # With `tiny` that far above rounding, rounding alone reads as 1e-7 at most.
    tiny = _rounding(scale, step) / BANDS[0][0] + np.finfo(np.float64).tiny
    error = float(abs(analytic - numeric) / (weight + tiny))
    return error if np.isfinite(error) else np.inf
