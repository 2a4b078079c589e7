"""What a profile takes down while the code runs: times, bytes, events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Function, Variable
from dezero.diagnostics.calls import watched_class
from dezero.diagnostics.kept_memory import KeptMemory, is_view, kept_by, leaves
from dezero.diagnostics.profile_frames import Event, Frame, Totals
from dezero.diagnostics.sources import user_lines

MAX_EVENTS = 100_000  # in the trace; about 50 MB here and 30 MB in the file


class _Thread(threading.local):
    def __init__(self) -> None:
        self.stack: list[Frame] = []


@dataclass(frozen=True, slots=True)
class _Note:
    """What a node tells its backward."""

    cls: Any
    layer: str
    line: str


@dataclass
class Recorder:
    """Takes down what is called in blocks, in any threads that have one open."""

    synchronize: bool = False
    functions: dict[Any, Totals] = field(default_factory=dict)
    layers: dict[str, Totals] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    left_out: int = 0  # events beyond MAX_EVENTS
    seconds: float = 0.0
    lost: float = 0.0
    widened: dict[Any, list[Any]] = field(default_factory=dict)  # class: [calls, line]

    def __post_init__(self) -> None:
        self.kept = KeptMemory()
        self.origin = perf_counter()
        self._thread = _Thread()
        self._lock = threading.Lock()
        self._classes: dict[Any, Any] = {}
        # Of this recorder alone: a node may be watched by several.
        self._key = f"_profiled_by_{id(self)}"

    # ---- the stack of open calls ------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Has this thread a block open?"""
        return bool(self._thread.stack)

    def begin(self) -> None:
        """Open a block."""
        frame = Frame(self, None, perf_counter())
        self._thread.stack.append(frame)
        frame.start = perf_counter()

    def finish(self) -> None:
        """Close it, and with it what an interrupt has left open."""
        del self._thread.stack[1:]
        frame = self._close()
        with self._lock:
            self.seconds += frame.total
            self.lost += frame.lost

    def _open(self, owner: Any, entered: float) -> Frame:
        stack = self._thread.stack
        frame = Frame(owner, stack[-1], entered)
        stack.append(frame)
        return frame

    def _close(self) -> Frame:
        end = perf_counter()
        frame = self._thread.stack.pop()
        frame.end = end
        frame.total = end - frame.start - frame.lost
        frame.own = frame.total - frame.inside
        return frame

    def _settle(self, frame: Frame, counted: bool = True) -> None:
        """Tell the call around it what was measured, and what measuring took."""
        parent = self._thread.stack[-1]
        parent.inside += frame.total if counted else frame.inside
        took = frame.start - frame.entered + perf_counter() - frame.end
        parent.lost += frame.lost + took

    def _add_event(
        self, kind: str, name: str, frame: Frame, args: dict[str, Any]
    ) -> None:
        if len(self.events) < MAX_EVENTS:
            thread = threading.get_native_id()
            event = Event(kind, name, frame.start, frame.end, thread, args)
            self.events.append(event)
        else:
            self.left_out += 1

    # ---- Functions --------------------------------------------------------------

    def function_called(
        self, call: Callable[..., Any], f: Function, *inputs: Any
    ) -> Any:
        """Call a Function: a watcher of ``watch_calls``."""
        entered = perf_counter()
        if self._thread.stack[-1].owner is f:  # with raw arrays it calls itself
            return call(f, *inputs)
        cls = type(f)
        if self.synchronize:
            _wait_for(inputs)
        frame = self._open(f, entered)
        outermost = not frame.in_function
        frame.in_function = True
        outputs: Any = ()
        frame.start = perf_counter()
        try:
            outputs = call(f, *inputs)
            if self.synchronize:
                _wait_for((outputs,))
        finally:
            self._close()
            if outermost:  # what it calls belongs to the same line
                frame.line = "".join(user_lines(1))
            ys = outputs if isinstance(outputs, tuple) else (outputs,)
            self._note_call(cls, frame, outermost, inputs, ys)
            self._settle(frame)
        return outputs

    def _note_call(
        self, cls: Any, frame: Frame, outermost: bool, inputs: Any, ys: Any
    ) -> None:
        xs = [x.data if isinstance(x, Variable) else x for x in inputs]
        arrays = [x for x in xs if cuda.is_array(x)]
        size = sum([y.data.nbytes for y in ys if not is_view(y.data, arrays)])
        node = ys[0].creator if ys else None
        kept = 0
        if node is not None:
            kept = self.kept.add(kept_by(node, ys), leaves(inputs))
            self._watch(node, cls, _Note(cls, frame.layer, frame.line))
        args = {
            "inputs": [x.shape for x in arrays],
            "outputs": [y.shape for y in ys],
            "bytes": size,
            "line": frame.line,
            "layer": frame.layer,
        }
        # The engine's sums, and gradients made to fit, are calls in a backward pass.
        forward = 0.0 if frame.in_pass else frame.total
        with self._lock:
            totals = self._totals(cls, frame.layer)
            totals[0].calls += 1
            totals[0].own += frame.own
            for t in totals:
                t.output += size
                t.kept += kept
                if outermost:
                    t.seconds += frame.total
                    t.forward += forward
                    t.backward += frame.total - forward
            if _became_wide(arrays, ys):
                self.widened.setdefault(cls, [0, frame.line])[0] += 1
            self._add_event("forward", cls.__name__, frame, args)

    def _totals(self, cls: Any, layer: str) -> list[Totals]:
        """The sums to add to: of the class and, in a layer, of the layer."""
        found = self.functions.get(cls)
        if found is None:
            found = self.functions[cls] = Totals(cls.__name__)
        if not layer:
            return [found]
        return [found, self.layers.setdefault(layer, Totals(layer))]

    def _watch(self, node: Any, cls: Any, note: _Note) -> None:
        """Let the backward of a node be timed, wherever it is called.

        Python looks a method up in the class, so the node gets another one.
        """
        # One for all nodes of a class, unless somebody else gave this node its own.
        watched = self._classes.get(cls) if type(node) is cls else None
        if watched is None:
            watched = self._watched_class(type(node))
            if type(node) is cls:
                self._classes[cls] = watched
        node.__dict__[self._key] = note
        node.__class__ = watched

    def _watched_class(self, cls: Any) -> Any:
        recorder = self

        def backward(node: Any, *gys: Any) -> Any:
            entered = perf_counter()
            node.__class__ = cls  # it may ask for its class
            try:
                if not recorder.is_open:
                    return node.backward(*gys)
                note = node.__dict__[recorder._key]
                return recorder._run_backward(note, node, gys, entered)
            finally:
                node.__class__ = watched

        def call(node: Any, *inputs: Any) -> Any:
            # The same object called anew is another node, with an edge of its own.
            unwatched = node._clone()
            unwatched.__class__ = cls
            return unwatched(*inputs)

        members = {"backward": backward, "__call__": call, "__module__": cls.__module__}
        watched = watched_class(cls, members)
        return watched

    def _run_backward(self, note: _Note, node: Any, gys: Any, entered: float) -> Any:
        if self.synchronize:
            _wait_for(gys)
        frame = self._open(node, entered)
        outermost = not frame.in_function
        frame.in_function = True
        frame.layer, frame.line = note.layer, note.line
        found: Any = ()
        frame.start = perf_counter()
        try:
            gxs = node.backward(*gys)
            found = gxs if isinstance(gxs, (tuple, list)) else (gxs,)
            if self.synchronize:
                _wait_for(found)
        finally:
            self._close()
            args = {
                "inputs": [gy.shape for gy in gys],
                "outputs": [gx.shape for gx in found if hasattr(gx, "shape")],
                "line": note.line,
                "layer": note.layer,
            }
            with self._lock:
                totals = self._totals(note.cls, note.layer)
                totals[0].own += frame.own
                if outermost:
                    for t in totals:
                        t.seconds += frame.total
                        t.backward += frame.total
                self._add_event("backward", note.cls.__name__, frame, args)
            self._settle(frame)
        return gxs

    # ---- what is no Function ----------------------------------------------------

    def part_run(
        self, kind: str, name: str, call: Callable[..., Any], *args: Any, **options: Any
    ) -> Any:
        """Run an update of an optimizer or a backward pass: ``args[0]`` is whose.

        A pass of several outputs is that of the list of them.
        """
        entered = perf_counter()
        owner = args[0]
        if self._thread.stack[-1].owner is owner:  # by super()
            return call(*args, **options)
        frame = self._open(owner, entered)
        frame.in_pass = kind == "pass"
        frame.start = perf_counter()
        try:
            return call(*args, **options)
        finally:
            self._close()
            with self._lock:
                totals = self.functions.setdefault(name, Totals(name))
                totals.calls += 1
                totals.own += frame.own
                if not frame.in_function:
                    totals.seconds += frame.own
                self._add_event(kind, name, frame, {"layer": frame.layer})
            self._settle(frame)

    def layer_called(
        self,
        name: str,
        call: Callable[..., Any],
        layer: Any,
        *args: Any,
        **options: Any,
    ) -> Any:
        """Call a layer: the Functions inside are its own."""
        entered = perf_counter()
        if self._thread.stack[-1].owner is layer:  # by super()
            return call(layer, *args, **options)
        frame = self._open(layer, entered)
        frame.layer = name
        frame.start = perf_counter()
        try:
            return call(layer, *args, **options)
        finally:
            self._close()
            with self._lock:
                self.layers.setdefault(name, Totals(name)).calls += 1
                self._add_event("layer", name, frame, {"class": type(layer).__name__})
            self._settle(frame, counted=False)


def _wait_for(xs: Iterable[Any]) -> None:
    """Until the device has done what it was asked for; NumPy always has."""
    for x in xs:
        xp = cuda.get_array_module(x[0] if isinstance(x, tuple) else x)
        if xp is not np:
            xp.cuda.get_current_stream().synchronize()
            return


def _became_wide(xs: Iterable[Any], ys: Iterable[Any]) -> bool:
    """Is a result float64, though float32 went in?"""
    return any([y.dtype == np.float64 for y in ys]) and any(
        [x.dtype == np.float32 for x in xs]
    )
