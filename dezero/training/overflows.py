"""NumPy's floating-point warnings, held back until it is known what they led to."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np


class HeldBack:
    """A block in which overflows and the like are noted, and told of at its end.

    A loss that is not finite is an error, which says more than the warnings on the way
    there; so whoever raises that error drops them. If the loss is finite all the same,
    they are all there is to see, and are given as NumPy would have given them, in the
    order and for the lines in which they arose; only the name of the operation, which
    NumPy does not tell, is missing.

    Only what NumPy would warn of is held back: who asked it to raise, to be silent or
    to call a function gets just that. Other threads are left alone.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, int], dict[str, Any]] = {}

    def __enter__(self) -> HeldBack:
        now = np.geterr()
        modes: Any = {}
        # There is one function for all: that of a user who has one stays.
        if not {"call", "log"} & set(now.values()):
            modes = {kind: "call" for kind, mode in now.items() if mode == "warn"}
            modes["call"] = self._note
        self._state = np.errstate(**modes)
        self._state.__enter__()
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self._state.__exit__(kind, error, trace)
        try:
            self._tell()
        except Warning:  # filters made an error of it, but there is one already
            if error is None:
                raise

    def drop(self) -> None:
        """Forget what was found: something else says it better."""
        self._found.clear()

    def _note(self, kind: str, flag: int) -> None:
        frame = sys._getframe(1)
        place = kind, frame.f_code.co_filename, frame.f_lineno
        self._found.setdefault(place, frame.f_globals)

    def _tell(self) -> None:
        for (kind, file, line), names in self._found.items():
            warnings.warn_explicit(
                f"{kind} encountered",
                RuntimeWarning,
                file,
                line,
                names.get("__name__", "<string>"),  # as in code given to exec
                names.setdefault("__warningregistry__", {}),
            )
