"""What the tests of checkpoints share, processes that are to be killed among them."""

import copy
import os
import random

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import optimizers
from dezero.checkpoints import load_checkpoint, save_checkpoint
from dezero.dataloaders import DataLoader
from dezero.datasets import TensorDataset
from dezero.models import MLP, Sequential
from dezero.optimizers import Adam, CosineLR
from dezero.transforms import Mixup

X = np.random.default_rng(0).standard_normal((22, 3)).astype(np.float32)
T = (X.sum(axis=1) > 0).astype(np.int64)
STEPS = 15  # of 6 in a pass over the data: two ends of a pass are among them

RULES = {
    "SGD": lambda: optimizers.SGD(0.1),
    "Momentum": lambda: optimizers.MomentumSGD(0.1, nesterov=True),
    "AdaGrad": lambda: optimizers.AdaGrad(0.1),
    "AdaDelta": lambda: optimizers.AdaDelta(),
    "RMSprop": lambda: optimizers.RMSprop(0.01, momentum=0.5, centered=True),
    "Adam": lambda: optimizers.Adam(0.01),
    "AMSGrad": lambda: optimizers.Adam(0.01, amsgrad=True),
    "AdamW": lambda: optimizers.AdamW(0.01),
    "Lion": lambda: optimizers.Lion(0.01),
    "LBFGS": lambda: optimizers.LBFGS(iterations=2, history=3),
}
SCHEDULES = {
    "StepLR": lambda o: optimizers.StepLR(o, 4, 0.5),
    "CosineLR": lambda o: optimizers.CosineLR(o, 5, restarts=True, warmup=2),
    "OneCycleLR": lambda o: optimizers.OneCycleLR(o, STEPS),
    "Plateau": lambda o: optimizers.ReduceLROnPlateau(o, patience=0, cooldown=1),
    "MultiStepLR": lambda o: optimizers.MultiStepLR(o, [3, 9]),
}


class Run:
    """All that a training run consists of, made anew for each process."""

    def __init__(self, rule="Adam", schedule="StepLR", noise=True, **options):
        self.model = Sequential(L.Linear(4), L.BatchNorm(), L.Dropout(0.2), L.Linear(2))
        if rule == "LBFGS":  # wants the same loss at each call
            self.model = MLP((4, 2))
        groups = [{"params": self.model}]
        if rule != "LBFGS":
            self.model(X)  # so that the groups have their parameters
            groups = [
                {"params": self.model[0]},
                {"params": [self.model[1], self.model[3]], "lr": 0.05},
            ]
            groups[1]["params"] = [p for l in groups[1]["params"] for p in l.params()]
        self.optimizer = RULES[rule]().setup(self.model if rule == "LBFGS" else groups)
        if noise and rule != "LBFGS":
            self.optimizer.add_hook(optimizers.ClipGrad(1.0))
            self.optimizer.add_hook(optimizers.GradientNoise(0.01))
        self.schedule = SCHEDULES[schedule](self.optimizer)
        self.loader = DataLoader(TensorDataset(X, T), 4, **options)
        self.average = optimizers.ExponentialMovingAverage(self.model, 0.9)
        self.mixup = Mixup(2, seed=5)
        self.steps = 0

    def parts(self):
        names = ["average", "mixup", "loader", "schedule", "optimizer", "model"]
        return {name: getattr(self, name) for name in names}

    def train(self, last, epoch=0):
        """Go on until ``last`` steps are done; at that moment, the number of epochs."""
        while True:
            for x, t in self.loader:
                x, t = self.mixup(x, t)

                def loss(x=x, t=t):
                    return F.softmax_cross_entropy(self.model(x), t)

                if isinstance(self.optimizer, optimizers.LBFGS):
                    value = self.optimizer.update(loss)
                else:
                    y = loss()
                    self.model.cleargrads()
                    y.backward()
                    self.optimizer.update()
                    value = float(y.data)
                measure = isinstance(self.schedule, optimizers.ReduceLROnPlateau)
                self.schedule.step(value) if measure else self.schedule.step()
                self.average.update()
                self.steps += 1
                if self.steps == last:
                    return epoch
            epoch += 1

    def save(self, path, epoch=0):
        save_checkpoint(path, **self.parts(), epoch=epoch, steps=self.steps)

    def load(self, path):
        rest = load_checkpoint(path, **self.parts())
        self.steps = rest["steps"]
        return rest["epoch"]

    def end(self):
        """All that tells one run from another."""
        states = {name: part.state_dict() for name, part in self.parts().items()}
        return copy.deepcopy(states)


