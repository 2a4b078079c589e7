"""The graph of the backward player as SVG, which the page then fills and colours."""

from __future__ import annotations

import re
from collections import defaultdict
from html import escape

from dezero.visualize.player_graph import PlayerGraph, Step, Value
from dezero.visualize.player_layout import Box, Drawing, lay_out
from dezero.visualize.player_values import Snapshot

LONGEST_NAME = 18  # characters; the rest is in the tooltip
CHARACTER = 6.7  # width of one at 11 px, in a font of fixed width
STEP_HEIGHT = 38.0
VALUE_HEIGHT = 56.0
CONSTANT_HEIGHT = 40.0  # no gradient, one line less
ATTACHED = 14.0  # between the ends of edges on a Function


def draw(graph: PlayerGraph, gradients: dict[Value, list[str]]) -> str:
    """The drawing as an SVG element.

    Args:
        graph: What to draw.
        gradients: What will be written into each Value, to leave room for it.
    """
    sizes = {}
    for value in graph.values:
        texts = [clipped(value.name), value_text(value)]
        texts += [f"grad {text}" for text in gradients.get(value, [])]
        height = CONSTANT_HEIGHT if value.kind == "constant" else VALUE_HEIGHT
        sizes[value.id] = _width(texts), height
    for step in graph.steps:
        name = clipped(step.name)
        sizes[step.id] = _width([name, f"generation {step.generation}"]), STEP_HEIGHT
    edges = [
        (x.id, step.id) for step in graph.steps for x in step.inputs if x is not None
    ]
    edges += [(step.id, y.id) for step in graph.steps for y in step.outputs]
    drawing = lay_out(sizes, edges)
    parts = [*_paths(drawing, edges)]
    parts += [_value(value, drawing.boxes[value.id]) for value in graph.values]
    parts += [_step(step, drawing.boxes[step.id]) for step in graph.steps]
    w, h = round(drawing.width), round(drawing.height)
    return (
        f'<svg id="graph" role="img" aria-labelledby="graph-title" width="{w}" '
        f'height="{h}" viewBox="0 0 {w} {h}" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="graph-title">The graph: {len(graph.steps)} Functions, '
        f"{len(graph.values)} values, inputs on top. It is written out under "
        "&quot;The graph in words&quot;.</title>" + "".join(parts) + "</svg>"
    )


def clipped(name: str) -> str:
    """A name that fits into its box, on one line."""
    name = re.sub(r"\s+", " ", name).strip()
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def value_text(value: Value) -> str:
    """What is written under the name of a Value: its number or its shape."""
    if value.data is None:
        return "not kept"
    return Snapshot.of(value.data).short()


def _width(texts: list[str]) -> float:
    return max(64.0, CHARACTER * max([len(text) for text in texts]) + 16)


def _value(value: Value, box: Box) -> str:
    x, y = box.x - box.width / 2, box.y - box.height / 2
    radius = {"constant": 4, "parameter": 4}.get(value.kind, box.height / 2)
    lines = [
        f'<text class="name" x="{box.x:.1f}" y="{y + 16:.1f}">'
        f"{escape(clipped(value.name))}</text>",
        f'<text class="number" x="{box.x:.1f}" y="{y + 31:.1f}">'
        f"{escape(value_text(value))}</text>",
    ]
    if value.kind != "constant":
        lines.append(f'<text class="grad" x="{box.x:.1f}" y="{y + 46:.1f}"></text>')
    return (
        f'<g id="{value.id}" class="value {value.kind}">'
        f"<title>{escape(value.name)}: {value.kind}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{radius:g}"/>' + "".join(lines) + "</g>"
    )


def _step(step: Step, box: Box) -> str:
    x, y = box.x - box.width / 2, box.y - box.height / 2
    return (
        f'<g id="{step.id}" class="step"><title>{escape(step.name)}</title>'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}"/>'
        f'<text class="name" x="{box.x:.1f}" y="{y + 16:.1f}">'
        f"{escape(clipped(step.name))}</text>"
        f'<text class="number" x="{box.x:.1f}" y="{y + 30:.1f}">'
        f"generation {step.generation}</text></g>"
    )


def _paths(drawing: Drawing, edges: list[tuple[str, str]]) -> list[str]:
    """A curve for each edge; several into one node end beside one another."""
    ends: dict[str, list[int]] = defaultdict(list)
    for i, (_, b) in enumerate(edges):
        ends[b].append(i)
    shift = {}
    for b, into in ends.items():
        into.sort(key=lambda i: drawing.paths[i][-2].x)
        gap = min(ATTACHED, drawing.boxes[b].width / (len(into) + 1))
        for place, i in enumerate(into):
            shift[i] = (place - (len(into) - 1) / 2) * gap
    parts = []
    for i, (a, b) in enumerate(edges):
        boxes = drawing.paths[i]
        points = [(boxes[0].x, boxes[0].y + boxes[0].height / 2)]
        for box in boxes[1:-1]:
            points.append((box.x, box.y - box.height / 2))
            points.append((box.x, box.y + box.height / 2))
        points.append((boxes[-1].x + shift[i], boxes[-1].y - boxes[-1].height / 2))
        d = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
        for (x0, y0), (x1, y1) in zip(points, points[1:], strict=False):
            middle = (y0 + y1) / 2
            d += f"C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}"
        parts.append(f'<path class="edge" data-a="{a}" data-b="{b}" d="{d}"/>')
    return parts
