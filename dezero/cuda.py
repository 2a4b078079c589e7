"""The backend shim: the one file that knows CuPy, so that a graph runs on CPU or GPU.

Everything else asks :func:`get_array_module` which library an array belongs to and
calls that. CuPy is looked for on first need only: importing this module costs nothing,
and a CuPy that finds no device leaves CPU use as it is.
"""

import functools
import importlib
import operator
import random
import sys
from types import ModuleType
from typing import Any

import numpy as np

# An array of either library. Its dtype and shape are the business of the tests.
Array = Any

_variable_type: Any = type("NoVariableYet", (), {})


def register_variable(cls: type) -> None:
    """Tell this module the class of Variables; ``core`` does so, which imports us.

    A Variable and an array cannot be told apart by attributes: both have ``.data``.
    """
    global _variable_type
    _variable_type = cls


@functools.cache
def _usable_cupy() -> ModuleType | None:
    """CuPy if it is installed and a device answers, else None."""
    try:
        cupy = importlib.import_module("cupy")
        if cupy.cuda.runtime.getDeviceCount() > 0:
            return cupy
    except Exception:  # a broken driver raises errors of CuPy's own; CPU use must go on
        pass
    return None


def __getattr__(name: str) -> Any:
    """``gpu_enable`` (does a device answer?) and ``cupy`` (or None), on first need."""
    if name == "gpu_enable":
        return _usable_cupy() is not None
    if name == "cupy":
        return _usable_cupy()
    raise AttributeError(f"module 'dezero.cuda' has no attribute {name!r}")


def _require_cupy(function: str) -> Any:
    cupy = _usable_cupy()
    if cupy is None:
        raise RuntimeError(
            f"{function}: expected CuPy with a usable device, got none; "
            "install dezero[cuda12] or dezero[cuda13], whichever fits the driver"
        )
    return cupy


def is_array(x: object) -> bool:
    """Is ``x`` an array of NumPy or CuPy? A scalar and a Variable are not."""
    if isinstance(x, np.ndarray):
        return True
    cupy = sys.modules.get("cupy")  # no array can be CuPy's before CuPy is imported
    return cupy is not None and isinstance(x, cupy.ndarray)


def get_array_module(x: object) -> Any:
    """``cupy`` for one of its arrays or a Variable of one, ``numpy`` for all else."""
    if isinstance(x, np.ndarray):
        return np
    if isinstance(x, _variable_type):
        x = x.data
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(x, cupy.ndarray):
        return cupy
    return np


def as_numpy(x: Any) -> np.ndarray:
    """A scalar, array or Variable as a NumPy array, copied only from a GPU."""
    if isinstance(x, _variable_type):
        x = x.data
    if isinstance(x, np.ndarray):
        return x
    if get_array_module(x) is np:
        return np.asarray(x)
    return x.get()


def as_cupy(x: Any) -> Array:
    """A scalar, array or Variable as a CuPy array on the current device.

    Raises:
        RuntimeError: No usable CuPy.
    """
    cupy = _require_cupy("as_cupy")
    if isinstance(x, _variable_type):
        x = x.data
    return cupy.asarray(x)


def seed(n: int) -> None:
    """Seed the random states in use: Python's, NumPy's and, if it is loaded, CuPy's.

    Args:
        n: An integer in [0, 2**32).

    Raises:
        TypeError: ``n`` is no integer.
        ValueError: ``n`` is outside that range.
    """
    try:
        n = operator.index(n)  # of a NumPy integer too, which Python's would refuse
    except TypeError:
        raise TypeError(
            f"seed: expected an integer in [0, 2**32), got {type(n).__name__}"
        ) from None
    if not 0 <= n < 2**32:
        raise ValueError(f"seed: expected an integer in [0, 2**32), got {n!r}")
    random.seed(n)
    np.random.seed(n)
    cupy = sys.modules.get("cupy")
    if cupy is not None and _usable_cupy() is cupy:
        cupy.random.seed(n)


def scatter_add(target: Array, index: Any, values: Array) -> None:
    """``target[index] += values`` in place, where repeated indices add up."""
    if get_array_module(target) is np:
        np.add.at(target, index, values)
    else:
        importlib.import_module("cupyx").scatter_add(target, index, values)
