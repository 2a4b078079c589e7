"""Curves for TensorBoard: through stand-ins, and for real where a package is there."""

import sys
import types

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.optimizers import SGD
from dezero.training.events import PACKAGES

X = np.ones((4, 3), dtype=np.float32)


class Writer:
    made: list = []

    def __init__(self, log_dir, **options):
        self.log_dir, self.options = log_dir, options
        self.points, self.flushed, self.closed = [], 0, False
        Writer.made.append(self)

    def add_scalar(self, tag, value, step):
        self.points.append((tag, value, step))

    def flush(self):
        self.flushed += 1

    def close(self):
        self.closed = True


def train(loss=F.mean_squared_error, **options):
    loader = [(X, X[:, :1])]
    return dz.fit(L.Linear(1), loader, loss, SGD(), progress=False, **options)


@pytest.fixture(params=PACKAGES)
def package(request, monkeypatch):
    """One of the packages, as a stand-in; the other is not there."""
    for name in PACKAGES:
        monkeypatch.setitem(sys.modules, name, None)
    for name in request.param.split(".")[:-1]:
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "torch.utils", types.ModuleType("torch.utils"))
    module = types.SimpleNamespace(SummaryWriter=Writer)
    monkeypatch.setitem(sys.modules, request.param, module)
    Writer.made = []
    return request.param


def test_every_column_is_a_curve(package, tmp_path):
    history = train(log_dir=tmp_path / "logs", epochs=2, validation=[(X, X[:, :1])])
    (writer,) = Writer.made
    assert (writer.log_dir, writer.options) == (str(tmp_path / "logs"), {})
    assert writer.closed and writer.flushed == 2
    names = ["loss", "validation_loss", "lr", "seconds"]
    assert writer.points == [
        (name, history[name][i], i + 1) for i in range(2) for name in names
    ]


def test_a_run_that_goes_on_leaves_out_what_is_done_again(package, tmp_path):
    options = {"log_dir": tmp_path / "logs", "checkpoint": tmp_path / "run"}
    train(epochs=2, **options)
    train(epochs=3, **options)
    assert Writer.made[1].options == {"purge_step": 3}
    assert {step for _, _, step in Writer.made[1].points} == {3}


def test_the_file_is_closed_when_something_fails(package, tmp_path):
    with pytest.raises(ZeroDivisionError):
        train(loss=lambda y, t: 1 / 0, log_dir=tmp_path)
    assert Writer.made[0].closed


def test_without_a_package(monkeypatch, tmp_path):
    for name in PACKAGES:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"fit: .* tensorboardX .* for log_dir"):
        train(log_dir=tmp_path / "logs")
    assert not (tmp_path / "logs").exists()


def test_the_real_package(tmp_path):
    pytest.importorskip("tensorboardX")
    history = train(log_dir=tmp_path / "logs", epochs=2)
    (path,) = (tmp_path / "logs").iterdir()
    assert path.name.startswith("events.out.tfevents.")
    content = path.read_bytes()
    for name in "loss", "lr", "seconds":
        assert content.count(name.encode()) == 2
    for value in history["loss"]:
        assert np.float32(value).tobytes() in content
