"""Tasks judged in the sixth round, to choose thresholds on since."""

from __future__ import annotations

import numpy as np
from _loss_tasks import CE, Task, column, draw_images, half_square, relu_mlp, tanh_mlp

import dezero as dz
import dezero.functions as F
import dezero.layers as L


def draw_saddle(rng, n):
    x = rng.uniform(-1.5, 1.5, (n, 2))
    t = x[:, 0] * x[:, 1] + 0.1 * rng.standard_normal(n)
    return x.astype(np.float32), column(t), t


def draw_tones(rng, n):
    # Which of three tones is it? Sixteen samples, of any phase, with noise.
    t = rng.randint(0, 3, n)
    phase = rng.uniform(0, 2 * np.pi, n)[:, np.newaxis]
    samples = np.array([0.4, 0.8, 1.2])[t][:, np.newaxis] * np.arange(16)
    x = np.sin(samples + phase) + 0.3 * rng.standard_normal((n, 16))
    return x.astype(np.float32), t, t


class ToneModel(dz.Model):
    """A convolution over time, and two Linear layers."""

    def __init__(self, width, outputs):
        super().__init__()
        he = L.initializers.HeNormal()
        self.conv = L.Conv1d(8, 5, initial_W=he)
        self.hidden = L.Linear(width, initial_W=he)
        self.out = L.Linear(outputs)

    def forward(self, x):
        x = F.relu(self.conv(x.reshape(len(x), 1, -1)))  # (N, 8, 12)
        return self.out(F.relu(self.hidden(F.flatten(x))))


def draw_waiting(rng, n):
    # How long to wait, where the mean depends on x.
    x = rng.uniform(-2, 2, n)
    t = rng.exponential(0.3 * np.exp(np.sin(2 * x)))
    return column(x), column(t), x


def exponential(y, t):
    """Negative log-likelihood of waiting times whose mean is ``exp(y)``."""
    y = F.clip(y, -6.0, 6.0)
    return F.mean(y + t * F.exp(-y))


def draw_blurred(rng, n):
    x, t, _ = draw_images(rng, n)
    x = x.reshape(n, -1)
    return x + np.float32(0.2) * rng.standard_normal(x.shape).astype(np.float32), t, t


def draw_peak(rng, n):
    # Does the highest of eight numbers come in the first half?
    x = rng.standard_normal((n, 8)).astype(np.float32)
    x[np.arange(n), rng.randint(0, 8, n)] += 2
    t = (x.argmax(axis=1) < 4).astype(int)
    return x, t, t


class GatedModel(dz.Model):
    """A GRU over the sequence, and a Linear layer on its last state."""

    def __init__(self, width, outputs):
        super().__init__()
        self.rnn = L.GRU(width)
        self.out = L.Linear(outputs)

    def forward(self, x):
        self.rnn.reset_state()
        for i in range(x.shape[1]):
            h = self.rnn(x[:, i : i + 1])
        return self.out(h)


def draw_shells(rng, n):
    x = rng.standard_normal((n, 3))
    r = np.linalg.norm(x * [1.0, 0.7, 1.3], axis=1)
    t = np.digitize(r, [1.25, 1.85])
    return x.astype(np.float32), t, t


SIXTH = (
    Task("saddle", draw_saddle, 1, half_square, (0.1, 0.01, 0.01), relu_mlp),
    Task("tones", draw_tones, 3, CE, (0.1, 0.02, 0.005), ToneModel),
    Task(
        *("waiting", draw_waiting, 1, exponential, (0.05, 0.005, 0.01), tanh_mlp),
        balanced=False,
    ),
    Task("blurred", draw_blurred, 10, CE, (0.2, 0.03, 0.005), tanh_mlp, linear=True),
    Task("peak", draw_peak, 2, CE, (0.2, 0.03, 0.01), GatedModel, linear=True),
    Task("shells", draw_shells, 3, CE, (0.1, 0.02, 0.01), relu_mlp),
)
