"""Looking on while Functions are called, without a cost for those who do not look."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager
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


# =============================================================================
# Generators
# =============================================================================


def step_by_step(
    steps: Generator, block: Callable[[], AbstractContextManager]
) -> Generator:
    """What the generator ``steps`` yields, gets and returns, each step in a block.

    So the loop around the generator runs outside.
    """
    resume = functools.partial(next, steps)
    while True:
        try:
            with block():
                item = resume()
        except StopIteration as end:
            return end.value
        try:
            resume = functools.partial(steps.send, (yield item))
        except BaseException as error:  # thrown in, or GeneratorExit
            resume = functools.partial(steps.throw, error)


# =============================================================================
# Nodes with a class of their own
# =============================================================================


def watched_class(cls: Any, members: dict[str, Any]) -> Any:
    """A subclass with other ``members`` that nobody is told of, for a single node."""
    # In nested blocks cls may be such a class already.
    bases = (cls,) if issubclass(cls, _Unannounced) else (_Unannounced, cls)
    # Past a metaclass of the user's, which may do more than make a class.
    meta: Any = type(cls)
    return type.__new__(_meta_for(meta), cls.__name__, bases, members)


class _Unannounced(Function):
    """Before a class among the bases: its ``__init_subclass__`` is not called.

    A user's may refuse subclasses, ask for arguments, or keep a list of them.
    """

    def __init_subclass__(cls) -> None:
        """Nothing."""


@functools.cache
def _meta_for(meta: Any) -> Any:
    """The class of watched classes: each has the hash of the class that it watches.

    By these a checkpoint compares the graph of its second run with that of the first.
    """
    return type(meta.__name__, (meta,), {"__hash__": _hash_of_watched})


def _hash_of_watched(cls: type) -> int:
    return hash(cls.__bases__[-1])
