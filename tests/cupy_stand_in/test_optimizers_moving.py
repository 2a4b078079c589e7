"""What optimizers and averages remember, moved to the device and back."""

import numpy as np
import pytest

import dezero.optimizers as O
from dezero import cuda

from .optimizing import RULES, parameters, same, train
from .transfers import transfers


@pytest.mark.parametrize("rule", [*RULES, "LBFGS"])
def test_to_gpu_and_back(rule):
    params = parameters(False)
    optimizer = (O.LBFGS() if rule == "LBFGS" else RULES[rule]()).setup(params)
    if rule == "LBFGS":
        p = params[0]
        optimizer.setup([p]).update(lambda: ((p - 1.0) ** 4).sum())
        params = [p]
    else:
        train(optimizer, params)
    before = optimizer.state_dict()
    with transfers() as moved:
        assert optimizer.to_gpu() is optimizer
    states = [optimizer._state.get(p, {}) for p in params]
    arrays = [x for state in states for x in state.values() if cuda.is_array(x)]
    assert moved.to_device == len([x for x in arrays if x.ndim]) and not moved.to_host
    assert {cuda.device_of(x) for x in arrays} <= {"cuda:0"}
    assert bool(arrays) == (rule != "SGD")
    assert not optimizer._scratch
    assert optimizer.to_cpu() is optimizer
    after = optimizer.state_dict()
    np.testing.assert_equal(after, before)


def test_a_moved_optimizer_goes_on():
    results = []
    for gpu in (False, True):
        params = parameters(False)
        optimizer = O.Adam(0.1).setup(params)
        train(optimizer, params)
        if gpu:
            for p in params:
                p.to_gpu()
            optimizer.to_gpu()
            for p in params:
                p.grad = p.data
            with transfers() as moved:
                optimizer.update()  # nothing is left to follow
            assert not moved.lines, moved
        else:
            for p in params:
                p.grad = p.data
            optimizer.update()
        results.append([cuda.as_numpy(p) for p in params])
    same(*results)


def test_state_goes_to_the_current_device(cupy):
    params = parameters(True)
    optimizer = O.MomentumSGD().setup(params)
    train(optimizer, params)
    with cupy.cuda.Device(1):
        optimizer.to_gpu()
    assert {cuda.device_of(s["v"]) for s in optimizer._state.values()} == {"cuda:1"}


def test_a_move_that_fails_changes_nothing(monkeypatch):
    params = parameters(False)
    optimizer = O.Adam().setup(params)
    average = O.ExponentialMovingAverage(params)
    train(optimizer, params, after=average.update)
    as_cupy, left = cuda.as_cupy, [3, 1]

    def no_room(x):
        if not left[-1]:
            raise MemoryError("no room")
        left[-1] -= 1
        return as_cupy(x)

    monkeypatch.setattr(cuda, "as_cupy", no_room)
    for x in (average, optimizer):
        with pytest.raises(MemoryError, match="no room"):
            x.to_gpu()
        left.pop()
    states = optimizer._state.values()
    found = [x for state in states for x in state.values() if cuda.is_array(x)]
    found += average._averages.values()
    assert {cuda.device_of(x) for x in found} == {"cpu"}


class Remembering:
    """A hook with an array."""

    def __init__(self):
        self.seen = np.zeros(3)

    def __call__(self, params):
        pass

    def to_gpu(self):
        self.seen = cuda.as_cupy(self.seen)

    def to_cpu(self):
        self.seen = cuda.as_numpy(self.seen)


def test_hooks_that_can_be_moved_are():
    hook = Remembering()
    optimizer = O.SGD().setup(parameters(False))
    optimizer.add_hook(hook).add_hook(O.ClipGrad(1.0)).add_hook(print)
    assert cuda.device_of(optimizer.to_gpu().hooks[0].seen) == "cuda:0"
    assert cuda.device_of(optimizer.to_cpu().hooks[0].seen) == "cpu"


def test_averages_move():
    params = parameters(False)
    average = O.ExponentialMovingAverage(params, decay=0.5)
    average.update()
    before = average.state_dict()
    assert average.to_gpu() is average
    assert {cuda.device_of(x) for x in average._averages.values()} == {"cuda:0"}
    assert average.to_cpu() is average
    assert {cuda.device_of(x) for x in average._averages.values()} == {"cpu"}
    np.testing.assert_equal(average.state_dict(), before)
