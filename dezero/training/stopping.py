"""Which epoch was the best, how long ago that was, and the weights it had."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.optimizers import Optimizer


class Monitor:
    """Looks at one number of every epoch. NaN is never better than anything.

    Args:
        name: The column of the history.
        mode: ``"min"`` or ``"max"``.
        patience: Epochs in a row without a better number that end the training; None
            for no end.
    """

    def __init__(self, name: str, mode: str, patience: int | None) -> None:
        self.name = name
        self.mode = mode
        self.patience = patience
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.best: float | None = None
        self.best_epoch = 0  # no epoch yet
        self.waited = 0

    def look(self, epoch: int, value: float) -> bool:
        """Is the number of this epoch the best so far?"""
        sign = 1 if self.mode == "min" else -1
        better = not math.isnan(value)
        if self.best is not None:
            better = sign * value < sign * self.best
        if better:
            self.best, self.best_epoch, self.waited = value, epoch, 0
        else:
            self.waited += 1
        return better

    @property
    def out_of_patience(self) -> bool:
        """Has there been nothing better for too long?"""
        return self.patience is not None and self.waited >= self.patience


def as_monitor(
    function: str,
    names: list[str],
    name: str | None,
    mode: str | None,
    patience: int | None,
) -> Monitor:
    """The Monitor for the arguments of that name, checked.

    Raises:
        ValueError: There is no such number, ``mode`` is another word or is missing
            where it cannot be guessed.
    """
    if name is None:
        name = "validation_loss" if "validation_loss" in names else "loss"
    if name not in names:
        hint = ""
        if isinstance(name, str) and name.startswith("validation_"):
            hint = " (validation_... is there if validation= is given)"
        raise ValueError(
            f"{function}: expected monitor to be one of {', '.join(names)}, got "
            f"{name!r}{hint}"
        )
    if mode is None and name in ("loss", "validation_loss"):
        mode = "min"
    if mode not in ("min", "max"):
        got = "none" if mode is None else repr(mode)
        raise ValueError(
            f"{function}: expected mode 'min' or 'max' for {name!r}, got {got}; "
            "is a smaller number the better one, or a greater?"
        )
    return Monitor(name, mode, patience)


class Snapshot:
    """A copy of weights, on the device where they are.

    Args:
        model: Whose parameters, if it has any to tell; else the optimizer's.
        optimizer: Set up with its target.
    """

    def __init__(self, model: Callable[..., Any], optimizer: Optimizer) -> None:
        source: Any = model if hasattr(model, "named_params") else optimizer
        self._source = source
        self.epoch = 0  # none was taken yet
        self._weights: dict[str, Any] = {}

    def _named(self) -> dict[str, Variable]:
        return dict(self._source.named_params())

    def take(self, epoch: int) -> None:
        """Copy the weights of now."""
        self.epoch = epoch
        self._weights = {
            name: p.data.copy()
            for name, p in self._named().items()
            if p.data is not None
        }

    def restore(self) -> None:
        """Give the weights back, if there are any to give."""
        for name, p in self._named().items():
            if name in self._weights:
                p.data = cuda.beside(self._weights[name], p.data).copy()

    def state_dict(self) -> dict[str, Any]:
        """Epoch and weights, in NumPy arrays."""
        weights = {name: cuda.as_numpy(x) for name, x in self._weights.items()}
        return {"epoch": self.epoch, "weights": weights}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        self.epoch = int(state["epoch"])
        self._weights = {name: np.array(x) for name, x in state["weights"].items()}
