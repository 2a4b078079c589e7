"""What the trainings of `loss_curves.py` have in common: models, losses, data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import datasets, models

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Task:
    """What to learn.

    Attributes:
        name: What it is called in the recording.
        draw: ``draw(rng, n)`` gives n examples: x, t, and a key to sort them by.
        outputs: How many numbers the model gives for an example.
        loss: ``loss(y, t)``.
        rates: Learning rates that work for SGD, MomentumSGD and Adam.
        model: ``model(width, outputs)``.
        n: How many examples there are to train on.
        linear: Whether a linear model learns it.
        balanced: Whether the same output for all examples is no better than zeros.
    """

    name: str
    draw: Callable[[np.random.RandomState, int], Arrays]
    outputs: int
    loss: Callable
    rates: tuple[float, float, float]
    model: Callable
    n: int = 1024
    linear: bool = False
    balanced: bool = True


CE = F.softmax_cross_entropy


def half_square(y, t):
    return F.mean((y - t) ** 2)


def gaussian(y, t):
    """Negative log-likelihood per example: below zero where the fit is close."""
    mean, log_std = y[:, :1], F.clip(y[:, 1:], -4.0, 4.0)
    return F.mean(log_std + 0.5 * ((t - mean) * F.exp(-log_std)) ** 2)


def against(y, t):
    """Minus the cosine between y and t: from about 0 down to -1."""
    return -F.mean(F.sum(y * t, axis=1) / F.sqrt(F.sum(y * y, axis=1) + 1e-3))


def poisson(y, t):
    """Negative log-likelihood of counts, up to a constant; below zero."""
    return F.mean(F.exp(F.clip(y, -9.0, 9.0)) - t * y)


def log_error(y, t):
    """The logarithm of the squared error: below zero where the fit is close."""
    return F.log(half_square(y, t) + 0.02)


def soft_log_error(y, t):
    return F.log(half_square(y, t) + 0.2)


def relu_mlp(width, outputs):
    he = L.initializers.HeNormal()
    return models.Sequential(
        *(L.Linear(width, initial_W=he), F.relu),
        *(L.Linear(width, initial_W=he), F.relu),
        L.Linear(outputs),
    )


def tanh_mlp(width, outputs):
    return models.MLP((width, width, outputs), activation=F.tanh)


class CharacterModel(dz.Model):
    """The next character from the last three."""

    def __init__(self, width, outputs):
        super().__init__()
        self.embed = L.EmbedID(outputs, 8)
        self.hidden = L.Linear(width)
        self.out = L.Linear(outputs)

    def forward(self, x):
        return self.out(F.tanh(self.hidden(F.flatten(self.embed(x)))))


class SmallLeNet(dz.Model):
    """One convolution, pooling, and two Linear layers."""

    def __init__(self, width, outputs):
        super().__init__()
        he = L.initializers.HeNormal()
        self.conv = L.Conv2d(6, 3, pad=1, initial_W=he)
        self.hidden = L.Linear(width, initial_W=he)
        self.out = L.Linear(outputs)

    def forward(self, x):
        x = F.pooling(F.relu(self.conv(x)), 2, 2)
        return self.out(F.relu(self.hidden(F.flatten(x))))


class Recurrent(dz.Model):
    """A recurrent layer over the sequence, and a Linear layer on its last state."""

    def __init__(self, width, outputs):
        super().__init__()
        self.rnn = L.RNN(width)
        self.out = L.Linear(outputs)

    def forward(self, x):
        self.rnn.reset_state()
        for i in range(x.shape[1]):
            h = self.rnn(x[:, i : i + 1])
        return self.out(h)


def column(values):
    return np.asarray(values, dtype=np.float32).reshape(-1, 1)


def standard(values):
    return (values - values.mean()) / values.std()


@cache
def digits():
    parts = [datasets.Digits(train=train) for train in (True, False)]
    x = np.concatenate([part.data for part in parts])  # (1797, 1, 8, 8)
    return x, np.concatenate([part.label for part in parts])


def draw_images(rng, n):
    x, t = digits()
    chosen = rng.permutation(len(x))[:n]
    return x[chosen], t[chosen], t[chosen]
