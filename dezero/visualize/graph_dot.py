"""The text in which the DOT programs take a graph, and what each thing looks like."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from dezero.core import Variable
from dezero.visualize.graph_nodes import Call, Graph, Leaf, Scope
from dezero.visualize.graph_values import (
    setting_lines,
    shape_text,
    shorten,
    value_lines,
)

# Light tints of colours that the colour-blind tell apart; shapes and borders say the
# same in grey.
_STYLES: dict[str, dict[str, Any]] = {
    "function": {"shape": "box", "style": "filled,rounded", "fillcolor": "#d6e6f4"},
    "layer": {"shape": "box", "style": "filled", "fillcolor": "#b9d3ea", "penwidth": 2},
    "parameter": {
        "shape": "box3d",
        "style": "filled",
        "fillcolor": "#a5dcc6",
        "margin": "0.18,0.11",
    },
    "input": {"shape": "ellipse", "style": "filled", "fillcolor": "#ffe2a8"},
    "constant": {"shape": "note", "style": "filled", "fillcolor": "#eeeeee"},
    "unchained": {"shape": "ellipse", "style": "filled,dashed", "fillcolor": "#eeeeee"},
    "result": {"shape": "ellipse", "style": "filled", "fillcolor": "#ffffff"},
    "output": {
        "shape": "ellipse",
        "style": "filled",
        "fillcolor": "#f6b79b",
        "peripheries": 2,
        "penwidth": 1.6,
    },
}


@dataclass
class Style:
    """How much is written, and where things stand.

    Attributes:
        direction: "TB" or "LR".
        shapes: Whether shapes and dtypes are written.
        values: Whether values are.
        gradients: Whether gradients are.
        settings: Whether Functions say what they were made with.
        results: Whether each intermediate result is a node of its own.
        caption_font: Of what stands above the drawing.
    """

    direction: str = "TB"
    shapes: bool = True
    values: bool = False
    gradients: bool = False
    settings: bool = False
    results: bool = True
    caption_font: str = "Helvetica"


def dot_text(graph: Graph, style: Style) -> str:
    """The graph in the DOT language; the same graph gives the same text."""
    return _Writer(graph, style).text()


def quoted(text: str, flush_left: bool = False) -> str:
    """``text`` in quotation marks, so that it is read as it stands.

    DOT knows escapes (``\\N``) and entities (``&lt;``) inside of them.
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    if flush_left:
        text += "\n"  # each line ends with the sign that says so
    return '"' + text.replace("\n", "\\l" if flush_left else "\\n") + '"'


def attributes(options: dict[str, Any], flush_left: bool = False) -> str:
    """``[label="x", shape="box"]``."""
    items = [
        f"{key}={quoted(str(value), flush_left and key == 'label')}"
        for key, value in options.items()
    ]
    return f"[{', '.join(items)}]"


def header(direction: str, caption: str, font: str = "Helvetica") -> list[str]:
    """How every drawing begins."""
    options: dict[str, Any] = {"rankdir": direction, "bgcolor": "white"}
    options |= {"fontname": font, "fontsize": 11, "labelloc": "t"}
    options |= {"nodesep": 0.25, "ranksep": 0.35}
    if caption:
        options |= {"label": caption, "labeljust": "l"}
    return [
        "digraph {",
        f"  graph {attributes(options, flush_left=True)};",
        '  node [fontname="Helvetica", fontsize="11", margin="0.16,0.06"];',
        '  edge [fontname="Helvetica", fontsize="9", fontcolor="#444444", '
        'color="#555555", arrowsize="0.7"];',
    ]


