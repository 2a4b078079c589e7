"""How weights start: ``L.Linear(10, initial_W=initializers.HeNormal())``.

An initializer is called with the shape of a weight, ``fan_in`` (how many numbers each
result is a sum of), ``fan_out`` (how many results each number goes into) and the array
module, and gives an array, which the layer casts to its dtype. A function of one's own
will do. Random numbers come from ``np.random``, so that ``np.random.seed`` makes runs
repeat.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dezero.cuda import Array

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Constant:
    """The same number everywhere."""

    value: float = 0.0

    def __call__(self, shape: Shape, fan_in: int, fan_out: int, xp: Any = np) -> Array:
        """An array of shape ``shape``."""
        return xp.full(shape, float(self.value))


@dataclass(frozen=True)
class Normal:
    """Normal with mean 0 and standard deviation ``std``, whatever the sizes."""

    std: float = 0.02

    def __post_init__(self) -> None:
        _check_std(self, self.std)

    def __call__(self, shape: Shape, fan_in: int, fan_out: int, xp: Any = np) -> Array:
        """An array of shape ``shape``."""
        return _normal(shape, self.std, xp)


@dataclass(frozen=True)
class TruncatedNormal:
    """Normal with mean 0, drawn anew where it is more than ``limit * std`` away.

    ``std`` is that of the normal distribution; what is left has a smaller one (0.88 of
    it for a limit of 2).

    Raises:
        ValueError: ``std`` is negative, or ``limit`` is below 0.5.
    """

    std: float = 0.02
    limit: float = 2.0

    def __post_init__(self) -> None:
        _check_std(self, self.std)
        if not self.limit >= 0.5:  # below, hardly anything that is drawn would stay
            raise ValueError(
                f"TruncatedNormal: expected limit >= 0.5, got {self.limit}"
            )

    def __call__(self, shape: Shape, fan_in: int, fan_out: int, xp: Any = np) -> Array:
        """An array of shape ``shape``."""
        z = xp.asarray(xp.random.standard_normal(shape))
        while True:
            outside = xp.abs(z) > self.limit
            n = int(outside.sum())
            if n == 0:
                return z * self.std
            z[outside] = xp.random.standard_normal(n)


@dataclass(frozen=True)
class LeCunNormal:
    """Normal with standard deviation ``sqrt(1 / fan_in)``: what layers start from.

    Sums of independent inputs of variance 1 have variance 1 again. LeCun, Bottou, Orr,
    Müller 1998, "Efficient BackProp".
    """

    def __call__(self, shape: Shape, fan_in: int, fan_out: int, xp: Any = np) -> Array:
        """An array of shape ``shape``."""
        return _normal(shape, math.sqrt(1 / fan_in), xp)


@dataclass(frozen=True)
class LeCunUniform:
    """Uniform with the variance ``1 / fan_in`` of :class:`LeCunNormal`."""

    def __call__(self, shape: Shape, fan_in: int, fan_out: int, xp: Any = np) -> Array:
        """An array of shape ``shape``."""
        return _uniform(shape, math.sqrt(1 / fan_in), xp)


@dataclass(frozen=True)
class GlorotNormal:
    """Normal with standard deviation ``sqrt(2 / (fan_in + fan_out))``.

    A compromise between the variance of results and that of gradients; for tanh.
    Glorot, Bengio 2010, "Understanding the difficulty of training deep feedforward
    neural networks".
    """

    def __call__(self, shape: Shape, fan_in: int, fan_out: int, xp: Any = np) -> Array:
        """An array of shape ``shape``."""
        return _normal(shape, math.sqrt(2 / (fan_in + fan_out)), xp)


@dataclass(frozen=True)
class GlorotUniform:
    """Uniform with the variance of :class:`GlorotNormal`."""

    def __call__(self, shape: Shape, fan_in: int, fan_out: int, xp: Any = np) -> Array:
        """An array of shape ``shape``."""
        return _uniform(shape, math.sqrt(2 / (fan_in + fan_out)), xp)


@dataclass(frozen=True)
class HeNormal:
    """Normal with standard deviation ``sqrt(2 / ((1 + slope**2) * fan_in))``.

    Keeps the variance from layer to layer where ReLU, or leaky ReLU of that slope,
    stands between them. He, Zhang, Ren, Sun 2015, arXiv:1502.01852.
    """

    slope: float = 0.0

    def __call__(self, shape: Shape, fan_in: int, fan_out: int, xp: Any = np) -> Array:
        """An array of shape ``shape``."""
        return _normal(shape, math.sqrt(2 / ((1 + self.slope**2) * fan_in)), xp)


@dataclass(frozen=True)
class HeUniform:
    """Uniform with the variance of :class:`HeNormal`."""

    slope: float = 0.0

    def __call__(self, shape: Shape, fan_in: int, fan_out: int, xp: Any = np) -> Array:
        """An array of shape ``shape``."""
        return _uniform(shape, math.sqrt(2 / ((1 + self.slope**2) * fan_in)), xp)


@dataclass(frozen=True)
class Orthogonal:
    """``gain`` times a random orthogonal matrix: no vector changes its length.

    Axes after the first are taken as one. Of a matrix that is not square the rows or
    the columns, whichever are fewer, are orthonormal. Saxe, McClelland, Ganguli 2013,
    arXiv:1312.6120.
    """

    gain: float = 1.0

    def __call__(self, shape: Shape, fan_in: int, fan_out: int, xp: Any = np) -> Array:
        """An array of shape ``shape``.

        Raises:
            ValueError: ``shape`` has less than two axes.
        """
        if len(shape) < 2:
            raise ValueError(
                f"Orthogonal: expected a shape of at least two axes, got {shape}"
            )
        rows, columns = shape[0], math.prod(shape[1:])
        tall = max(rows, columns), min(rows, columns)
        q, r = xp.linalg.qr(xp.random.standard_normal(tall))
        # QR alone prefers some signs; with those of r every rotation is as likely.
        q = q * xp.where(xp.diagonal(r) < 0, -1.0, 1.0)
        return self.gain * (q if rows >= columns else q.T).reshape(shape)


def _normal(shape: Shape, std: float, xp: Any) -> Array:
    return xp.random.randn(*shape) * std


def _uniform(shape: Shape, std: float, xp: Any) -> Array:
    limit = math.sqrt(3) * std  # the variance of U(-a, a) is a**2 / 3
    return xp.random.uniform(-limit, limit, shape)


def _check_std(initializer: Any, std: float) -> None:
    if not std >= 0:
        name = type(initializer).__name__
        raise ValueError(f"{name}: expected std >= 0, got {std}")
