"""Which arrays a backward pass frees, as it leaves one Function after another."""

from __future__ import annotations

from typing import Any

from dezero.visualize.player_graph import PlayerGraph, Step, Value


class Held:
    """For each piece of memory: the Functions that keep it, and the results in it.

    Leaves and constants are left out: the script that made them has them anyway.
    """

    def __init__(self, graph: PlayerGraph) -> None:
        self._table: dict[int, tuple[set[Step], list[Value]]] = {}
        others = {_memory(x.data) for x in graph.values if x.kind != "result"}
        for step in graph.steps:
            for value in _kept_by(step):
                memory = _memory(value.data)
                if memory in others:
                    continue
                steps, values = self._table.setdefault(memory, (set(), []))
                steps.add(step)
                if value not in values:
                    values.append(value)

    def release(self, step: Step) -> list[Value]:
        """Results whose memory ``step`` was the last in the graph to need."""
        freed: list[Value] = []
        for memory, (steps, values) in list(self._table.items()):
            steps.discard(step)
            if not steps:
                freed += values
                del self._table[memory]
        return freed


def _kept_by(step: Step) -> list[Value]:
    """The results whose arrays the record of a Function keeps."""
    f = step.f
    kept = list(step.inputs) if f.reads_inputs and f.inputs is not None else []
    if f.reads_outputs and f._output_data is not None:
        kept += step.outputs
    return [
        x for x in kept if x is not None and x.kind == "result" and x.data is not None
    ]


def _memory(x: Any) -> int:
    """What tells two arrays apart that own their memory; the same for views of one."""
    while getattr(x, "base", None) is not None:
        x = x.base
    return id(x)
