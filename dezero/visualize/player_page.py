"""The page of the backward player: one file that needs nothing else, not even a net."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import defaultdict
from html import escape
from importlib import resources
from typing import Any

from dezero.core import Variable
from dezero.visualize.player_drawing import draw
from dezero.visualize.player_graph import PlayerGraph, Value
from dezero.visualize.player_recording import record
from dezero.visualize.player_rules import rule_of
from dezero.visualize.player_stack import record_stack
from dezero.visualize.player_steps import backward_steps, forward_steps
from dezero.visualize.player_values import Snapshot


def page_of(graph: PlayerGraph, seed: Variable, seed_words: str, title: str) -> str:
    """Record a pass and write it down as HTML.

    Args:
        graph: Of the result that the pass starts from.
        seed: The gradient that it starts with.
        seed_words: Where that comes from.
        title: Of the page.
    """
    right = record(graph, seed)
    stack, complete = record_stack(graph, seed)
    texts: dict[Value, list[str]] = defaultdict(list)
    for recording in (right, stack):
        for pop in recording.pops:
            for c in pop.sums:
                texts[c.value].append(c.total.short() + " …")
    steps = {
        "forward": forward_steps(graph),
        "priority": backward_steps(graph, right, right),
        "stack": backward_steps(graph, right, stack, complete),
        "words": _words(graph),
    }
    style, script = _asset("player.css"), _asset("player.js")
    # The browser runs these two and nothing else, and fetches nothing.
    policy = (
        f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}"
    )
    parts = {
        "policy": policy,
        "title": escape(title),
        "seed": escape(f"{seed_words}: {Snapshot.of(seed.data).text()}."),
        "style": style,
        "script": script,
        "graph": draw(graph, texts),
        "record": _json(steps),
    }
    # In one go: what is put in may hold what looks like a place to fill.
    return re.sub(
        r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("player.html")
    )


def _asset(name: str) -> str:
    source = resources.files("dezero.visualize").joinpath(name)
    return source.read_text(encoding="utf-8")


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _json(x: Any) -> str:
    """JSON that can stand inside a script element: no text can end it."""
    text = json.dumps(x, allow_nan=False, separators=(",", ":"))  # ASCII alone
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


def _words(graph: PlayerGraph) -> list[str]:
    """The graph for those who do not see the drawing."""
    lines = []
    for step in graph.steps:
        inputs = [v.name if v is not None else "a constant" for v in step.inputs]
        outputs = [v.name for v in step.outputs]
        lines.append(
            f"{', '.join(outputs)} = {step.name}({', '.join(inputs)}), generation "
            f"{step.generation}; rule: {rule_of(step.f)}"
        )
    return lines
