"""Weights and checkpoints: written on one device, read on the other."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
import dezero.optimizers as O
from dezero import cuda
from dezero.checkpoints import load_checkpoint, save_checkpoint
from dezero.models import Sequential

X = np.random.RandomState(0).randn(6, 4).astype(np.float32)


def parts(gpu):
    dz.seed(0)
    model = Sequential(L.Linear(5, nobias=True), L.BatchNorm(), F.tanh, L.Linear(2))
    model(X)
    if gpu:
        model.to_gpu()
    optimizer = O.Adam(0.1).setup(model)
    return {
        "model": model,
        "optimizer": optimizer,
        "schedule": O.ExponentialLR(optimizer, 0.5),
        "average": O.ExponentialMovingAverage(model, decay=0.5),
    }


def train(model, optimizer, schedule, average, steps=2):
    for _ in range(steps):
        x = cuda.as_cupy(X) if cuda.device_of(model[0].W) != "cpu" else X
        loss = F.sum(model(x) ** 2)
        model.cleargrads()
        loss.backward()
        optimizer.update()
        schedule.step()
        average.update()
    return float(loss), [cuda.as_numpy(p).copy() for p in model.params()]


DEVICES = [(False, True), (True, False), (True, True)]


@pytest.mark.parametrize(("first", "second"), DEVICES)
@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_weights(tmp_path, first, second, suffix):
    if suffix == ".safetensors":
        pytest.importorskip("safetensors")
    source, target = parts(first)["model"], parts(second)["model"]
    train(**parts(first))
    source.save_weights(tmp_path / f"weights{suffix}")
    for p in target.params():
        p.data = p.data * 0
    target.load_weights(tmp_path / f"weights{suffix}")
    for p, q in zip(source.params(), target.params(), strict=True):
        assert cuda.device_of(q) == ("cuda:0" if second else "cpu")
        np.testing.assert_array_equal(cuda.as_numpy(p), cuda.as_numpy(q))


@pytest.mark.parametrize(("first", "second"), DEVICES)
def test_checkpoints(tmp_path, first, second):
    whole = parts(first)
    train(**whole)
    expected = train(**whole)

    saved = parts(first)
    train(**saved)
    save_checkpoint(tmp_path / "run", **saved)
    resumed = parts(second)
    load_checkpoint(tmp_path / "run", **resumed)
    loss, weights = train(**resumed)
    np.testing.assert_allclose(loss, expected[0], rtol=1e-6)
    for a, b in zip(weights, expected[1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    device = {"cuda:0"} if second else {"cpu"}
    assert {cuda.device_of(p) for p in resumed["model"].params()} == device
