"""Means, which stay on the device until somebody reads them."""

import sys
import types

import numpy as np
import pytest

from dezero.training.batches import Batch
from dezero.training.measures import Mean, Measures, scalar


class OnDevice:
    """A stand-in for an array of a GPU that counts how often it is fetched."""

    fetched = 0

    def __init__(self, value, dtype=np.float32):
        self.value, self.dtype = value, np.dtype(dtype)
        self.shape, self.size = (1,), 1

    def reshape(self, shape):
        assert shape == ()
        return OnDevice(self.value, self.dtype)

    def astype(self, dtype):
        return OnDevice(self.value, dtype)

    def __mul__(self, size):
        return OnDevice(self.value * size, self.dtype)

    def __radd__(self, total):
        return OnDevice(self.value + total, self.dtype)

    def __add__(self, other):
        return OnDevice(self.value + other.value, self.dtype)

    def __float__(self):
        OnDevice.fetched += 1
        return float(self.value)


@pytest.fixture
def device(monkeypatch):
    cupy = types.SimpleNamespace(ndarray=OnDevice)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(OnDevice, "fetched", 0)


def test_means_are_fetched_when_they_are_read(device):
    measures = Measures("fit", {"m": lambda y, t: OnDevice(t.sum())})
    for value in 1.0, 2.0, 6.0:
        batch = Batch("fit", (np.ones(2), np.full(2, value)))
        measures.add(batch, None, scalar(OnDevice(value)))
    assert OnDevice.fetched == 0
    assert measures.means["loss"].total.dtype == np.float64
    assert measures.values() == {"loss": 3.0, "m": 6.0}
    assert OnDevice.fetched == 2


def test_a_mean_counts_in_double_precision():
    mean = Mean()
    for _ in range(10):
        mean.add(scalar(np.float16(0.1)), 10_000)  # the sum is out of its range
    assert float(mean) == pytest.approx(float(np.float16(0.1)), rel=1e-12)


@pytest.mark.parametrize("x", [np.array(2.0), np.array([[2]]), np.float32(2), 2, True])
def test_scalars(x):
    assert scalar(x) == float(np.asarray(x).reshape(()))


def test_a_state_to_go_on_from():
    one, other = (Measures("fit", {"m": lambda y, t: 0.1}) for _ in range(2))
    batch = Batch("fit", (np.ones(3), np.ones(3)))
    one.add(batch, None, 0.3)
    other.load_state_dict(one.state_dict())
    for measures in one, other:
        measures.add(batch, None, 0.7)
    assert one.values() == other.values()
    assert one.state_dict() == other.state_dict()
