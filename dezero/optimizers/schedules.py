"""Learning-rate schedules: how the step size changes while training goes on.

A schedule is made after ``optimizer.setup`` and steps after the updates, once per epoch
or once per update, as its numbers are meant::

    schedule = CosineLR(optimizer, period=100, warmup=5)
    for epoch in range(105):
        ...
        schedule.step()
"""

from __future__ import annotations

import copy
import math
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from dezero.optimizers.arguments import check_count, check_number
from dezero.optimizers.base import Optimizer


class Schedule:
    """Sets ``optimizer.lr``, and the lr of its groups that have one, as steps go by.

    A subclass writes :meth:`rate`, and sets what that needs before it calls
    ``super().__init__``, which sets the first rate. What else sets ``lr`` meanwhile is
    overwritten by the next step. Two schedules of one optimizer do not add up.

    Args:
        optimizer: Its learning rates at this moment are the bases.

    Raises:
        TypeError: ``optimizer`` is no Optimizer, or has no ``lr``.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        if not isinstance(optimizer, Optimizer) or not hasattr(optimizer, "lr"):
            raise TypeError(
                f"{type(self).__name__}: expected an Optimizer with a learning rate "
                f"lr, got {type(optimizer).__name__}"
            )
        self.optimizer = optimizer
        self.t = 0
        self.bases: list[float] = [float(optimizer.lr)]
        self.bases += [float(group["lr"]) for group in self._groups()]
        self._apply()

    def rate(self, base: float, t: int) -> float:
        """The learning rate after ``t`` steps; every schedule writes its own."""
        raise TypeError(f"{type(self).__name__}: expected a method rate, found none")

    def step(self) -> float:
        """Go one step further.

        Returns:
            The new learning rate of the optimizer.

        Raises:
            RuntimeError: ``setup`` gave the optimizer other groups since.
        """
        self.t += 1
        return self._apply()

    def _groups(self) -> list[dict[str, Any]]:
        return [group for group in self.optimizer.groups if "lr" in group]

    def _apply(self) -> float:
        groups = self._groups()
        if len(groups) != len(self.bases) - 1:
            raise RuntimeError(
                f"{type(self).__name__}: expected setup to come before the schedule, "
                "got other groups since; make the schedule anew"
            )
        rates = [self.rate(base, self.t) for base in self.bases]
        optimizer: Any = self.optimizer
        optimizer.lr = rates[0]
        for group, rate in zip(groups, rates[1:], strict=True):
            group["lr"] = rate
        return rates[0]

    def state_dict(self) -> dict[str, Any]:
        """Numbers to go on from later, with the name of the class; no arrays."""
        values = {k: v for k, v in vars(self).items() if k != "optimizer"}
        return {"type": type(self).__name__, **copy.deepcopy(values)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from what :meth:`state_dict` gave; sets the learning rates too.

        Raises:
            TypeError: ``state`` is no dict.
            ValueError: It is of another schedule; nothing is changed.
        """
        function = f"{type(self).__name__}.load_state_dict"
        if not isinstance(state, dict):
            raise TypeError(
                f"{function}: expected a dict that state_dict gave, "
                f"got {type(state).__name__}"
            )
        mine = self.state_dict()
        problems = []
        if missing := [name for name in mine if name not in state]:
            problems.append(f"missing: {', '.join(missing)}")
        if unexpected := [str(name) for name in state if name not in mine]:
            problems.append(f"unexpected: {', '.join(unexpected)}")
        if state.get("type", mine["type"]) != mine["type"]:
            problems.append(f"of the type {state['type']}")
        count = len(state.get("bases", mine["bases"]))
        if count != len(mine["bases"]):
            problems.append(f"of {count} learning rates, not {len(mine['bases'])}")
        if problems:
            raise ValueError(
                f"{function}: expected the state of this schedule, got another; "
                + "; ".join(problems)
            )
        values = {name: value for name, value in state.items() if name != "type"}
        vars(self).update(copy.deepcopy(values))
        self._apply()


class StepLR(Schedule):
    """Multiply by ``gamma`` every ``step_size`` steps: ``base * gamma**(t // size)``.

    Args:
        optimizer: Its learning rates are the bases.
        step_size: Steps from one change to the next, at least 1.
        gamma: The factor, at least 0.

    Raises:
        TypeError: ``step_size`` is no integer.
        ValueError: A value is outside its range.
    """

    def __init__(
        self, optimizer: Optimizer, step_size: int, gamma: float = 0.1
    ) -> None:
        self.step_size = check_count(self, "step_size", step_size)
        self.gamma = check_number(self, "gamma", gamma)
        super().__init__(optimizer)

    def rate(self, base: float, t: int) -> float:
        """``base * gamma**(t // step_size)``."""
        return base * self.gamma ** (t // self.step_size)


class MultiStepLR(Schedule):
    """Multiply by ``gamma`` at each of the ``milestones``.

    Args:
        optimizer: Its learning rates are the bases.
        milestones: Numbers of steps, in any order; one that is there twice counts
            twice.
        gamma: The factor, at least 0.

    Raises:
        TypeError: A milestone is no integer.
        ValueError: A value is outside its range.
    """

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1
    ) -> None:
        self.milestones = sorted(check_count(self, "milestones", m) for m in milestones)
        self.gamma = check_number(self, "gamma", gamma)
        super().__init__(optimizer)

    def rate(self, base: float, t: int) -> float:
        """``base * gamma**n``, n the number of milestones up to t."""
        return base * self.gamma ** bisect_right(self.milestones, t)


