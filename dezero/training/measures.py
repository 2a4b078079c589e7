"""Means over a pass: of the loss, and of measures that the user names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable, no_grad
from dezero.training.batches import Batch

Metric = Callable[[Any, Any], Any]

#: Names that the history has anyway.
TAKEN = ("epoch", "loss", "lr", "seconds")
#: What the names of the measures of validation begin with.
PREFIX = "validation_"


def as_metrics(function: str, metrics: Any) -> dict[str, Metric]:
    """Measures by name; those of a list have the names of their functions.

    Raises:
        TypeError: One is no function, or ``metrics`` is no dict, list or tuple.
        ValueError: One has no name of its own, or one that the history has already.
    """
    if metrics is None:
        return {}
    if isinstance(metrics, Mapping):
        named = list(metrics.items())
    elif isinstance(metrics, (list, tuple)):
        named = [(getattr(f, "__name__", None), f) for f in metrics]
    else:
        raise TypeError(
            f"{function}: expected metrics to be a dict or list of functions, got "
            f"{type(metrics).__name__}; write metrics=[F.accuracy]"
        )
    found: dict[str, Metric] = {}
    for name, f in named:
        if not callable(f):
            raise TypeError(
                f"{function}: expected metrics to be functions of (y, t), got "
                f"{type(f).__name__}"
            )
        if not isinstance(name, str) or name == "<lambda>":
            raise ValueError(
                f"{function}: expected metrics with names, got one without; write "
                'metrics={"name": function}'
            )
        if name in found or name in TAKEN or name.startswith(PREFIX):
            raise ValueError(
                f"{function}: expected every metric to have a name of its own, got "
                f"{name!r}, which the history has already"
            )
        found[name] = f
    return found


def scalar(data: Any) -> Any:
    """A number or array of one element in double precision, a GPU's left there."""
    if isinstance(data, np.ndarray):
        return data.item()
    if cuda.is_array(data):
        return data.reshape(()).astype(np.float64)
    return float(data)


class Mean:
    """A mean over items, from means over batches. It stays on the device until read."""

    def __init__(self) -> None:
        self.total: Any = 0.0
        self.count = 0

    def add(self, value: Any, size: int) -> None:
        """Take in the mean ``value`` of a batch, as :func:`scalar` gives it."""
        self.total = self.total + value * size
        self.count += size

    def __float__(self) -> float:
        return float(self.total) / self.count


class Measures:
    """The means of the loss and of the metrics over a pass."""

    def __init__(self, function: str, metrics: Mapping[str, Metric]) -> None:
        self._function = function
        self._metrics = metrics
        self.means = {name: Mean() for name in ("loss", *metrics)}

    def add(self, batch: Batch, y: Any, loss: Any) -> None:
        """Take in what the model gave for a batch, and the loss of that as a scalar."""
        self.means["loss"].add(loss, batch.size)
        if not self._metrics:
            return
        with no_grad():
            for name, metric in self._metrics.items():
                value = self._checked(name, metric(y, batch.t))
                self.means[name].add(scalar(value), batch.size)

    def _checked(self, name: str, value: Any) -> Any:
        if isinstance(value, Variable):
            value = value.data
        wanted = f"{self._function}: expected the metric {name!r} to give"
        if cuda.is_array(value) or isinstance(value, np.generic):
            if value.dtype.kind not in "biuf":
                raise TypeError(f"{wanted} a number, got one of dtype {value.dtype}")
        elif not isinstance(value, (int, float)):
            raise TypeError(f"{wanted} a number, got {type(value).__name__}")
        if getattr(value, "size", 1) != 1:
            raise ValueError(f"{wanted} one number, got the shape {value.shape}")
        return value

    def values(self) -> dict[str, float]:
        """The means by name, fetched from the device."""
        return {name: float(mean) for name, mean in self.means.items()}

    def state_dict(self) -> dict[str, dict[str, float]]:
        """Totals and counts so far."""
        return {
            name: {"total": float(mean.total), "count": mean.count}
            for name, mean in self.means.items()
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from there."""
        for name, mean in self.means.items():
            mean.total = float(state[name]["total"])
            mean.count = int(state[name]["count"])
