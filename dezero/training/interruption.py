"""Ctrl-C as a request to stop that is met between two steps, not inside of one."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Self


class Interruption:
    """In a ``with`` block, notes the first Ctrl-C; a second one raises as usual.

    Only in the main thread, where signals arrive, and only if nobody else handles them:
    elsewhere KeyboardInterrupt is raised as ever.
    """

    def __init__(self) -> None:
        self.requested = False
        self._ours = False

    def __enter__(self) -> Self:
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if usual and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._note)
            self._ours = True
        return self

    def _note(self, number: int, frame: FrameType | None) -> None:
        # Nothing is printed: the signal may have come in the midst of a print.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self.requested = True

    def __exit__(self, *error: object) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._ours = False
