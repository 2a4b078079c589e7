"""Looking on while methods are called, without a cost for those who do not look."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from typing import Any

# watcher(call, self, *args, **options) -> what call(self, *args, **options) returns
Watcher = Callable[..., Any]

_lock = threading.Lock()
_originals: dict[tuple[Any, str], Any] = {}
_open_blocks: dict[tuple[Any, str], int] = {}  # in all threads


class _Thread(threading.local):
    def __init__(self) -> None:
        self.watchers: dict[tuple[Any, str], tuple[Watcher, ...]] = {}


_thread = _Thread()


class watch_method:
    """Send every call of ``cls.name`` in this thread through ``watcher``, in a block.

    As :class:`~dezero.diagnostics.calls.watch_calls` does it for Functions. A subclass
    with a method of its own is another class: see :func:`owners`. ``cls`` may also be a
    module, and ``name`` a function that is called by that name of the module.
    """

    def __init__(self, cls: Any, name: str, watcher: Watcher) -> None:
        self._key = cls, name
        self._watcher = watcher

    def __enter__(self) -> None:
        key = cls, name = self._key
        with _lock:
            _open_blocks[key] = _open_blocks.get(key, 0) + 1
            if key not in _originals:
                _originals[key] = vars(cls)[name]
                setattr(cls, name, _through_watchers(key, _originals[key]))
        _thread.watchers[key] = (*_thread.watchers.get(key, ()), self._watcher)

    def __exit__(self, *error: object) -> None:
        key = cls, name = self._key
        _thread.watchers[key] = _thread.watchers[key][:-1]
        if not _thread.watchers[key]:
            del _thread.watchers[key]
        with _lock:
            _open_blocks[key] -= 1
            if not _open_blocks[key]:
                setattr(cls, name, _originals.pop(key))
                del _open_blocks[key]


def _through_watchers(key: tuple[Any, str], method: Any) -> Any:
    @functools.wraps(method)
    def watched(self: Any, *args: Any, **options: Any) -> Any:
        call = method
        for watcher in reversed(_thread.watchers.get(key, ())):
            call = functools.partial(watcher, call)
        return call(self, *args, **options)

    return watched


def owners(cls: Any, name: str) -> Iterator[Any]:
    """``cls`` and the classes derived from it that define a method ``name``."""
    found: dict[Any, None] = {}
    stack = [cls]
    while stack:
        owner = stack.pop()
        if owner not in found:
            found[owner] = None
            stack += type.__subclasses__(owner)
    for owner in found:
        if inspect.isfunction(vars(owner).get(name)):
            yield owner
