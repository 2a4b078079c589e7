"""One run under observation: which values depend on a parameter, and where they end."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dezero import core
from dezero.core import Config, Function, Variable
from dezero.diagnostics.calls import watch_calls
from dezero.diagnostics.likeness import Relatives
from dezero.diagnostics.reads import door_of, watch_reads
from dezero.diagnostics.sources import user_lines

# How integers and copies may have been made.
_ARRAYS = (".data", "np.asarray()", "detach()")
_FITTING = {
    "copied": (*_ARRAYS, "a copy"),
    "cast": (*_ARRAYS, "astype()"),
    "counted": (*_ARRAYS, "argmax()", "argmin()", "np.argmax()", "np.argmin()"),
}


@dataclass(eq=False)
class Value:
    """A Variable that depends on the parameter. It is not kept alive, its array is.

    Attributes:
        ref: The Variable, as a weak reference.
        data: Its array.
        maker: The name of the Function that made it; "" for the parameter itself.
        breaks: Where the chain ended; none while a gradient would get here.
        exits: How its values left the graph, in order: (door, lines).
    """

    ref: Callable[[], Any]
    data: Any
    maker: str
    breaks: list[Break] = field(default_factory=list)
    exits: list[tuple[str, list[str]]] = field(default_factory=list)

    @property
    def label(self) -> str:
        """What reports call it, but for the parameter."""
        x = self.ref()
        name = f" {x.name!r}" if x is not None and x.name else ""
        return f"the result{name} of {self.maker} {self.data.shape}"

    def door(self, kind: str) -> tuple[str, list[str]]:
        """How the values left, the last time, in a way that fits the likeness."""
        for door, lines in reversed(self.exits):
            if kind == "memory" or door in _FITTING[kind]:
                return door, lines
        return "", []


@dataclass(frozen=True, eq=False)
class Break:
    """A place where the chain from the parameter ends.

    Attributes:
        kind: The reason, as in :class:`ChainReport`.
        door: How the value left the graph: "detach()", ".data", ...; "" if not known.
        value: The last one that depends on the parameter.
        into: The Function that got its values as a constant; "" if it is the loss.
        lines: Where that was.
    """

    kind: str
    door: str
    value: Value
    into: str
    lines: list[str]


class Trace:
    """Runs a function once and follows what is computed from ``param``.

    It keeps no Variable and no Function alive: what ``f`` frees is freed, for some
    functions (``checkpoint``) look at what is.

    Attributes:
        param: The parameter.
        uses: (Function, lines) of the calls that got it.
        values: All that depends on it, in order, itself first.
        places: Where each recorded Function was called.
    """

    def __init__(self, param: Variable) -> None:
        self.param = param
        self.uses: list[tuple[str, list[str]]] = []
        self.values: list[Value] = []
        self.places: Any = weakref.WeakKeyDictionary()
        self._by_id: dict[int, Value] = {}
        self._relatives = Relatives()
        self._depth = 0
        self._looking = False  # at arrays ourselves
        self._add(param, "", [])

    def run(self, f: Callable[[], Any]) -> Any:
        """What ``f()`` returns, observed."""
        with watch_calls(self._call), watch_reads(self._read):
            return f()

    def breaks(self, y: Any) -> list[Break]:
        """Where the chain to the result ``y`` ended, as far as values can tell."""
        return self._source(y, "", [])

    def _add(self, x: Variable, maker: str, breaks: list[Break]) -> None:
        value = Value(weakref.ref(x), x.data, maker, breaks)
        self.values.append(value)
        self._by_id[id(x)] = value
        if x.data is not None:
            self._relatives.add_memory(x.data, value)

    def _value(self, x: Any) -> Value | None:
        value = self._by_id.get(id(x))
        # An id is given away anew when its first owner is gone.
        if value is not None and value.ref() is x:
            return value
        if _is_variable(x) and x.creator is not None:
            # For a backward pass the engine makes outputs again that are gone.
            for _, origin in self._relatives.of(x.data):
                if origin.data is x.data:
                    return origin
        return None

    # ---- calls ------------------------------------------------------------------

    def _call(self, call: Callable[..., Any], f: Function, *inputs: Any) -> Any:
        self._depth += 1
        try:
            outputs = call(f, *inputs)
        finally:
            self._depth -= 1
        if not self._depth:  # a call with raw arrays calls itself with Variables
            self._looking = True
            try:
                ys = outputs if isinstance(outputs, tuple) else (outputs,)
                self._note(type(f).__name__, inputs, ys)
            finally:
                self._looking = False
        return outputs

    def _note(self, name: str, inputs: tuple[Any, ...], ys: tuple[Any, ...]) -> None:
        lines = user_lines()
        if any([x is self.param for x in inputs]):
            self.uses.append((name, lines))
        for y in ys:
            if y.creator is not None:
                self.places[y.creator] = lines
        values = [(x, self._value(x)) for x in inputs]
        whole = [
            v
            for x, v in values
            if v and not v.breaks and x.requires_grad and not _is_cut(x, v)
        ]
        breaks: list[Break] = []
        if whole and not ys[0].requires_grad:
            assert not Config.enable_backprop
            door = "backward()" if _inside_backward() else ""
            breaks = [Break("no_grad", door, v, name, lines) for v in whole]
        elif not whole:
            for x in inputs:
                found = self._source(x, name, lines)
                breaks += [b for b in found if b not in breaks]
        if whole or breaks:
            for y in ys:
                self._add(y, name, breaks)

    def _source(self, x: Any, into: str, lines: list[str]) -> list[Break]:
        """The breaks between param and ``x``; none if nothing says that it depends."""
        value = self._value(x)
        if value is not None:
            if value.breaks:
                return value.breaks
            if _is_cut(x, value):
                return [Break("cut", "", value, into, lines)]
            if x.requires_grad:
                return []
            return [Break("frozen", "", value, into, lines)]
        for kind, origin in self._relatives.of(x.data if _is_variable(x) else x):
            door, where = origin.door(kind)
            if kind != "memory" and not door:
                continue  # equal by chance: it has never left the graph that way
            if origin.breaks:
                return origin.breaks
            if kind == "memory":
                is_new = _is_variable(x) and x.requires_grad and x.creator is None
                kind = "new variable" if is_new else "detached"
            return [Break(kind, door, origin, into, where or lines)]
        return []

    # ---- reads of data ----------------------------------------------------------

    def _read(self, x: Variable, frame: Any) -> None:
        if self._looking:
            return
        self._looking = True
        try:
            value = self._value(x)
            door = None if value is None else door_of(frame)
            if value is not None and door is not None:
                if not value.exits and x.data is not None:
                    self._relatives.add(x.data, value)
                value.exits.append((door, user_lines()))
        finally:
            self._looking = False


def _is_cut(x: Any, value: Value) -> bool:
    """Is ``x``, a result, a leaf by now?"""
    return bool(value.maker) and x.requires_grad and x.creator is None


def _is_variable(x: Any) -> bool:
    return isinstance(x, Variable)


def _inside_backward() -> bool:
    """Is a backward pass of the engine running?"""
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "run_backward" and code.co_filename == core.__file__:
            return True
        frame = frame.f_back
    return False
