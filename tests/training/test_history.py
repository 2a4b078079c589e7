"""The history as a file."""

import csv
import functools

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.optimizers import SGD
from dezero.training.history import History

X = np.random.default_rng(0).standard_normal((6, 3))
T = X[:, :1] * 2

fit = functools.partial(
    dz.fit,
    loader=[(X, T)],
    loss=F.mean_squared_error,
    optimizer=SGD(),
    progress=False,
)


def model():
    return L.Linear(1, dtype=np.float64)


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns = {name: [float(row[name]) for row in rows] for name in rows[0]}
    return columns | {"epoch": [int(n) for n in columns["epoch"]]}


def test_the_file_has_every_number_after_every_epoch(tmp_path):
    path = tmp_path / "history.csv"
    seen = []

    def look(history):  # the row of this epoch comes after the callbacks
        if len(history["epoch"]) > 1:
            before = {name: column[:-1] for name, column in history.items()}
            seen.append(read(path) == before)

    history = fit(
        model(),
        optimizer=SGD(),
        epochs=3,
        csv=path,
        metrics={'off, "really"': F.mean_absolute_error},
        validation=[(X, T)],
        callbacks=[look],
    )
    assert seen == [True, True] and read(path) == history
    assert list(read(path)) == list(history)
    assert b"\r" not in path.read_bytes()


def test_a_new_run_replaces_the_file(tmp_path):
    path = tmp_path / "history.csv"
    fit(model(), optimizer=SGD(), csv=path, epochs=3)
    history = fit(model(), optimizer=SGD(), csv=path)
    assert read(path) == history


def test_a_run_that_goes_on_goes_on_in_the_file(tmp_path):
    path, checkpoint = tmp_path / "history.csv", tmp_path / "run"
    options = {"csv": path, "checkpoint": checkpoint}
    fit(model(), optimizer=SGD(), epochs=2, **options)
    with open(path, "a") as file:
        file.write("3,0.1")  # of a process that was killed
    history = fit(model(), optimizer=SGD(), epochs=3, **options)
    assert read(path) == history and history["epoch"] == [1, 2, 3]


def test_no_epochs_give_a_file_of_names(tmp_path):
    path = tmp_path / "history.csv"
    fit(model(), optimizer=SGD(), epochs=0, csv=path)
    assert path.read_text() == "epoch,loss,lr,seconds\n"


def test_a_file_that_follows_no_other_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    fit(
        model(),
        optimizer=SGD(),
        csv="history.csv",
        best="best",
        checkpoint="run",
        epochs=2,
        callbacks=[lambda history: monkeypatch.chdir(tmp_path / "other")],
    )
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["best.npz", "history.csv", "other", "run.npz"]
    assert len(read(tmp_path / "history.csv")["epoch"]) == 2


@pytest.mark.parametrize("value", [1 / 3, 1e-300, float("inf"), -0.0])
def test_numbers_are_read_back_exactly(tmp_path, value):
    history = History(["epoch", "loss"], tmp_path / "h.csv")
    history.begin_file()
    history.append({"epoch": 1, "loss": value})
    history.write_last()
    assert str(read(tmp_path / "h.csv")["loss"]) == str([value])
    assert len(history) == 1
