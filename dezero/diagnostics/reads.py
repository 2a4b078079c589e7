"""Looking on while the data of Variables are read: how values leave the graph."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

from dezero import core
from dezero.core import Variable

_PACKAGE = os.path.dirname(os.path.abspath(core.__file__)) + os.sep

# Methods and functions that give away the values of a Variable and no gradient.
_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "_raw")
_UFUNCS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_NUMBERS = ("__float__", "__int__", "__index__", "item")
_MEASURES = (
    "accuracy",
    "all",
    "any",
    "argmax",
    "argmin",
    "perplexity",
    "r2_score",
    "top_k_accuracy",
)
_DOORS = {
    **dict.fromkeys(_COMPARISONS, "a comparison"),
    **dict.fromkeys(_NUMBERS, "float()"),
    **{name: f"{name}()" for name in _MEASURES},
    "__array__": "np.asarray()",
    "__getstate__": "a copy",
    "cast": "astype()",
    "detach": "detach()",
}
# What core asks of the data without giving them away.
_QUESTIONS = ("shape", "ndim", "size", "dtype", "__len__", "__repr__")


def door_of(frame: Any) -> str | None:
    """How the code at ``frame`` takes values out of the graph; None if it does not."""
    if not frame.f_code.co_filename.startswith(_PACKAGE):
        return ".data"
    if frame.f_code.co_name in _QUESTIONS:
        return None
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        name = frame.f_code.co_name
        if name in _DOORS:
            return _DOORS[name]
        if name == "__call__" and frame.f_code.co_filename == core.__file__:
            return None  # the engine, for forward
        if name in ("array_function", "array_ufunc"):
            local = frame.f_locals
            function = local.get("func", local.get("ufunc"))
            called = getattr(function, "__name__", "function")
            return "a comparison" if called in _UFUNCS else f"np.{called}()"
        frame = frame.f_back
    return None


# =============================================================================
# The slot
# =============================================================================

_slot: Any = vars(Variable)["data"]
_lock = threading.Lock()
_open_blocks = 0  # in all threads


class _Thread(threading.local):
    readers: tuple[Callable[[Variable, Any], None], ...] = ()


_thread = _Thread()


class _WatchedData:
    """Takes the place of the slot ``Variable.data`` while somebody looks on."""

    def __get__(self, x: Any, cls: Any = None) -> Any:
        if x is None:
            return self
        value = _slot.__get__(x, cls)
        for reader in _thread.readers:
            reader(x, sys._getframe(1))
        return value

    def __set__(self, x: Any, value: Any) -> None:
        _slot.__set__(x, value)

    def __delete__(self, x: Any) -> None:
        _slot.__delete__(x)


class watch_reads:
    """Let ``reader(variable, frame)`` know of each read of data in this thread."""

    def __init__(self, reader: Callable[[Variable, Any], None]) -> None:
        self._reader = reader

    def __enter__(self) -> None:
        global _open_blocks
        with _lock:
            _open_blocks += 1
            type.__setattr__(Variable, "data", _WatchedData())
        _thread.readers += (self._reader,)

    def __exit__(self, *error: object) -> None:
        global _open_blocks
        _thread.readers = _thread.readers[:-1]
        with _lock:
            _open_blocks -= 1
            if not _open_blocks:
                type.__setattr__(Variable, "data", _slot)
