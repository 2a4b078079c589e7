"""Whether cuDNN, NVIDIA's library, computes convolutions on a GPU."""

import contextlib
import functools
import importlib
import os
from typing import Any

from dezero import cuda

VARIABLE = "DEZERO_CUDNN"
_OLDEST = 9_00_00  # the front end knows no older ones
_wanted = True


def use(wanted: bool = True) -> bool:
    """Let cuDNN compute convolutions on a GPU, or not; for the whole process.

    It does, without being asked, where ``dezero[cudnn12]`` or ``dezero[cudnn13]`` is
    installed and works, and has a way to compute what is wanted: all other convolutions
    go on as they do without it. The numbers agree up to rounding: a float32 stays one,
    TF32 is never used; float16 is added up in float32. cuDNN may add up a gradient in
    another order each time, so that two equal runs differ in the last digits.

    Whoever runs a script has the last word: where the environment says
    ``DEZERO_CUDNN=0``, cuDNN is not used. ``1`` is as if it said nothing.

    Args:
        wanted: Whether to use it, if it is there.

    Returns:
        Whether it is used from now on.

    Raises:
        ValueError: The environment says something else than 0 or 1.
    """
    global _wanted
    _wanted = bool(wanted)
    return version() is not None


def version() -> str | None:
    """The version of the cuDNN that is used, ``"9.28.0"``; None where it is not.

    Raises:
        ValueError: As in :func:`use`.
    """
    cudnn = front_end()
    if cudnn is None:
        return None
    number = cudnn.backend_version()
    return f"{number // 10000}.{number // 100 % 100}.{number % 100}"


def front_end() -> Any:
    """The module ``cudnn`` of NVIDIA's front end, or None where it is not to be used.

    Raises:
        ValueError: As in :func:`use`.
    """
    return _usable() if _wanted else None


@functools.cache
def _usable() -> Any:
    wish = os.environ.get(VARIABLE, "")
    if wish not in ("", "0", "1"):
        raise ValueError(
            f"cudnn.use: expected {VARIABLE}, if it is set, to be 0 or 1, got {wish!r}"
        )
    if wish == "0" or not cuda.gpu_enable:
        return None
    with contextlib.suppress(Exception):
        # The front end asks the system for this library, which does not know where pip
        # has put it; once it is loaded, it is found by its name.
        importlib.import_module("cuda.pathfinder").load_nvidia_dynamic_lib("cudart")
    try:
        cudnn = importlib.import_module("cudnn")
        if cudnn.backend_version() >= _OLDEST:
            cudnn.destroy_handle(cudnn.create_handle())
            return cudnn
    except Exception:  # whatever a package that does not fit to the others may raise
        pass
    return None
