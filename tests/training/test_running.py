"""Checkpoints and Ctrl-C: a run that was stopped ends as one that never was."""

import functools
import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import DataLoader
from dezero.datasets import TensorDataset
from dezero.models import Sequential
from dezero.optimizers import SGD, Adam, ExponentialLR, GradientNoise

rng = np.random.default_rng(0)
X = rng.standard_normal((22, 3))
T = (X[:, 0] > 0).astype(np.int64)
DATA = TensorDataset(X, T)

fit = functools.partial(dz.fit, progress=False)


class Stopped(Exception):
    pass


def make(seed):
    np.random.seed(seed)
    model = Sequential(
        L.Linear(6, dtype=np.float64), L.BatchNorm(), L.Dropout(0.2), L.Linear(2)
    )
    optimizer = Adam(lr=0.05).setup(model).add_hook(GradientNoise())
    return {
        "model": model,
        "optimizer": optimizer,
        "schedule": ExponentialLR(optimizer, 0.9),
        "loader": DataLoader(DATA, 5),
        "validation": DataLoader(DATA, 7),
    }


def train(parts, loss=F.softmax_cross_entropy, **options):
    options = {"epochs": 5, "metrics": [F.accuracy], "schedule_every": "step"} | options
    return fit(loss=loss, **parts, **options)


def outcome(parts, history):
    """All that has to be the same to the bit."""
    columns = {name: column for name, column in history.items() if name != "seconds"}
    weights = [p.data.tolist() for p in parts["model"].params()]
    return columns, weights, parts["optimizer"].lr, np.random.random()


def whole(**options):
    parts = make(0)
    return outcome(parts, train(parts, **options))


def stop_after(calls, how):
    """A loss that calls ``how`` at its last call."""
    left = [calls]

    def loss(y, t):
        left[0] -= 1
        if left[0] == 0:
            how()
        return F.softmax_cross_entropy(y, t)

    return loss


def fail():
    raise Stopped


@pytest.fixture
def ctrl_c():
    """What Ctrl-C does, under the handler that Python starts with."""
    if threading.current_thread() is not threading.main_thread():
        pytest.fail("expected the tests to run in the main thread")
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield lambda: signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, old)


# ---- going on --------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"restore_best": True}, {"accumulate": 2}])
@pytest.mark.parametrize("epochs", [[2, 5], [1, 2, 3, 4, 5]])
def test_epochs_in_several_calls(tmp_path, epochs, options):
    for i, n in enumerate(epochs):
        parts = make(0 if i == 0 else 7)  # other weights and random numbers at first
        history = train(parts, checkpoint=tmp_path / "run", epochs=n, **options)
        assert history["epoch"] == list(range(1, n + 1))
    assert outcome(parts, history) == whole(**options)


@pytest.mark.parametrize("calls", [1, 8, 14, 20])
def test_a_run_that_failed_goes_on_after_its_last_epoch(tmp_path, calls):
    with pytest.raises(Stopped):
        train(make(0), stop_after(calls, fail), checkpoint=tmp_path / "run.npz")
    assert (tmp_path / "run.npz").exists() == (calls > 9)  # 5 batches, 4 to validate
    parts = make(0 if calls < 9 else 7)
    history = train(parts, checkpoint=tmp_path / "run.npz")
    assert outcome(parts, history) == whole()


def test_a_run_that_is_complete_stays_so(tmp_path):
    history = train(make(0), checkpoint=tmp_path / "run")
    again = make(7)
    for epochs in 5, 3:
        assert train(again, checkpoint=tmp_path / "run", epochs=epochs) == history
    assert outcome(again, history) == whole()


