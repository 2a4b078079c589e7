"""Schedules: the learning rate at first and after each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from _trajectories import LIMIT, STEPS, Trajectory

from dezero import optimizers
from dezero.core import Parameter
from torch_cases.case import RNG

L = torch.optim.lr_scheduler
BASE, OTHER_BASE = 0.3, 0.02  # of the optimizer, and of a group of its own

# A loss that falls, with noise; what ReduceLROnPlateau looks at.
MEASURES = list(0.2 + 3 / np.arange(1, STEPS + 1) ** 0.5 + 0.3 * RNG.random(STEPS))
# One that falls by about the default threshold at a time.
SLOW = list(np.cumprod(1 - 2e-4 * RNG.random(STEPS)))


def scheduled(
    name: str,
    peer: str,
    ours: Mapping[str, Any],
    theirs: Mapping[str, Any] | Callable[[Any], Any],
    measures: list[float] | None = None,
    limit: float = LIMIT,
    reason: str = "",
) -> Trajectory:
    """The rates of an optimizer with two groups.

    Args:
        name: A name in ``dezero.optimizers.__all__``.
        peer: A name below ``torch.optim.lr_scheduler``; where ``theirs`` is a function
            any text that says what it is.
        ours: Keyword arguments of our schedule.
        theirs: Keyword arguments of the other one, or what makes it from an optimizer.
        measures: What a step is given, where it looks at something.
        limit: Of the relative difference.
        reason: Why it is higher than that of the others.
    """
    arguments = [()] * STEPS if measures is None else [(m,) for m in measures]

    def our_side() -> Iterator[list[np.ndarray]]:
        a, b = Parameter(np.ones(1)), Parameter(np.ones(1))
        sgd = optimizers.SGD(BASE).setup(
            [{"params": [a]}, {"params": [b], "lr": OTHER_BASE}]
        )
        schedule = getattr(optimizers, name)(sgd, **ours)
        yield [np.array(sgd.lr), np.array(sgd.groups[1]["lr"])]
        for args in arguments:
            schedule.step(*args)
            yield [np.array(sgd.lr), np.array(sgd.groups[1]["lr"])]

    def their_side() -> Iterator[list[np.ndarray]]:
        a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
        sgd = torch.optim.SGD(
            [{"params": [a]}, {"params": [b], "lr": OTHER_BASE}], BASE
        )
        schedule = theirs(sgd) if callable(theirs) else getattr(L, peer)(sgd, **theirs)
        yield [np.array(group["lr"]) for group in sgd.param_groups]
        for args in arguments:
            sgd.step()  # torch warns where no update comes before; there is no gradient
            schedule.step(*args)
            yield [np.array(group["lr"]) for group in sgd.param_groups]

    options = ", ".join([f"{k}={v}" for k, v in ours.items()])
    return Trajectory(name, options, peer, our_side, their_side, limit, reason)


def same(name: str, **options: Any) -> Trajectory:
    """One whose names and arguments are the same in both libraries."""
    return scheduled(name, name, options, options)


def after_warmup(then: Callable[[Any], Any], warmup: int) -> Callable[[Any], Any]:
    """A straight line upwards, then another schedule."""

    def make(optimizer: Any) -> Any:
        line = L.LinearLR(optimizer, 1 / (warmup + 1), 1.0, warmup)
        return L.SequentialLR(optimizer, [line, then(optimizer)], [warmup])

    return make


def one_cycle(total_steps: int, **options: Any) -> Trajectory:
    """Torch takes the highest rates as an argument, one for each group."""
    theirs = {
        "max_lr": [BASE, OTHER_BASE],
        "total_steps": total_steps,
        "cycle_momentum": False,
        **options,
    }
    ours = {"total_steps": total_steps, **options}
    return scheduled("OneCycleLR", "OneCycleLR", ours, theirs)


def plateau(measures: list[float], **options: Any) -> Trajectory:
    """Torch has a reduction below ``eps`` left out, which we have not."""
    theirs = {**options, "eps": 0.0}
    name = "ReduceLROnPlateau"
    return scheduled(name, name, options, theirs, measures)


CASES = [
    same("StepLR", step_size=30, gamma=0.5),
    same("StepLR", step_size=7),
    same("MultiStepLR", milestones=[20, 100, 50, 100]),
    same("MultiStepLR", milestones=[7], gamma=2.0),
    same("ExponentialLR", gamma=0.97),
    same("ExponentialLR", gamma=1.01),
    same("LinearLR"),
    same("LinearLR", start_factor=0.1, end_factor=0.5, total_iters=77),
    same("LinearLR", start_factor=1.0, end_factor=0.0, total_iters=200),
    *[
        scheduled(
            "CosineLR",
            "CosineAnnealingLR",
            {"period": 200, "min_lr": low},
            {"T_max": 200, "eta_min": low},
        )
        for low in (0.0, 0.01)
    ],
    scheduled(
        "CosineLR",
        "LinearLR, CosineAnnealingLR",
        {"period": 180, "warmup": 20, "min_lr": 0.01},
        after_warmup(lambda optimizer: L.CosineAnnealingLR(optimizer, 180, 0.01), 20),
    ),
    *[
        scheduled(
            "CosineLR",
            "CosineAnnealingWarmRestarts",
            {"period": n, "min_lr": low, "restarts": True, "growth": growth},
            {"T_0": n, "eta_min": low, "T_mult": growth},
        )
        for n, growth, low in [(30, 1, 0.0), (10, 2, 0.01), (1, 3, 0.001)]
    ],
    scheduled(
        "CosineLR",
        "LinearLR, CosineAnnealingWarmRestarts",
        {"period": 40, "warmup": 15, "restarts": True},
        after_warmup(
            lambda optimizer: L.CosineAnnealingWarmRestarts(optimizer, 40), 15
        ),
    ),
    one_cycle(STEPS + 1),
    one_cycle(STEPS + 1, pct_start=0.5, div_factor=10.0, final_div_factor=100.0),
    one_cycle(STEPS + 50, pct_start=0.05),
    plateau(MEASURES),
    plateau(MEASURES, patience=3, cooldown=4, factor=0.7, threshold=0.01),
    plateau(MEASURES, patience=0, factor=0.9, min_lr=0.05),
    plateau([1 / m for m in MEASURES], mode="max", patience=2, factor=0.5),
    plateau(SLOW, patience=0, factor=0.9),
    plateau([1.0] * STEPS, patience=5, cooldown=2, factor=0.8),
    plateau(
        [np.nan, np.inf, *MEASURES[:60], *[np.nan] * 20, *MEASURES[60:178]],
        patience=4,
        factor=0.8,
    ),
]
