"""Compare DeZero and PyTorch on one card: what they compute, then time and memory.

Both sides are in one process, so that they share the card's context and neither waits
for the other's; each workload has a process of its own, in which nothing is compiled
yet.
"""

from __future__ import annotations

import concurrent.futures
import gc
import importlib
import multiprocessing
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import Any
from unittest import mock

import numpy as np
from _child import STEPS
from _child import Side as ChildSide
from _gpu_workloads import SIDES, TORCH, WITH_CUDNN, WORKLOADS
from _measuring import _times, agree
from _workloads import OURS, SideInfo, Workload

WARM_UP = 5  # steps

# For both sides: full float32, whatever else the user may have set.
_FULL_FLOAT32 = {"NVIDIA_TF32_OVERRIDE": "0", "CUPY_TF32": "0"}


class Side(ChildSide):
    """A workload as one side computes it on the device."""

    def __init__(self, side: SideInfo, workload: Workload, small: bool, device: str):
        super().__init__(side, workload, small)
        self.module = importlib.import_module(side.module)
        make = self.make
        self.make = lambda inputs: make(inputs | {"device": device})

    def first(self) -> float:
        """Seconds of the first step: kernels are compiled, libraries loaded."""
        self.ready = self.make(self.workload.make_inputs(self.small))
        return self.run(1)["wall"]

    def prepare(self) -> dict[str, Any]:
        """Warm up; how long does a step take?"""
        self.run(WARM_UP)
        return {"wall": self.run(WARM_UP)["wall"] / WARM_UP}

    def run(self, steps: int) -> dict[str, Any]:
        """Seconds that so many steps take, until the device has done them."""
        self.module.synchronize()
        start = time.perf_counter()
        super().run(steps)
        self.module.synchronize()
        return {"wall": time.perf_counter() - start}

    def memory(self) -> dict[str, Any]:
        """MB of parameters, inputs and all that the first steps need, at the peak."""
        self.ready = None
        gc.collect()

        def train() -> None:
            side = self.make(self.workload.make_inputs(self.small))
            for _ in range(STEPS):
                side.step()

        return {"megabytes": self.module.peak_memory(train) / 1e6}


class _Turn:
    """A side as :func:`_measuring._times` asks it, without a process of its own."""

    def __init__(self, computation: Side):
        self.side, self.computation = computation.side.name, computation

    def ask(self, request: str, *arguments: Any) -> dict[str, Any]:
        return getattr(self.computation, request)(*arguments)


def measure(
    name: str, device: str, rounds: int = 5, window: float = 0.3, small: bool = False
) -> dict[str, Any]:
    """Check and time one workload.

    Args:
        name: Of the workload.
        device: ``"cuda"`` or ``"cpu"``.
        rounds: How often each side takes a turn.
        window: Seconds of a turn.
        small: Take the sizes for tests.

    Returns:
        A row: ``name``; milliseconds of a step under ``rounds`` and seconds of the
        first one under ``first``, for each side; on a card also the MB under
        ``memory``, and under ``activity`` how many kernels a step starts and how often
        it copies (None where the driver does not tell).

    Raises:
        AssertionError: The sides do not compute the same.
        RuntimeError: The workload needs cuDNN, which is not to be had.
    """
    workload = WORKLOADS[name]
    check_cudnn(name, device)
    sides = {key: Side(side, workload, small, device) for key, side in SIDES.items()}
    first = {key: side.first() for key, side in sides.items()}
    check(workload, sides, 1e-4 if small else workload.tolerance)
    row: dict[str, Any] = {"name": name, "device": device, "small": small}
    turns: Any = [_Turn(side) for side in sides.values()]
    row |= {"rounds": _times(turns, rounds, window, cpu=False), "first": first}
    if device == "cuda":
        count = sides[TORCH].module.activity
        row["activity"] = {key: count(side.ready.step) for key, side in sides.items()}
        memory = {key: side.memory()["megabytes"] for key, side in sides.items()}
        row["memory"] = memory
    return row


def check_cudnn(name: str, device: str) -> None:
    """Let DeZero use cuDNN for the workloads that are called so, for no others.

    Raises:
        RuntimeError: It is not there. On the CPU nobody needs it.
    """
    from dezero import cudnn

    used = cudnn.use(name in WITH_CUDNN)
    if name in WITH_CUDNN and device == "cuda" and not used:
        raise RuntimeError(f"{name}: expected DeZero to find cuDNN, got none")


def check(workload: Workload, sides: Mapping[str, Side], tolerance: float) -> None:
    """Both find the same gradients, and the same losses in the first steps.

    Raises:
        AssertionError: They do not; see :func:`_measuring.agree`.
    """
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for i, (key, side) in enumerate(sides.items()):
            path = f"{folder}/{i}.npz"
            side.check(path)
            with np.load(path) as file:
                found[key] = dict(file)
    agree(f"{workload.name}, {OURS}", found[OURS], found[TORCH], tolerance)


def in_fresh_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the function returns in a new interpreter, with no kernel compiled yet."""
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as cache,
        mock.patch.dict(os.environ, _FULL_FLOAT32 | {"CUPY_CACHE_DIR": cache}),
        concurrent.futures.ProcessPoolExecutor(1, context) as pool,
    ):
        return pool.submit(function, *arguments).result()


# ---- the card --------------------------------------------------------------------


def card() -> dict[str, Any]:
    """Name and memory of the card, its driver, and the libraries that compute there.

    Raises:
        RuntimeError: One of the two sides finds no card that computes.
    """
    import torch

    from dezero import cuda, cudnn

    if not cuda.gpu_enable:
        raise RuntimeError(f"DeZero finds no card: {_why_no_cupy()}")
    if not torch.cuda.is_available():
        raise RuntimeError(f"torch {torch.__version__} finds no card")
    if float(cuda.as_cupy(np.ones(3)).sum()) != 3:
        raise RuntimeError("the card does not compute the sum of three ones")
    about = {"device": torch.cuda.get_device_name(0), "driver": _driver()}
    about["memory"] = f"{cuda.memory_statistics().total / 1e9:.0f} GB"
    about["tf32"], about["cudnn"] = False, cudnn.version()
    versions = {}
    for side in SIDES.values():
        versions.update(importlib.import_module(side.module).versions())
    return about | {"versions": versions}


def _why_no_cupy() -> str:
    try:
        cupy = importlib.import_module("cupy")
        return f"CuPy {cupy.__version__} counts {cupy.cuda.runtime.getDeviceCount()}"
    except Exception as error:  # of any kind, also of CuPy's own: it is the answer
        return f"{type(error).__name__}: {error}"


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.split("\n")[0].strip() or "unknown"
