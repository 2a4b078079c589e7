"""The modules ``cupy``, ``cupyx`` and what is in them, made of the rest here."""

import functools
import types

from . import blas, devices, kernels, linalg, raw_kernels, sampling
from .arrays import ndarray
from .functions import make_function
from .names import MODULES as PATHS
from .names import VERSION, lacking
from .ufuncs import ufunc

MADE = {
    "cupy": {
        "ndarray": ndarray,
        "ufunc": ufunc,
        "ElementwiseKernel": kernels.ElementwiseKernel,
        "ReductionKernel": kernels.ReductionKernel,
        "RawKernel": raw_kernels.RawKernel,
        "get_default_memory_pool": devices.get_default_memory_pool,
    },
    "cupy.cuda": devices.CUDA,
    "cupy.cuda.runtime": devices.RUNTIME,
    "cupy.linalg": linalg.LINALG,
    "cupy.random": sampling.FUNCTIONS,
    "cupy_backends.cuda.libs.cublas": blas.BLAS,
    "cupyx": {
        "scatter_add": lambda a, slices, value: _scatter_add(a, slices, value),
        "errstate": linalg.errstate,
    },
}


class Module(types.ModuleType):
    """A module whose names come when they are first asked for."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        path = self.__name__
        if f"{path}.{name}" in MODULES:
            return MODULES[f"{path}.{name}"]
        if name not in PATHS.get(path, ()) and name != "scipy":
            raise lacking(path, name)
        value = _made(path, name)
        setattr(self, name, value)
        return value


@functools.cache
def _made(path, name):
    if name in MADE.get(path, ()):
        value = MADE[path][name]
        if callable(value) and not isinstance(value, type):
            from .functions import _checked

            return _checked(path, name, value)
        return value
    return make_function(path, name)


def find(path, name):
    """The function ``name`` of ``path``, or None if there is none in CuPy."""
    if path not in MODULES or name not in PATHS[path]:
        return None
    return getattr(MODULES[path], name)


def _scatter_add(a, slices, value):
    import warnings

    warnings.warn(
        "`cupyx.scatter_add` is deprecated: use `cupy.add.at`",
        DeprecationWarning,
        stacklevel=2,
    )
    find("cupy", "add").at(a, slices, value)


# They gather other modules.
PARENTS = {"cupyx.scipy": {}, "cupy_backends.cuda.libs": {}}
MODULES = {path: Module(path) for path in [*PATHS, *PARENTS]}
MODULES["cupy"].__version__ = VERSION
PATHS = {**PATHS, **PARENTS}
