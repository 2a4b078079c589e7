"""The graph that the backward player shows: its Functions, its values, their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Function, Parameter, Variable, _edge, _functions_behind
from dezero.cuda import Array

LARGEST_GRAPH = 300  # Functions


@dataclass(eq=False)
class Value:
    """A Variable of the graph, which may be gone: only its place in it is sure.

    Attributes:
        id: ``"v3"``, unique.
        name: As the page calls it, unique.
        kind: ``"parameter"``, ``"leaf"``, ``"constant"`` or ``"result"``.
        key: Under which the engine sums its gradients; None for a constant. One that
            was unchained has a second, of its Function.
        data: Its array, if something kept it.
        maker: The Function that it is an output of, or None.
        shape: Of the array.
        dtype: Of the array.
    """

    id: str
    name: str
    kind: str
    key: Any
    data: Array | None
    maker: Step | None
    shape: tuple[int, ...]
    dtype: Any


@dataclass(eq=False)
class Step:
    """A Function of the graph.

    Attributes:
        id: ``"f3"``, unique.
        f: The recorded Function.
        name: Of its class.
        inputs: A Value for each input; None where it is not known, or was None.
        outputs: A Value for each output.
    """

    id: str
    f: Function
    name: str
    inputs: list[Value | None] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)

    @property
    def generation(self) -> int:
        """Of the Function."""
        return self.f.generation


class PlayerGraph:
    """What a pass from ``y`` goes through.

    Attributes:
        y: Where it starts.
        steps: The Functions, inputs before outputs: an order in which they may have
            been called. In which they were, nothing remembers.
        values: The Variables, leaves and constants where they are first used.
        by_key: Those that take a gradient, by the key of the engine's table.
        of: The step of each Function.
    """

    def __init__(self, y: Variable, names: Mapping[Variable, str]) -> None:
        self.y = y
        self.steps: list[Step] = []
        self.values: list[Value] = []
        self.by_key: dict[Any, Value] = {}
        self.of: dict[Function, Step] = {}
        self._constants: dict[int, Value] = {}  # by the identity of the Variable
        self._names = names
        self._variables: dict[str, Variable] = {}  # those alive, by the id of the Value
        top: Any = y.creator
        functions = _functions_behind([top])
        if len(functions) > LARGEST_GRAPH:
            raise ValueError(
                "backward_player: expected a graph of at most "
                f"{LARGEST_GRAPH} Functions, got {len(functions)}: nobody could follow "
                "it; show one layer, one time step or a smaller model, or cut the "
                "graph with x.detach() or x.unchain()"
            )
        for f in _in_order(top):
            self._add(f)
        _find_lost(self)
        self._give_names()

    def _add(self, f: Function) -> None:
        step = Step(f"f{len(self.steps)}", f, type(f).__name__)
        self.of[f] = step
        kept = f.inputs
        for i, edge in enumerate(f._edges or ()):
            x = kept[i] if kept is not None and i < len(kept) else None
            step.inputs.append(
                self._input(edge, x if isinstance(x, Variable) else None)
            )
        self.steps.append(step)
        several = type(f._output_refs) is tuple
        shapes = f._output_shape if several else (f._output_shape,)
        dtypes = f._output_dtype if several else (f._output_dtype,)
        held = f._output_data if several else (f._output_data,)
        for i, ref in enumerate(f.outputs):
            y = ref()
            data = y.data if y is not None else held[i] if held is not None else None
            key = (f, i) if i else f
            if i in f._cut_outputs and y is not None:
                # Unchained: gradients from uses before that end here, at a leaf.
                value = self._input(y, y)
                assert value is not None
                value.maker, self.by_key[key] = step, value
            else:
                value = self._value("result", key, data, step, shapes[i], dtypes[i], y)
            step.outputs.append(value)

    def _input(self, edge: Any, x: Variable | None) -> Value | None:
        """The Value that goes into a Function, as far as something tells of it."""
        if edge is None:
            if x is None:
                return None
            if id(x) not in self._constants:
                self._constants[id(x)] = self._value(
                    "constant", None, x.data, None, x.shape, x.dtype, x
                )
            return self._constants[id(x)]
        if edge not in self.by_key:
            # A leaf: the outputs of other Functions are there, which came before.
            kind = "parameter" if isinstance(edge, Parameter) else "leaf"
            self._value(kind, edge, edge.data, None, edge.shape, edge.dtype, edge)
        value = self.by_key[edge]
        if value.data is None and x is not None:
            value.data = x.data  # the result is gone, but who reads it kept the array
        if x is not None:
            self._variables.setdefault(value.id, x)
        return value

    def _value(
        self,
        kind: str,
        key: Any,
        data: Any,
        maker: Step | None,
        shape: Any,
        dtype: Any,
        variable: Variable | None,
    ) -> Value:
        id_ = f"v{len(self.values)}"
        value = Value(id_, "", kind, key, data, maker, tuple(shape), dtype)
        self.values.append(value)
        if key is not None:
            self.by_key[key] = value
        if variable is not None:
            self._variables[value.id] = variable
        return value

    # ---- names -------------------------------------------------------------------

    def _give_names(self) -> None:
        """Names given to us, then those of the Variables, then numbers."""
        taken: set[str] = set()
        for value in self.values:
            x = self._variables.get(value.id)
            name = None if x is None else self._names.get(x, x.name)
            if name:
                value.name = _unused(str(name), taken)
        end = self.by_key[_edge(self.y)]
        if not end.name:
            end.name = _unused("y", taken)
        count = 0
        for value in self.values:
            if not value.name and value.kind == "constant" and not value.shape:
                value.name = "constant"  # its value, shown beside it, says the rest
            while not value.name:
                count += 1
                prefix = {"result": "v", "constant": "c"}.get(value.kind, "x")
                if f"{prefix}{count}" not in taken:
                    value.name = f"{prefix}{count}"

    @property
    def end(self) -> Value:
        """The Value of ``y``."""
        return self.by_key[_edge(self.y)]


def _unused(name: str, taken: set[str]) -> str:
    """``name``, with a number behind it if another Value has it already."""
    found, count = name, 1
    while found in taken:
        count += 1
        found = f"{name} ({count})"
    taken.add(found)
    return found


def _in_order(top: Function) -> list[Function]:
    """All Functions behind ``top``, inputs before outputs, left before right.

    Without recursion, since graphs are deep.
    """
    done: dict[Function, None] = {}
    stack: list[tuple[Function, bool]] = [(top, False)]
    while stack:
        f, inputs_done = stack.pop()
        if f in done:
            continue
        if inputs_done:
            done[f] = None
            continue
        stack.append((f, True))
        for edge in reversed(f._edges or ()):
            g = edge[0] if type(edge) is tuple else edge
            if isinstance(g, Function) and g not in done:
                stack.append((g, False))
    return list(done)


# =============================================================================
# Values that nobody kept
# =============================================================================

# Their forward is a pure function of the inputs, and keeps nothing on the Function that
# backward reads later: it may be run again to see the value.
_PURE = frozenset(
    "Abs Add BroadcastTo Cast Conv1d Conv2d Conv3d Cos Div Exp GetItem Linear Log "
    "MatMul Maximum MeanSquaredError Mean Minimum Mul Neg Pow PowGrad ReLU Reshape "
    "SafeDiv SafeMul Sigmoid Sin Sqrt Sub Sum SumTo Tanh TanhGrad Transpose".split()
)


def _find_lost(graph: PlayerGraph) -> None:
    """Compute results again that nobody kept, where that is safe.

    The graph holds only what some backward reads. ``a + b`` is not among that once
    the script has dropped it; but a reader wants to see it.
    """
    for step in graph.steps:
        f = step.f
        if (
            len(step.outputs) != 1
            or step.outputs[0].data is not None
            or step.name not in _PURE
            or not type(f).__module__.startswith("dezero.functions.")
            or not step.inputs
        ):
            continue
        xs = [None if x is None else x.data for x in step.inputs]
        if any([x is None for x in xs]):
            continue
        with np.errstate(all="ignore"):
            y = f._clone().forward(*xs)
        step.outputs[0].data = cuda.get_array_module(xs[0]).asarray(y)
