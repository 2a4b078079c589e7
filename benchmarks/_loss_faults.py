"""The ways in which the trainings of `loss_curves.py` are run, and are broken."""

from __future__ import annotations

import _loss_tasks
import numpy as np
from _loss_training import once

import dezero as dz
import dezero.functions as F
from dezero import optimizers

# ---- healthy ---------------------------------------------------------------------


def plain(training):
    pass


def cosine(training):
    training.schedule = lambda share: 0.5 * (1 + np.cos(np.pi * share))


def warm_up(training):
    training.schedule = lambda share: min(1.0, 0.1 + 5 * share)


def halved(training):
    training.schedule = lambda share: 0.5 ** int(4 * share)


def decayed(training):
    training.optimizer.add_hook(optimizers.hooks.WeightDecay(1e-4))


def clipped(training):
    training.optimizer.add_hook(optimizers.hooks.ClipGrad(2.0))


def full_batch(training):
    training.batch_size = len(training.x)
    training.form = "step"


def tiny_batch(training):
    training.batch_size = 4
    training.form = "step"
    training.set_rate(0.4)


# ---- flat from the start ---------------------------------------------------------


def no_rate(training):
    training.set_rate(0.0)


def tiny_rate(training):
    training.set_rate(1e-5 if training.kind < 2 else 3e-5)


def no_update(training):
    training.updates = False


def detached(training):
    task = training.task
    training.loss = lambda y, t: task.loss(dz.Variable(y.data), t)


def dead_relu(training):
    if training.task.model is not _loss_tasks.relu_mlp or not training.task.balanced:
        return zero_start(training)
    for b in [p for p in training.model.params() if p.name == "b"][:-1]:
        b.data -= 1000.0
    return training.set_rate(0.1)


def zero_start(training):
    if not training.task.balanced:
        return no_rate(training)  # the last bias would learn something
    for p in training.model.params():
        p.data[...] = 0
    return training.set_rate(0.1)


def vanishing(training):
    if not training.task.balanced:
        return no_rate(training)
    layers = [dz.layers.Linear(16) for _ in range(8)]
    layers.append(dz.layers.Linear(training.task.outputs))
    chain = [f for layer in layers for f in (layer, F.sigmoid)][:-1]
    training.kind, training.rate = 0, 0.1 * training.task.rates[0]
    training.learn(dz.models.Sequential(F.flatten, *chain))
    training.model.layers[-1].W.data *= 0.1
    return None


# ---- sudden rise -----------------------------------------------------------------


def event(training, action):
    """Run ``action(training, x, t)`` at one step in the middle of the training."""
    training.event = training.rng.uniform(0.35, 0.75)
    training.hooks = [once(training.event, action)]


def rate_jumps(training):
    share = training.event = training.rng.uniform(0.35, 0.75)
    factor = 25 if training.kind < 2 else 40
    training.schedule = lambda now: factor if now >= share else 1.0


def bad_batch(training):
    embedded = training.x.dtype.kind == "i"  # characters have no size to spoil
    factor = 100.0 if embedded else 10.0

    def spoil(training, x, t):
        training.set_rate(factor)
        return (x if embedded else 20 * x), np.roll(t, 1, axis=0)

    def after(training, x, t):
        training.set_rate(1 / factor)

    event(training, spoil)
    training.hooks.append(once(training.event + 1.5 / training.total, after))


def layer_lost(training):
    def lose(training, x, t):
        for p in list(training.model.params())[-2:]:  # a fresh start, not a small one
            p.data[...] = 2 * training.rng.standard_normal(p.shape)

    event(training, lose)


def data_changes(training):
    share = training.event = training.rng.uniform(0.4, 0.75)

    def change(now, x, t):
        if now >= share:
            x = np.roll(x, 1, axis=1) if x.dtype.kind == "i" else -3 * x
        return x, t

    training.view = change
    training.hooks = [lambda training, now, x, t: change(now, x, t)]


def rate_too_large(training):
    training.event = 0.0
    training.form = "step"  # the mean of the first epoch would hide how it began
    return training.set_rate(100)


# ---- saw-tooth -------------------------------------------------------------------


def in_order(training):
    unshuffled(training)
    if training.t.dtype.kind == "f":
        two_sources(training)  # neighbours of a curve differ too little


