"""Which trainings of `loss_curves.py` count as examples of what they were made to be.

The rules were written before anything was judged by them. They know what the reader of
a loss curve does not: the loss on a fixed sample of the training data (``true``, in the
units of which the *fall* is from the start to the lowest), the loss on examples that
nobody else sees (``unseen``), when the fault struck, and how the same training went
without the fault (``twin``) or from other starts. None uses `diagnose_loss`.

- *healthy*: ``true`` never stands more than 15 % of the fall above its lowest so far,
  ``unseen`` ends at most 10 % of its fall above its lowest, ``true`` has gone at least
  half of the way that a good training (Adam, 360 steps) goes with these data, and 90 %
  of the way that the same training goes on average from two other starts. The fall is
  at least a standard deviation of the recorded losses around ``true``: nobody could
  see a smaller one.
- *flat*: the fall is below 3 % of that of the twin.
- *sudden rise*: by the event, ``true`` has done half of the fall of the twin (unless
  the event is the start). From the event on, for 5 steps, or for the time that one
  recorded mean takes, ``true`` is on average above its value before by at least half
  of what it had fallen (at the start: by the fall of the twin), and by three standard
  deviations of the recorded losses around ``true``. ``true`` stays finite.
- *saw-tooth*: with the first epoch left out, the place in the epoch explains 60 % of
  the variance of the losses around the mean of their epoch, in the twin (the same
  data, shuffled) less than half as much, and the mean tooth is at least as high as
  15 % of the fall.
- *plateau*: at least 25 % is missing of the way from the start to what a good training
  reaches, at least twice as much as in the twin, and ``true`` falls by less than 5 % of
  what is missing in the last quarter.
- *overfit*: ``unseen`` falls by at least 5 % of its start, ends above its lowest by at
  least 40 % of that fall, and ``true`` is lower at the end than it was then.
- *nan*: ``true`` is not finite at the end, and is in the twin.
"""

from __future__ import annotations

import numpy as np


def fall(run):
    return run.true[0] - run.true.min()


def noise(run, first, last):
    """Standard deviation of the recorded losses around the truth, in these steps."""
    at = np.flatnonzero((run.measured >= first) & (run.measured < last))
    if len(at) < 3:
        return 0.0
    off = run.batch_losses[run.measured[at]] - run.true[at]
    return np.std(off) / np.sqrt(run.period)


def healthy(run, others, good):
    """What keeps the run from being an example, or nothing; so do the others."""
    above = run.true - np.minimum.accumulate(run.true)
    if not np.isfinite(run.true).all() or above.max() > 0.15 * fall(run):
        return "loses what it had learned"
    low = run.unseen.min()
    if run.unseen[-1] > low + 0.1 * (run.unseen[0] - low):
        return "overfits"
    way = run.true[0] - run.true[-1]
    if way < 0.5 * (good.true[0] - good.true[-1]):
        return "learns too little"
    if way < 0.9 * (run.true[0] - np.mean([other.true[-1] for other in others])):
        return "stays behind the same training from other starts"
    return "" if fall(run) > noise(run, 0, run.total) else "too noisy to see it fall"


def flat(run, twin):
    return "" if fall(run) < 0.03 * fall(twin) else "falls"


def sudden_rise(run, twin):
    at = run.event_step
    i = int(np.searchsorted(run.measured, at))
    last = at + (5 if run.form == "step" else run.period)
    after = run.true[i + 1 : np.searchsorted(run.measured, last, side="right")].mean()
    before = run.true[max(i - 1, 0)]  # at the event the data may be others already
    scale = run.true[0] - before
    if at == 0:
        scale = 2 * fall(twin)
    elif scale < 0.5 * fall(twin):
        return "had not learned by then"
    if not np.isfinite(run.true).all():
        return "does not stay finite"
    visible = 3 * noise(run, 0.8 * at, at)
    return "" if after - before > max(0.5 * scale, visible) else "does not rise"


def place_in_epoch(run):
    """The share of the variance that it explains, and the height of a tooth."""
    period = -(-len(run.x) // run.batch_size)
    epochs = run.batch_losses[: len(run.batch_losses) // period * period]
    epochs = epochs.reshape(-1, period)[1:]
    epochs = epochs - epochs.mean(axis=1, keepdims=True)
    tooth = epochs.mean(axis=0)
    return tooth.var() / epochs.var(), np.ptp(tooth)


def saw_tooth(run, twin):
    (share, height), (share_of_twin, _) = place_in_epoch(run), place_in_epoch(twin)
    if share < 0.6:
        return "no teeth"
    if height < 0.15 * fall(run):
        return "low teeth"
    return "" if share_of_twin < 0.5 * share else "teeth without the fault"


def plateau(run, twin, good):
    missing, way = run.true[-1] - good.true[-1], run.true[0] - good.true[-1]
    if missing < 0.25 * way:
        return "reaches what is expected"
    if missing < 2 * (twin.true[-1] - good.true[-1]):
        return "the fault is not what is missing"
    steps = run.measured
    third = run.true[(steps >= 0.5 * run.total) & (steps < 0.75 * run.total)]
    last = run.true[steps >= 0.75 * run.total]
    return "" if third.mean() - last.mean() < 0.05 * missing else "still falls"


def overfit(run):
    lowest = int(run.unseen.argmin())
    low = run.unseen[lowest]
    fallen = run.unseen[0] - low
    if fallen < 0.05 * abs(run.unseen[0]):
        return "never falls"
    if run.unseen[-3:].mean() - low < 0.4 * fallen:
        return "does not rise"
    return "" if run.true[-1] < run.true[lowest] else "not of the training alone"


def nan(run, twin):
    if not np.isfinite(twin.true).all():
        return "without the fault too"
    return "stays finite" if np.isfinite(run.true[-1]) else ""
