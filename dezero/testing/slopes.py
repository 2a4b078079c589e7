"""The slope of a function of one number at 0, and whether it has one there.

All numbers are float64. ``along`` maps a number t to f at the place that lies t times
a direction away from the inputs.
"""

from __future__ import annotations

import itertools
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


def judge(along: Along, by_backward: Along, weight: float, scale: float) -> Judgement:
    """Compare a derivative from ``backward`` with differences.

    Args:
        along: The function of t.
        by_backward: Its derivative at t.
        weight: ``sqrt(sum (g_i d_i)**2)``, what the error is relative to: large where
            the terms of ``analytic`` cancel.
        scale: The size of the numbers that ``along`` may add up.
    """
    analytic = by_backward(0.0)
    found = _judge(along, analytic, weight, scale)
    away = abs(analytic - found.numeric)
    if LIMIT * weight < away and found.error <= LIMIT:
        # Only the rounding that `scale` allows for keeps the error small. It may be far
        # less, where a large input hardly counts. Rounding of `analytic` counts too; of
        # a softmax that is nearly 1 it is always the same, so some is always allowed.
        in_analytic = _noise(by_backward, 1) / _rounding(1.0, STEP)
        measured = max(_noise(along) / EPS, in_analytic, STEP * scale)
        near = slope(along, STEP / _CLOSER[0])
        if measured < scale and abs(near - found.numeric) < 0.1 * away:
            return _judge(along, analytic, weight, measured)
    return found


def _noise(along: Along, distinct: int = 7) -> float:
    """How much rounding there is in the values of ``along`` near 0.

    Fourth differences at a tiny step see nothing of a smooth function; of independent
    errors they have the standard deviation ``sqrt(70)`` times theirs (R. W. Hamming,
    Introduction to Applied Numerical Analysis, 1971). Infinite where fewer than
    ``distinct`` of the nine values differ, so that nothing can be told from them.
    """
    values = [along(k * STEP / 64) for k in range(-4, 5)]
    if len(set(values)) < distinct or not np.isfinite(values).all():
        return np.inf
    spread = float(abs(np.diff(values, 4)).max()) / 70**0.5
    return max(spread, EPS * (max(values) - min(values)))


def _judge(along: Along, analytic: float, weight: float, scale: float) -> Judgement:
    numeric = slope(along)
    error = _relative(analytic, numeric, weight, scale, STEP)
    if error <= LIMIT:
        return Judgement(numeric, error)
    away = abs(analytic - numeric)
    aways = [away]
    for closer in _CLOSER:
        step = STEP / closer
        near = slope(along, step)
        error_near = _relative(analytic, near, weight, scale, step)
        # Only where the slope itself moved onto the analytic one, and by more than
        # rounding, was it a kink between the larger steps.
        moved = abs(numeric - near) > 0.9 * away and away > 100 * _rounding(scale, step)
        if moved or not np.isfinite(numeric):
            if error_near <= BANDS[0][0]:
                return Judgement(near, error_near)
        aways.append(abs(analytic - near))
    # At a kink of the derivative, as x * abs(x) has one, the slope is off by as much as
    # the step is long, and comes closer to the right one with each shorter step.
    if all([b < a / 8 for a, b in itertools.pairwise(aways)]) and error_near <= LIMIT:
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


def lies_between(terms: Callable[[float], np.ndarray], by_backward: Along) -> bool:
    """Is the derivative by backward one of the slopes that meet in a kink at 0?

    Or between them: of each of the ``terms`` that ``along`` is the sum of, which turn
    there independently. Where f has summed up such terms itself, they cannot be told
    apart. A zero, as ReLU and abs have it, is let pass then, if the derivatives on both
    sides are those that differences give.
    """
    h = STEP / 4096
    up, down = terms(h) / h, terms(-h) / -h
    spare = 1e-3 * float(np.sum(abs(up - down)))
    low = float(np.sum(np.minimum(up, down))) - spare
    high = float(np.sum(np.maximum(up, down))) + spare
    analytic = by_backward(0.0)
    if low <= analytic <= high:
        return True
    sides = (by_backward(h), float(up.sum())), (by_backward(-h), float(down.sum()))
    return analytic == 0 and all([abs(a - b) <= spare for a, b in sides])


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
