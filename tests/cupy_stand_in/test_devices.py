"""Moving between devices, arguments on several of them, and what the memory says."""

import numpy as np
import pytest

import dezero.layers as L
import dezero.optimizers as O
from dezero import Variable, cuda
from dezero.core import Parameter

from .transfers import transfers


def test_where_things_are(cupy):
    x = np.ones(3)
    assert cuda.device_of(x) == cuda.device_of(Variable(x)) == cuda.device_of(2.0)
    assert cuda.device_of(x) == "cpu"
    v = Variable(x)
    v.grad = x
    v.to_gpu()
    assert cuda.device_of(v) == cuda.device_of(v.grad) == "cuda:0"
    with transfers() as moved:
        v.to_gpu()
    assert not moved.lines
    v.to_cpu()
    assert cuda.device_of(v) == cuda.device_of(v.grad) == "cpu"


def test_beside():
    here, there = np.ones(3), cuda.as_cupy(np.ones(3))
    assert cuda.beside(here, here) is here and cuda.beside(there, there) is there
    assert cuda.device_of(cuda.beside(here, there)) == "cuda:0"
    assert cuda.device_of(cuda.beside(there, here)) == "cpu"
    with cuda.device(1):
        second = cuda.as_cupy(here)
    assert cuda.device_of(cuda.beside(there, second)) == "cuda:1"
    assert cuda.device_of(cuda.beside(here, second)) == "cuda:1"


def test_training_on_the_second_device():
    layer = L.Linear(2, in_size=3)
    with cuda.device(1):
        layer.to_gpu()
        optimizer = O.Adam(0.1).setup(layer).add_hook(O.ClipGrad(0.1))
        for _ in range(2):
            loss = (layer(cuda.as_cupy(np.ones((4, 3), np.float32))) ** 2).sum()
            layer.cleargrads()
            loss.backward()
            optimizer.update()
    state = optimizer.state(layer.W).values()
    arrays = [layer.W, layer.W.grad, *[x for x in state if cuda.is_array(x)]]
    assert {cuda.device_of(x) for x in arrays} == {"cuda:1"}


def test_state_moves_from_device_to_device():
    p = Parameter(np.ones(3, np.float32))
    optimizer = O.MomentumSGD(0.1).setup([p])
    for device in ("cuda:0", "cuda:1", "cpu"):
        if device == "cpu":
            p.to_cpu()
            p.grad = np.ones(3, np.float32)
            optimizer.update()
        else:
            with cuda.device(int(device[-1])):
                p.to_gpu()
                p.grad = cuda.as_cupy(np.ones(3, np.float32))
                optimizer.update()
        (velocity,) = [x for x in optimizer.state(p).values() if cuda.is_array(x)]
        assert cuda.device_of(p) == cuda.device_of(velocity) == device


def test_arguments_on_several_devices():
    here, there = np.ones(3), cuda.as_cupy(np.ones(3))
    with cuda.device(1):
        second = cuda.as_cupy(here)
    cuda.check_one_device("mul", [here, Variable(here), 2.0, None])
    cuda.check_one_device("mul", [there, there])
    for arrays, devices in [
        ((here, Variable(there)), "cpu, cuda:0"),
        ((there, second, 1.0), "cuda:0, cuda:1"),
    ]:
        message = f"mul: expected all arguments on one device, got {devices}; move .*"
        with pytest.raises(TypeError, match=message + "to_gpu"):
            cuda.check_one_device("mul", arrays)


def test_the_device_of_an_array_made_the_current_one(cupy):
    with cuda.device(1):
        there = cuda.as_cupy(np.ones(3))
    for x, device in ((there, 1), (np.ones(3), 0)):
        with cuda.on_device_of(x):
            assert cupy.cuda.runtime.getDevice() == device
    assert cupy.cuda.runtime.getDevice() == 0


ERRORS = [
    (lambda: cuda.device(2), ValueError, r"device: .* \[0, 2\), got 2"),
    (lambda: cuda.device(-1), ValueError, r"device: .* \[0, 2\), got -1"),
    (lambda: cuda.device("0"), TypeError, "device: expected an integer, got str"),
]


@pytest.mark.parametrize(("call", "error", "regex"), ERRORS)
def test_error(call, error, regex):
    with pytest.raises(error, match=regex):
        call()


def test_memory():
    memory = cuda.memory_statistics()
    assert 0 < memory.used <= memory.reserved <= memory.total
    assert memory.free <= memory.total
    cuda.free_memory()
    cuda.synchronize()


def test_constants_are_moved_once():
    x = np.arange(5)
    with transfers() as moved:
        for _ in range(3):
            y = cuda.constant(x.copy(), cuda.cupy)
        assert y.tolist() == x.tolist() and y.dtype == x.dtype
    assert moved.to_device == 1
    assert cuda.constant(x, np) is x
    with cuda.device(1):
        assert cuda.device_of(cuda.constant(x, cuda.cupy)) == "cuda:1"


def test_each_stream_has_constants_of_its_own(monkeypatch):
    """None but its own waits until they are there, or still need the memory."""
    x = np.arange(7)
    with transfers() as moved:
        found = []
        for stream in (1, 2, 1):
            monkeypatch.setattr(cuda, "current_stream", lambda s=stream: (0, s))
            found.append(cuda.constant(x, cuda.cupy))
    assert moved.to_device == 2
    assert found[0] is found[2] is not found[1]


def test_large_constants_are_not_kept():
    x = np.zeros(cuda.CONSTANT_BYTES)
    with transfers() as moved:
        for _ in range(2):
            cuda.constant(x, cuda.cupy)
    assert moved.to_device == 2


def test_seeds(cupy):
    draws = []
    for _ in range(2):
        cuda.seed(3)
        draws.append(cupy.random.rand(3).tolist())
    assert draws[0] == draws[1]
