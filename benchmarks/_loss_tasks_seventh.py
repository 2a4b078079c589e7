"""Tasks judged in the seventh round, to choose thresholds on since."""

from __future__ import annotations

import numpy as np
from _loss_tasks import CE, Task, column, draw_images, half_square, relu_mlp, tanh_mlp

import dezero.functions as F


def draw_ripples(rng, n):
    x = rng.uniform(0, 2.5, n)
    t = np.sin(x**2) + 0.1 * rng.standard_normal(n)
    return column(2 * x - 2.5), column(t), x


def draw_faint(rng, n):
    # Digits, some of them faint.
    x, t, _ = draw_images(rng, n)
    strength = rng.uniform(0.4, 1.2, (n, 1)).astype(np.float32)
    return strength * x.reshape(n, -1), t, t


def draw_sectors(rng, n):
    angle, r = rng.uniform(0, 2 * np.pi, n), rng.uniform(0.3, 1.8, n)
    t = ((angle + 0.5 * r + 0.1 * rng.standard_normal(n)) % 4).astype(int)
    x = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)
    return x.astype(np.float32), t, t


def draw_tails(rng, n):
    # A curve with noise that has long tails, wider on the right.
    x = rng.uniform(-2, 2, n)
    t = np.sin(1.5 * x) + (0.05 + 0.1 * (x > 0)) * rng.laplace(size=n)
    return column(x), column(t), x


def laplace(y, t):
    """Negative log-likelihood of Laplace's distribution: below zero in the end."""
    log_scale = F.clip(y[:, 1:], -4.0, 4.0)
    return F.mean(log_scale + F.abs(t - y[:, :1]) * F.exp(-log_scale))


def draw_pairs(rng, n):
    # Is the sum of two products positive?
    x = rng.standard_normal((n, 4))
    t = (x[:, 0] * x[:, 1] + x[:, 2] * x[:, 3] > 0).astype(int)
    return x.astype(np.float32), t, t


def draw_centres(rng, n):
    # Where is the centre of the ink of a digit?
    x, _, _ = draw_images(rng, n)
    x = x.reshape(n, 8, 8)
    ink = x.sum(axis=(1, 2))
    places = np.arange(8) - 3.5
    down = (x.sum(axis=2) @ places) / ink
    right = (x.sum(axis=1) @ places) / ink
    t = 2 * np.stack([down, right], axis=1)
    return x.reshape(n, -1), (t - t.mean(axis=0)).astype(np.float32), down


SEVENTH = (
    Task("ripples", draw_ripples, 1, half_square, (0.1, 0.01, 0.01), relu_mlp),
    Task("faint", draw_faint, 10, CE, (0.2, 0.03, 0.005), relu_mlp, linear=True),
    Task("sectors", draw_sectors, 4, CE, (0.15, 0.02, 0.01), tanh_mlp, balanced=False),
    Task(
        "tails", draw_tails, 2, laplace, (0.02, 0.002, 0.005), tanh_mlp, balanced=False
    ),
    Task("pairs", draw_pairs, 2, CE, (0.15, 0.02, 0.01), relu_mlp),
    Task(
        *("centres", draw_centres, 2, half_square, (0.05, 0.005, 0.005), tanh_mlp),
        linear=True,
    ),
)
