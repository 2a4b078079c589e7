"""Tasks judged in the second to the fifth round, to choose thresholds on since."""

from __future__ import annotations

import numpy as np
from _loss_tasks import (
    CE,
    Recurrent,
    Task,
    against,
    column,
    digits,
    draw_images,
    half_square,
    log_error,
    poisson,
    relu_mlp,
    soft_log_error,
    standard,
    tanh_mlp,
)


def draw_surface(rng, n):
    # Friedman's function of five numbers, standardised.
    x = rng.uniform(0, 1, (n, 5))
    t = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
    t = standard(t + 10 * x[:, 3] + 5 * x[:, 4] + 0.5 * rng.standard_normal(n))
    return (4 * x - 2).astype(np.float32), column(t), t


def draw_parity(rng, n):
    # Is the digit even or odd?
    x, t, _ = draw_images(rng, n)
    return x.reshape(n, -1), t % 2, t % 2


def draw_petals(rng, n):
    # Which of three curves is nearest, around a flower of five petals.
    angle, r = rng.uniform(0, 2 * np.pi, n), rng.uniform(0.2, 2, n)
    t = np.digitize(r - 0.4 * np.sin(5 * angle), [0.8, 1.4])
    x = np.stack([r * np.cos(angle), r * np.sin(angle)], axis=1)
    return x.astype(np.float32), t, t


def draw_flow(rng, n):
    # Where does a whirl carry a point? The direction is the target.
    x = rng.uniform(-1.5, 1.5, (n, 2))
    angle = 2 * x[:, 0] + np.sin(2 * x[:, 1]) + 0.2 * rng.standard_normal(n)
    t = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return x.astype(np.float32), t.astype(np.float32), angle


def draw_counts(rng, n):
    x = rng.uniform(-2, 2, n)
    t = rng.poisson(np.exp(1 + 1.2 * np.sin(2 * x)))
    return column(x), column(t), x


def draw_majority(rng, n):
    # Are there more large steps up than down in a sequence of eight?
    x = rng.standard_normal((n, 8)).astype(np.float32)
    t = (np.sign(x).sum(axis=1) + 0.1 * x[:, 0] > 0).astype(int)
    return x, t, t


LATEST = (
    Task("surface", draw_surface, 1, half_square, (0.05, 0.005, 0.01), tanh_mlp),
    Task("parity", draw_parity, 2, CE, (0.2, 0.03, 0.005), tanh_mlp, linear=True),
    Task("petals", draw_petals, 3, CE, (0.1, 0.02, 0.01), relu_mlp),
    Task("flow", draw_flow, 2, against, (0.2, 0.03, 0.01), tanh_mlp, balanced=False),
    Task(
        *("counts", draw_counts, 1, poisson, (0.02, 0.002, 0.01), tanh_mlp),
        balanced=False,
    ),
    Task("majority", draw_majority, 2, CE, (0.1, 0.02, 0.01), Recurrent, linear=True),
)


def draw_stripes(rng, n):
    x = rng.uniform(-1, 1, (n, 2))
    t = np.digitize(x[:, 0] + 0.3 * np.sin(4 * x[:, 1]), [-0.35, 0.35])
    return (2 * x).astype(np.float32), t, t


def draw_disc(rng, n):
    x = rng.uniform(-1.5, 1.5, (n, 2))
    t = (np.hypot(x[:, 0], 1.4 * x[:, 1]) + 0.1 * rng.standard_normal(n) < 1).astype(
        int
    )
    return x.astype(np.float32), t, t


def draw_hills(rng, n):
    x = rng.uniform(-2, 2, (n, 2))
    hills = np.exp(-((x - 0.8) ** 2).sum(1)) - np.exp(-((x + 0.8) ** 2).sum(1))
    t = 2 * hills + 0.1 * rng.standard_normal(n)
    return x.astype(np.float32), column(t), t


def draw_few_digits(rng, n):
    x, t = digits()
    chosen = rng.permutation(np.flatnonzero(t < 5))[:n]
    return x[chosen].reshape(n, -1), t[chosen], t[chosen]


def draw_hands(rng, n):
    # The direction of a hand that turns unevenly with x: minus the cosine is the loss.
    x = rng.uniform(-2, 2, n)
    angle = 2 * x + np.sin(3 * x) + 0.2 * rng.standard_normal(n)
    t = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return column(x), t.astype(np.float32), x


def draw_chain(rng, n):
    # The next value of a curve of two waves, by a recurrent network.
    start = rng.uniform(0, 2 * np.pi, (n, 1))
    steps = start + 0.5 * np.arange(7)
    y = np.sin(steps) + 0.5 * np.cos(2 * steps) + 0.05 * rng.standard_normal((n, 7))
    y = y.astype(np.float32)
    return y[:, :6], y[:, 6:], y[:, 6]


