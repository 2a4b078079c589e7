"""What the layers put out: spread, zeros, saturation, dead units."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import dezero.layers as L
from dezero import cuda
from dezero.core import Function, Variable, no_grad
from dezero.diagnostics.calls import watch_calls
from dezero.diagnostics.output_records import Activation, Record
from dezero.diagnostics.states import unchanged_random_states
from dezero.diagnostics.tables import Report, Table, number, percent, shortened
from dezero.layers import Layer

# The bounds of what these Functions put out.
BOUNDS = {"Sigmoid": (0.0, 1.0), "Tanh": (-1.0, 1.0), "Softsign": (-1.0, 1.0)}
# Functions that are shown though no layer calls them.
ACTIVATIONS = {
    *BOUNDS,
    "ELU",
    "GELU",
    "HardTanh",
    "LeakyReLU",
    "PReLU",
    "ReLU",
    "SiLU",
}


@dataclass(frozen=True)
class ActivationReport(Report):
    """What :func:`activations` found. Printed, it is a table.

    Attributes:
        rows: An :class:`Activation` for each layer, in the order of their first calls.
    """

    rows: list[Activation] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Is every row fine?"""
        return not self.flagged

    @property
    def flagged(self) -> list[Activation]:
        """The rows that need a look."""
        return [row for row in self.rows if row.verdict != "fine"]

    def title(self) -> str:
        """One line that says the outcome."""
        if self.ok:
            return f"Activations: fine, {len(self.rows)} layers."
        counts: dict[str, int] = {}
        for row in self.flagged:
            counts[row.verdict] = counts.get(row.verdict, 0) + 1
        found = ", ".join([f"{n} {verdict}" for verdict, n in counts.items()])
        return f"Activations: {found}; of {len(self.rows)} layers."

    def table(self) -> Table:
        """A row per layer."""
        return Table(
            ("layer", "shape", "mean", "std", "zeros", "satur.", "dead", "verdict"),
            [
                (
                    row.name + (f" x{row.calls}" if row.calls > 1 else ""),
                    shortened(str(row.shape), 16),
                    number(row.mean),
                    number(row.std),
                    percent(row.zeros),
                    percent(row.saturated),
                    f"{row.dead}/{row.units}",
                    row.verdict,
                )
                for row in self.rows
            ],
            right=(2, 3, 4, 5, 6),
        )

    def notes(self) -> list[str]:
        """What the verdicts mean and what helps."""
        found = {row.verdict for row in self.rows}
        return [text for name, text in _HELP.items() if name in found]


_HELP = {
    "not finite": "Not finite: dz.detect_anomaly() finds where the first NaN or "
    "infinity arises.",
    "saturated": "Saturated: most outputs stand at a bound, where the slope is next to "
    "nothing. Try smaller initial weights, normalization or inputs of smaller scale.",
    "dead units": "Dead units: they are 0 for every sample of this batch. Try a lower "
    "learning rate, other initial weights or leaky_relu.",
    "constant": "Constant: all outputs are the same number, whatever goes in.",
}


def activations(model: Any, *inputs: Any) -> ActivationReport:
    """Run a copy of a model and measure what each layer puts out.

    Shown are the layers that no other layer works through, and the activation functions
    called beside them. A layer called many times (of a recurrent network, or a shared
    one) is one row over all its calls. Units are the channels, axis 1, of outputs of
    convolutions and of four axes or more, else the last axis.

    Of sigmoid, tanh and their like, outputs within 1 % of the distance of both bounds
    are saturated; a row is marked if they are more than half (Glorot and Bengio 2010,
    "Understanding the difficulty of training deep feedforward neural networks", show
    what that does). It is marked too if three quarters of the units are 0 for all
    samples.

    The copy is called once in the mode that is set (``with dz.test_mode():`` around it
    for the other). The model and NumPy's random state stay as they are.

    Args:
        model: A Layer.
        *inputs: What a call of it gets.

    Returns:
        A report to print, with ``report.ok`` and ``report.rows``.

    Raises:
        TypeError: ``model`` is no Layer.
        ValueError: No layer or activation function was called.
    """
    if not isinstance(model, Layer):
        got = f"the class {model.__name__}" if isinstance(model, type) else None
        raise TypeError(
            f"activations: expected a Layer, got {got or type(model).__name__}"
        )
    model = copy.deepcopy(model)
    watcher = _Watcher(model)
    with unchanged_random_states(), no_grad(), watch_calls(watcher.function_called):
        model(*inputs)
    rows = [record.row() for record in watcher.records.values() if record.calls]
    if not rows:
        raise ValueError(
            f"activations: expected {type(model).__name__} to call layers or "
            "activation functions, got none"
        )
    return ActivationReport(rows)


