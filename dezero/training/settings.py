"""What a run of :func:`dezero.fit` consists of: the arguments, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from dezero.optimizers import Optimizer, Schedule
from dezero.training.measures import Metric

Callback = Callable[[dict[str, list[Any]]], object]


class Settings(NamedTuple):
    """The arguments of :func:`dezero.fit`, checked."""

    model: Callable[..., Any]
    loader: Iterable[Any]
    loss: Callable[..., Any]
    optimizer: Optimizer
    epochs: int
    validation: Iterable[Any] | None
    metrics: dict[str, Metric]
    schedule: Schedule | None
    per_step: bool
    restore_best: bool
    best: str | None
    checkpoint: str | None
    accumulate: int
    check_finite: bool | None
    progress: bool
    log_dir: str | None
    callbacks: Sequence[Callback]
