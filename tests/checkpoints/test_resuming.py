"""A run stopped anywhere and resumed ends as one that was never stopped."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero import optimizers
from dezero.checkpoints import load_checkpoint, save_checkpoint
from dezero.dataloaders import DataLoader
from dezero.datasets import TensorDataset
from dezero.models import MLP
from dezero.transforms import RandomHorizontalFlip

from .runs import RULES, SCHEDULES, STEPS, Run, T, X, random_numbers, same


def check_resumed(tmp_path, stop, **options):
    dz.seed(0)
    whole = Run(**options)
    epoch = whole.train(STEPS)
    expected = whole.end(), random_numbers(), epoch

    dz.seed(0)
    first = Run(**options)
    first.save(tmp_path / "run", first.train(stop))
    dz.seed(99)  # another process knows nothing of it
    second = Run(**options)
    epoch = second.train(STEPS, second.load(tmp_path / "run"))
    assert same((second.end(), random_numbers(), epoch), expected)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_goes_on_as_if_never_stopped(tmp_path, rule):
    stops = np.random.default_rng(sum(map(ord, rule))).choice(STEPS - 1, 3, False) + 1
    for stop in stops:
        check_resumed(tmp_path, int(stop), rule=rule)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_does(tmp_path, schedule):
    for stop in 4, 8:
        check_resumed(tmp_path, stop, schedule=schedule)


@pytest.mark.parametrize("stop", range(1, STEPS))
def test_every_moment(tmp_path, stop):
    check_resumed(tmp_path, stop)


@pytest.mark.parametrize("stop", [1, 5, 6, 7])
@pytest.mark.parametrize(
    "options",
    [
        {"seed": 1},
        {"seed": 1, "workers": 2},
        {"workers": 2},
        {"shuffle": False},
        {"drop_last": True, "seed": 2},
        {"weights": np.arange(22) + 1.0},
    ],
    ids=str,
)
def test_every_kind_of_loader(tmp_path, stop, options):
    check_resumed(tmp_path, stop, **options)


def test_between_two_passes(tmp_path):
    def run(stop):
        dz.seed(3)
        model, loader = MLP((3, 2)), DataLoader(TensorDataset(X, T), 4)
        optimizer = optimizers.SGD(0.1).setup(model)
        start = 0
        while start < 4:
            for epoch in range(start, 4):
                for x, t in loader:
                    loss = F.softmax_cross_entropy(model(x), t)
                    model.cleargrads()
                    loss.backward()
                    optimizer.update()
                start = epoch + 1
                if start == stop:
                    run = dict(model=model, optimizer=optimizer, loader=loader)
                    save_checkpoint(tmp_path / "run", **run, epoch=start)
                    break
            if start == stop:
                stop = None
                dz.seed(4)
                model, loader = MLP((3, 2)), DataLoader(TensorDataset(X, T), 4)
                optimizer = optimizers.SGD(0.1).setup(model)
                run = dict(loader=loader, optimizer=optimizer, model=model)
                start = load_checkpoint(tmp_path / "run", **run)["epoch"]
        return model.state_dict(), random_numbers()

    expected = run(None)
    for stop in 1, 2, 3:
        assert same(run(stop), expected)


def test_transforms_inside_of_the_data(tmp_path):
    pictures = np.random.default_rng(0).standard_normal((9, 1, 2, 2))

    class Pictures:
        def __init__(self, transform):
            self.transform = transform

        def __len__(self):
            return 9

        def __getitem__(self, i):
            return self.transform(pictures[i]), i

    def start():
        flip = RandomHorizontalFlip(seed=3)
        return flip, DataLoader(Pictures(flip), 2, seed=1)

    flip, loader = start()
    expected = [x.tolist() for _ in range(2) for x, _ in loader]
    flip, loader = start()
    seen = []
    for x, _ in loader:
        seen.append(x.tolist())
        if len(seen) == 3:
            save_checkpoint(tmp_path / "run", loader=loader, flip=flip)
            break
    flip, loader = start()
    load_checkpoint(tmp_path / "run", loader=loader, flip=flip)
    seen += [x.tolist() for _ in range(2) for x, _ in loader]
    assert seen == expected