def test_patience_goes_on_too(tmp_path):
    def measure(y, t, values=(3, 2, 4, 5, 1, 6)):
        return values[np.random.randint(len(values))] + np.random.random()

    options = {"metrics": {"m": measure}, "monitor": "m", "mode": "max", "epochs": 40}
    expected = whole(**options, patience=5, restore_best=True)
    n = len(expected[0]["epoch"])
    assert 6 < n < 40
    for epochs in 2, n - 1, 40, 40:
        parts = make(0 if epochs == 2 else 7)
        history = train(
            parts,
            checkpoint=tmp_path / "run",
            patience=5,
            restore_best=True,
            **{**options, "epochs": epochs},
        )
    assert outcome(parts, history) == expected


def test_a_checkpoint_of_other_columns(tmp_path):
    train(make(0), checkpoint=tmp_path / "run", epochs=1)
    parts = make(7)
    before = [p.data for p in parts["model"].params()]
    text = "history of epoch, loss, validation_loss, lr, seconds, got one of .*accuracy"
    with pytest.raises(ValueError, match=text):
        train(parts, checkpoint=tmp_path / "run", metrics=None)
    for p, data in zip(parts["model"].params(), before, strict=True):
        assert p.data is data  # loading is undone


def test_a_checkpoint_without_the_best_weights(tmp_path):
    train(make(0), checkpoint=tmp_path / "run", epochs=1)
    with pytest.raises(ValueError, match="restore_best .* weights of epoch 1, the bes"):
        train(make(7), checkpoint=tmp_path / "run", restore_best=True)


# ---- Ctrl-C ----------------------------------------------------------------------


@pytest.mark.parametrize("calls", [1, 3, 5, 12, 14])
@pytest.mark.parametrize("accumulate", [1, 2])
def test_ctrl_c_ends_after_the_step_and_the_run_goes_on(
    tmp_path, ctrl_c, calls, accumulate
):
    options = {"checkpoint": tmp_path / "run", "accumulate": accumulate}
    parts = make(0)
    history = train(parts, stop_after(calls, ctrl_c), **options)
    # A pass that ended in a group that is not full is over: the epoch is completed.
    over = accumulate == 2 and calls in (5, 14)
    assert len(history["epoch"]) == (calls > 9) + over
    again = make(7)
    after = train(again, **options)
    assert after["epoch"] == [1, 2, 3, 4, 5]
    assert outcome(again, after) == whole(accumulate=accumulate)


def test_ctrl_c_in_a_validation_lets_it_end(tmp_path, ctrl_c):
    expected = whole(epochs=1)
    parts = make(0)
    history = train(parts, stop_after(7, ctrl_c), checkpoint=tmp_path / "run")
    assert history["epoch"] == [1]
    assert outcome(parts, history) == expected


def test_ctrl_c_keeps_what_was_learned_without_a_checkpoint(ctrl_c, capsys):
    model = L.Linear(2, dtype=np.float64, in_size=3)
    before = model.W.data.copy()
    loader = [(X[:11], T[:11]), (X[11:], T[11:])]
    history = dz.fit(model, loader, stop_after(1, ctrl_c), SGD(), epochs=3)
    assert history["epoch"] == [] and not np.array_equal(model.W.data, before)
    assert capsys.readouterr().err == "interrupted in epoch 1, after batch 1\n"
    dz.fit(model, loader, stop_after(4, ctrl_c), SGD(), validation=loader, epochs=3)
    assert capsys.readouterr().err.endswith(" s\ninterrupted\n")


def test_a_loader_without_a_state_passes_over_what_was_used(tmp_path, ctrl_c):
    path = tmp_path / "run"
    loader = [(X[i : i + 5], T[i : i + 5]) for i in range(0, 22, 5)]
    parts = make(0) | {"loader": loader}
    expected = outcome(parts, train(parts))
    train(make(0) | {"loader": loader}, stop_after(3, ctrl_c), checkpoint=path)
    parts = make(7) | {"loader": loader}
    assert outcome(parts, train(parts, checkpoint=path)) == expected


