"""What a profile knows of one call: while it runs, afterwards, and summed up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Totals:
    """Sums over the calls of one Function class, of one optimizer's, of one layer."""

    name: str
    calls: int = 0
    forward: float = 0.0
    backward: float = 0.0
    seconds: float = 0.0
    own: float = 0.0
    output: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """One call, for the trace."""

    kind: str
    name: str
    start: float
    end: float
    thread: int
    args: dict[str, Any]


class Frame:
    """A call that has not returned, or the block itself, at the bottom of the stack.

    Attributes:
        owner: What is called.
        layer: The name of the layer that it is in.
        line: The line of the user's code that it belongs to, if it was looked up.
        in_function: Is it a Function's, or inside one?
        in_pass: Is it a backward pass, or inside one?
        inside: The time of what is measured inside.
        lost: The time that the measuring inside took, which is nobody's.
        entered: When it was called; between that and ``start`` we were at work.
        start: When its work began.
        end: When its work was done.
        total: Its time.
        own: Its time without ``inside``.
    """

    __slots__ = (
        "end",
        "entered",
        "in_function",
        "in_pass",
        "inside",
        "layer",
        "line",
        "lost",
        "own",
        "owner",
        "start",
        "total",
    )

    layer: str
    line: str
    in_function: bool
    in_pass: bool

    def __init__(self, owner: Any, parent: Frame | None, entered: float) -> None:
        self.owner = owner
        self.entered = entered
        if parent is None:
            self.layer = self.line = ""
            self.in_function = self.in_pass = False
        else:
            self.layer = parent.layer
            self.line = parent.line
            self.in_function = parent.in_function
            self.in_pass = parent.in_pass
        self.inside = self.lost = 0.0
        self.start = self.end = self.total = self.own = 0.0
