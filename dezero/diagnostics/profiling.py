"""Where do time and memory of a training step go? By Function, and by layer."""

from __future__ import annotations

import functools
import html
import threading
from contextlib import ExitStack
from typing import Any

from dezero.autodiff import gradients
from dezero.core import Variable
from dezero.diagnostics.calls import watch_calls
from dezero.diagnostics.methods import owners, watch_method
from dezero.diagnostics.profile_recording import MAX_EVENTS, Recorder
from dezero.diagnostics.profile_tables import (
    ProfileRow,
    duration,
    rows_of,
    share,
    size,
    table_of,
)
from dezero.diagnostics.profile_trace import write_trace
from dezero.diagnostics.tables import Report, Table, percent, wrapped
from dezero.layers import Layer
from dezero.optimizers import Optimizer
from dezero.serializers import Path


class Profile(Report):
    """What :func:`profile` returns: a ``with`` block, and a report of what ran in it.

    Attributes:
        model: The model whose layers are told apart, or None.
        synchronize: Whether each call waits for the GPU.
    """

    def __init__(self, model: Layer | None, synchronize: bool) -> None:
        self.model = model
        self.synchronize = synchronize
        self._recorder = Recorder(synchronize)
        self._open = threading.local()

    def __enter__(self) -> Profile:
        if self._recorder.is_open:
            raise RuntimeError(
                "profile: expected one block after the other, got one inside another "
                "of the same profile; make a profile for each"
            )
        recorder = self._recorder
        with ExitStack() as stack:
            for cls in owners(Optimizer, "update"):
                watcher = functools.partial(_update, recorder)
                stack.enter_context(watch_method(cls, "update", watcher))
            watcher = functools.partial(recorder.part_run, "pass", "backward pass")
            stack.enter_context(watch_method(Variable, "backward", watcher))
            # By the name under which grad, and all that is made of it, calls it.
            stack.enter_context(watch_method(gradients, "run_backward", watcher))
            if self.model is not None:
                names = _names(self.model)
                watcher = functools.partial(_layer, recorder, names)
                for cls in owners(Layer, "__call__"):
                    stack.enter_context(watch_method(cls, "__call__", watcher))
            stack.enter_context(watch_calls(recorder.function_called))
            self._open.blocks = stack.pop_all()
        recorder.begin()
        return self

    def __exit__(self, *error: object) -> None:
        self._recorder.finish()
        self._open.blocks.close()

    # ---- what it found ----------------------------------------------------------

    @property
    def rows(self) -> list[ProfileRow]:
        """A row per class of Functions (and of optimizers), most time first."""
        return rows_of(self._recorder.functions)

    @property
    def layers(self) -> list[ProfileRow]:
        """A row per layer of the model that was called, most time first.

        A Function counts for the innermost layer that called it.
        """
        return rows_of(self._recorder.layers)

    @property
    def seconds(self) -> float:
        """The time in all blocks, without what measuring took."""
        return self._recorder.seconds

    @property
    def rest(self) -> float:
        """The time in no row: Python of the script, loading of data."""
        return max(self.seconds - sum([row.seconds for row in self.rows]), 0.0)

    @property
    def overhead(self) -> float:
        """The time that measuring took. It is in no other number."""
        return self._recorder.lost

    @property
    def peak_kept(self) -> int:
        """Most bytes kept for backward at one time."""
        return self._recorder.kept.peak

    def to_dict(self) -> dict[str, Any]:
        """Everything as dicts, lists, text and numbers, ready for JSON."""
        return {
            "seconds": self.seconds,
            "rest": self.rest,
            "overhead": self.overhead,
            "peak_kept": self.peak_kept,
            "rows": [dict(vars(row)) for row in self.rows],
            "layers": [dict(vars(row)) for row in self.layers],
        }

    def save_trace(self, path: Path) -> None:
        """Write every call to a file for ui.perfetto.dev or chrome://tracing.

        Each event has a name, its time and duration, and in its arguments the shapes,
        bytes, the line of your code that called it, and the layer. A backward has the
        line of its forward. The file takes the place of an older one only when it is
        complete. Of very many calls, the first 100,000 are in it.

        Args:
            path: Where it goes, such as "trace.json".

        Raises:
            OSError: It cannot be written.
        """
        write_trace(path, list(self._recorder.events), self._recorder.origin)

    # ---- printed ----------------------------------------------------------------

    def title(self) -> str:
        """One line that says the outcome."""
        if not self.rows:
            return "Profile: nothing was called."
        functions = sum(
            [row.seconds for row in self.rows if row.forward or row.backward]
        )
        part = percent(share(functions, self.seconds))
        return (
            f"Profile: {duration(self.seconds)}, {part} of it in Functions. Kept for "
            f"backward: at most {size(self.peak_kept)}."
        )

    def table(self) -> Table | None:
        """A row per class of Functions, and one for the rest."""
        rest = ProfileRow("(rest)", 0, 0.0, 0.0, self.rest, self.rest, 0, 0)
        return (
            table_of("function", [*self.rows, rest], self.seconds)
            if self.rows
            else None
        )

    def layer_table(self) -> Table | None:
        """A row per layer, if a model was given."""
        return table_of("layer", self.layers, self.seconds) if self.layers else None

    def notes(self) -> list[str]:
        """What is worth a look, and what measuring took."""
        notes = []
        for cls, (calls, line) in self._recorder.widened.items():
            plural = "call" if calls == 1 else "calls"
            where = f", first at {line}" if line else ""
            notes.append(
                f"float64: {calls} {plural} of {cls.__name__} made float64 out of "
                f"float32{where}. That takes twice the time and memory from there on."
            )
        if self.rows:
            notes.append(
                f"Measuring took {duration(self.overhead)}, which is not in the table."
            )
        if self._recorder.left_out:
            notes.append(
                f"The trace has the first {MAX_EVENTS:,} events; "
                f"{self._recorder.left_out:,} more were not kept."
            )
        return notes

    def __str__(self) -> str:
        parts = [wrapped(self.title())]
        tables = [t for t in (self.table(), self.layer_table()) if t is not None]
        parts += ["\n\n".join([str(t) for t in tables])] if tables else []
        return "\n".join([*parts, *[wrapped(note) for note in self.notes()]])

    def __repr__(self) -> str:
        return f"<{self.title()}>"

    def _repr_html_(self) -> str:
        tables = [t for t in (self.table(), self.layer_table()) if t is not None]
        parts = [f"<p><b>{html.escape(self.title())}</b></p>"]
        parts += [t._repr_html_() for t in tables]
        return "".join([*parts, *[f"<p>{html.escape(n)}</p>" for n in self.notes()]])