def test_a_second_ctrl_c_raises(tmp_path, ctrl_c):
    def twice():
        ctrl_c()
        ctrl_c()

    parts = make(0)
    with pytest.raises(KeyboardInterrupt):
        train(parts, stop_after(12, twice), checkpoint=tmp_path / "run")
    again = make(7)
    assert outcome(again, train(again, checkpoint=tmp_path / "run")) == whole()


def interrupt():
    raise KeyboardInterrupt


def test_an_interrupt_that_is_no_signal_leaves_the_last_epoch_in_the_file(tmp_path):
    parts = make(0)
    history = train(parts, stop_after(12, interrupt), checkpoint=tmp_path / "run")
    assert history["epoch"] == [1]
    again = make(7)
    assert outcome(again, train(again, checkpoint=tmp_path / "run")) == whole()


def test_a_handler_of_the_users_own_stays(ctrl_c):
    calls = []
    signal.signal(signal.SIGINT, lambda *_: calls.append(1))
    history = train(make(0), stop_after(3, ctrl_c), epochs=1)
    assert calls == [1] and history["epoch"] == [1]
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_in_another_thread_there_are_no_signals(ctrl_c):
    found = []
    thread = threading.Thread(target=lambda: found.append(train(make(0), epochs=1)))
    thread.start()
    thread.join()
    assert found[0]["epoch"] == [1]


def test_a_real_ctrl_c_in_a_process(tmp_path):
    code = """
import os, signal, sys
import numpy as np, dezero as dz, dezero.functions as F
signal.signal(signal.SIGINT, signal.default_int_handler)
def loss(y, t, calls=[]):
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGINT)
    return F.mean_squared_error(y, t)
x = np.ones((4, 2), np.float32)
model = dz.layers.Linear(1)
history = dz.fit(model, [(x, x[:, :1])] * 5, loss, dz.optimizers.SGD(), epochs=9)
print(history["epoch"], len(model.W))
"""
    root = pathlib.Path(__file__).parents[2]
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stdout) == (0, "[] 2\n"), run.stderr
    assert run.stderr == "interrupted in epoch 1, after batch 3\n"


# ---- the file of the best epoch ----------------------------------------------------


def falling(y, t):
    """A metric that is best in the first epoch."""
    falling.calls += 1
    return 1 / falling.calls


falling.calls = 0


@pytest.mark.parametrize("metrics, mode", [({"m": falling}, "max"), ([], None)])
def test_a_file_of_the_best_epoch_that_is_gone(tmp_path, metrics, mode):
    x, t = np.ones((4, 1)), np.ones((4, 1))

    def go(epochs):
        np.random.seed(0)
        model = L.Linear(1, dtype=np.float64, in_size=1)
        fit(
            model,
            [(x, t)],
            F.mean_squared_error,
            SGD(lr=0.01),
            epochs=epochs,
            metrics=metrics,
            monitor="m" if metrics else None,
            mode=mode,
            best=tmp_path / "best",
            checkpoint=tmp_path / "run",
        )
        return model

    first = go(1).W.data.copy()
    kept = (tmp_path / "best.npz").read_bytes()
    os.remove(tmp_path / "best.npz")
    go(1)  # the best epoch is the one just over: the weights are there
    assert (tmp_path / "best.npz").read_bytes() == kept
    go(3)
    os.remove(tmp_path / "best.npz")
    if not metrics:  # every epoch was better
        np.testing.assert_array_equal(go(3).W.data, go(3).W.data)
        assert (tmp_path / "best.npz").exists()
        return
    message = (
        r"^fit: expected the weights of epoch 1, the best one by m, in '.*best', got "
        r"no such file; put it back, or begin anew with another checkpoint"
    )
    with pytest.raises(ValueError, match=message):
        go(5)
    (tmp_path / "best.npz").write_bytes(kept)
    assert not np.array_equal(go(5).W.data, first)
    assert (tmp_path / "best.npz").read_bytes() == kept
