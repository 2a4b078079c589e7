"""A graph too large to be drawn, as a table of what is in it."""

from __future__ import annotations

from collections import Counter

from dezero.visualize.graph_dot import attributes, header
from dezero.visualize.graph_nodes import Graph
from dezero.visualize.graph_values import shape_text, shorten

_ROWS = 15


def summary_dot(graph: Graph, direction: str, limit: int) -> str:
    """A drawing of counts, in the DOT language."""
    lines = summary_lines(graph)
    lines.append("")
    lines.append(f"More than limit={limit:,} boxes, so only counts are shown.")
    options = {"shape": "box", "style": "filled", "fillcolor": "#ffffff"}
    label = "\n".join(lines)
    node = f"  summary {attributes({'label': label, **options}, flush_left=True)};"
    caption = "\n".join([t for t in (graph.title, *graph.notes) if t])
    return "\n".join([*header(direction, caption), node, "}"]) + "\n"


def summary_lines(graph: Graph) -> list[str]:
    """How often each Function and layer is called, and what goes in and out."""
    functions: Counter[str] = Counter()
    layers: Counter[str] = Counter()
    counted = set()
    for call in graph.calls:
        times = 1
        for scope in call.scopes:
            times *= scope.repeats
            if scope.kind and scope not in counted:
                counted.add(scope)
                layers[scope.kind] += times
        functions[call.title] += times * call.repeats
    lines = [f"{functions.total():,} functions", *_rows(functions)]
    if layers:
        lines += [f"in {layers.total():,} calls of layers", *_rows(layers)]
    leaves = Counter([leaf.kind for leaf in graph.leaves()])
    counts = [f"{n:,} {kind}" for kind, n in sorted(leaves.items())]
    lines.append(f"leaves: {', '.join(counts) or 'none'}")
    for s in graph.outputs:
        if isinstance(s, tuple):
            shape, dtype, x = s[0].outputs[s[1]]
            name = shorten(x.name) if x is not None and x.name else "output"
            lines.append(f"{name}: {shape_text(shape, dtype)}")
    return lines


def _rows(counts: Counter[str]) -> list[str]:
    rows = [f"    {n:,} × {shorten(name)}" for name, n in counts.most_common(_ROWS)]
    rest = len(counts) - _ROWS
    return rows + ([f"    and {rest:,} other kinds"] if rest > 0 else [])
