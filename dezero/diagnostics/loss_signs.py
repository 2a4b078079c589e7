"""Signs of trouble in a row of losses, each found from the numbers alone.

Every function gets losses that are finite and were divided by the largest magnitude
among them, so that nothing overflows and no threshold depends on the unit of the loss.
The thresholds were chosen on recorded trainings, ``benchmarks/loss_curves.py``, and
then judged on others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SHORTEST = 8  # fewer losses than that have no shape
LONGEST = 2000  # more are condensed to so many medians where each is looked at

FLAT_SHARE = 0.05  # a fall below this share of the start is none
FLAT_TREND = 2.0  # standard deviations of a trend that chance seldom makes
FLAT_START = 3.0  # the same, of the first losses above the rest

RISE_SHARE = 0.25  # of the fall so far, or of half the start if that is more
RISE_AT_FIRST = 1.2  # the same, in the first eight steps
RISE_NOISE = 9.0  # standard deviations that a rise must have as well
RISE_LONG_NOISE = 5.0  # the same, for a rise over eight steps
SPIKE_AT_FIRST = 5.0  # a single high loss in the first four steps, in such shares
RISE_NOISE_FIRST = 3.5  # the same, in the first eight steps
SPIKE_NOISE = 20.0  # the same, of a single high loss that is not the highest
SPIKE_SPREADS = 4.0  # a single high loss, in spreads of those before it
JUMP_SHARE = 0.45  # of the fall so far, as RISE_SHARE, that one step makes up for
JUMP_NOISE = 9.0  # standard deviations of one step upwards, after the first tenth
JUMP_LARGEST = 3.0  # the same, in the largest such step before

TOOTH_SHORTEST = 5  # shorter periods are a zigzag, not teeth
TOOTH_PERIODS = 4  # so many must be there
TOOTH_MATCH = 0.45  # correlation of the losses with those a period before
TOOTH_SHARE = 0.1  # height of a tooth, of the fall of the loss
TOOTH_RISE = 2.5  # a rise that is not so much higher than the teeth is one of them
TOOTH_LEAST = 0.01  # the same, of the start

PLATEAU_SHARE = 0.12  # missing share of the way from the start to the expectation
PLATEAU_SPEED = 0.07  # share of what is missing that the last quarter may still gain

RISE_AGAIN_SHARE = 0.2  # of the fall before
RISE_AGAIN_TRAINING = 0.05  # of the fall of the training loss
RISE_AGAIN_NOISE = 6.0  # standard deviations that the rise must have as well

# Evidence that is no loss, and so has not its unit.
WITHOUT_UNIT = ("trend", "period", "match", "peak step")


class Sign(NamedTuple):
    """What was found: the step where it shows, and the numbers that show it."""

    step: int
    evidence: dict[str, float]


def noise(x: np.ndarray) -> float:
    """Standard deviation of the noise, from the differences of neighbours."""
    d = np.diff(x)
    return float(1.4826 * np.median(np.abs(d - np.median(d))) / np.sqrt(2))


def wiggle(x: np.ndarray) -> float:
    """The same from second differences, in which a steep fall is not seen."""
    return float(1.4826 * np.median(np.abs(np.diff(x, 2))) / np.sqrt(6))


def start_level(x: np.ndarray) -> float:
    """Where the loss began: the median of three, if the first differs by noise only."""
    three = float(np.median(x[:3]))
    return three if abs(x[0] - three) < 3 * noise(x) else float(x[0])


def block(x: np.ndarray) -> int:
    """How many neighbours make one level: a tenth, and at least one."""
    return max(1, len(x) // 10)


def medians(x: np.ndarray, width: int) -> np.ndarray:
    """Medians of the blocks of ``width`` losses, counted from the end."""
    count = len(x) // width
    return np.median(x[len(x) - count * width :].reshape(count, width), axis=1)


def ranks(x: np.ndarray) -> np.ndarray:
    """Ranks with mean 0 and variance 1; equal values share theirs."""
    _, group, counts = np.unique(x, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[group]
    rank = rank - rank.mean()
    deviation = rank.std()
    return rank / deviation if deviation > 0 else rank


def trend(x: np.ndarray) -> float:
    """Rank correlation with time, in its standard deviations; below zero: it falls."""
    n = len(x)
    return float(ranks(x) @ ranks(np.arange(n)) / n * np.sqrt(n - 1))


def flat(x: np.ndarray, expected: float | None) -> Sign | None:
    """The loss never gets lower than it began, by more than its noise makes."""
    start, lowest = start_level(x), float(medians(x, block(x)).min())
    if expected is not None and lowest <= expected:
        return None
    share = FLAT_SHARE * (abs(start) if expected is None else start - expected)
    drift = trend(x)
    falls = drift < -FLAT_TREND or first_losses_stand_out(x)
    if start - lowest > share and falls:
        return None
    return Sign(
        0, {"start": start, "lowest": lowest, "noise": noise(x), "trend": drift}
    )


def first_losses_stand_out(x: np.ndarray) -> bool:
    """Whether the first losses are above the others by more than noise makes them."""
    deviation = noise(x)
    usual = np.median(x[len(x) // 4 :])
    counts = np.array([k for k in (3, 6, 12, 25) if k <= len(x) // 4] or [1])
    means = np.array([x[:k].mean() for k in counts])
    return bool(np.any(means - usual > FLAT_START * deviation / np.sqrt(counts)))


def sudden_rise(x: np.ndarray) -> Sign | None:
    """The first place where the loss jumps, and by how much above what was before."""
    width = -(-len(x) // LONGEST)
    x = medians(x, width)
    look = max(5, len(x) // 10)
    start = start_level(x)
    least = 0.5 * max(abs(start), start - x.min())
    jumps, largest = steps_up(x)
    for i in range(1, len(x)):
        before = x[max(0, i - look) : i]
        scale = max(min(start, x[:i].max()) - x[:i].min(), least)
        # The first steps often overshoot; it takes more than that to be a rise.
        high = (RISE_SHARE if i >= 5 else RISE_AT_FIRST) * scale
        usual = float(np.median(before[-5:]))
        if i >= 5 and max(x[i] - usual, jumps[i]) <= high:
            continue  # most steps: nothing to look at more closely
        deviation = noise(x[:i]) if i >= 8 else max(noise(x[:16]), noise(x))
        least_jump = max(JUMP_SHARE * scale, JUMP_LARGEST * largest[i])
        if (
            is_spike(x, i, scale, deviation)
            or lasts(x[i:], before, high, deviation)
            or (jumps[i] > least_jump and is_jump(x[:i], jumps[i], len(x)))
        ):
            peak = i + int(np.argmax(x[i : i + look]))
            end = float(np.median(x[-block(x) :]))
            numbers = {"before": usual, "peak": float(x[peak]), "end": end}
            return Sign(i * width, numbers | {"peak step": peak * width})
    return None


def steps_up(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each loss is above the median of the three before; the largest so far."""
    up, largest = np.zeros(len(x)), np.zeros(len(x))
    up[3:] = x[3:] - np.median(np.lib.stride_tricks.sliding_window_view(x, 3), 1)[:-1]
    largest[5:] = np.maximum.accumulate(up[4:-1])  # not of the very first steps
    return up, np.maximum(largest, 0)


