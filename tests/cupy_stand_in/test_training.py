"""Training on the device: the losses of the CPU, and no word to the host."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
import dezero.optimizers as O
from dezero import cuda
from dezero.core import test_mode
from dezero.functions import noise
from dezero.models import GPT, MLP, LeNet, Sequential

from .transfers import transfers

rng = np.random.RandomState(0)
POINTS = rng.randn(8, 6).astype(np.float32)
IMAGES = rng.randn(4, 1, 8, 8).astype(np.float32)
SEQUENCES = rng.randn(4, 5, 3).astype(np.float32)
IDS = rng.randint(0, 11, (3, 7))


class LastStep(L.Layer):
    """Class scores from what an LSTM has read."""

    def __init__(self):
        super().__init__()
        self.lstm = L.LSTM(8)
        self.out = L.Linear(3)

    def forward(self, xs):  # (N, T, D)
        self.lstm.reset_state()
        for t in range(xs.shape[1]):
            h = self.lstm(xs[:, t])
        return self.out(h)


def convolutional():
    return Sequential(
        L.Conv2d(4, 3, pad=1),
        L.BatchNorm(),
        F.relu,
        lambda x: F.average_pooling(x, 2, 2),
        F.flatten,
        lambda x: F.dropout(x, 0.3),
        L.Linear(3),
    )


def classes(n):
    return np.arange(n) % 3


# The model, its input and its targets.
TASKS = {
    "MLP": (lambda: MLP((9, 3), activation=F.gelu), POINTS, classes(8)),
    "LeNet": (lambda: LeNet(3), IMAGES, classes(4)),
    "batch norm and dropout": (convolutional, IMAGES, classes(4)),
    "LSTM": (LastStep, SEQUENCES, classes(4)),
    "GPT": (
        lambda: GPT(11, context=6, width=8, heads=2, dropout=0.2),
        IDS[:, :-1],
        IDS[:, 1:],
    ),
}
STEPS = 4


@pytest.fixture(autouse=True)
def the_same_dropout(monkeypatch):
    """Each library draws its own numbers; here both drop the same elements."""

    def mask(x, kept):
        xp = cuda.get_array_module(x)
        pattern = np.random.RandomState(x.size).rand(*x.shape) < kept / noise.LEVELS
        return cuda.constant(pattern, xp)

    monkeypatch.setattr(noise, "_random_mask", mask)


def train(task, gpu, watch=None):
    """The losses of some steps of training; what all but the first of them moved."""
    make, x, t = TASKS[task]
    dz.seed(0)
    model = make()
    with test_mode():
        model(x)  # makes the weights
    if gpu:
        model.to_gpu()
        x, t = cuda.as_cupy(x), cuda.as_cupy(t)
    optimizer = O.Adam(0.01).setup(model)
    optimizer.add_hook(O.WeightDecay(1e-3)).add_hook(O.ClipGrad(0.5))
    schedule = O.CosineLR(optimizer, period=STEPS, warmup=1)
    losses, lines = [], []
    for step in range(STEPS):
        with transfers() as moved:
            y = model(x)
            loss = F.softmax_cross_entropy(y, t, axis=-1 if y.ndim == 3 else 1)
            model.cleargrads()
            loss.backward(retain_graph=False)
            optimizer.update()
            schedule.step()
        lines += moved.lines if step else []
        losses.append(loss)
    assert {cuda.device_of(p) for p in model.params()} == {"cuda:0" if gpu else "cpu"}
    return [float(loss) for loss in losses], lines


@pytest.mark.parametrize("task", TASKS)
def test_the_losses_of_the_cpu(task):
    here, _ = train(task, gpu=False)
    there, lines = train(task, gpu=True)
    assert here[-1] < here[0]
    np.testing.assert_allclose(there, here, rtol=1e-6, atol=1e-6)
    assert not lines, "\n".join(sorted(set(lines)))
