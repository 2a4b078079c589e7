"""The backend shim: the one file that knows CuPy, so that a graph runs on CPU or GPU.

Everything else asks :func:`get_array_module` which library an array belongs to and
calls that. CuPy is looked for on first need only: importing this module costs nothing,
and a CuPy that finds no device leaves CPU use as it is.
"""

import contextlib
import functools
import importlib
import operator
import random
import sys
from collections.abc import Iterable
from types import ModuleType
from typing import Any, NamedTuple

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


def beside(x: Array, like: Array) -> Array:
    """``x`` on the device of ``like``: itself if it is there, else a copy."""
    if isinstance(like, np.ndarray):
        return x if isinstance(x, np.ndarray) else x.get()
    if isinstance(x, np.ndarray) or x.device.id != like.device.id:
        with like.device:
            return as_cupy(x)
    return x


def device_of(x: Any) -> str:
    """Where an array or Variable lies: ``"cpu"``, or ``"cuda:0"`` and so on."""
    if isinstance(x, _variable_type):
        x = x.data
    if get_array_module(x) is np:
        return "cpu"
    return f"cuda:{x.device.id}"


def on_device_of(x: Array) -> contextlib.AbstractContextManager[Any]:
    """Inside, the GPU on which the array lies is the current one. On a CPU: nothing."""
    return contextlib.nullcontext() if isinstance(x, np.ndarray) else x.device


def check_one_device(function: str, arrays: Iterable[Any]) -> None:
    """Refuse arguments of which some are here and some there.

    Libraries refuse them too, in words of their own: this is asked for an explanation
    after something went wrong, so that a call that goes well pays nothing.

    Args:
        function: Who was given them.
        arrays: Arrays and Variables, and what else it was given.

    Raises:
        TypeError: They lie on more than one device.
    """
    if not _is_loaded():
        return
    devices = [
        device_of(x) for x in arrays if is_array(x) or isinstance(x, _variable_type)
    ]
    if len(set(devices)) > 1:
        raise TypeError(
            f"{function}: expected all arguments on one device, got "
            f"{', '.join(devices)}; move data and layers with to_gpu() or to_cpu(), "
            "plain arrays with cuda.as_cupy(x) or cuda.as_numpy(x)"
        )