class _Watcher:
    """Sees the layers of a model, a copy that is thrown away, while it runs."""

    def __init__(self, model: Layer) -> None:
        self.records: dict[Any, Record] = {}
        # Of each open call of a layer: has it called another? Does it hold others?
        self._called: list[bool] = []
        self._holds: list[bool] = []
        self._last = ""  # the last layer shown
        self._maker: dict[int, tuple[Variable, str]] = {}  # of each result
        self._depth = 0
        self._channels_first = False
        for name, layer in model.named_layers():
            self._watch(name or type(layer).__name__, layer)

    def _watch(self, name: str, layer: Layer) -> None:
        """Python looks ``__call__`` up in the class: the object gets its own class."""
        cls: Any = type(layer)
        watcher = self
        # The steps of recurrent layers use the weights of those that they hold.
        steps = isinstance(layer, (L.RNN, L.LSTM, L.GRU))
        holds = not steps and len(list(layer.named_layers())) > 1

        def call(self: Any, *inputs: Any, **options: Any) -> Any:
            if watcher._called:
                watcher._called[-1] = True
            watcher._called.append(False)
            watcher._holds.append(holds)
            try:
                outputs = cls.__call__(self, *inputs, **options)
            finally:
                watcher._holds.pop()
                worked_through_others = watcher._called.pop()
            if not worked_through_others:
                watcher._layer_called(name, cls, self, outputs)
            return outputs

        watched = type(cls.__name__, (cls,), {"__call__": call})
        object.__setattr__(layer, "__class__", watched)

    def _layer_called(self, name: str, cls: Any, layer: Any, outputs: Any) -> None:
        if isinstance(layer, (L.Conv1d, L.Conv2d, L.Conv3d)):
            self._channels_first = True
        elif isinstance(layer, (L.Linear, L.Embedding)):
            self._channels_first = False
        self._last = name
        ys = _arrays(outputs)
        for i, y in enumerate(ys):
            label = name if len(ys) == 1 else f"{name}[{i}]"
            self._note(("layer", label), label, cls.__name__, y)

    def function_called(
        self, call: Callable[..., Any], f: Function, *inputs: Any
    ) -> Any:
        """Note an activation function that stands beside the layers."""
        self._depth += 1
        try:
            outputs = call(f, *inputs)
        finally:
            self._depth -= 1
        if self._depth or isinstance(outputs, tuple):
            return outputs
        kind = type(f).__name__
        self._maker[id(outputs)] = outputs, kind
        if kind in ACTIVATIONS and not self._in_leaf_layer():
            after = f"{self._last} > " if self._last else ""
            name = f"{after}F.{kind.lower()}"
            self._note(("function", name), name, kind, outputs)
        return outputs

    def _in_leaf_layer(self) -> bool:
        """Is the innermost open layer one that is shown itself?"""
        return len(self._holds) > 1 and not self._holds[-1]

    def _note(self, key: Any, name: str, kind: str, y: Any) -> None:
        maker = self._maker.get(id(y), (None, ""))[1]
        data = y.data if isinstance(y, Variable) else y
        record = self.records.setdefault(key, Record(name, kind))
        record.add(data, BOUNDS.get(maker), self._channels_first)


def _arrays(outputs: Any) -> list[Any]:
    """The floating arrays and Variables among outputs, in tuples, lists and dicts."""
    if isinstance(outputs, dict):
        outputs = list(outputs.values())
    if isinstance(outputs, (tuple, list)):
        return [y for item in outputs for y in _arrays(item)]
    data = outputs.data if isinstance(outputs, Variable) else outputs
    is_floating = cuda.is_array(data) and data.dtype.kind == "f"
    return [outputs] if is_floating else []
