"""Every kernel gives on a GPU what its twin gives here."""

import importlib
import pkgutil

import numpy as np
import pytest

import dezero.kernels
from dezero import cuda
from dezero.kernels import KERNELS, Kernel

from .cases import CASES, parameters_of

for module in pkgutil.iter_modules(dezero.kernels.__path__):
    importlib.import_module(f"dezero.kernels.{module.name}")


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_has_a_case(name):
    assert KERNELS[name] in [case.kernel for case in CASES]


@pytest.mark.parametrize("name", KERNELS)
def test_the_twin_takes_the_same_parameters(name):
    kernel = KERNELS[name]
    parameters_of(kernel)
    assert repr(kernel) == f"<Kernel {name}>"


def test_without_a_device(monkeypatch):
    monkeypatch.setattr(cuda, "_usable_cupy", lambda: None)
    with pytest.raises(RuntimeError, match="compiled: expected CuPy with a usable dev"):
        next(iter(KERNELS.values()))(np.ones(3))


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("case", CASES, ids=repr)
def test_the_kernel_computes_what_its_twin_does(case, dtype):
    compare(case, np.dtype(dtype), seed=0)
    compare(case, np.dtype(dtype), seed=1)


def compare(case, dtype, seed):
    """Both from the same arguments, all arrays of both afterwards."""
    arguments = case.arguments(dtype, np.random.default_rng(seed))
    there = [cuda.as_cupy(x) if is_array(x) else x for x in arguments.values()]
    case.kernel(*there, **case.options)
    with np.errstate(all="ignore"):
        case.kernel.twin(*arguments.values())
    tolerance = {"e": 5e-3, "f": 1e-5, "d": 1e-12}[dtype.char]
    for name, x, y in zip(arguments, arguments.values(), there, strict=True):
        if is_array(x):
            np.testing.assert_allclose(
                cuda.as_numpy(y), x, tolerance, tolerance, err_msg=name
            )


def is_array(x):
    return isinstance(x, np.ndarray)


@pytest.mark.gpu
def test_a_kernel_is_made_once():
    kernel = next(iter(KERNELS.values()))
    assert cuda.compiled(kernel) is cuda.compiled(kernel)


def test_each_name_is_one_kernel():
    made = set()
    for module in pkgutil.iter_modules(dezero.kernels.__path__):
        values = vars(importlib.import_module(f"dezero.kernels.{module.name}")).values()
        made |= {x for x in values if isinstance(x, Kernel)}
    assert made == set(KERNELS.values())