def _is_loaded() -> bool:
    return sys.modules.get("cupy") is not None


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
    """Seed the random states in use: Python's, NumPy's, CuPy's on the current GPU.

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
    if _is_loaded() and (cupy := _usable_cupy()) is not None:
        cupy.random.seed(n)


# =============================================================================
# Several devices, and their memory
# =============================================================================


def device(index: int) -> Any:
    """``with cuda.device(1): ...`` makes the second GPU the current one inside.

    Arrays are made, and ``to_gpu()`` moves to, where the current device is. What lies
    on one GPU is to be used while it is the current one.

    Args:
        index: Which GPU, from 0.

    Raises:
        RuntimeError: No usable CuPy.
        TypeError: ``index`` is no integer.
        ValueError: There is no such GPU.
    """
    cupy = _require_cupy("device")
    try:
        index = operator.index(index)
    except TypeError:
        raise TypeError(
            f"device: expected an integer, got {type(index).__name__}"
        ) from None
    count = cupy.cuda.runtime.getDeviceCount()
    if not 0 <= index < count:
        raise ValueError(f"device: expected a number in [0, {count}), got {index}")
    return cupy.cuda.Device(index)


class MemoryStatistics(NamedTuple):
    """Bytes on the current GPU.

    ``used`` by arrays; ``reserved``, which CuPy holds for them and for arrays to come;
    ``free``, which the GPU has left for anybody; ``total``, which it was built with.
    """

    used: int
    reserved: int
    free: int
    total: int


def memory_statistics() -> MemoryStatistics:
    """How much memory of the current GPU is in use.

    Raises:
        RuntimeError: No usable CuPy.
    """
    cupy = _require_cupy("memory_statistics")
    pool = cupy.get_default_memory_pool()
    free, total = cupy.cuda.Device().mem_info
    return MemoryStatistics(pool.used_bytes(), pool.total_bytes(), free, total)


def free_memory() -> None:
    """Give back to the GPU what CuPy holds for arrays to come. Without one: nothing."""
    if _is_loaded() and (cupy := _usable_cupy()) is not None:
        cupy.get_default_memory_pool().free_all_blocks()


def synchronize() -> None:
    """Wait until the current GPU has done all it was told. Without one: nothing."""
    if _is_loaded() and (cupy := _usable_cupy()) is not None:
        cupy.cuda.Device().synchronize()


# =============================================================================
# Where the libraries differ
# =============================================================================


def scatter_add(target: Array, index: Any, values: Array) -> None:
    """``target[index] += values`` in place, where repeated indices add up."""
    get_array_module(target).add.at(target, index, values)


def linalg_errors(xp: Any) -> contextlib.AbstractContextManager[None]:
    """Inside, ``xp.linalg`` raises LinAlgError; CuPy's does not by itself.

    The GPU must be waited for, to know.
    """
    if xp is np:
        return contextlib.nullcontext()
    return importlib.import_module("cupyx").errstate(linalg="raise")


def compiled(kernel: Any) -> Any:
    """CuPy's form of a kernel of :mod:`dezero.kernels`, made at its first use.

    CuPy then compiles it, where it leaves dtypes open for those that it meets, and
    keeps that on disk.
    """
    return _compiled(_require_cupy("compiled"), kernel)


@functools.cache
def _compiled(cupy: Any, kernel: Any) -> Any:
    return getattr(cupy, kernel.kind)(**kernel.parts)


def strided_gemm(
    a: tuple[Array, bool, int, int],
    b: tuple[Array, bool, int, int],
    c: tuple[Array, int, int],
    sizes: tuple[int, int, int, int],
    alpha: float,
) -> None:
    """``c = alpha * a @ b`` for each of a stack of matrices stored by columns.

    It is the routine of cuBLAS behind CuPy's matmul, with the arguments that this does
    not hand on. cuBLAS reads and writes where it is told to: see
    :mod:`dezero.kernels.products` for what makes sure that it is inside the arrays.

    Args:
        a: An array whose memory holds the matrices: element (i, j) of matrix n at
            ``n * step + j * leading + i``. (array, transposed, leading, step), and
            "transposed" says that a is the transpose of what is stored.
        b: Likewise.
        c: (array, leading, step).
        sizes: Rows and columns of c, columns of a, and how many matrices.
        alpha: A factor.

    Raises:
        ValueError: The arrays lie on more than one GPU.
    """
    cupy = _require_cupy("strided_gemm")
    devices = [x[0].data.device_id for x in (a, b, c)]
    if len(set(devices)) > 1:
        raise ValueError(f"strided_gemm: expected one device, got {devices}")
    cublas = importlib.import_module("cupy_backends.cuda.libs").cublas
    runtime = cupy.cuda.runtime
    (m, n, k, count), dtype = sizes, c[0].dtype
    kind = {"f": runtime.CUDA_R_32F, "d": runtime.CUDA_R_64F}[dtype.char]
    # Kept to the end of the call, whatever other threads ask for meanwhile.
    factor, zero = _on_host(alpha, dtype.char), _on_host(0, dtype.char)
    cublas.gemmStridedBatchedEx(
        cupy.cuda.get_cublas_handle(),
        *[cublas.CUBLAS_OP_T if x[1] else cublas.CUBLAS_OP_N for x in (a, b)],
        *(m, n, k),
        factor[0],
        *(a[0].data.ptr, kind, *a[2:]),
        *(b[0].data.ptr, kind, *b[2:]),
        zero[0],
        *(c[0].data.ptr, kind, *c[1:]),
        *(count, kind, cublas.CUBLAS_GEMM_DEFAULT),
    )


@functools.lru_cache(maxsize=64)
def _on_host(x: float, char: str) -> tuple[int, np.ndarray]:
    """The address of a number where cuBLAS looks for it, and what keeps it there."""
    number = np.array(x, char)
    return number.ctypes.data, number


CONSTANT_BYTES = 1 << 16  # larger ones are not kept


def constant(x: np.ndarray, xp: Any) -> Array:
    """``x`` as an array of the library ``xp``, for numbers that stay: read only.

    On a GPU, small arrays are kept: a step of training that needs the same indices or
    weights as the one before moves nothing there. Each stream has its own, for nothing
    else makes it wait until a copy is there.
    """
    if xp is np:
        return x
    cupy = _require_cupy("constant")
    if x.nbytes > CONSTANT_BYTES:
        return cupy.asarray(x)
    return _kept_constant(cupy, current_stream(), x.tobytes(), x.dtype.str, x.shape)


@functools.lru_cache(maxsize=256)
def _kept_constant(
    cupy: Any,
    place: tuple[int, int],
    data: bytes,
    dtype: str,
    shape: tuple[int, ...],
) -> Array:
    return cupy.asarray(np.frombuffer(data, dtype).reshape(shape))


def current_stream() -> tuple[int, int]:
    """The current GPU, and the address of the stream that is current there.

    Other libraries that compute on arrays of CuPy are to do it on that stream: then
    all is done in the order in which it was asked for.
    """
    cupy = _require_cupy("current_stream")
    device = cupy.cuda.runtime.getDevice()
    return device, cupy.cuda.get_current_stream(device).ptr
