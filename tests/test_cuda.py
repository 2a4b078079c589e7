"""The backend shim, as far as it goes without a device."""

import random
import sys
import types

import numpy as np
import pytest

import dezero as dz
from dezero import cuda


@pytest.fixture
def no_device(monkeypatch):
    monkeypatch.setattr(cuda, "_usable_cupy", lambda: None)


# =============================================================================
# Is there a device?
# =============================================================================


def no_driver():
    raise RuntimeError("cudaErrorInsufficientDriver")


@pytest.mark.parametrize(
    "cupy",
    [
        None,  # importing it is an ImportError
        types.SimpleNamespace(),
        types.SimpleNamespace(
            cuda=types.SimpleNamespace(
                runtime=types.SimpleNamespace(getDeviceCount=no_driver)
            )
        ),
        types.SimpleNamespace(
            cuda=types.SimpleNamespace(
                runtime=types.SimpleNamespace(getDeviceCount=lambda: 0)
            )
        ),
    ],
)
def test_a_cupy_without_a_device_is_none(monkeypatch, cupy):
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    cuda._usable_cupy.cache_clear()
    try:
        assert not cuda.gpu_enable and cuda.cupy is None
    finally:
        cuda._usable_cupy.cache_clear()


def test_a_cupy_without_a_driver_leaves_arrays_alone(monkeypatch):
    # It can be imported, and its arrays have a class; there are none.
    cupy = types.SimpleNamespace(ndarray=type("ndarray", (), {}))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    x = np.ones(3)
    assert cuda.get_array_module(x) is cuda.get_array_module(2.0) is np
    assert cuda.is_array(x) and not cuda.is_array(2.0)
    np.testing.assert_array_equal((dz.Variable(x) * 2).data, 2 * x)


def test_other_names():
    with pytest.raises(AttributeError, match="'dezero.cuda' has no attribute 'gpu'"):
        _ = cuda.gpu


NEED_A_DEVICE = [
    (lambda: cuda.as_cupy(np.ones(3)), "as_cupy: expected CuPy .* install dezero"),
    (lambda: cuda.device(0), "device: expected CuPy with a usable device, got none"),
    (cuda.memory_statistics, "memory_statistics: expected CuPy with a usable device"),
    (lambda: dz.Variable(np.ones(3)).to_gpu(), "as_cupy: expected CuPy"),
]


@pytest.mark.parametrize(("call", "regex"), NEED_A_DEVICE)
def test_what_needs_a_device_says_so(no_device, call, regex):
    with pytest.raises(RuntimeError, match=regex):
        call()


# =============================================================================
# Without one
# =============================================================================


def test_what_needs_none_does_nothing(no_device):
    cuda.synchronize()
    cuda.free_memory()
    with cuda.linalg_errors(np):
        assert np.linalg.det(np.eye(2)) == 1


def test_everything_is_on_the_cpu():
    x = np.ones(3)
    for y in (x, dz.Variable(x), 2.0, np.float32(2)):
        assert cuda.device_of(y) == "cpu"
    assert cuda.beside(x, np.zeros(1)) is x
    assert cuda.constant(x, np) is x
    cuda.check_one_device("add", [x, dz.Variable(x), 2.0, None])


@pytest.mark.parametrize("x", [3, 3.0, np.float32(3), np.array(3), [3]])
def test_as_numpy(x):
    y = cuda.as_numpy(x)
    assert type(y) is np.ndarray and y == 3
    assert cuda.as_numpy(dz.Variable(y)) is y


def test_scatter_add():
    x = np.zeros(3)
    cuda.scatter_add(x, np.array([0, 0, 2]), np.array([1.0, 2.0, 3.0]))
    assert x.tolist() == [3, 0, 3]


# =============================================================================
# Seeds
# =============================================================================


@pytest.mark.parametrize("n", [3, np.int64(3), np.uint8(3)])
def test_seed_makes_runs_repeat(n):
    dz.seed(3)
    expected = random.random(), np.random.rand()
    dz.seed(n)
    assert (random.random(), np.random.rand()) == expected


@pytest.mark.parametrize("n", ["3", 3.5, None])
def test_seed_takes_integers(n):
    state = random.getstate()
    with pytest.raises(TypeError, match=r"seed: expected an integer in \[0, 2\*\*32\)"):
        dz.seed(n)
    assert random.getstate() == state


@pytest.mark.parametrize("n", [-1, 2**32])
def test_seed_takes_what_numpy_takes(n):
    with pytest.raises(
        ValueError, match=r"seed: expected an integer in \[0, 2\*\*32\)"
    ):
        dz.seed(n)
