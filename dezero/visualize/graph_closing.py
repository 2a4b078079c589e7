"""Whole layers, drawn as one box each."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dezero.visualize.graph_nodes import Call, Graph, Leaf, Scope
from dezero.visualize.graph_values import shorten

_FEW = 3  # parameters that a box lists; of more it gives the number of their elements


def deepest(graph: Graph) -> int:
    """How many layers lie inside one another."""
    return max([len(call.scopes) for call in graph.calls], default=0)


def close_layers(graph: Graph, depth: int | None) -> Graph:
    """Draw layers as one box each.

    Args:
        graph: It is not changed.
        depth: How deep in others those lie: 0 closes all layers, 1 those inside others,
            and so on. None closes those that hold no others.
    """
    if not deepest(graph):
        return graph
    outer = {s for call in graph.calls for s in call.scopes[:-1]}
    closing = _Closing(graph)
    for call in graph.calls:
        scopes = call.scopes
        if depth is None:
            inmost = scopes and scopes[-1].kind and scopes[-1] not in outer
            closing.add(call, len(scopes) - 1 if inmost else None)
        else:
            closing.add(call, depth if len(scopes) > depth else None)
    return closing.graph()


class _Closing:
    def __init__(self, graph: Graph) -> None:
        self.old = graph
        self.groups: dict[Any, list[Call]] = {}  # by the layer or the call itself
        self.users: dict[Any, set[Any]] = {}  # source -> the keys of those groups
        self.depths: dict[Scope, int] = {}
        self.places: dict[Any, Any] = {}  # source -> source in the new graph

    def add(self, call: Call, depth: int | None) -> None:
        """Put ``call`` in the box of the layer at ``depth``; None leaves it alone."""
        if depth is not None:
            self.depths[call.scopes[depth]] = depth
        key = call if depth is None else call.scopes[depth]
        self.groups.setdefault(key, []).append(call)
        for source in call.sources:
            self.users.setdefault(source, set()).add(key)

    def graph(self) -> Graph:
        """The graph with the boxes."""
        for source in self.old.outputs:
            self.users.setdefault(source, set()).add(None)  # somebody else
        calls = []
        for key, group in self.groups.items():
            if isinstance(key, Scope):
                calls.append(self._box(key, group))
            else:
                calls.append(Call(**vars(key)))
                for i in range(len(key.outputs)):
                    self.places[key, i] = calls[-1], i
        for call in calls:
            call.sources = [self.places.get(s, s) for s in call.sources]
        outputs = [self.places.get(s, s) for s in self.old.outputs]
        return Graph(calls, outputs, self.old.title, self.old.notes)

    def _box(self, scope: Scope, group: list[Call]) -> Call:
        inside = set(group)
        scopes = group[0].scopes[: self.depths[scope] + 1]
        box = Call(scope.kind or "…", [], [], None, scopes)
        sources: dict[Any, None] = {}
        weights: dict[Leaf, None] = {}
        counts: Counter[str] = Counter()
        for call in group:
            if call.function is None and call.scopes[len(scopes) :]:
                counts[call.scopes[-1].kind] += 1
            else:
                counts[call.title] += call.repeats
            box.freed = box.freed or call.freed
            weights.update(dict.fromkeys(call.weights))
            for s in call.sources:
                if isinstance(s, Leaf) and s.kind == "parameter":
                    weights[s] = None
                elif isinstance(s, Leaf):
                    if s.kind != "constant":
                        sources[s] = None
                elif s is not None and s[0] not in inside:
                    sources[s] = None
            for i, output in enumerate(call.outputs):
                if self.users.get((call, i), set()) - {scope}:
                    self.places[call, i] = box, len(box.outputs)
                    box.outputs.append(output)
        box.sources = list(sources)
        box.weights = list(weights)
        box.inside = _lines(scope, box.weights, counts)
        return box


def _lines(scope: Scope, weights: list[Leaf], counts: Counter[str]) -> list[str]:
    """What is in a box: its parameters, and what it does."""
    if len(weights) <= _FEW:
        lines = []
        for leaf in weights:
            name = leaf.name.removeprefix(f"{scope.name}/") or "parameter"
            shape = "?" if leaf.shape is None else leaf.shape
            lines.append(f"{shorten(name)} {shape}{' (frozen)' if leaf.frozen else ''}")
    else:
        lines = [f"{sum([_size(leaf) for leaf in weights]):,} parameters"]
    names = list(counts)
    if names != [scope.kind]:
        lines.append(", ".join(names[:3]) + (", …" if len(names) > 3 else ""))
    return lines


def _size(leaf: Leaf) -> int:
    size = 1
    for n in leaf.shape or ():
        size *= n
    return size