def unshuffled(training):
    training.sorted, training.form = True, "step"
    rounds = training.rng.randint(5, 9)
    training.batch_size = max(8, len(training.x) * rounds // 200)
    training.steps = rounds * -(-len(training.x) // training.batch_size)
    training.set_rate(0.5)


def two_sources(training):
    unshuffled(training)
    n = len(training.x) // 2
    training.key = np.arange(len(training.x)) >= n
    training.t = training.t.copy()
    training.t[n:] = training.rng.permutation(training.t[n:])


def easy_first(training):
    # In the order of difficulty: more and more of the labels are wrong.
    unshuffled(training)
    n = len(training.x)
    training.key = np.arange(n)
    training.t = training.t.copy()
    chosen = np.flatnonzero(training.rng.uniform(0, 1, n) < np.linspace(-0.2, 1, n))
    training.t[chosen] = training.rng.permutation(training.t[chosen])


# ---- plateau above expectation ---------------------------------------------------


def too_small(training):
    outputs = training.task.outputs
    if not training.task.linear:
        training.learn(dz.models.Sequential(dz.layers.Linear(outputs)), 3)
    elif outputs > 1:
        start = training.model.embed if training.x.dtype.kind == "i" else F.flatten
        layers = [dz.layers.Linear(1), F.tanh, dz.layers.Linear(outputs)]
        training.learn(dz.models.Sequential(start, F.flatten, *layers), 3)
    else:
        random_labels(training)


def random_labels(training):
    # Wrong in another way each time, so that they cannot be learned by heart.
    def spoil(rng, t):
        t = t.copy()
        chosen = rng.permutation(len(t))[: int(0.4 * len(t))]
        t[chosen] = training.t[rng.randint(len(training.t), size=len(chosen))]
        return t

    training.view = lambda now, x, t: (x, spoil(training.eye, t))
    training.hooks = [lambda training, now, x, t: (x, spoil(training.rng, t))]


def rate_gone(training):
    training.schedule = lambda share: 0.3 if share < 0.05 else 1e-4


def too_much_decay(training):
    rate = 0.06 if training.t.dtype.kind == "i" else 0.5
    training.optimizer.add_hook(optimizers.hooks.WeightDecay(rate))


# ---- falls then rises ------------------------------------------------------------


def few_examples(training, n=40, spoilt=0.25):
    training.form, training.epochs = "epoch", int(training.rng.randint(40, 60))
    training.batch_size, training.passes = n, 6
    training.kind, training.rate = 2, training.task.rates[2]
    training.x, training.t = training.x[:n], training.t[:n].copy()
    chosen = training.rng.permutation(n)[: int(spoilt * n)]
    training.t[chosen] = np.roll(training.t[chosen], 1, axis=0)
    training.build(width=96)


def very_few_examples(training):
    few_examples(training, n=20, spoilt=0.3)


# ---- not a number ----------------------------------------------------------------


def rate_explodes(training):
    training.set_rate(1e4 if training.kind < 2 else 1e20)

    def square_error(y, t):
        return F.mean((y - np.float32(t).reshape(len(t), -1)) ** 2)

    training.loss = square_error


def log_of_zero(training):
    def loss(y, t):
        if t.dtype.kind == "i":
            return -F.mean(F.log(F.softmax(y)[np.arange(len(t)), t]))
        return F.mean((F.log(y + 2) - F.log(F.clip(t + 2, 0.01, 9.0))) ** 2)

    training.loss = loss
    training.set_rate(1000)


def bad_example(training):
    training.x = training.x.copy()
    share = training.rng.uniform(0.2, 0.8)

    def spoil(training, x, t):
        if x.dtype.kind == "i":
            training.model.embed.W.data[x[0]] = np.nan
        else:
            training.x[training.rng.randint(len(x))] = np.nan

    training.hooks = [once(share, spoil)]


def root_of_zero(training):
    # The gradient of a root, at a distance that is zero.
    def add_root(training, x, t):
        training.loss = lambda y, t: training.task.loss(y, t) + F.mean(F.sqrt(y - y))

    training.hooks = [once(training.rng.uniform(0.2, 0.8), add_root)]


CAUSES = {
    "healthy": (
        *(plain, plain, cosine, warm_up, halved),
        *(decayed, clipped, full_batch, tiny_batch),
    ),
    "flat": (no_rate, tiny_rate, no_update, detached, dead_relu, zero_start, vanishing),
    "sudden rise": (rate_jumps, bad_batch, layer_lost, data_changes, rate_too_large),
    "saw-tooth": (in_order, two_sources, easy_first),
    "plateau": (random_labels, too_small, rate_gone, too_much_decay),
    "overfit": (few_examples, very_few_examples),
    "nan": (rate_explodes, log_of_zero, bad_example, root_of_zero),
}
