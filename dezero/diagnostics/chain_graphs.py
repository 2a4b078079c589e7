"""What a graph that leads to no parameter shows: where its chains end, and why."""

from __future__ import annotations

from dezero.core import Variable
from dezero.diagnostics.chain_arrivals import freed_report
from dezero.diagnostics.chain_breaks import candidates_for, found_report, match
from dezero.diagnostics.chain_reports import ChainReport, Ending, name_of
from dezero.diagnostics.graphs import Graph, live_uses
from dezero.diagnostics.tracing import Trace


def of_graph(
    param: Variable, loss: Variable, trace: Trace | None
) -> ChainReport | None:
    """What the graph of the loss, which does not lead to the parameter, shows."""
    graph = Graph(loss)
    name = name_of(param)
    for f, i, x in graph.constants:
        if x is param:
            return ChainReport(
                False,
                "frozen",
                f"{type(f).__name__} got {name} as input {i}, but {name}.requires_grad "
                "was False then.",
                f"{name}.requires_grad = True before the forward pass.",
            )
    candidates = candidates_for(param)
    ends: list[tuple[str, Variable]] = [
        (f"{type(f).__name__} got as input {i}", x) for f, i, x in graph.constants
    ]
    ends += [
        (f"{type(f).__name__} got as input {i}" if f else "the loss is", x)
        for x, (f, i) in graph.leaves.items()
    ]
    maybe = None
    for where, x in ends:
        found = match(x, candidates)
        if found is not None:
            if found[0] == "memory":
                return found_report(param, where, x, *found)
            maybe = maybe or found_report(param, where, x, *found)
    if graph.freed:
        return freed_report(param, graph, [])
    if maybe is not None:
        return maybe
    if graph.cut:
        f = graph.cut[0]
        return ChainReport(
            False,
            "cut",
            f"The graph was cut at {type(f).__name__} (output {f._output_shape}) by "
            f"unchain() or unchain_backward(), and {name} is not on this side of the "
            "cut: gradients end there.",
            "Cut after backward(), or cut further back.",
            trace.places.get(f, []) if trace else [],
        )
    if loss.creator is None:
        return ChainReport(
            False,
            "leaf",
            "The loss is a leaf: a Variable made from an array, or cut off by "
            "unchain(). No function stands behind it.",
            "Pass on the results of functions as they are, not Variable(array).",
        )
    return None


def unknown(param: Variable, loss: Variable, trace: Trace | None) -> ChainReport:
    """No path, and nothing that would say why."""
    name = name_of(param)
    endings = _endings(Graph(loss)) if loss.requires_grad else []
    last, lines = last_exit(trace)
    if last:
        return ChainReport(
            False,
            "left",
            f"The loss does not depend on {name} through recorded calls.{last} If the "
            "loss is computed from it, the chain ends there.",
            "Compute from there on with functions that have a gradient.",
            lines,
            endings=endings,
        )
    uses = [use for use in live_uses(param) if use.function is not None]
    if trace is not None:
        function, lines = trace.uses[-1]
    elif uses:
        function = f"{type(uses[0].function).__name__} (output {uses[0].shape})"
    else:
        return ChainReport(
            False,
            "unknown",
            f"The loss does not depend on {name} through recorded calls, and no "
            f"recorded call that is still alive got {name}. It was not used, or it was "
            "used under no_grad, or a result of it that is gone since went on without "
            "its graph (.data, np.asarray, detach, unchain): which of these, the graph "
            "cannot tell.",
            f"explain_grad({name}, lambda: ...) with the computation of the loss runs "
            "it and says at which line.",
            endings=endings,
        )
    return ChainReport(
        False,
        "elsewhere",
        f"{name} went into {function}, but nothing that depends on it is part of the "
        "graph of the loss, and no array that the graph kept is or equals one of it.",
        "Compute the loss from that result. Is this the loss you mean?"
        if trace is not None
        else f"Is this the loss you mean? If it is, explain_grad({name}, lambda: ...) "
        "runs its computation and says more.",
        lines,
        endings=endings,
    )


def _endings(graph: Graph) -> list[Ending]:
    """All that passes no gradient on: constants, other leaves."""
    endings = [
        Ending(type(f).__name__, i, x.shape, "constant")
        for f, i, x in graph.constants
        if x.data is not None and x.size > 1
    ]
    endings += [Ending(type(f).__name__, i, None, "constant") for f, i in graph.hidden]
    for x, (f, i) in graph.leaves.items():
        shape = None if x.data is None else x.shape
        what = f"leaf {x.name!r}" if x.name else "leaf"
        endings.append(Ending(type(f).__name__ if f else "loss", i, shape, what))
    return endings


def last_exit(trace: Trace | None) -> tuple[str, list[str]]:
    """Where a value that depends on the parameter last left the graph."""
    if trace is None:
        return "", []
    for value in reversed(trace.values):
        for door, lines in reversed(value.exits):
            name = name_of(trace.param)
            what = value.label if value.maker else f"{name} {trace.param.shape}"
            return (
                f" The last value that depends on {name} and left the graph is {what}, "
                f"by {door}.",
                lines,
            )
    return "", []
