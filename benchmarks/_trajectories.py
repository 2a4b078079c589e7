"""Training with DeZero and with torch, step by step, and how much the two differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from _derivatives import greatest_difference

STEPS = 200
LIMIT = 1e-12  # of a relative difference, where the two round alike

# What there is at first and after each step: arrays, in an order that both sides share.
Steps: TypeAlias = Iterable[list[np.ndarray]]


@dataclass(frozen=True)
class Trajectory:
    """The same training in both libraries: what it is, and how to run it anew."""

    name: str  # in dezero.optimizers.__all__
    options: str  # to be printed
    peer: str  # what torch calls it, or how it is put together there
    ours: Callable[[], Steps]
    theirs: Callable[[], Steps]
    limit: float = LIMIT
    reason: str = ""  # why the limit is higher than LIMIT


@dataclass(frozen=True)
class TrajectoryRow:
    """What came out of one comparison; None if one side has failed."""

    case: Trajectory
    difference: float | None = None
    error: str = ""

    @property
    def labels(self) -> tuple[str, str, str]:
        """What was compared."""
        return self.case.name, self.case.options, self.case.peer

    @property
    def limit(self) -> float:
        """What the difference has to be below."""
        return self.case.limit

    @property
    def numbers(self) -> tuple[float | None, float | None]:
        """The difference and its limit."""
        return self.difference, self.limit

    @property
    def is_good(self) -> bool:
        """Whether all steps are as near to each other as they should be."""
        return self.difference is not None and self.difference < self.limit


def compare(case: Trajectory) -> TrajectoryRow:
    """Go both ways; the greatest difference of any step, relative to that step.

    What either of the sides raises is in the row.
    """
    try:
        return TrajectoryRow(case, greatest_of_steps(case.ours(), case.theirs()))
    except Exception as error:  # a row of its own, the other rows go on
        message = str(error).strip().partition("\n")[0]
        return TrajectoryRow(case, None, f"{type(error).__name__}: {message}")


def greatest_of_steps(ours: Steps, theirs: Steps) -> float:
    """The greatest relative difference at the start and after each of the steps.

    Raises:
        ValueError: A side has other than ``STEPS`` steps or never changes, or the
            arrays do not fit together.
    """
    pairs = zip(_all_steps("ours", ours), _all_steps("theirs", theirs), strict=True)
    return max(greatest_difference(a, b) for a, b in pairs)


def _all_steps(side: str, steps: Steps) -> list[list[np.ndarray]]:
    """In copies, for what takes steps may change its arrays in place."""
    kept = [[np.array(x) for x in arrays] for arrays in islice(steps, STEPS + 2)]
    if len(kept) != STEPS + 1:
        raise ValueError(
            f"expected a start and {STEPS} steps of {side}, got {len(kept)} in all"
        )
    if all(greatest_difference(step, kept[0]) == 0 for step in kept):
        raise ValueError(f"expected something to change, got {side} as at the start")
    return kept
