"""Counts what goes from the device to the host and back."""

import contextlib
import sys

_watches = []


class Transfers:
    """What a block of code moved: counts, and the lines of dezero that did it."""

    def __init__(self):
        self.to_host = 0
        self.to_device = 0
        self.lines = []

    def __repr__(self):
        lines = "".join(f"\n  {line}" for line in self.lines)
        return f"{self.to_host} to the host, {self.to_device} to the device{lines}"


@contextlib.contextmanager
def transfers():
    """``with transfers() as moved: ...`` counts in ``moved.to_host``, ``to_device``.

    A read of the device for its own sake (how many elements does a mask keep?) makes
    the host wait for it, and counts as one to the host.
    """
    watch = Transfers()
    _watches.append(watch)
    try:
        yield watch
    finally:
        _watches.remove(watch)


def count(to_host=0, to_device=0, why=""):
    """Somebody moved something."""
    if not _watches:
        return
    line = f"{why}: {_caller()}"
    for watch in _watches:
        watch.to_host += to_host
        watch.to_device += to_device
        watch.lines.append(line)


def _caller():
    """The innermost line outside this package."""
    frame = sys._getframe(1)
    while frame is not None and __package__ in frame.f_globals.get("__name__", ""):
        frame = frame.f_back
    # Not the file alone: cuda.as_numpy says little about who wanted it.
    lines = []
    while frame is not None and len(lines) < 3:
        name = frame.f_code.co_filename.rpartition("/dezero/")[2]
        lines.append(f"{name}:{frame.f_lineno}")
        frame = frame.f_back
    return " < ".join(lines)
