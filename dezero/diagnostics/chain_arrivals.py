"""Where the graph leads to the parameter: what arrives there?"""

from __future__ import annotations

from typing import Any

from dezero.core import Variable
from dezero.diagnostics.chain_reports import ChainReport, name_of
from dezero.diagnostics.graphs import Graph, arriving
from dezero.diagnostics.measures import is_finite, norm
from dezero.diagnostics.tables import number
from dezero.diagnostics.tracing import Trace


def on_arrival(param: Variable, loss: Any, trace: Trace | None) -> ChainReport | None:
    """If the graph leads from the loss to the parameter: what arrives there?"""
    if not isinstance(loss, Variable) or not loss.requires_grad:
        return None
    graph = Graph(loss)
    path = graph.path(param)
    if path is None:
        return None
    name = name_of(param)
    names = [type(f).__name__ for f in path]
    if graph.freed:
        return freed_report(param, graph, names)
    arrived = arriving(graph, loss, param)
    lines = trace.places.get(arrived.node, []) if trace and arrived.node else []
    if arrived.error is not None:
        return ChainReport(
            False,
            "error",
            f"The graph leads from the loss to {name}, but the backward pass fails: "
            f"{type(arrived.error).__name__}: {arrived.error}",
            path=names,
        )
    if arrived.gradient is None:
        made = type(arrived.node).__name__
        who = f"{made}.backward" if arrived.node else "a backward on the way"
        return ChainReport(
            False,
            "no gradient",
            f"The graph leads from the loss to {name}, but {who} returned None for it.",
            "Return a gradient there, or use a function that has one.",
            lines,
            names,
        )
    g = arrived.gradient
    size = norm(g)
    if not is_finite(g):
        node = type(arrived.node).__name__ if arrived.node else ""
        where = f" It stops being finite in {node}.backward." if node else ""
        return ChainReport(
            False,
            "not finite",
            f"A gradient reaches {name}, but holds NaN or infinity.{where}",
            "dz.detect_anomaly() finds the first one.",
            lines,
            names,
            size,
        )
    if not size:
        node = type(arrived.node).__name__ if arrived.node else ""
        where = (
            f" It becomes zero in {node}.backward. {_why_zero(node)}" if node else ""
        )
        return ChainReport(
            False,
            "zero",
            f"A gradient reaches {name}, but is zero everywhere.{where}".rstrip(),
            "",
            lines,
            names,
            0.0,
        )
    if param.creator is not None:
        return ChainReport(
            True,
            "intermediate",
            f"A gradient of norm {number(size)} passes through {name}, but does not "
            f"stay: it is a result (of {type(param.creator).__name__}), no leaf.",
            "loss.backward(retain_grad=True), or dz.grad(loss, x).",
            path=names,
            norm=size,
        )
    state = ""
    if param.grad is None:
        state = (
            f" {name}.grad is None now: backward() has not run on this loss, or the "
            "gradient was cleared since."
        )
    return ChainReport(
        True,
        "reaches",
        f"A gradient of norm {number(size)} reaches {name}.{state}",
        path=names,
        norm=size,
    )


_ZERO = {
    "ReLU": "Every input that a gradient comes in for is 0 or less there: the units "
    "are dead for this batch. A lower learning rate, other initial weights or "
    "leaky_relu may help.",
    "Clip": "Every value that a gradient comes in for lies outside the bounds there.",
    "HardTanh": "Every value that a gradient comes in for is at a bound there.",
    "Sigmoid": "Every value that a gradient comes in for is saturated there: the "
    "inputs are too large.",
    "Tanh": "Every value that a gradient comes in for is saturated there: the inputs "
    "are too large.",
    "Mul": "What it is multiplied by there is zero, or the products cancel.",
    "MatMul": "What it is multiplied by there is zero, or the products cancel.",
    "Linear": "What it is multiplied by there is zero, or the products cancel.",
}


def _why_zero(function: str) -> str:
    return _ZERO.get(function, "")


def freed_report(param: Variable, graph: Graph, path: list[str]) -> ChainReport:
    """The report on a graph of which an earlier pass has left nothing."""
    name = name_of(param)
    f = graph.freed[0]
    got = (
        f" {name}.grad is there, from that pass or an earlier one."
        if param.grad is not None
        else f" {name}.grad is None."
    )
    return ChainReport(
        False,
        "freed",
        f"An earlier backward(retain_graph=False) freed the graph at "
        f"{type(f).__name__}, so another pass fails there, and what lay behind cannot "
        f"be seen.{got}",
        "Ask before that backward(), call it with retain_graph=True, or pass a "
        "function that computes the loss anew.",
        path=path,
    )
