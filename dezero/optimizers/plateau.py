"""The schedule that looks at how training goes."""

from __future__ import annotations

import math
from typing import Any

from dezero.optimizers.arguments import check_count, check_number
from dezero.optimizers.base import Optimizer
from dezero.optimizers.schedules import Schedule


class ReduceLROnPlateau(Schedule):
    """Multiply by ``factor`` when a measure has stopped getting better.

    Better is what beats the best so far by more than ``threshold`` times its size. NaN
    never does.

    Args:
        optimizer: Its learning rates are the bases.
        mode: ``"min"`` for a measure that should fall, ``"max"`` for one that should
            rise.
        factor: In [0, 1).
        patience: Steps without anything better that are let pass; at least 0. The next
            one reduces the rate.
        threshold: Share of the best that is too little to be better, at least 0.
        cooldown: Steps after a reduction that do not count; at least 0.
        min_lr: The lowest rate, at least 0; a base below it stays as it is.

    Raises:
        TypeError: A number of steps is no integer.
        ValueError: A value is outside its range, or ``mode`` another word.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ) -> None:
        if mode not in ("min", "max"):
            raise ValueError(
                f"ReduceLROnPlateau: expected mode 'min' or 'max', got {mode!r}"
            )
        self.mode = mode
        self.factor = check_number(self, "factor", factor, high=1)
        self.patience = check_count(self, "patience", patience, low=0)
        self.threshold = check_number(self, "threshold", threshold)
        self.cooldown = check_count(self, "cooldown", cooldown, low=0)
        self.min_lr = check_number(self, "min_lr", min_lr)
        self.best: float | None = None
        self.waited = 0
        self.cooling = 0
        self.reductions = 0
        super().__init__(optimizer)

    def step(self, value: Any = None) -> float:
        """Look at the measure, and reduce the rate if it is time.

        Args:
            value: The measure: a number, or an array or Variable of one element.

        Returns:
            The new learning rate of the optimizer.

        Raises:
            TypeError: There is no value.
        """
        if value is None:
            raise TypeError(
                "ReduceLROnPlateau.step: expected the measure that should get better, "
                "got none; write step(loss)"
            )
        value = float(value)
        if self._is_better(value):
            self.best, self.waited = value, 0
        else:
            self.waited += 1
        if self.cooling > 0:
            self.cooling -= 1
            self.waited = 0
        if self.waited > self.patience:
            self.reductions += 1
            self.waited, self.cooling = 0, self.cooldown
        return super().step()

    def rate(self, base: float, t: int) -> float:
        """``base * factor**reductions``, not below ``min_lr``."""
        return max(base * self.factor**self.reductions, min(self.min_lr, base))

    def _is_better(self, value: float) -> bool:
        if self.best is None or math.isinf(self.best):
            sign = 1 if self.mode == "min" else -1
            return not math.isnan(value) and (
                self.best is None or sign * value < sign * self.best
            )
        margin = self.threshold * abs(self.best)
        if self.mode == "min":
            return value < self.best - margin
        return value > self.best + margin
