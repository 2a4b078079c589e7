"""Tasks to judge on: no threshold of ``diagnose_loss`` was chosen on them."""

from __future__ import annotations

import numpy as np
from _loss_tasks import CE, Task, column, draw_images, half_square, relu_mlp, tanh_mlp

import dezero.functions as F


def draw_ramp(rng, n):
    x = rng.uniform(-1.5, 1.5, (n, 3))
    t = np.tanh(x[:, 0] + x[:, 1] ** 2 - 1) + 0.5 * x[:, 2]
    return x.astype(np.float32), column(t + 0.1 * rng.standard_normal(n)), t


def draw_shifted(rng, n):
    # Digits, each moved by up to one pixel sideways.
    x, t, _ = draw_images(rng, n)
    moved = np.stack(
        [
            np.roll(a[0], s, axis=1)
            for a, s in zip(x, rng.randint(-1, 2, n), strict=True)
        ]
    )
    return moved.reshape(n, -1), t, t


def draw_cross(rng, n):
    x = rng.uniform(-1.5, 1.5, (n, 2))
    t = (np.abs(x).min(axis=1) + 0.05 * rng.standard_normal(n) < 0.45).astype(int)
    return x.astype(np.float32), t, t


def draw_outliers(rng, n):
    # A curve; one in twelve targets is far off.
    x = rng.uniform(-2, 2, n)
    t = np.cos(2 * x) + 0.1 * rng.standard_normal(n)
    t += (rng.uniform(0, 1, n) < 1 / 12) * rng.uniform(-2, 2, n)
    return column(x), column(t), x


def smooth_absolute(y, t):
    """About the absolute error where it is large, half its square where it is small."""
    return F.mean(F.sqrt((y - t) ** 2 + 1.0)) - 1.0


def draw_lattice(rng, n):
    # Which of four clusters of two blobs each?
    centres = np.array([(a, b) for a in (-1.5, -0.5, 0.5, 1.5) for b in (-0.7, 0.7)])
    blob = rng.randint(0, 8, n)
    x = centres[blob] + 0.2 * rng.standard_normal((n, 2))
    t = (3 * blob) % 4
    return x.astype(np.float32), t, t


def draw_halves(rng, n):
    # The lower half of a digit from the upper one.
    x, _, key = draw_images(rng, n)
    x = 2 * x.reshape(n, 64)
    return x[:, :32], x[:, 32:], key


JUDGED = (
    Task("ramp", draw_ramp, 1, half_square, (0.05, 0.005, 0.01), tanh_mlp),
    Task("shifted", draw_shifted, 10, CE, (0.2, 0.03, 0.005), relu_mlp, linear=True),
    Task("cross", draw_cross, 2, CE, (0.2, 0.03, 0.01), tanh_mlp, balanced=False),
    Task("outliers", draw_outliers, 1, smooth_absolute, (0.1, 0.01, 0.01), relu_mlp),
    Task("lattice", draw_lattice, 4, CE, (0.15, 0.02, 0.01), relu_mlp),
    Task(
        *("halves", draw_halves, 32, half_square, (0.5, 0.05, 0.005), relu_mlp),
        linear=True,
        balanced=False,
    ),
)
