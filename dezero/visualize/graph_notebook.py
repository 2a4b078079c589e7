"""What notebooks show for Variables and Layers. Nothing here ever raises."""

from __future__ import annotations

import contextlib
import html
from typing import Any

from dezero.core import Parameter, Variable
from dezero.layers import Layer
from dezero.visualize.graph_dot import Style, dot_text
from dezero.visualize.graph_folding import fold
from dezero.visualize.graph_nodes import Knowledge, collect, functions_in_order
from dezero.visualize.graph_rendering import picture
from dezero.visualize.graph_values import shape_text

_LARGEST = 100  # Functions; the graph of a whole training step is for draw_graph
_SECONDS = 10.0
_LINES = 12  # of values


def variable_svg(x: Variable) -> str | None:
    """The graph of a result with its value above; None, and so text, for all others.

    Others are leaves, results of more than 100 Functions, and all where there is no
    program to draw with.
    """
    with contextlib.suppress(Exception):
        if x.creator is None or _is_large(x):
            return None
        graph = collect([x], Knowledge())
        graph = fold(graph) if len(graph.calls) > 15 else graph
        graph.notes = [_value(x), *graph.notes]
        style = Style("LR", results=False, caption_font="Courier")
        return picture("Variable", dot_text(graph, style), "svg", _SECONDS).decode()
    return None


def _is_large(x: Variable) -> bool:
    assert x.creator is not None
    return len(functions_in_order([x.creator])) > _LARGEST


def _value(x: Variable) -> str:
    lines = repr(x).splitlines()
    if len(lines) > _LINES:
        lines = [*lines[: _LINES - 1], "..."]
    return "\n".join(lines)


def layer_html(layer: Layer) -> str | None:
    """The layers of a model, one inside the other, with shapes and counts.

    Layers can be opened and closed; those in a row that look the same stand there once.
    """
    with contextlib.suppress(Exception):
        return _Outline(layer).text()
    return None


class _Outline:
    def __init__(self, layer: Layer) -> None:
        self.layer = layer
        self.inside: dict[str, list[str]] = {}  # names by that of the layer around them
        self.items: dict[str, Any] = {}
        self.unknown: set[str] = set()  # those with sizes that the first call tells
        for name, item, _ in layer._walk():
            self.items[name] = item
            if name:
                self.inside.setdefault(self._around(name), []).append(name)

    def _around(self, name: str) -> str:
        """The name of the innermost layer that ``name`` lies in."""
        while name:
            name = name.rpartition("/")[0]
            if isinstance(self.items.get(name), Layer):
                return name
        return ""

    def text(self) -> str:
        """The outline as HTML."""
        texts: dict[str, str] = {}  # what is inside of each, without its own name
        sizes: dict[str, int] = {}
        for name in reversed(list(self.items)):  # what is inside comes after
            item = self.items[name]
            if isinstance(item, Parameter):
                shape, dtype = (None, None) if item.data is None else _facts(item)
                frozen = "" if item.requires_grad else " (frozen)"
                texts[name] = html.escape(f"{shape_text(shape, dtype)}{frozen}")
                sizes[name] = 0 if item.data is None else item.size
                if item.data is None:
                    self.unknown.add(name)
            else:
                inner = self.inside.get(name, [])
                sizes[name] = sum([sizes[n] for n in inner])
                if not self.unknown.isdisjoint(inner):
                    self.unknown.add(name)
                texts[name] = self._layer(name, item, inner, texts, sizes)
        return (
            f'<div style="font-family: monospace; line-height: 1.5">{texts[""]}</div>'
        )

    def _layer(
        self,
        name: str,
        layer: Any,
        inner: list[str],
        texts: dict[str, str],
        sizes: dict[str, int],
    ) -> str:
        kind = html.escape(type(layer).__name__)
        known = f" {sizes[name]:,} parameters" if sizes[name] else ""
        more = " (more after the first call)" if name in self.unknown else ""
        head = f"<b>{kind}</b>{known}{more}"
        if not inner:
            return head
        rows = []
        i = 0
        while i < len(inner):
            j = i + 1
            while j < len(inner) and texts[inner[j]] == texts[inner[i]]:
                j += 1
            # Sizes that are not known yet need not be equal.
            folded = j - i > 1 and isinstance(self.items[inner[i]], Layer)
            folded = folded and inner[i] not in self.unknown
            j = j if folded else i + 1
            label = html.escape(inner[i].removeprefix(f"{name}/"))
            if folded:
                last = html.escape(inner[j - 1].removeprefix(f"{name}/"))
                label = f"{label} … {last} ×{j - i}"
            rows.append(self._row(label, texts[inner[i]]))
            i = j
        style = "margin-left: 1.5em"
        body = f'<div style="{style}">{"".join(rows)}</div>'
        opened = " open" if not name else ""
        return f"<details{opened}><summary>{head}</summary>{body}</details>"

    def _row(self, label: str, text: str) -> str:
        if text.startswith("<details"):
            return text.replace("<summary>", f"<summary>{label}: ", 1)
        return f"<div>{label}: {text}</div>"


def _facts(p: Parameter) -> tuple[tuple[int, ...], Any]:
    return p.shape, p.dtype
