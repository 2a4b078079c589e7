"""How many bytes the graph keeps for backward passes, and for how long."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from dezero import cuda
from dezero.core import Function, Variable
from dezero.cuda import Array


class KeptMemory:
    """Counts the bytes of arrays that nodes keep for backward, until they are freed."""

    def __init__(self) -> None:
        self.now = self.peak = 0
        self._alive: dict[int, tuple[Any, int]] = {}
        # An array may be freed, and its callback run, while the lock is held here.
        self._lock = threading.RLock()

    def add(self, arrays: Iterable[Array], others: Iterable[Array]) -> int:
        """Count the arrays; return the bytes of those not counted before.

        Args:
            arrays: What a node keeps.
            others: Arrays that are there anyway; they and their views do not count.
        """
        there = {id(_buffer(x)) for x in others}
        new = 0
        for x in arrays:
            buffer = _buffer(x)
            key = id(buffer)
            with self._lock:
                if key in there or key in self._alive:
                    continue
                gone = weakref.ref(buffer, self._forgetting(key))
                self._alive[key] = gone, buffer.nbytes
                self.now += buffer.nbytes
                self.peak = max(self.peak, self.now)
                new += buffer.nbytes
        return new

    def _forgetting(self, key: int) -> Callable[[Any], None]:
        memory = weakref.ref(self)

        def forget(_: Any) -> None:
            self = memory()
            if self is not None:
                with self._lock:
                    self.now -= self._alive.pop(key)[1]

        return forget


def _buffer(x: Any) -> Any:
    """The array that owns the memory of ``x``."""
    while x.base is not None and cuda.is_array(x.base):
        x = x.base
    return x


def is_view(y: Array, xs: Iterable[Array]) -> bool:
    """Is ``y`` in the memory of one of ``xs``?"""
    buffer = _buffer(y)
    return any([_buffer(x) is buffer for x in xs])


def leaves(inputs: Iterable[Any]) -> list[Array]:
    """The arrays among the inputs that no Function on record has made."""
    found = []
    for x in inputs:
        if isinstance(x, Variable):
            if x.creator is None:
                found.append(x.data)
        elif cuda.is_array(x):
            found.append(x)
    return found


_RECORD = ("inputs", "_edges", "_output_data", "_output_refs")


def kept_by(node: Function, ys: Iterable[Variable]) -> list[Array]:
    """The arrays that a node keeps: inputs, outputs, and what forward has stored."""
    found = []
    if node.reads_inputs:
        found += [x.data for x in node.inputs if isinstance(x, Variable)]
    if node.reads_outputs:
        found += [y.data for y in ys]
    for name, value in vars(node).items():
        if name not in _RECORD:
            values = value if isinstance(value, (tuple, list)) else (value,)
            found += [x for x in values if cuda.is_array(x)]
    return found
