"""Which lines of the user's code are running right now."""

from __future__ import annotations

import linecache
import os
import sys
from types import FrameType

# With the separator: a folder `dezero_scripts` beside the package is the user's.
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def user_lines(limit: int = 3) -> list[str]:
    """The innermost calls that stand in the user's code, innermost first.

    Lines inside the dezero package are passed over, and so is what Python or a test
    runner does around the user's module.

    Args:
        limit: How many lines at most.

    Returns:
        Each as ``file.py:12 in function: the source line``, as far as the source is
        there to be read.
    """
    lines: list[str] = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and len(lines) < limit:
        code = frame.f_code
        if not code.co_filename.startswith((_PACKAGE, "<frozen")):
            lines.append(_described(frame))
            if code.co_name == "<module>":
                break
        frame = frame.f_back
    return lines


def _described(frame: FrameType) -> str:
    code, number = frame.f_code, frame.f_lineno
    # In a notebook the file has no readable name, but the source is in linecache.
    source = linecache.getline(code.co_filename, number, frame.f_globals).strip()
    where = f"{os.path.basename(code.co_filename)}:{number} in {code.co_name}"
    return f"{where}: {source}" if source else where