def random_numbers():
    """What comes next, and the states as they were."""
    states = random.getstate(), np.random.get_state()
    drawn = [random.random(), random.gauss(0, 1)]
    drawn += np.random.standard_normal(3).tolist() + np.random.rand(3).tolist()
    random.setstate(states[0])
    np.random.set_state(states[1])
    return drawn


def same(x, y):
    """Are they equal in type and value, bit for bit, all the way down?"""
    if type(x) is not type(y):
        return False
    if isinstance(x, (list, tuple)):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, dict):
        return list(x) == list(y) and all(same(x[k], y[k]) for k in x)
    if isinstance(x, (np.ndarray, np.generic)):
        return (x.dtype, x.shape, x.tobytes()) == (y.dtype, y.shape, y.tobytes())
    if isinstance(x, float):
        return x.hex() == y.hex()
    return x == y


def refused(path, error, message, run, **others):
    """Loading fails and leaves everything as it was; the error."""
    import pytest  # which processes that are to be killed need not wait for

    before = run.end(), random_numbers()
    arrays = [p.data for p in run.model.params()]
    loader = dict(vars(run.loader))
    groups = copy.copy(run.optimizer.groups)
    with pytest.raises(error, match=message) as info:
        load_checkpoint(path, **{**run.parts(), **others})
    assert same((run.end(), random_numbers()), before)
    assert all(p.data is x for p, x in zip(run.model.params(), arrays, strict=True))
    assert vars(run.loader) == loader
    assert run.optimizer.groups == groups
    return info.value


class SmallRun:
    """A small training run with everything random in it that there is."""

    def __init__(self):
        dz.seed(0)
        rng = np.random.default_rng(0)
        x, t = rng.standard_normal((10, 3)), rng.integers(2, size=10)
        data = TensorDataset(x.astype(np.float32), t)
        self.model = Sequential(dz.layers.Linear(20), F.dropout, dz.layers.Linear(2))
        self.optimizer = Adam(0.01).setup(self.model)
        self.schedule = CosineLR(self.optimizer, 7, restarts=True)
        self.loader = DataLoader(data, 4)
        self.steps = 0

    def parts(self):
        names = ["model", "optimizer", "schedule", "loader"]
        return {name: getattr(self, name) for name in names}

    def step(self):
        try:
            x, t = next(self.loader)
        except StopIteration:
            x, t = next(self.loader)
        loss = F.softmax_cross_entropy(self.model(x), t)
        self.model.cleargrads()
        loss.backward()
        self.optimizer.update()
        self.schedule.step()
        self.steps += 1

    def save(self, path):
        save_checkpoint(path, **self.parts(), steps=self.steps)

    def resume(self, path):
        if os.path.exists(path):
            self.steps = load_checkpoint(path, **self.parts())["steps"]

    def end(self):
        states = {name: part.state_dict() for name, part in self.parts().items()}
        return states, self.steps, np.random.get_state(legacy=False)


def train_for_ever(path):
    """Go on from a checkpoint and save after every step, which is said in a line."""
    run = SmallRun()
    run.resume(path)
    while True:
        run.step()
        run.save(path)
        os.write(1, b"%d\n" % run.steps)  # whole or not at all, if killed
