"""What a drawing shows, collected from a recorded graph: calls, leaves, outputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dezero import cuda
from dezero.core import Function, Parameter, Variable

# Where an input of a call comes from: a leaf, (a call, which of its outputs), or None
# for an argument that was None or that nobody kept.
Source = Any


@dataclass(eq=False)
class Scope:
    """One call of a Layer: what it computes is drawn inside one frame.

    Attributes:
        name: The name of the layer in its model, as in ``blocks/0``.
        kind: The name of its class; "" for a frame around several.
        repeats: How many in a row this one stands for.
        last: The name of the last of them.
    """

    name: str
    kind: str
    repeats: int = 1
    last: str = ""


@dataclass(eq=False)
class Leaf:
    """Something that no recorded Function made.

    Attributes:
        kind: "parameter", "input", "constant" or "unchained".
        name: What it is called; "" if it has no name.
        variable: The Variable, an array or a number; None if it is gone.
        shape: None if it is not known yet.
        dtype: Likewise.
        frozen: A parameter that takes no gradient.
    """

    kind: str
    name: str
    variable: Any
    shape: tuple[int, ...] | None
    dtype: Any
    frozen: bool = False


@dataclass(eq=False)
class Call:
    """A Function that was called, or a whole layer drawn as one box.

    Attributes:
        title: The name of its class.
        sources: Where each input comes from.
        outputs: (shape, dtype, the Variable or None if it is gone) of each output.
        function: The Function; None for a whole layer.
        scopes: The layers it was called in, the outermost first.
        freed: Whether an earlier pass released what is behind.
        repeats: How many in a row this one stands for.
        inside: Of a whole layer, what it does.
        weights: Of a whole layer, its parameters.
    """

    title: str
    sources: list[Source]
    outputs: list[tuple[tuple[int, ...], Any, Any]]
    function: Function | None = None
    scopes: tuple[Scope, ...] = ()
    freed: bool = False
    repeats: int = 1
    inside: list[str] = field(default_factory=list)
    weights: list[Leaf] = field(default_factory=list)

    @property
    def frames(self) -> tuple[Scope, ...]:
        """The layers around it: a whole layer is not inside itself."""
        return self.scopes[:-1] if self.function is None else self.scopes


@dataclass(eq=False)
class Graph:
    """All that is drawn.

    Attributes:
        calls: Each after those that it depends on.
        outputs: What was asked for.
        title: Of the whole drawing.
        notes: Sentences below it.
    """

    calls: list[Call]
    outputs: list[Source]
    title: str = ""
    notes: list[str] = field(default_factory=list)

    def leaves(self) -> list[Leaf]:
        """Each leaf once, in the order in which they are used."""
        sources = [s for call in self.calls for s in call.sources] + self.outputs
        return list(dict.fromkeys([s for s in sources if isinstance(s, Leaf)]))

    def consumers(self) -> dict[Call, list[Call]]:
        """Who takes what a call gives."""
        found: dict[Call, list[Call]] = {call: [] for call in self.calls}
        for call in self.calls:
            for source in call.sources:
                if isinstance(source, tuple):
                    found[source[0]].append(call)
        return found


@dataclass(eq=False)
class Knowledge:
    """What is known beyond the recorded graph, from a model or a run of it.

    Attributes:
        names: Of leaves.
        scopes: In which layers a Function was called.
        inputs: What a Function was called with, also where it did not keep it.
        arrays: Arrays that are inputs of the whole, by id: (the array, its name).
        readers: (array, layer) of each call of a layer that got one of them.
    """

    names: dict[Variable, str] = field(default_factory=dict)
    scopes: dict[Function, tuple[Scope, ...]] = field(default_factory=dict)
    inputs: dict[Function, tuple[Any, ...]] = field(default_factory=dict)
    arrays: dict[int, tuple[Any, str]] = field(default_factory=dict)
    readers: list[tuple[Any, Scope]] = field(default_factory=list)


def collect(outputs: Sequence[Variable], known: Knowledge) -> Graph:
    """The graph behind ``outputs``, as far as it is there."""
    return _Collector(known).collect(outputs)


class _Collector:
    def __init__(self, known: Knowledge) -> None:
        self.known = known
        self.calls: dict[Function, Call] = {}
        self.leaves: dict[Any, Leaf] = {}  # by Variable, edge or id
        self.kept: list[Any] = []  # so that no id is given away anew

    def collect(self, outputs: Sequence[Variable]) -> Graph:
        roots = [y.creator for y in outputs if y.creator is not None]
        for f in functions_in_order(roots):
            self.calls[f] = self._call(f)
        self._add_unseen()
        sources: list[Source] = [
            self._leaf(y) if y.creator is None else self._source((y.creator, y._index))
            for y in outputs
        ]
        graph = Graph(list(self.calls.values()), sources)
        if not any([y.requires_grad for y in outputs]):
            graph.notes.append(
                "Nothing was recorded: it was computed under no_grad, or from "
                "constants only."
            )
        if any([call.freed for call in graph.calls]):
            graph.notes.append(
                "What is behind a dashed box was freed by a backward pass with "
                "retain_graph=False."
            )
        if any([leaf.kind == "unchained" for leaf in graph.leaves()]):
            graph.notes.append("The graph was cut at what is marked as unchained.")
        return graph

    def _add_unseen(self) -> None:
        """Arrows from inputs that no Function got, as indices, but a layer did."""
        seen = set(self.leaves)
        for array, scope in self.known.readers:
            if id(array) not in seen:
                for call in self.calls.values():
                    if call.scopes[-1:] == (scope,):
                        call.sources.append(self._leaf(array))
                        break

    def _call(self, f: Function) -> Call:
        several = type(f._output_refs) is tuple
        shapes = f._output_shape if several else (f._output_shape,)
        dtypes = f._output_dtype if several else (f._output_dtype,)
        refs = [ref() for ref in f.outputs]
        return Call(
            type(f).__name__,
            [self._source(edge, f, i) for i, edge in enumerate(f._edges or ())],
            list(zip(shapes, dtypes, refs, strict=True)),
            f,
            self.known.scopes.get(f, ()),
            not f._edges,
        )

    def _source(self, edge: Any, f: Function | None = None, i: int = 0) -> Source:
        if isinstance(edge, Variable):
            return self._leaf(edge)
        if edge is None:
            assert f is not None
            return self._constant(f, i)
        g, index = edge if type(edge) is tuple else (edge, 0)
        if index in g._cut_outputs:
            return self._unchained(g, index)
        return self.calls[g], index

    def _constant(self, f: Function, i: int) -> Source:
        given = self.known.inputs.get(f, ())
        x = given[i] if i < len(given) else None
        if x is None and f.inputs is not None:
            x = f.inputs[i]
        return None if x is None else self._leaf(x)

    def _leaf(self, x: Any) -> Leaf:
        key = x if isinstance(x, Variable) else id(x)
        if key not in self.leaves:
            self.kept.append(x)
            self.leaves[key] = self._new_leaf(x)
        return self.leaves[key]

    def _new_leaf(self, x: Any) -> Leaf:
        if not isinstance(x, Variable):
            name = self.known.arrays[id(x)][1] if id(x) in self.known.arrays else ""
            kind = "input" if name else "constant"
            if cuda.is_array(x):
                return Leaf(kind, name, x, x.shape, x.dtype)
            return Leaf(kind, name, x, (), type(x).__name__)
        name = self.known.names.get(x) or x.name or ""
        shape, dtype = (None, None) if x.data is None else (x.shape, x.dtype)
        if isinstance(x, Parameter):
            return Leaf("parameter", name, x, shape, dtype, not x.requires_grad)
        is_input = x.requires_grad or x in self.known.names
        return Leaf("input" if is_input else "constant", name, x, shape, dtype)

    def _unchained(self, f: Function, index: int) -> Leaf:
        key = f, index
        x = f.outputs[index]()
        if x is not None:
            key = x  # the Variable itself may be asked for too
        if key not in self.leaves:
            several = type(f._output_refs) is tuple
            shape = f._output_shape[index] if several else f._output_shape
            dtype = f._output_dtype[index] if several else f._output_dtype
            name = "" if x is None else x.name or ""
            self.leaves[key] = Leaf("unchained", name, x, shape, dtype)
        return self.leaves[key]


def functions_in_order(roots: Iterable[Function]) -> list[Function]:
    """The Functions behind ``roots`` and these, each after those that it depends on.

    The order is that of a depth-first walk, with the longest way to an input first and
    short ones right before they are needed. So all that belongs to one block, or to one
    step in time, stands together, and the order is the same for the same graph.
    """
    done: dict[Function, None] = {}
    for root in roots:
        stack = [root]
        while stack:
            f = stack[-1]
            waiting = [] if f in done else [g for g in _behind(f) if g not in done]
            if waiting:
                waiting.sort(key=lambda g: -g.generation)
                stack += reversed(waiting)
            else:
                done[stack.pop()] = None
    return list(done)


def _behind(f: Function) -> list[Function]:
    """The Functions that the inputs of ``f`` come from."""
    found = []
    for edge in f._edges or ():
        g, index = edge if type(edge) is tuple else (edge, 0)
        if isinstance(g, Function) and index not in g._cut_outputs:
            found.append(g)
    return found