def is_jump(before: np.ndarray, jump: float, length: int) -> bool:
    """Whether a step upwards is no noise, and not one of the first steps."""
    # The noise may have become stronger lately.
    deviation = max(wiggle(before), wiggle(before[-25:]))
    return len(before) >= max(8, length // 10) and jump > JUMP_NOISE * deviation


def lasts(after: np.ndarray, before: np.ndarray, high: float, deviation: float) -> bool:
    """Whether a rise is there for three steps or, less high, for eight."""
    usual, short, long = np.median(before[-5:]), np.median(after[:3]), 0.0
    if len(after) >= 3 and short - before.max() > high:
        if len(before) < 5:
            never_back = len(after) >= 8 and after[:8].min() > before.max()
            never_back &= bool(np.median(after[:8]) - before.max() > 2 * high)
            return bool(short - usual > RISE_NOISE_FIRST * deviation or never_back)
        spread = min(9 * deviation, max(6 * deviation, 3.2 * (before.max() - usual)))
        if min(short, after[0]) - usual > max(high, spread):
            return True
    if len(after) >= 8 and len(before) >= 8:
        long = np.median(after[:8]) - np.median(before)
    return bool(min(long, after[0] - usual) > max(high, RISE_LONG_NOISE * deviation))


def is_spike(x: np.ndarray, i: int, scale: float, deviation: float) -> bool:
    """Whether the loss ``x[i]`` is out of all proportion to those before it."""
    if i < 4:
        return bool(x[i] - x[:i].max() > max(SPIKE_AT_FIRST * scale, deviation))
    recent = x[i // 2 : i]
    usual = np.median(recent)
    spread = max(SPIKE_SPREADS * (recent.max() - usual), RISE_NOISE * deviation)
    if x[i] - recent.max() > 0.5 * scale and x[i] - usual > SPIKE_NOISE * deviation:
        return bool(x[i] - usual > spread)
    return bool(x[i] > x[:i].max() + scale and x[i] - usual > spread)


def saw_tooth(x: np.ndarray) -> Sign | None:
    """The losses repeat themselves after a period."""
    y = x[len(x) // 10 :][-4096:]
    n = len(y)
    longest = n // TOOTH_PERIODS
    if longest < TOOTH_SHORTEST:
        return None
    r = repetition(y, longest)
    period = max(peaks(r), key=lambda lag: r[lag], default=None)
    if period is None:
        return None
    match = r[period]
    if match < max(TOOTH_MATCH, 4 / np.sqrt(n)):
        return None
    folded = y[n % period :].reshape(-1, period)  # (periods, period)
    teeth = folded.max(axis=1) - folded.min(axis=1)
    height = float(np.median(teeth))
    start = start_level(x)
    if height < max(TOOTH_SHARE * (start - x.min()), TOOTH_LEAST * abs(start)):
        return None
    first = len(x) - n + int(np.argmax(y[:period]))
    period = next(lag for lag in peaks(r) if r[lag] > 0.9 * match)  # not its double
    return Sign(first, {"period": period, "match": float(match), "height": height})


def is_tooth(rise: Sign, teeth: Sign, start: float) -> bool:
    """Whether what looks like a sudden rise is one of the teeth, and passes."""
    numbers = rise.evidence
    high = numbers["peak"] - numbers["before"]
    passes = numbers["end"] < 1.3 * start
    return passes and high < TOOTH_RISE * teeth.evidence["height"]


def repetition(y: np.ndarray, longest: int) -> np.ndarray:
    """Rank correlation of the losses with those ``lag`` steps before, for each lag."""
    n = len(y)
    width = 2 * (n // 8) + 1
    padded = np.pad(y, width // 2, mode="edge")
    smooth = np.convolve(padded, np.ones(width) / width, mode="valid")  # (n,)
    z = ranks(y - smooth)
    r = np.ones(longest + 1)
    for lag in range(1, longest + 1):
        r[lag] = z[lag:] @ z[:-lag] / (n - lag)
    return r


def peaks(r: np.ndarray) -> list[int]:
    """The lags where ``r`` has a peak with a valley before it, of half its height."""
    valley = np.minimum.accumulate(r)
    lags = np.arange(TOOTH_SHORTEST, len(r))
    after = np.append(r[1:], -np.inf)
    peak = (r[lags] >= r[lags - 1]) & (r[lags] >= after[lags])
    return lags[peak & (valley[lags] < 0.5 * r[lags])].tolist()


def plateau(x: np.ndarray, expected: float) -> Sign | None:
    """The loss has settled, too far above what was expected."""
    n = len(x)
    last, before = x[-(n // 4) :], x[-(n // 2) : -(n // 4)]
    end, gain = float(last.mean()), float(before.mean() - last.mean())
    error = 2 * float(np.sqrt(last.var() / len(last)))
    start = start_level(x)
    missing = end - expected
    if missing <= PLATEAU_SHARE * (start - expected) + error:
        return None
    if gain > PLATEAU_SPEED * missing + error:
        return None
    level = medians(x, block(x))
    reached = np.flatnonzero(level <= end + PLATEAU_SPEED * missing + error)
    step = int(reached[0]) * block(x) if len(reached) else 0
    return Sign(step, {"level": end, "expected": expected, "start": start})


def rises_again(v: np.ndarray, x: np.ndarray | None = None) -> Sign | None:
    """The loss ``v`` has risen since its lowest place, little by little.

    Where ``v`` is the validation loss, ``x`` is the loss of the training beside it.
    """
    n = len(v)
    width = max(3, n // 8)
    smooth = np.median(np.lib.stride_tricks.sliding_window_view(v, 3), axis=1)
    low_step = 1 + int(np.argmin(smooth))
    low, end = float(smooth.min()), float(np.median(v[-width:]))
    rise = end - low
    least = max(RISE_AGAIN_SHARE * (start_level(v) - low), RISE_AGAIN_NOISE * noise(v))
    evidence = {"lowest": low, "end": end}
    if x is not None:
        at = min(round(low_step * len(x) / n), len(x) - 1)
        before = float(np.median(x[max(0, at - 1) : at + 2]))
        after = float(np.median(x[-width:]))
        fall = start_level(x) - after
        least = max(least, RISE_AGAIN_TRAINING * fall)
        if after - before > RISE_AGAIN_SHARE * fall:
            return None  # the training itself went wrong
        evidence |= {"training then": before, "training at the end": after}
    if rise <= least or rise <= 0:
        return None
    return Sign(low_step, evidence)