def profile(model: Layer | None = None, *, synchronize: bool = False) -> Profile:
    """Measure what the Functions called in a ``with`` block take, in time and memory.

    ::

        with dz.profile() as p:
            for x, t in batches:
                loss = F.softmax_cross_entropy(model(x), t)
                model.cleargrads()
                loss.backward(retain_graph=False)
                optimizer.update()
        print(p)
        p.save_trace("trace.json")

    The table has a row per class of Functions: how often it was called, its time
    forward and backward, its share of the whole, the time of its own (without Functions
    that it calls), the bytes of its results, and how many bytes the graph began to keep
    there. ``backward pass`` is the engine's own work, also in a pass of
    :func:`dezero.grad`; ``Adam.update`` that of an optimizer, ``(rest)`` everything
    else. Calls that a backward makes count as calls of their class, and their time for
    that backward.

    The same profile can be used for one block after the other, and in several threads;
    all are added up. A block sees its own thread. The backward of what was called in a
    block is measured in any block of the profile.

    Outside of blocks nothing is measured and nothing costs. Inside, each call costs
    some 25 microseconds, which are taken off all times, and some 8 for colder caches,
    which cannot be: times of calls on few elements are too long. Told below the table
    is a float32 that became float64.

    Args:
        model: A layer whose layers get rows too, by their names.
        synchronize: On a GPU, whether to wait for it at the end of each call. Without,
            times are those of the launch, and the work is in whatever waits for it.

    Returns:
        The profile, to be used in a ``with`` statement.

    Raises:
        TypeError: ``model`` is no Layer, or ``synchronize`` no truth value.
    """
    if model is not None and not isinstance(model, Layer):
        got = f"the class {model.__name__}" if isinstance(model, type) else None
        raise TypeError(f"profile: expected a Layer, got {got or type(model).__name__}")
    if not isinstance(synchronize, bool):
        raise TypeError(
            "profile: expected synchronize to be True or False, "
            f"got {type(synchronize).__name__}"
        )
    return Profile(model, synchronize)


def _update(
    recorder: Recorder, call: Any, optimizer: Any, *args: Any, **opts: Any
) -> Any:
    name = f"{type(optimizer).__name__}.update"
    return recorder.part_run("update", name, call, optimizer, *args, **opts)


def _layer(
    recorder: Recorder,
    names: dict[int, str],
    call: Any,
    layer: Any,
    *args: Any,
    **options: Any,
) -> Any:
    name = names.get(id(layer))
    if name is None:  # of no layer of the model
        return call(layer, *args, **options)
    return recorder.layer_called(name, call, layer, *args, **options)


def _names(model: Layer) -> dict[int, str]:
    top = type(model).__name__
    return {id(layer): name or top for name, layer in model.named_layers()}
