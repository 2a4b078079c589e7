"""Small trainings for `loss_curves.py`, which also measure what they really reach."""

from __future__ import annotations

import numpy as np

import dezero as dz
from dezero import optimizers

OPTIMIZERS = (optimizers.SGD, optimizers.MomentumSGD, optimizers.Adam)
VALIDATION, UNSEEN, SAMPLE = 200, 400, 256


class Training:
    """A training that goes well, until something changes one of its attributes.

    Besides the losses that are recorded, ``run`` measures the truth that `_loss_rules`
    judge by: ``true``, the loss on a fixed sample of the training data, and ``unseen``,
    that on examples that are neither trained on nor recorded as validation, each at the
    steps in ``measured``.
    """

    def __init__(self, task, seed, start=None):
        self.task, self.seed, rng = task, seed, np.random.RandomState(seed)
        n = task.n + VALIDATION
        drawn = task.draw(rng, n + UNSEEN)
        self.x, self.t, self.key = [a[: task.n] for a in drawn]
        self.validation = [a[task.n : n] for a in drawn[:2]]
        self.fresh = [a[n:] for a in drawn[:2]]
        self.kind = rng.randint(3)
        self.rate = task.rates[self.kind] * rng.choice([0.5, 0.7, 1.0])
        self.width = int(rng.choice([24, 32, 48]))
        self.batch_size = int(rng.choice([16, 32, 64]))
        self.form = rng.choice(["step", "epoch"])
        self.steps = int(rng.randint(120, 260))  # losses of steps, or
        self.epochs = int(rng.randint(15, 45))  # means of epochs, to record
        self.hooks = []  # each called as hook(training, now, x, t) -> (x, t) or None
        self.view = lambda now, x, t: (x, t)  # what the hooks make of any data
        self.schedule = None  # rate at a share of the training, over self.rate
        self.passes = 1  # through the data, between two records of the form "epoch"
        self.updates, self.sorted = True, False
        self.event = None  # the share of the training at which something happens
        self.loss = task.loss
        # The same training from another start, in another order, if asked for.
        self.rng = np.random.RandomState(seed if start is None else start)
        self.eye = np.random.RandomState(seed + 1)
        dz.seed(self.rng.randint(1 << 30))
        self.build()

    def build(self, width=None):
        self.model = self.task.model(width or self.width, self.task.outputs)
        with dz.no_grad():
            self.model(self.x[:2])
        self.optimizer = OPTIMIZERS[self.kind](self.rate).setup(self.model)

    def set_rate(self, factor):
        self.rate *= factor
        self.optimizer.lr = self.rate

    def learn(self, model, rate=1.0):
        """Train another model, its rate ``rate`` times as large."""
        self.model = model
        model(self.x[:2])
        self.rate *= rate
        self.optimizer = OPTIMIZERS[self.kind](self.rate).setup(model)

    @property
    def period(self):
        """Steps from one record to the next."""
        if self.form == "step":
            return 1
        # Of many data, the form "epoch" is the means of so many steps.
        return min(-(-len(self.x) // self.batch_size), 8) * self.passes

    @property
    def total(self):
        return self.steps if self.form == "step" else self.epochs * self.period

    @property
    def event_step(self):
        """The first step of which the share of the training is not below the event."""
        return int(np.ceil(self.event * self.total))

    def batches(self):
        n = len(self.x)
        while True:
            order = self.rng.permutation(n)
            if self.sorted:
                order = np.argsort(self.key, kind="stable")
            for i in range(0, n, self.batch_size):
                yield order[i : i + self.batch_size]

    def run(self):
        """The losses, and those of the validation data where epochs are recorded."""
        losses, validation = [], []
        self.measured, self.true, self.unseen = [], [], []
        with np.errstate(all="ignore"):
            for i, chosen in zip(range(self.total), self.batches(), strict=False):
                if self.is_measured(i):
                    self.measure(i)
                losses.append(self.step(i / self.total, chosen))
                if self.form == "epoch" and (i + 1) % self.period == 0:
                    validation.append(self.loss_on(*self.validation))
            self.measure(self.total)
        self.measured, self.true, self.unseen = [
            np.array(a) for a in (self.measured, self.true, self.unseen)
        ]
        self.batch_losses = np.array(losses)
        if self.form == "epoch":
            losses = np.reshape(losses, (self.epochs, self.period)).mean(axis=1)
        return np.float32(losses), np.float32(validation)

    def step(self, now, chosen):
        if self.schedule is not None:
            self.optimizer.lr = self.rate * self.schedule(now)
        x, t = self.x[chosen], self.t[chosen]
        for hook in self.hooks:
            x, t = hook(self, now, x, t) or (x, t)
        loss = self.loss(self.model(x), t)
        self.model.cleargrads()
        if self.updates:
            loss.backward(retain_graph=False)
            self.optimizer.update()
        return float(loss)

    def is_measured(self, i):
        """The first steps, some 60 over all, and those around an event."""
        if i < 10 or i % max(1, self.total // 60) == 0:
            return True
        if self.event is None:
            return False
        return 0 <= i - self.event_step <= max(8, 2 * self.period)

    def measure(self, i):
        now = i / self.total
        self.measured.append(i)
        x, t = self.view(now, self.x[:SAMPLE], self.t[:SAMPLE])
        self.true.append(self.loss_on(x, t))
        self.unseen.append(self.loss_on(*self.fresh))

    def loss_on(self, x, t):
        with dz.no_grad(), dz.test_mode():
            return float(self.loss(self.model(x), t))


def once(share, action):
    """A hook that runs ``action(training, x, t)`` at the first step after a share."""
    done = []

    def hook(training, now, x, t):
        if now >= share and not done:
            done.append(True)
            return action(training, x, t)

    return hook