class _Writer:
    def __init__(self, graph: Graph, style: Style) -> None:
        self.graph = graph
        self.style = style
        self.leaves = {leaf: f"v{i}" for i, leaf in enumerate(graph.leaves())}
        self.calls = {call: f"f{i}" for i, call in enumerate(graph.calls)}
        self.outputs = [s for s in graph.outputs if isinstance(s, tuple)]
        self.results: dict[tuple[Call, int], str] = {}  # those that are nodes
        for call in graph.calls:
            for i, (_, _, x) in enumerate(call.outputs):
                named = x is not None and bool(x.name)
                if style.results or named or (call, i) in self.outputs:
                    self.results[call, i] = f"r{len(self.results)}"
        dtypes = [str(dt) for call in graph.calls for _, dt, _ in call.outputs]
        self.dtype = Counter(dtypes).most_common(1)[0][0] if dtypes else ""
        self.inside: dict[tuple[Scope, ...], list[str]] = {}  # lines by frame
        self.arrows: list[str] = []

    def text(self) -> str:
        places = self._places()
        for leaf, key in self.leaves.items():
            scopes = places.get(leaf, ())
            self._add(scopes, self._leaf(key, leaf, scopes))
        for call, key in self.calls.items():
            self._add(call.frames, self._call(key, call))
            for i in range(len(call.outputs)):
                if (call, i) in self.results:
                    self._result(call, i, key)
        for call, key in self.calls.items():
            for source in call.sources:
                if source is not None:
                    self._arrow(source, key)
        lines = header(self.style.direction, self._caption(), self.style.caption_font)
        return "\n".join([*lines, *self._frames(), *self.arrows, "}"]) + "\n"

    def _caption(self) -> str:
        notes = list(self.graph.notes)
        if self.style.shapes and not self.style.results and self.dtype:
            notes.append(f"Results are {self.dtype} where nothing else is said.")
        return "\n".join([self.graph.title] * bool(self.graph.title) + notes)

    def _add(self, scopes: tuple[Scope, ...], line: str) -> None:
        self.inside.setdefault(scopes, []).append(line)

    def _places(self) -> dict[Leaf, tuple[Scope, ...]]:
        """The innermost frame around all that use a leaf; inputs are in none."""
        places: dict[Leaf, tuple[Scope, ...]] = {}
        for call in self.graph.calls:
            scopes = call.frames
            for s in call.sources:
                if isinstance(s, Leaf):
                    places[s] = _common(places.get(s, scopes), scopes)
        outer = ("input", "unchained")
        return {s: () if s.kind in outer else p for s, p in places.items()}

    def _frames(self) -> list[str]:
        """All nodes, in the frames of the layers that they belong to."""
        lines: list[str] = []
        order: dict[tuple[Scope, ...], None] = {(): None}
        for scopes in self.inside:
            order.update(dict.fromkeys([scopes[:n] for n in range(len(scopes) + 1)]))
        children: dict[tuple[Scope, ...], list[tuple[Scope, ...]]] = {}
        for scopes in order:
            if scopes:
                children.setdefault(scopes[:-1], []).append(scopes)
        stack: list[Any] = [()]
        count = 0
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                lines.append(item)
                continue
            pad = "  " * (len(item) + 1)
            if item:
                options: dict[str, Any] = {}
                options |= {
                    "label": scope_text(item[-1], item[:-1]),
                    "style": "rounded",
                }
                options |= {"color": "#8a8a8a", "fontsize": "11", "labelloc": "t"}
                options |= {"labeljust": "l", "margin": 10, "penwidth": 1}
                if item[-1].repeats > 1:
                    options |= {"penwidth": 2.2, "color": "#444444"}
                lines.append(f"{pad[2:]}subgraph cluster_{count} {{")
                lines.append(f"{pad}graph {attributes(options)};")
                count += 1
                stack.append(f"{pad[2:]}}}")
            lines += [pad + line for line in self.inside.get(item, ())]
            stack += reversed(children.get(item, []))
        return lines

    def _node(self, key: str, kind: str, lines: list[str], **more: Any) -> str:
        label = "\n".join([line for line in lines if line])
        return f"{key} {attributes({'label': label, **_STYLES[kind], **more})};"

    def _leaf(self, key: str, leaf: Leaf, scopes: tuple[Scope, ...]) -> str:
        name = shorten(relative(leaf.name, scopes))
        lines = [name]
        is_number = leaf.kind == "constant" and leaf.shape == () and not name
        if leaf.kind == "unchained":
            lines.append("(unchained)")
        elif leaf.frozen:
            lines.append("(frozen)")
        elif is_number:
            lines = value_lines(_data(leaf.variable))
        elif not name and not (leaf.kind == "constant" and self.style.shapes):
            lines = [leaf.kind]
        values = self.style.values and not is_number
        lines += self._facts(leaf.shape, leaf.dtype, leaf.variable, values)
        kind = "output" if leaf in self.graph.outputs else leaf.kind
        more = {"style": "filled,dashed"} if leaf.frozen else {}
        return self._node(key, kind, lines, **more)

    def _facts(self, shape: Any, dtype: Any, x: Any, values: bool) -> list[str]:
        lines = [shape_text(shape, dtype)] if self.style.shapes else []
        if values and _data(x) is not None:
            lines += value_lines(_data(x))
        if self.style.gradients and isinstance(x, Variable) and x.grad is not None:
            grad = value_lines(x.grad.data)
            lines += [f"grad: {grad[0]}", *[f"  {line}" for line in grad[1:]]]
        return lines

    def _call(self, key: str, call: Call) -> str:
        lines = [shorten(call.title)]
        more: dict[str, Any] = {}
        if call.function is None:
            lines = [scope_text(call.scopes[-1], call.frames)]
            lines += call.inside if self.style.shapes else []
        elif self.style.settings:
            lines += setting_lines(call.function)
        if call.repeats > 1:
            lines[0] += f" ×{call.repeats:,}"
            more["penwidth"] = 2.2
        if call.freed:
            lines.append("(freed)")
            more["style"] = "filled,rounded,dashed"
        kind = "layer" if call.function is None else "function"
        return self._node(key, kind, lines, **more)

    def _result(self, call: Call, i: int, key: str) -> None:
        shape, dtype, x = call.outputs[i]
        is_output = (call, i) in self.outputs
        name = "" if x is None else shorten(x.name or "")
        lines = [name or ("output" if is_output else "")]
        is_number = is_output and self.style.shapes and x is not None and x.size == 1
        lines += self._facts(shape, dtype, x, self.style.values or is_number)
        scopes = () if is_output else call.frames
        kind = "output" if is_output else "result"
        more = {} if any(lines) else {"width": 0.3, "height": 0.3}
        self._add(scopes, self._node(self.results[call, i], kind, lines, **more))
        self.arrows.append(f"  {key} -> {self.results[call, i]};")

    def _arrow(self, source: Any, key: str) -> None:
        if isinstance(source, Leaf):
            self.arrows.append(f"  {self.leaves[source]} -> {key};")
        elif source in self.results:
            self.arrows.append(f"  {self.results[source]} -> {key};")
        else:
            call, i = source
            shape, dtype, _ = call.outputs[i]
            label = ""
            if self.style.shapes:
                differs = str(dtype) != self.dtype
                label = shape_text(shape, dtype) if differs else str(shape)
            options = attributes({"label": f" {label} "}) if label else ""
            self.arrows.append(f"  {self.calls[call]} -> {key} {options};")


def _data(x: Any) -> Any:
    return x.data if isinstance(x, Variable) else x


def scope_text(scope: Scope, frames: tuple[Scope, ...] = ()) -> str:
    """``blocks/0 … blocks/5: TransformerBlock ×6``; without what ``frames`` say."""
    names = shorten(relative(scope.name, frames))
    if scope.last and scope.last != scope.name:
        names = f"{names} … {shorten(relative(scope.last, frames))}"
    text = ": ".join([part for part in (names, shorten(scope.kind)) if part])
    return f"{text} ×{scope.repeats:,}".strip() if scope.repeats > 1 else text


def relative(name: str, frames: tuple[Scope, ...]) -> str:
    """``name`` inside of frames: ``W`` for ``l0/W`` in that of ``l0``."""
    for scope in reversed(frames):
        if scope.name and name.startswith(f"{scope.name}/"):
            return name.removeprefix(f"{scope.name}/")
    return name


def _common(a: tuple[Scope, ...], b: tuple[Scope, ...]) -> tuple[Scope, ...]:
    count = 0
    for x, y in zip(a, b, strict=False):
        if x is not y:
            break
        count += 1
    return a[:count]
