"""Compare the sides of a workload: first what they compute, then how long they take.

Each side runs in a process of its own. The speed of a machine drifts within seconds, so
they take turns in short windows, and each round gives one ratio.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from _workloads import BY_HAND, SIDES, WORKLOADS, Workload

_CHILD = Path(__file__).with_name("_child.py")
# Seconds: the threads of BLAS go on turning for up to 0.2 after a product, on a core
# that the next side needs. Without a pause that side took up to 1.5 times as long.
PAUSE = 0.25
_IMPORT = """
from time import perf_counter
start = perf_counter()
import {}
print(perf_counter() - start)
"""


class Failure(Exception):
    """A side could not do what it was asked for."""


class Child:
    """A process that computes one side of a workload."""

    def __init__(self, side: str, workload: str, pooled: bool, small: bool):
        options = ["--pooled"] * pooled + ["--small"] * small
        self.side = side
        self.process = subprocess.Popen(
            [sys.executable, str(_CHILD), side, workload, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | _threads(side),
        )

    def wait(self) -> dict[str, Any]:
        """The answer to the last request; the first one comes without."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise Failure(f"{self.side}: the process ended, see above")
        answer = json.loads(line)
        if "error" in answer:
            raise Failure(f"{self.side}: {answer['error']}")
        return answer

    def ask(self, request: str, *arguments: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([request, *arguments]) + "\n")
        self.process.stdin.flush()
        return self.wait()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def _threads(side: str) -> dict[str, str]:
    threads = SIDES[side].threads
    return {} if threads is None else {"OMP_NUM_THREADS": str(threads)}


@contextlib.contextmanager
def _children(
    workload: Workload, sides: Sequence[str], pooled: bool, small: bool
) -> Iterator[list[Child]]:
    children: list[Child] = []
    try:
        for side in sides:  # all at once: it takes seconds to import some
            children.append(Child(side, workload.name, pooled, small))
        for child in children:
            if child.wait()["kept"] is False:
                raise Failure("--pooled: expected glibc, whose malloc can keep memory")
        yield children
    finally:
        for child in children:
            child.close()


def who_has(workload: Workload, sides: Sequence[str]) -> list[str]:
    """Those of the sides that are installed and have the workload."""
    there = [side for side in sides if not SIDES[side].missing()]
    if workload.kind == "import":
        return [side for side in there if side != "torch1"]  # is that of torch2
    return [side for side in there if workload.entry in SIDES[side].workloads()]


def measure(
    workload: Workload,
    sides: Sequence[str],
    *,
    pooled: bool = False,
    rounds: int = 5,
    window: float = 0.25,
    cpu: bool = False,
    small: bool = False,
) -> dict[str, Any]:
    """Check and time one workload.

    Args:
        workload: What to compute.
        sides: Who computes it; the computation by hand is always among them.
        pooled: Let malloc keep freed memory, on all sides.
        rounds: How often each takes a turn.
        window: Seconds of a turn.
        cpu: Take CPU time for every workload.
        small: Take the sizes for tests.

    Returns:
        A row: ``name``, ``pooled`` and, under ``rounds``, what each side took in each
        round: milliseconds of a step or MB.

    Raises:
        AssertionError: Two sides do not compute the same.
        Failure: A side failed.
    """
    sides = who_has(workload, list(dict.fromkeys([BY_HAND, *sides])))
    if workload.kind == "import":
        taken = _import_times(sides, rounds)
    elif workload.kind == "memory":
        taken = {side: [] for side in sides}
        for side in sides:  # memory does not drift: once is enough
            with _children(workload, [side], pooled, small) as (child,):
                taken[side].append(child.ask("memory")["megabytes"])
    else:
        with _children(workload, sides, pooled, small) as children:
            check(workload, children, 1e-4 if small else workload.tolerance)
            taken = _times(children, rounds, window, cpu or workload.cpu)
    return {"name": workload.name, "pooled": pooled, "rounds": taken}


def _times(
    children: Sequence[Child], rounds: int, window: float, cpu: bool
) -> dict[str, list[float]]:
    clock = "cpu" if cpu else "wall"
    steps = {}
    for child in children:
        once = child.ask("prepare")["wall"]
        steps[child.side] = max(1, round(window / max(once, 1e-7)))
    taken: dict[str, list[float]] = {child.side: [] for child in children}
    for i in range(rounds):
        for child in children if i % 2 == 0 else reversed(children):
            if clock == "wall":
                time.sleep(PAUSE)
            n = steps[child.side]
            taken[child.side].append(child.ask("run", n)[clock] / n * 1e3)
    return taken


def check(workload: Workload, children: Sequence[Child], tolerance: float) -> None:
    """All sides find the same gradients, and the same losses in the first steps.

    ``tolerance`` is that of :func:`agree`.

    Raises:
        AssertionError: They do not.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = {}
        for i, child in enumerate(children):
            path = f"{folder}/{i}.npz"
            child.ask("check", path)
            with np.load(path) as file:
                found[child.side] = dict(file)
    expected = found.pop(BY_HAND)
    for side, got in found.items():
        agree(f"{workload.name}, {side}", got, expected, tolerance)


def agree(
    what: str,
    got: dict[str, np.ndarray],
    expected: dict[str, np.ndarray],
    tolerance: float,
) -> None:
    """Compare arrays by name, by the norm of the difference relative to the norm.

    Not by the greatest difference: among millions of elements some are so near to the
    kink of relu that rounding decides. A gradient that is nothing but rounding, such as
    that of a bias that a normalization takes away, is measured by the largest norm.

    Raises:
        AssertionError: A difference above ``tolerance``, another shape or dtype.
    """
    assert got.keys() == expected.keys(), f"{what}: {len(got)} for {len(expected)}"
    norms = {key: float(np.linalg.norm(a)) for key, a in expected.items()}
    largest = max(norm for key, norm in norms.items() if key != "losses")
    for key, a in expected.items():
        b = got[key]
        assert b.shape == a.shape and b.dtype == a.dtype, (
            f"{what}: {key} is {b.dtype} {b.shape}, by hand {a.dtype} {a.shape}"
        )
        scale = norms[key] if key == "losses" else max(norms[key], 1e-3 * largest)
        difference = float(np.linalg.norm(a - b))
        assert difference <= tolerance * scale, (
            f"{what}: {key} differs by {difference}, limit {tolerance * scale}"
        )


def _import_times(sides: Sequence[str], rounds: int) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as cache:
        for side in sides:  # into the file cache, and compiled
            import_seconds(SIDES[side].package, cache)
        taken: dict[str, list[float]] = {side: [] for side in sides}
        for _ in range(rounds):
            for side in sides:
                seconds = import_seconds(SIDES[side].package, cache)
                taken[side].append(seconds * 1e3)
    return taken


def import_seconds(module: str, cache: str) -> float:
    """Seconds that a fresh interpreter takes for ``import module``, its start apart.

    Compiled code goes to the folder ``cache``: an installed package has its own.
    """
    command = [sys.executable, "-c", _IMPORT.format(module)]
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": cache}
    result = subprocess.run(
        command, check=True, capture_output=True, text=True, env=env
    )
    return float(result.stdout)


def workloads_named(names: Sequence[str]) -> list[Workload]:
    """Those of the names, all without any."""
    return [WORKLOADS[name] for name in names or WORKLOADS]
