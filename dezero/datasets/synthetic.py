"""Datasets that are computed: spirals, moons, blobs, a sine curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dezero.datasets.base import Dataset


def _generator(train: bool, seed: int | None = None) -> np.random.RandomState:
    """Numbers that repeat, others for each part; not the user's ``np.random``."""
    if seed is None:
        return np.random.RandomState(1984 if train else 2020)
    return np.random.RandomState([seed, int(train)])


def get_spiral(train: bool = True) -> tuple[np.ndarray, np.ndarray]:
    r"""Three arms of a spiral, 100 noisy points each, in shuffled order.

    Point j of arm c has radius r = j / 100 and angle 4 r + 4 c + 0.2 n, with n drawn
    from the standard normal distribution; it lies at (r sin(angle), r cos(angle)).

    Args:
        train: Two parts that differ in their noise.

    Returns:
        The points, (300, 2) float32, and the number of each one's arm, (300,) integer.
    """
    rng = _generator(train)
    arms, points = 3, 100
    t = np.repeat(np.arange(arms), points)  # (300,)
    r = np.tile(np.arange(points) / points, arms)
    angle = 4 * r + 4 * t + 0.2 * rng.standard_normal(arms * points)
    x = np.stack([r * np.sin(angle), r * np.cos(angle)], axis=1)  # (300, 2)
    order = rng.permutation(arms * points)
    return x[order].astype(np.float32), t[order]


def get_moons(
    n: int = 300, noise: float = 0.1, seed: int | None = None, train: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    r"""Two half circles that reach into each other, in shuffled order.

    With angles a spread evenly over [0, pi] the upper moon is (cos a, sin a), the lower
    one (1 - cos a, 1/2 - sin a); normal noise is added to both.

    Args:
        n: Number of points; the upper moon has ``n // 2`` of them.
        noise: Standard deviation of the noise.
        seed: Another draw of the noise and the order for each number.
        train: Two parts that differ in their noise.

    Returns:
        The points, (n, 2) float32, and 0 (upper) or 1 (lower), (n,) integer.

    Raises:
        ValueError: ``n`` is below two, or ``noise`` is negative.
    """
    if n < 2:
        raise ValueError(f"get_moons: expected n >= 2, got {n}")
    if noise < 0:
        raise ValueError(f"get_moons: expected noise >= 0, got {noise}")
    rng = _generator(train, seed)
    upper, lower = [np.linspace(0, np.pi, size) for size in (n // 2, n - n // 2)]
    x = np.concatenate(
        [
            np.stack([np.cos(upper), np.sin(upper)], axis=1),
            np.stack([1 - np.cos(lower), 0.5 - np.sin(lower)], axis=1),
        ]
    )  # (n, 2)
    t = np.repeat([0, 1], [len(upper), len(lower)])
    x = x + noise * rng.standard_normal(x.shape)
    order = rng.permutation(n)
    return x[order].astype(np.float32), t[order]


def get_blobs(
    n: int = 300,
    centers: int = 3,
    std: float = 0.5,
    dim: int = 2,
    seed: int | None = None,
    train: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Points that are normally distributed about a few centres, in shuffled order.

    The centres are uniform in [-5, 5) along each axis, and the same in both parts.

    Args:
        n: Number of points, as many for each centre as for the others, within one.
        centers: Number of centres.
        std: Standard deviation along each axis.
        dim: Number of axes.
        seed: Other centres and points for each number.
        train: Two parts of the same distribution.

    Returns:
        The points, (n, dim) float32, and the number of each one's centre, (n,) integer.

    Raises:
        ValueError: ``n``, ``centers`` or ``dim`` is below one, or ``std`` is negative.
    """
    for name, value in ("n", n), ("centers", centers), ("dim", dim):
        if value < 1:
            raise ValueError(f"get_blobs: expected {name} >= 1, got {value}")
    if std < 0:
        raise ValueError(f"get_blobs: expected std >= 0, got {std}")
    places = _generator(True, seed).uniform(-5, 5, (centers, dim))
    rng = _generator(train, seed)
    t = rng.permutation(np.arange(n) % centers)  # (n,)
    x = places[t] + std * rng.standard_normal((n, dim))
    return x.astype(np.float32), t


class Spiral(Dataset):
    """The points of :func:`get_spiral`: x (2,) float32, t 0, 1 or 2."""

    def prepare(self) -> None:
        """Compute the points."""
        self.data, self.label = get_spiral(self.train)


class _Computed(Dataset):
    """Base class of datasets whose function takes arguments."""

    _function: Callable[..., tuple[np.ndarray, np.ndarray]]

    def __init__(
        self,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> None:
        self.options = options
        super().__init__(train, transform, target_transform)

    def prepare(self) -> None:
        """Compute the points."""
        function = type(self)._function
        self.data, self.label = function(train=self.train, **self.options)


class Moons(_Computed):
    """The points of :func:`get_moons`, whose arguments it takes by keyword."""

    _function = staticmethod(get_moons)


class Blobs(_Computed):
    """The points of :func:`get_blobs`, whose arguments it takes by keyword."""

    _function = staticmethod(get_blobs)


class SinCurve(Dataset):
    """A curve over one period, to be foretold step by step: t is the next x.

    1,000 points are evenly spaced over [0, 2 pi], so there are 999 items, x and t
    (1,) float32. The training part is a sine with noise, uniform in [-0.05, 0.05); the
    test part is a cosine.
    """

    def prepare(self) -> None:
        """Compute the curve."""
        x = np.linspace(0, 2 * np.pi, 1000)
        if self.train:
            y = np.sin(x) + _generator(True).uniform(-0.05, 0.05, x.shape)
        else:
            y = np.cos(x)
        column = y.astype(np.float32)[:, np.newaxis]  # (1000, 1)
        self.data, self.label = column[:-1], column[1:]
