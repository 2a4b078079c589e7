"""L-BFGS: its steps where both sides go equally far, and where it ends.

The two line searches differ, so the steps are those of problems on which the first step
size that is tried will do. Both try the learning rate, also without a memory if the
elements of the gradient add up to less than 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from _trajectories import STEPS, Trajectory

import dezero.functions as F
from dezero import optimizers
from dezero.core import Parameter

# Its own numbers: on others, a first step size may not do.
RNG = np.random.default_rng(0)
SEARCH = {"line_search_fn": "strong_wolfe", "max_eval": 1000}

Problem = tuple[np.ndarray, np.ndarray, np.ndarray]  # start, inputs and targets


def problem(size: float) -> Problem:
    """A regression whose inputs are of different scales, so that it takes long."""
    x = RNG.standard_normal((20, 6)) * np.geomspace(1, 0.3, 6)
    return size * RNG.standard_normal(6), x, size * RNG.standard_normal(20)


def our_loss(w: Parameter, x: np.ndarray, t: np.ndarray, decay: float) -> Any:
    error = F.matmul(x, w) - t
    return F.mean((1.0 + error**2) ** 0.5) + decay * F.sum(w**2)


def their_loss(w: torch.Tensor, x: Any, t: Any, decay: float) -> torch.Tensor:
    error = torch.tensor(x) @ w - torch.tensor(t)
    return torch.mean((1.0 + error**2) ** 0.5) + decay * torch.sum(w**2)


def descents(
    options: str,
    ours: dict[str, Any],
    theirs: dict[str, Any],
    starts: int,
    *,
    size: float,
    decay: float,
    limit: float,
    reason: str,
) -> Trajectory:
    """So many problems, one after another; together they take all the updates.

    Args:
        options: To be printed.
        ours: Keyword arguments of our optimizer.
        theirs: Keyword arguments of the other one.
        starts: Number of problems.
        size: Of start and targets.
        decay: What makes the problem a convex one.
        limit: Of the relative difference.
        reason: Why it is higher than that of other optimizers.
    """
    problems = [problem(size) for _ in range(starts)]

    def our_side() -> Iterator[list[np.ndarray]]:
        yield [problems[0][0]]
        for start, x, t in problems:
            w = Parameter(start.copy())
            optimizer = optimizers.LBFGS(**ours).setup([w])
            for _ in range(STEPS // starts):
                optimizer.update(lambda w=w, x=x, t=t: our_loss(w, x, t, decay))
                yield [w.data]

    def their_side() -> Iterator[list[np.ndarray]]:
        yield [problems[0][0]]
        for start, x, t in problems:
            w = torch.tensor(start, requires_grad=True)
            optimizer = torch.optim.LBFGS([w], tolerance_change=0, **theirs)
            closure = with_gradient(
                optimizer, lambda w=w, x=x, t=t: their_loss(w, x, t, decay)
            )
            for _ in range(STEPS // starts):
                optimizer.step(closure)
                yield [w.numpy(force=True)]

    peer = f"optim.LBFGS, {theirs.get('line_search_fn', 'steps of lr')}"
    return Trajectory("LBFGS", options, peer, our_side, their_side, limit, reason)


def with_gradient(
    optimizer: Any, loss: Callable[[], torch.Tensor]
) -> Callable[[], torch.Tensor]:
    """The loss as torch wants it: a call also gives the weights their gradient."""

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    return closure


def steps(
    lr: float, history: int, wolfe: dict[str, float], search: dict[str, Any]
) -> Trajectory:
    """20 descents of 10 steps each, before the curvature is below torch's 1e-10."""
    return descents(
        f"lr={lr}, history={history}, 20 starts",
        {"iterations": 1, "tolerance": 0, "lr": lr, "history": history, **wolfe},
        {"max_iter": 1, "tolerance_grad": 0, "lr": lr, "history_size": history}
        | search,
        20,
        size=0.1,
        decay=0.01,
        limit=1e-10,
        reason="differences of gradients make much of the rounding",
    )


CASES = [
    # The first step size is taken if only the loss falls: as good as no search.
    *[
        steps(lr, history, {"c1": 0.0, "c2": 0.9999}, {})
        for lr, history in [(0.5, 10), (0.3, 4)]
    ],
    steps(0.5, 10, {}, SEARCH),
    descents(
        "ends of 200 starts",
        {"iterations": 40, "tolerance": 1e-9, "history": 10},
        {"max_iter": 40, "tolerance_grad": 1e-9, "history_size": 10, **SEARCH},
        STEPS,
        size=3.0,
        decay=0.5,
        limit=1e-6,
        reason="where the loss is flat, each search ends somewhere else",
    ),
]
