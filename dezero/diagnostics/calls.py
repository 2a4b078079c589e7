"""Looking on while Functions are called, without a cost for those who do not look."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from dezero.core import Function

# watcher(call, f, *inputs) -> outputs: it calls call(f, *inputs), and may look at what
# goes in and what comes out.
Watcher = Callable[..., Any]

_CALL = Function.__call__
_lock = threading.Lock()
_open_blocks = 0  # in all threads


class _Thread(threading.local):
    watchers: tuple[Watcher, ...] = ()


_thread = _Thread()


class watch_calls:
    """Send every call of a Function in this thread through ``watcher``, in a block.

    Blocks can be nested: the watcher of the outermost sees all that the inner ones do.
    While no thread has such a block open, Functions are called as if there were none.
    """

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def __enter__(self) -> None:
        global _open_blocks
        with _lock:
            _open_blocks += 1
            Function.__call__ = _watched_call  # type: ignore[assignment,method-assign]
        _thread.watchers += (self._watcher,)

    def __exit__(self, *error: object) -> None:
        global _open_blocks
        _thread.watchers = _thread.watchers[:-1]
        with _lock:
            _open_blocks -= 1
            if not _open_blocks:
                Function.__call__ = _CALL  # type: ignore[method-assign]


def _watched_call(f: Function, *inputs: Any) -> Any:
    call: Callable[..., Any] = _CALL
    for watcher in reversed(_thread.watchers):
        call = functools.partial(watcher, call)
    return call(f, *inputs)
