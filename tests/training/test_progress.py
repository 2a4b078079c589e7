"""What is shown: bars on a terminal, else lines, or nothing."""

import io
import re
import sys
import types

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.optimizers import SGD
from dezero.training import progress

X = np.ones((4, 3), dtype=np.float32)


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Bar:
    """A stand-in for tqdm that writes down what it is told."""

    made: list = []

    def __init__(self, **options):
        self.options, self.told = options, []
        Bar.made.append(self)

    def update(self, n):
        self.told.append(n)

    def set_postfix_str(self, text, refresh):
        assert not refresh
        self.told.append(text)

    def close(self):
        self.told.append("closed")


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    # Not sys.stderr itself, which pytest sets again between a fixture and its test.
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=stream))
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    Bar.made = []
    return stream


def without_times(text):
    return re.sub(r"\d+\.\d s\n", "# s\n", text)


def train(loader=((X, X[:, :1]),) * 3, loss=F.mean_squared_error, **options):
    model = L.Linear(1)
    model(X)
    model.W.data[...] = 0
    return dz.fit(model, loader, loss, SGD(lr=0.0), **options)


LINE = "epoch {}/2  loss 1  m 2.5  validation_loss 1  validation_m 2.5  lr 0  # s\n"
LINES = LINE.format(1) + LINE.format(2)
OPTIONS = {
    "epochs": 2,
    "metrics": {"m": lambda y, t: 2.5},
    "validation": [(X, X[:, :1])],
}


def test_lines_where_there_is_no_terminal(capsys):
    train(**OPTIONS)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert without_times(captured.err) == LINES


def test_lines_without_tqdm(terminal, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    train(**OPTIONS)
    assert without_times(terminal.getvalue()) == LINES


def test_silence(terminal, capsys):
    train(progress=False)
    assert terminal.getvalue() == "" and Bar.made == []


def test_a_bar_per_epoch(terminal, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    train(**OPTIONS, accumulate=2)
    assert without_times(terminal.getvalue()) == LINES
    assert [bar.options["desc"] for bar in Bar.made] == ["epoch 1/2", "epoch 2/2"]
    for bar in Bar.made:
        assert (bar.options["total"], bar.options["initial"]) == (3, 0)
        assert bar.options["file"] is terminal
        assert bar.told == ["loss=1", 2, "loss=1", 1, "closed"]


def test_the_loss_is_looked_at_now_and_then(terminal, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL", 1e9)
    monkeypatch.setattr(progress.time, "monotonic", lambda: 1.0)
    train()
    assert Bar.made[0].told == [1, 1, 1, "closed"]


def test_a_loader_without_a_length_has_a_bar_too(terminal):
    train(iter([(X, X[:, :1])]))
    assert Bar.made[0].options["total"] is None


def test_the_bar_goes_when_something_fails(terminal):
    with pytest.raises(ZeroDivisionError):
        train(loss=lambda y, t: 1 / 0)
    assert Bar.made[0].told == ["closed"]


def test_the_real_tqdm(monkeypatch):
    pytest.importorskip("tqdm")
    stream = Terminal()
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=stream))
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    train(**OPTIONS)
    text = without_times(stream.getvalue())
    assert "epoch 1/2:" in text and LINE.format(1) in text
    assert text.endswith("\r" + LINE.format(2))  # the bar has left its place


class Gone(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, text):
        raise BrokenPipeError


def closed():
    stream = io.StringIO()
    stream.close()
    stream.isatty = lambda: False
    return stream


@pytest.mark.parametrize("make", [lambda: None, Gone, closed])
def test_training_goes_on_where_nobody_reads(monkeypatch, capsys, make):
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=make()))
    assert train(**OPTIONS)["epoch"] == [1, 2]
    assert capsys.readouterr().out == ""
