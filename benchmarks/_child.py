"""One side of one comparison, in a process of its own: does what its parent asks for.

Each request is a line of JSON on the standard input, and so is the answer to it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.util
import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from _workloads import OURS, SIDES, WORKLOADS, SideInfo, Workload

STEPS = 3  # that are compared


def keep_memory() -> bool:
    """``dz.use_pooled_malloc()``, for sides that shall not import dezero: did it work?

    Otherwise each new large array is paged in anew, which can cost more than its use.
    """
    path = Path(__file__).parents[1] / "dezero" / "allocation.py"
    spec = importlib.util.spec_from_file_location("allocation", path)
    assert spec is not None and spec.loader is not None
    allocation = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(allocation)
    return allocation.use_pooled_malloc()


class Side:
    """A workload as one side computes it."""

    def __init__(self, side: SideInfo, workload: Workload, small: bool):
        self.side, self.workload, self.small = side, workload, small
        if side.threads is not None:
            import torch

            torch.set_num_threads(side.threads)
        self.make = side.workloads()[workload.entry]
        self.ready: Any = None

    def check(self, path: str) -> dict[str, Any]:
        """Save the gradients of the first step, and the losses of the first steps."""
        side = self.make(self.workload.make_inputs(self.small, check=True))
        losses = []
        with self._strict():
            losses.append(float(side.step()))
        gradients = [np.array(g) for g in side.gradients()]
        losses += [float(side.step()) for _ in range(STEPS - 1)]
        np.savez(path, *gradients, losses=np.array(losses))
        return {}

    def _strict(self) -> Any:
        if self.side.name != OURS:
            return contextlib.nullcontext()
        from _only_float32 import only_float32

        return only_float32()

    def prepare(self) -> dict[str, Any]:
        """Make what is timed, and take the first step; how long does one take?"""
        self.ready = self.make(self.workload.make_inputs(self.small))
        self.ready.step()
        return self.run(1)

    def run(self, steps: int) -> dict[str, Any]:
        """Seconds that so many steps take."""
        step = self.ready.step
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(steps):
            step()
        return {
            "wall": time.perf_counter() - wall,
            "cpu": time.process_time() - cpu,
        }

    def memory(self) -> dict[str, Any]:
        """MB above package, inputs and parameters, at the highest."""
        # What is only loaded or reserved with the first steps belongs to the package.
        warm = self.make(self.workload.make_inputs(small=True))
        for _ in range(2):
            warm.step()
        square = np.ones((512, 512), np.float32)
        square @ square
        del warm, square
        side = self.make(self.workload.make_inputs(self.small))
        before = _trim()
        for _ in range(STEPS):
            side.step()
        return {"megabytes": max(_peak() - before, 0.0)}


def _trim() -> float:
    """Give back what is not in use, and start to look for a peak; MB in use."""
    gc.collect()
    with contextlib.suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        with open("/proc/self/clear_refs", "w") as f:
            f.write("5")  # the peak starts anew, see man 5 proc
    except OSError:
        return _peak()
    return _from_status("VmRSS")


def _peak() -> float:
    try:
        return _from_status("VmHWM")
    except (OSError, StopIteration):  # no Linux
        unit = 1e6 if sys.platform == "darwin" else 1e3
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _from_status(key: str) -> float:
    with open("/proc/self/status") as f:
        line = next(line for line in f if line.startswith(key))
    return int(line.split()[1]) * 1024 / 1e6


def main() -> None:
    """Read requests until there are no more."""
    # What libraries print must not get between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    name, workload, *options = sys.argv[1:]
    kept = keep_memory() if "--pooled" in options else None
    side = Side(SIDES[name], WORKLOADS[workload], "--small" in options)
    requests = {
        "check": side.check,
        "prepare": side.prepare,
        "run": side.run,
        "memory": side.memory,
    }
    print(json.dumps({"kept": kept}), file=answers, flush=True)
    for line in sys.stdin:
        request, *arguments = json.loads(line)
        try:
            answer = requests[request](*arguments)
        except Exception:
            answer = {"error": traceback.format_exc()}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
