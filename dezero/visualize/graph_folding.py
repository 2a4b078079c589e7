"""Equal blocks in a row, drawn once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from dezero.visualize.graph_nodes import Call, Graph, Leaf, Scope

_LONGEST = 8  # in layers and Functions of one level, of a block that may be repeated


@dataclass(eq=False)
class _Item:
    """A Function, or a layer with all that it calls, on one level of the drawing."""

    calls: list[Call]
    scope: Scope | None
    token: Hashable = None


def fold(graph: Graph) -> Graph:
    """Draw blocks that follow each other and do the same only once.

    Two blocks do the same if their Functions, shapes and arrows are the same. What the
    first one computes may go to the second only, and so on: otherwise each has a place
    of its own in the drawing. Blocks that hold a layer are folded from two on, single
    Functions from three on.
    """
    folder = _Folder(graph)
    levels = [(graph.calls, 0)]
    while levels:
        calls, depth = levels.pop()
        for item, below in folder.fold_level(calls, depth):
            levels.append((item.calls, below))
    removed, moved = folder.removed, folder.moved
    for call in graph.calls:
        call.sources = [_moved(s, moved) for s in call.sources]
    outputs = [_moved(s, moved) for s in graph.outputs]
    kept = [call for call in graph.calls if call not in removed]
    return Graph(kept, outputs, graph.title, graph.notes)


def _moved(source: Any, moved: dict[Call, Call]) -> Any:
    if isinstance(source, tuple):
        return moved.get(source[0], source[0]), source[1]
    return source


class _Folder:
    def __init__(self, graph: Graph) -> None:
        self.consumers = graph.consumers()
        self.roots = {s[0] for s in graph.outputs if isinstance(s, tuple)}
        self.removed: set[Call] = set()
        self.moved: dict[Call, Call] = {}  # from the last block of a row to the first

    def fold_level(self, calls: list[Call], depth: int) -> list[tuple[_Item, int]]:
        """Fold what stands side by side; return the layers to go into, with depths."""
        items = _items(calls, depth)
        inner: list[tuple[_Item, int]] = []
        i = 0
        while i < len(items):
            length, repeats = self._best(items, i)
            if repeats > 1 and items[i].scope is None:
                # (activation, layer) x n is also (layer, activation) x n, or nearly.
                for start in range(i + 1, i + length):
                    if items[start].scope is not None:
                        if self._best(items, start) == (length, repeats):
                            i = start
                        break
            end = i + length
            block = items[i:end]
            below = depth + 1
            if repeats > 1:
                rows = [
                    items[i + k * length : i + (k + 1) * length] for k in range(repeats)
                ]
                below += self._fold_row(rows, depth)
                end = i + repeats * length
            inner += [(item, below) for item in block if item.scope is not None]
            i = end
        return inner

    def _best(self, items: Sequence[_Item], i: int) -> tuple[int, int]:
        """(length, repeats) of the row at ``i`` that saves most; (1, 1) if none."""
        best = 1, 1
        for length in range(1, min(_LONGEST, (len(items) - i) // 2) + 1):
            repeats = self._repeats(items, i, length)
            layers = any([item.scope is not None for item in items[i : i + length]])
            saved = length * (repeats - 1)
            if repeats >= (2 if layers else 3) and saved > best[0] * (best[1] - 1):
                best = length, repeats
        return best

    def _repeats(self, items: Sequence[_Item], i: int, length: int) -> int:
        """How often the block of ``length`` items at ``i`` stands there in a row."""
        repeats = 1
        before = _calls(items[i : i + length])
        links: dict[tuple[int, int], tuple[int, int]] | None = None
        while True:
            start = i + repeats * length
            block = items[start : start + length]
            if len(block) < length:
                return repeats
            for a, b in zip(items[i : i + length], block, strict=True):
                if a.token != b.token:
                    return repeats
            after = _calls(block)
            found = _links(before, after)
            if found is None or (links is not None and found != links):
                return repeats
            both = {*before, *after}
            for call in before:
                if call in self.roots:
                    return repeats
                if not both.issuperset(self.consumers[call]):
                    return repeats
            before, links = after, found
            repeats += 1

    def _fold_row(self, rows: list[list[_Item]], depth: int) -> int:
        """Keep the first block of a row; return by how much it now lies deeper."""
        first, last = _calls(rows[0]), _calls(rows[-1])
        for row in rows[1:]:
            self.removed.update(_calls(row))
        self.moved.update(zip(last, first, strict=True))
        scopes = [item.scope for item in rows[0] if item.scope is not None]
        ends = [item.scope for item in rows[-1] if item.scope is not None]
        if len(rows[0]) == 1:
            if scopes:
                scopes[0].repeats, scopes[0].last = len(rows), ends[0].name
            else:
                first[0].repeats = len(rows)
            return 0
        frame = Scope("", "", len(rows))
        if scopes:
            frame.name, frame.last = scopes[0].name, ends[-1].name
        for call in first:
            call.scopes = (*call.scopes[:depth], frame, *call.scopes[depth:])
        return 1


def _items(calls: list[Call], depth: int) -> list[_Item]:
    items: dict[Any, _Item] = {}
    for call in calls:
        scope = call.scopes[depth] if len(call.scopes) > depth else None
        key = call if scope is None else scope
        if key not in items:
            items[key] = _Item([], scope)
        items[key].calls.append(call)
    for item in items.values():
        item.token = tuple([_token(call, depth) for call in item.calls])
    return list(items.values())


def _token(call: Call, depth: int) -> Hashable:
    """What two calls that do the same have in common, but for where arrows start."""
    kinds: list[Hashable] = []
    for s in call.sources:
        if isinstance(s, Leaf) and s.kind in ("parameter", "constant"):
            kinds.append((s.kind, s.shape, str(s.dtype)))
        else:
            kinds.append("nothing" if s is None else "value")
    outputs = tuple([(shape, str(dtype)) for shape, dtype, _ in call.outputs])
    layers = tuple([scope.kind for scope in call.scopes[depth:]])
    return call.title, call.freed, outputs, tuple(kinds), layers


def _calls(items: Sequence[_Item]) -> list[Call]:
    return [call for item in items for call in item.calls]


def _links(before: list[Call], after: list[Call]) -> dict | None:
    """The arrows from one block to the next; None if the two differ, or there is none.

    Returns:
        (call, input) of the second block -> (call, output) of the first, as positions.
    """
    at_before = {call: j for j, call in enumerate(before)}
    at_after = {call: j for j, call in enumerate(after)}
    links = {}
    for j, (a, b) in enumerate(zip(before, after, strict=True)):
        for slot, (s, t) in enumerate(zip(a.sources, b.sources, strict=True)):
            s_inside = isinstance(s, tuple) and s[0] in at_before
            if isinstance(t, tuple) and t[0] in at_after:
                if not s_inside or (at_before[s[0]], s[1]) != (at_after[t[0]], t[1]):
                    return None
            elif s_inside:
                return None
            elif isinstance(t, tuple) and t[0] in at_before:
                links[j, slot] = at_before[t[0]], t[1]
            elif isinstance(t, tuple) and t != s:
                return None
    return links or None