class ExponentialLR(Schedule):
    """Multiply by ``gamma`` at every step: ``base * gamma**t``.

    Args:
        optimizer: Its learning rates are the bases.
        gamma: The factor, at least 0.

    Raises:
        ValueError: ``gamma`` is outside its range.
    """

    def __init__(self, optimizer: Optimizer, gamma: float) -> None:
        self.gamma = check_number(self, "gamma", gamma)
        super().__init__(optimizer)

    def rate(self, base: float, t: int) -> float:
        """``base * gamma**t``."""
        return base * self.gamma**t


class LinearLR(Schedule):
    """Go in a straight line from one share of the base to another, and stay there.

    From ``start_factor`` below 1 it is a warm-up, to ``end_factor`` 0 a decay.

    Args:
        optimizer: Its learning rates are the bases.
        start_factor: Share of the base at first, at least 0.
        end_factor: Share of the base at the end, at least 0.
        total_iters: Steps from the one to the other, at least 1.

    Raises:
        TypeError: ``total_iters`` is no integer.
        ValueError: A value is outside its range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
    ) -> None:
        self.start_factor = check_number(self, "start_factor", start_factor)
        self.end_factor = check_number(self, "end_factor", end_factor)
        self.total_iters = check_count(self, "total_iters", total_iters)
        super().__init__(optimizer)

    def rate(self, base: float, t: int) -> float:
        """``base * (start + (end - start) * min(t / total_iters, 1))``."""
        done = min(t / self.total_iters, 1.0)
        return base * ((1 - done) * self.start_factor + done * self.end_factor)


class CosineLR(Schedule):
    """Fall along half a cosine, after a warm-up if wanted, once or again and again.

    Warm-up: ``base * (t + 1) / (warmup + 1)`` for t < warmup. Then, u steps into a
    period of n: ``min_lr + (base - min_lr) * (1 + cos(pi * u / n)) / 2``.
    Loshchilov and Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts"
    (2017), equation 5; the warm-up is an addition.

    Args:
        optimizer: Its learning rates are the bases.
        period: Steps from the base to ``min_lr``, at least 1.
        warmup: Steps of warm-up before it, at least 0.
        min_lr: The lowest rate, at least 0; a base below it stays as it is.
        restarts: Jump back to the base at the end of a period; else stay at ``min_lr``.
        growth: Every period is so many times as long as the one before; at least 1.

    Raises:
        TypeError: A number of steps is no integer.
        ValueError: A value is outside its range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        period: int,
        warmup: int = 0,
        min_lr: float = 0.0,
        restarts: bool = False,
        growth: int = 1,
    ) -> None:
        self.period = check_count(self, "period", period)
        self.warmup = check_count(self, "warmup", warmup, low=0)
        self.min_lr = check_number(self, "min_lr", min_lr)
        self.restarts = bool(restarts)
        self.growth = check_count(self, "growth", growth)
        super().__init__(optimizer)

    def rate(self, base: float, t: int) -> float:
        """A straight line upwards, then the cosine."""
        if t < self.warmup:
            return base * (t + 1) / (self.warmup + 1)
        u, n = t - self.warmup, self.period
        if not self.restarts:
            u = min(u, n)
        elif self.growth == 1:
            u %= n
        else:
            while u >= n:
                u, n = u - n, n * self.growth
        low = min(self.min_lr, base)
        return low + (base - low) * (1 + math.cos(math.pi * u / n)) / 2


class OneCycleLR(Schedule):
    """One climb to the base and one long descent, both along half a cosine.

    It starts at ``base / div_factor``, reaches the base after a share ``pct_start`` of
    the steps, ends at the start divided by ``final_div_factor``, and stays there.
    Smith and Topin, "Super-Convergence: Very Fast Training of Neural Networks Using
    Large Learning Rates" (2019), with cosines for lines and a momentum that stays.

    Args:
        optimizer: Its learning rates are the bases, here the highest rates.
        total_steps: Rates of the whole cycle, at least 2: the last one is reached
            after ``total_steps - 1`` steps.
        pct_start: Share of the steps that climb, in [0, 1).
        div_factor: Base over first rate, at least 1.
        final_div_factor: First rate over last rate, at least 1.

    Raises:
        TypeError: ``total_steps`` is no integer.
        ValueError: A value is outside its range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        total_steps: int,
        pct_start: float = 0.3,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
    ) -> None:
        self.total_steps = check_count(self, "total_steps", total_steps, low=2)
        self.pct_start = check_number(self, "pct_start", pct_start, high=1)
        self.div_factor = check_number(self, "div_factor", div_factor, low=1)
        self.final_div_factor = check_number(
            self, "final_div_factor", final_div_factor, low=1
        )
        super().__init__(optimizer)

    def rate(self, base: float, t: int) -> float:
        """Up to the base, then down."""
        first, last = base / self.div_factor, self.total_steps - 1
        top = max(self.pct_start * self.total_steps - 1, 0.0)
        if t < top:
            return _along_cosine(first, base, t / top)
        done = (min(t, last) - top) / (last - top)
        return _along_cosine(base, first / self.final_div_factor, done)


def _along_cosine(start: float, end: float, done: float) -> float:
    """Half a cosine from ``start`` to ``end``, a share ``done`` of the way."""
    return end + (start - end) * (1 + math.cos(math.pi * done)) / 2
