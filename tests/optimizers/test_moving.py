"""to_gpu and to_cpu of optimizers and averages where there is no GPU."""

import numpy as np
import pytest

from dezero import cuda
from dezero.core import Parameter
from dezero.optimizers import SGD, Adam, ExponentialMovingAverage


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(cuda, "_usable_cupy", lambda: None)


def trained():
    p = Parameter(np.ones((2, 3)))
    p.grad = np.ones((2, 3))
    optimizer = Adam().setup([p])
    optimizer.update()
    average = ExponentialMovingAverage([p])
    average.update()
    return p, optimizer, average


def test_nothing_to_move(no_gpu):
    p = Parameter(np.ones(3))
    for optimizer in (SGD(), Adam().setup([p])):
        assert optimizer.to_gpu() is optimizer
        assert optimizer.to_cpu() is optimizer
    average = ExponentialMovingAverage([p])
    assert average.to_gpu() is average.to_cpu() is average


def test_without_a_gpu_all_stays(no_gpu):
    p, optimizer, average = trained()
    state, averages = dict(optimizer.state(p)), dict(average._averages)
    for x in (optimizer, average):
        with pytest.raises(RuntimeError, match="as_cupy: expected CuPy with a usable"):
            x.to_gpu()
    assert optimizer.state(p) == state
    assert average._averages == averages


def test_on_the_cpu_arrays_stay_and_scratch_goes():
    p, optimizer, average = trained()
    state, averages = dict(optimizer.state(p)), dict(average._averages)
    assert optimizer._scratch
    optimizer.to_cpu()
    average.to_cpu()
    assert not optimizer._scratch
    for name in ("m", "v", "t"):
        assert optimizer.state(p)[name] is state[name]
    assert average._averages[p] is averages[p]


def test_a_hook_that_cannot_be_moved_keeps_the_state():
    p, optimizer, _ = trained()

    class Stubborn:
        def __call__(self, params):
            pass

        def to_cpu(self):
            raise RuntimeError("stays")

    optimizer.add_hook(Stubborn())
    states = optimizer._state
    with pytest.raises(RuntimeError, match="stays"):
        optimizer.to_cpu()
    assert optimizer._state is states and optimizer._scratch
