"""What one layer puts out, summed up over all its calls."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dezero import cuda
from dezero.cuda import Array

# How near to a bound, by the distance of the two: there the slopes of sigmoid and tanh
# are less than 4 % of what they are in the middle.
NEAR = 0.01
SATURATED = 0.5  # of all outputs of a layer
DEAD = 0.75  # of its units; see flow.py


@dataclass(frozen=True)
class Activation:
    """What one layer, or one activation function, put out.

    Attributes:
        name: The layer's name in the model; of a function, what it follows: "l0 >
            F.relu".
        kind: The class of the layer or the Function.
        calls: How often it was called.
        shape: The shape of the last output.
        mean: The mean of all outputs.
        std: Their standard deviation.
        zeros: The share that is exactly 0.
        saturated: The share within 1 % of a bound; None for what has no bounds.
        dead: How many units (channels) are 0 for all samples and calls.
        units: How many there are.
        not_finite: How many outputs are NaN or infinite.
        verdict: "fine", "not finite", "saturated", "dead units" or "constant".
    """

    name: str
    kind: str
    calls: int
    shape: tuple[int, ...]
    mean: float
    std: float
    zeros: float
    saturated: float | None
    dead: int
    units: int
    not_finite: int
    verdict: str


class Record:
    """Sums over all calls of one layer."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self.calls = 0
        self.shape: tuple[int, ...] = ()
        self.count = self.zeros = self.near = self.not_finite = 0
        self.bounded = False
        self.total = self.squares = 0.0
        self.low, self.high = math.inf, -math.inf
        self.alive: Array | None = None  # which units were ever other than 0

    def add(
        self, y: Array, bounds: tuple[float, float] | None, channels_first: bool
    ) -> None:
        """Take in what one call put out.

        Args:
            y: A floating array.
            bounds: What it lies between, if it does.
            channels_first: Are the units of three axes along axis 1?
        """
        xp = cuda.get_array_module(y)
        self.calls += 1
        self.shape = y.shape
        finite = xp.isfinite(y)
        self.not_finite += int(y.size - finite.sum())
        values = xp.where(finite, y, 0).astype(np.float64)
        n, count = int(finite.sum()), self.count
        if n:
            # Means and sums of squares of the parts, put together without loss: Chan,
            # Golub and LeVeque 1983.
            mean = float(values.sum()) / n
            spread = float((xp.where(finite, values - mean, 0) ** 2).sum())
            d = mean - self.total
            self.total += d * n / (count + n)
            self.squares += spread + d * d * n * count / (count + n)
            self.low = min(self.low, float(values[finite].min()))
            self.high = max(self.high, float(values[finite].max()))
        self.count += n
        self.zeros += int((y == 0).sum())
        if bounds is not None:
            low, high = bounds
            margin = NEAR * (high - low)
            self.bounded = True
            near = (values < low + margin) | (values > high - margin)
            self.near += int((near & finite).sum())
        axis = 1 if y.ndim > 3 or (y.ndim > 2 and channels_first) else y.ndim - 1
        others = tuple([i for i in range(y.ndim) if i != axis])
        alive = xp.asarray((y != 0).any(axis=others)).reshape(-1)
        if self.alive is not None and self.alive.shape == alive.shape:
            alive = alive | self.alive
        self.alive = alive

    def row(self) -> Activation:
        """The numbers, and the verdict on them."""
        alive: Any = self.alive
        size = self.count + self.not_finite
        units = int(alive.size)
        dead = int(units - alive.sum()) if size else 0  # of no samples, none is dead
        saturated = self.near / size if self.bounded and size else None
        if self.not_finite:
            verdict = "not finite"
        elif saturated is not None and saturated > SATURATED:
            verdict = "saturated"
        elif dead and dead >= DEAD * units:
            verdict = "dead units"
        elif self.count > 1 and self.low == self.high:
            verdict = "constant"
        else:
            verdict = "fine"
        return Activation(
            self.name,
            self.kind,
            self.calls,
            self.shape,
            self.total,
            math.sqrt(self.squares / self.count) if self.count else 0.0,
            self.zeros / size if size else 0.0,
            saturated,
            dead,
            units,
            self.not_finite,
            verdict,
        )