LAST = (
    Task("stripes", draw_stripes, 3, CE, (0.1, 0.02, 0.008), relu_mlp),
    Task("disc", draw_disc, 2, CE, (0.3, 0.06, 0.01), tanh_mlp),
    Task("hills", draw_hills, 1, half_square, (0.05, 0.005, 0.01), tanh_mlp),
    Task(
        *("few digits", draw_few_digits, 5, CE, (0.2, 0.03, 0.005), relu_mlp, 280),
        linear=True,
    ),
    Task("hands", draw_hands, 2, against, (0.1, 0.01, 0.005), tanh_mlp, balanced=False),
    Task(
        "chain", draw_chain, 1, half_square, (0.05, 0.01, 0.005), Recurrent, linear=True
    ),
)


def draw_waves(rng, n):
    x = rng.uniform(-1.5, 1.5, (n, 2))
    t = np.sin(2 * x[:, 0]) * np.cos(x[:, 1]) + 0.1 * rng.standard_normal(n)
    return x.astype(np.float32), column(t), t


def draw_corners(rng, n):
    x = rng.standard_normal((n, 2))
    warped = x[:, 0] + 0.5 * x[:, 1] ** 2 - 0.4
    t = 2 * (warped > 0) + (x[:, 1] > 0)
    return x.astype(np.float32), t, t


def draw_late_digits(rng, n):
    x, t = digits()
    chosen = rng.permutation(np.flatnonzero(t >= 5))[:n]
    return x[chosen].reshape(n, -1), t[chosen] - 5, t[chosen]


def draw_bands(rng, n):
    x = rng.uniform(-1.5, 1.5, n)
    t = np.digitize(np.sin(3 * x) + 0.1 * rng.standard_normal(n), [-0.5, 0.5])
    return column(x), t, t


def draw_cubic(rng, n):
    x = rng.uniform(-2, 2, n)
    t = 0.5 * (x**3 - 2 * x) + 0.1 * rng.standard_normal(n)
    return column(x), column(t), x


def draw_steps(rng, n):
    x = rng.uniform(-2, 2, n)
    t = np.tanh(3 * np.sin(2 * x)) + 0.1 * rng.standard_normal(n)
    return column(x), column(t), x


FOURTH = (
    Task("waves", draw_waves, 1, half_square, (0.05, 0.005, 0.01), tanh_mlp),
    Task("corners", draw_corners, 4, CE, (0.15, 0.02, 0.01), relu_mlp, linear=True),
    Task(
        *("late digits", draw_late_digits, 5, CE, (0.2, 0.03, 0.005), tanh_mlp, 280),
        linear=True,
    ),
    Task("bands", draw_bands, 3, CE, (0.15, 0.02, 0.01), relu_mlp),
    Task("cubic", draw_cubic, 1, half_square, (0.05, 0.005, 0.01), tanh_mlp),
    Task("steps", draw_steps, 1, log_error, (0.05, 0.005, 0.01), tanh_mlp),
)


def draw_ink(rng, n):
    # Is there more ink in the upper half of a digit, or in the lower?
    x, _, _ = draw_images(rng, n)
    t = (x[:, 0, :4].sum(axis=(1, 2)) > x[:, 0, 4:].sum(axis=(1, 2))).astype(int)
    return x.reshape(n, -1), t, t


def draw_clouds(rng, n):
    t = rng.randint(0, 3, n)
    x = rng.standard_normal((n, 4)) + 1.3 * np.eye(4)[t]
    return x.astype(np.float32), t, t


def draw_valley(rng, n):
    x = rng.uniform(-2, 2, n)
    t = 1.5 * np.abs(x) - 1.5 + 0.1 * rng.standard_normal(n)
    return column(x), column(t), x


def draw_crossing(rng, n):
    x = rng.standard_normal((n, 2))
    t = (x[:, 0] * x[:, 1] > 0).astype(int)
    return x.astype(np.float32), t, t


def draw_pulse(rng, n):
    x = rng.uniform(-2, 2, n)
    t = 2 * np.exp(-3 * x**2) - 0.75 + 0.1 * rng.standard_normal(n)
    return column(x), column(t), x


FIFTH = (
    Task("ink", draw_ink, 2, CE, (0.1, 0.02, 0.005), tanh_mlp, linear=True),
    Task("clouds", draw_clouds, 3, CE, (0.1, 0.02, 0.005), relu_mlp, linear=True),
    Task("valley", draw_valley, 1, half_square, (0.05, 0.005, 0.01), tanh_mlp),
    Task("crossing", draw_crossing, 2, CE, (0.15, 0.03, 0.01), relu_mlp),
    Task("pulse", draw_pulse, 1, soft_log_error, (0.05, 0.005, 0.01), tanh_mlp),
)
