"""Tasks that thresholds were chosen on from the first, and after the first judging."""

from __future__ import annotations

from functools import cache

import numpy as np
from _loss_tasks import (
    CE,
    CharacterModel,
    SmallLeNet,
    Task,
    column,
    draw_images,
    gaussian,
    half_square,
    relu_mlp,
    tanh_mlp,
)

from dezero import datasets


def draw_blobs(rng, n):
    x, t = datasets.get_blobs(n, centers=4, std=1.2, seed=rng.randint(1 << 30))
    return x / 3, t, t


def draw_moons(rng, n):
    x, t = datasets.get_moons(n, noise=0.1, seed=rng.randint(1 << 30))
    return x, t, t


def draw_wave(rng, n):
    x = rng.uniform(-2, 2, n)
    t = np.sin(3 * x) + 0.1 * rng.standard_normal(n)
    return column(x), column(t), x


def draw_checkers(rng, n):
    x = rng.uniform(-1, 1, (n, 2))
    t = (np.floor(1.5 * x + 0.75).sum(axis=1) % 2).astype(int)
    return 2 * x.astype(np.float32), t, t


def draw_digits(rng, n):
    x, t, key = draw_images(rng, n)
    return x.reshape(n, -1), t, key


TUNING = (
    Task("blobs", draw_blobs, 4, CE, (0.2, 0.04, 0.01), relu_mlp, linear=True),
    Task("moons", draw_moons, 2, CE, (0.3, 0.06, 0.01), tanh_mlp),
    Task("wave", draw_wave, 1, half_square, (0.05, 0.005, 0.01), tanh_mlp),
    Task("checkers", draw_checkers, 2, CE, (0.15, 0.03, 0.01), relu_mlp),
    Task("digits", draw_digits, 10, CE, (0.2, 0.03, 0.005), relu_mlp, linear=True),
)


def draw_spiral(rng, n):
    t = rng.randint(0, 3, n)
    r = rng.uniform(0, 1, n)
    angle = 4 * r + 4 * t + 0.2 * rng.standard_normal(n)
    x = np.stack([r * np.sin(angle), r * np.cos(angle)], axis=1)
    return (2 * x).astype(np.float32), t, t


def draw_rings(rng, n):
    t = rng.randint(0, 3, n)
    r, angle = t + 0.5 + 0.15 * rng.standard_normal(n), rng.uniform(0, 2 * np.pi, n)
    x = np.stack([r * np.sin(angle), r * np.cos(angle)], axis=1)
    return x.astype(np.float32), t, t


def draw_curve(rng, n):
    # The next value of a noisy sine from the eight before it, as with SinCurve.
    start = rng.uniform(0, 2 * np.pi, n)
    steps = 0.4 * np.arange(9)
    y = np.sin(start[:, np.newaxis] + steps) + 0.05 * rng.standard_normal((n, 9))
    y = y.astype(np.float32)
    return y[:, :8], y[:, 8:], y[:, 8]


def draw_pictures(rng, n):
    # An autoencoder: what comes out is to be what goes in.
    x, _, key = draw_images(rng, n)
    x = 2 * x.reshape(n, -1)
    return x, x, key


@cache
def text():
    corpus = datasets.Shakespeare()
    return corpus.indices[:20_000], corpus.vocab_size


def draw_text(rng, n):
    ids, _ = text()
    start = rng.randint(0, len(ids) - 4, n)
    x = np.stack([ids[start + i] for i in range(3)], axis=1)  # (n, 3)
    t = ids[start + 3]
    return x, t, t


def draw_spread(rng, n):
    # Mean and spread both depend on x.
    x = rng.uniform(-2, 2, n)
    t = 0.3 * np.sin(2 * x) + (0.02 + 0.05 * (x > 0)) * rng.standard_normal(n)
    return column(x), column(t), x


LATER = (
    Task("spiral", draw_spiral, 3, CE, (0.2, 0.03, 0.01), relu_mlp),
    Task("lenet", draw_images, 10, CE, (0.1, 0.02, 0.005), SmallLeNet, linear=True),
    Task(
        *("text", draw_text, text()[1], CE, (0.5, 0.06, 0.01), CharacterModel, 4096),
        linear=True,
        balanced=False,
    ),
    Task(
        *("curve", draw_curve, 1, half_square, (0.05, 0.005, 0.005), tanh_mlp),
        linear=True,
    ),
    Task(
        *("pictures", draw_pictures, 64, half_square, (1.0, 0.1, 0.005), tanh_mlp),
        linear=True,
        balanced=False,
    ),
    Task("rings", draw_rings, 3, CE, (0.1, 0.02, 0.01), relu_mlp),
    Task(
        *("spread", draw_spread, 2, gaussian, (0.01, 0.001, 0.003), tanh_mlp),
        balanced=False,
    ),
)
