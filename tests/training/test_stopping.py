"""Early stopping, the file of the best epoch, and going back to it."""

import functools
import math

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.optimizers import SGD
from dezero.serializers import load_npz
from dezero.training.stopping import Monitor

X = np.random.default_rng(0).standard_normal((6, 3))
T = X[:, :1] * 2


def run(values, model=None, epochs=None, **options):
    """Train with a measure that takes these values, epoch by epoch."""
    left = iter(values)
    return dz.fit(
        L.Linear(1, dtype=np.float64) if model is None else model,
        [(X, T)],
        F.mean_squared_error,
        SGD(lr=0.1),
        epochs=len(values) if epochs is None else epochs,
        metrics={"m": lambda y, t: next(left)},
        monitor="m",
        progress=False,
        **options,
    )


@pytest.mark.parametrize(
    "mode, patience, values, epochs",
    [
        ("min", 1, [3, 2, 2, 1], 3),  # the same is not better
        ("min", 2, [3, 4, 2, 3, 3, 1], 5),
        ("max", 2, [3, 4, 2, 3, 5], 4),
        ("min", 2, [math.nan, math.nan, 1], 2),
        ("min", 2, [math.nan, 5, math.nan, 4, 6], 5),
        ("max", 1, [-math.inf, 0, 1], 3),
        ("min", None, [1, 2, 3, 4], 4),
    ],
)
def test_patience(mode, patience, values, epochs):
    history = run(values, mode=mode, patience=patience)
    assert history["epoch"] == list(range(1, epochs + 1))


def test_what_is_monitored_by_default():
    counts = iter([0, 0, 1, 1, 2])  # worse and worse in validation

    def loss(y, t):
        if not dz.Config.train:
            return F.mean(y * 0) + float(next(counts))
        return F.mean_squared_error(y, t)

    fit = functools.partial(
        dz.fit, L.Linear(1, dtype=np.float64), [(X, T)], loss, progress=False
    )
    history = fit(SGD(), validation=[(X, T)], epochs=9, patience=2)
    assert history["epoch"] == [1, 2, 3]
    history = fit(SGD(), epochs=9, patience=2)
    assert history["epoch"] == list(range(1, 10))


def test_the_best_file_and_going_back(tmp_path):
    seen = []
    model = L.Linear(1, dtype=np.float64)
    values = [3.0, 1.0, 2.0, 1.5]

    def look(history):
        seen.append(model.W.data.copy())
        files = sorted(path.name for path in tmp_path.iterdir())
        assert files == ["best.npz"]
        index = int(np.argmin(values[: len(seen)]))
        saved = load_npz(tmp_path / "best")
        np.testing.assert_array_equal(saved["W"], seen[index])

    options = {"mode": "min", "best": tmp_path / "best", "callbacks": [look]}
    run(values, model, **options)
    np.testing.assert_array_equal(model.W.data, seen[3])
    seen.clear()
    run(values, model, restore_best=True, **options)
    np.testing.assert_array_equal(model.W.data, seen[1])
    assert not np.array_equal(seen[1], seen[3])
    run(values, model, restore_best=True, mode="min")  # and it can be trained on
    assert not np.array_equal(model.W.data, seen[1])


def test_without_a_best_epoch_the_weights_stay():
    model = L.Linear(1, dtype=np.float64)
    seen = []
    look = [lambda history: seen.append(model.W.data.copy())]
    run([math.nan] * 2, model, mode="min", restore_best=True, callbacks=look)
    np.testing.assert_array_equal(model.W.data, seen[-1])


def test_what_ended_it_is_said(capsys):
    left = iter([1.0, 2.0, 3.0])
    dz.fit(
        L.Linear(1, dtype=np.float64),
        [(X, T)],
        F.mean_squared_error,
        SGD(),
        metrics={"m": lambda y, t: next(left)},
        monitor="m",
        mode="min",
        patience=2,
        epochs=9,
    )
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "no better m in 2 epochs; the best was 1.0 in epoch 1"


def test_a_monitor_can_begin_anew():
    monitor = Monitor("m", "max", 1)
    assert [monitor.look(1, 1.0), monitor.look(2, 0.5)] == [True, False]
    assert monitor.out_of_patience and monitor.best_epoch == 1
    monitor.forget()
    assert not monitor.out_of_patience
    assert monitor.look(1, 0.1)
