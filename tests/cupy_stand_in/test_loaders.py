"""Loaders that bring their batches to the device, each in one go."""

import numpy as np
import pytest

from dezero import cuda
from dezero.dataloaders import DataLoader, SeqDataLoader
from dezero.datasets import SinCurve, TensorDataset

from .transfers import transfers

X = np.arange(20, dtype=np.float32).reshape(10, 2)
T = np.arange(10)


class Dicts:
    """A dataset of dicts, some of whose values are no arrays."""

    def __len__(self):
        return 10

    def __getitem__(self, i):
        return {"x": X[i], "t": T[i], "name": f"number {i}"}


def test_batches():
    here = DataLoader(TensorDataset(X, T), 4, shuffle=False)
    there = DataLoader(TensorDataset(X, T), 4, shuffle=False, gpu=True)
    for batch, expected in zip(there, here, strict=True):
        for a, b in zip(batch, expected, strict=True):
            assert cuda.device_of(a) == "cuda:0" and a.dtype == b.dtype
            np.testing.assert_array_equal(a.get(), b)


def test_a_batch_goes_there_once_per_array():
    loader = DataLoader(TensorDataset(X, T), 5, gpu=True)
    with transfers() as moved:
        for x, _ in loader:
            x * 2
    assert (moved.to_host, moved.to_device) == (0, 4), moved


def test_to_gpu_and_to_cpu():
    loader = DataLoader(TensorDataset(X, T), 5, shuffle=False)
    for move, device in (loader.to_gpu, "cuda:0"), (loader.to_cpu, "cpu"):
        move()
        assert {cuda.device_of(a) for batch in loader for a in batch} == {device}


def test_dicts():
    for batch in DataLoader(Dicts(), 5, shuffle=False, gpu=True):
        assert cuda.device_of(batch["x"]) == cuda.device_of(batch["t"]) == "cuda:0"
        assert all([isinstance(name, str) for name in batch["name"]])


def test_data_that_is_there_already():
    loader = DataLoader(TensorDataset(cuda.as_cupy(X), cuda.as_cupy(T)), 5, gpu=True)
    for x, t in loader:
        assert cuda.device_of(x) == cuda.device_of(t) == "cuda:0"
        assert x.shape == (5, 2)


@pytest.mark.parametrize("gpu", [False, True])
def test_sequences(gpu):
    loader = SeqDataLoader(SinCurve(), 4, gpu=gpu)
    x, t = next(iter(loader))
    assert cuda.device_of(x) == cuda.device_of(t) == ("cuda:0" if gpu else "cpu")
    assert x.shape == t.shape == (4, 1)
