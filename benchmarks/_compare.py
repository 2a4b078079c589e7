"""What the benchmarks share: check two computations by each other, then time them."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dezero import Function, Variable


class Reference(Protocol):
    """A computation written by hand in NumPy."""

    gradients: list[np.ndarray]

    def step(self) -> float:
        """Run forward, backward and the update, if any; return the loss."""


@dataclass(frozen=True)
class Workload:
    """The same computation twice: with DeZero, as a user writes it, and by hand."""

    name: str
    step: Callable[[], Variable]
    parameters: Sequence[Variable]
    reference: Reference
    goal: float  # at most this many times what the reference takes
    later: float  # what the goal shall become
    nodes: int = 0  # Functions in the graph


@contextlib.contextmanager
def only_float32() -> Iterator[None]:
    """Refuse any other dtype, in what each forward and each backward returns.

    One float64 on the way would halve the speed and not show in the result: the engine
    casts a gradient back to the dtype of its input.
    """
    call = Function.__call__
    backwards: dict[Any, Any] = {}  # of every class that was called

    def refuse_others(function: Function, method: str, results: Any) -> Any:
        for y in results if isinstance(results, tuple) else (results,):
            if y is not None and y.dtype != np.float32:
                name = type(function).__name__
                raise AssertionError(f"{name}.{method} returned {y.dtype}")
        return results

    def checked_call(self: Function, *inputs: Any) -> Any:
        cls: Any = type(self)
        if cls not in backwards:
            backward = backwards[cls] = cls.backward

            def checked_backward(f: Function, *gys: Any) -> Any:
                return refuse_others(f, "backward", backward(f, *gys))

            cls.backward = checked_backward
        return refuse_others(self, "forward", call(self, *inputs))

    engine: Any = Function  # its methods are exchanged, which mypy would not have
    engine.__call__ = checked_call
    try:
        yield
    finally:
        engine.__call__ = call
        for owner, backward in backwards.items():
            owner.backward = backward


def check(workload: Workload, rtol: float = 1e-4) -> None:
    """Run both sides once: same loss, same gradients, and nothing but float32.

    Args:
        workload: Both sides must hold the same parameters.
        rtol: Greatest difference of a gradient, relative to its greatest element.

    Raises:
        AssertionError: They differ, or another dtype came up.
    """
    with only_float32():
        loss = workload.step()
    _agree("loss", loss.data, np.asarray(workload.reference.step()), rtol)
    pairs = zip(workload.parameters, workload.reference.gradients, strict=True)
    for i, (p, expected) in enumerate(pairs):
        assert p.grad is not None and p.grad.dtype == p.dtype == expected.dtype
        _agree(f"gradient of {p.name or i}", p.grad.data, expected, rtol)


def _agree(what: str, got: np.ndarray, expected: np.ndarray, rtol: float) -> None:
    # numpy.testing would do, but what it imports makes the garbage collector's rounds
    # during the timing a quarter longer than they are in a program that trains.
    assert got.shape == expected.shape, f"{what}: {got.shape} and {expected.shape}"
    difference = float(np.abs(got - expected).max())
    limit = rtol * float(np.abs(expected).max())
    assert difference <= limit, f"{what}: a difference of {difference}, limit {limit}"


@dataclass(frozen=True)
class Timing:
    """Seconds per step of both sides, and the ratio, as medians over the rounds."""

    ours: float
    reference: float
    ratio: float
    lowest: float  # ratio of a round
    highest: float


def compare(
    ours: Callable[[], Any],
    reference: Callable[[], Any],
    *,
    clock: Callable[[], float] = time.perf_counter,
    rounds: int = 9,
    window: float = 0.25,
) -> Timing:
    """Time two computations side by side.

    The speed of a machine drifts within seconds, so the sides take turns in short
    windows and each round gives one ratio. Which side comes first changes every round.

    Args:
        ours: Called without arguments, as often as fits into a window.
        reference: Likewise.
        clock: ``time.perf_counter``, or ``time.process_time`` for the CPU time of all
            threads of this process.
        rounds: How many ratios to take the median of.
        window: Length of each window in seconds, by the wall clock.
    """

    def steps_in_window(step: Callable[[], Any]) -> int:
        step()  # the first call pays for lazy initialisation
        start = time.perf_counter()
        step()
        return max(1, round(window / max(time.perf_counter() - start, 1e-7)))

    def seconds_per_step(step: Callable[[], Any], times: int) -> float:
        start = clock()
        for _ in range(times):
            step()
        return (clock() - start) / times

    sides = [(ours, steps_in_window(ours)), (reference, steps_in_window(reference))]
    rows = []
    for i in range(rounds):
        order = (0, 1) if i % 2 == 0 else (1, 0)
        seconds = {side: seconds_per_step(*sides[side]) for side in order}
        rows.append((seconds[0], seconds[1], seconds[0] / seconds[1]))
    a, b, ratios = zip(*rows, strict=True)
    return Timing(
        statistics.median(a),
        statistics.median(b),
        statistics.median(ratios),
        min(ratios),
        max(ratios),
    )


def verdict(ratio: float, goal: float) -> str:
    """``"met"`` or ``"missed"``."""
    return "met" if ratio <= goal else "missed"
