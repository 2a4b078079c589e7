"""explain_grad: does a gradient get from the loss to a parameter; if not, why not?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dezero.core import Config, Variable
from dezero.diagnostics.chain_arrivals import freed_report, on_arrival
from dezero.diagnostics.chain_breaks import (
    broken_report,
    candidates_for,
    found_report,
    match,
)
from dezero.diagnostics.chain_reports import ChainReport, Ending, name_of
from dezero.diagnostics.graphs import Graph, live_uses
from dezero.diagnostics.tracing import Trace


def explain_grad(param: Variable, loss: Variable | Callable[[], Any]) -> ChainReport:
    """Say whether a gradient gets from ``loss`` to ``param``; if not, where and why.

    Given a Variable, the graph that it kept is read. What left the graph (``.data`` of
    a result that is gone) may leave no trace there, and the report says so then.

    Given a function, it is run once and observed: every call is seen, with its line.
    The function should compute the loss anew from the start and call no ``backward``:
    ``explain_grad(W, lambda: loss(model(x), t))``. Whatever it changes (running
    statistics, random states) stays changed.

    What the report states is certain; what equal numbers suggest, it calls most likely.
    No ``.grad`` is touched. If there is a path, the gradient is computed, to see
    whether it is zero or not finite.

    Args:
        param: A Variable or Parameter.
        loss: The Variable that ``backward`` is called on, or a function that returns
            it.

    Returns:
        A report to print; ``report.reaches`` says yes or no, ``report.reason`` why.

    Raises:
        TypeError: ``param`` is no Variable, or ``loss`` is neither a Variable nor a
            function.
    """
    if not isinstance(param, Variable):
        raise TypeError(
            "explain_grad: expected a Variable as param, got "
            f"{type(param).__name__}; an array has no gradient"
        )
    if isinstance(loss, Variable):
        return _explain(param, loss, None)
    if not callable(loss):
        raise TypeError(
            "explain_grad: expected a Variable or a function as loss, got "
            f"{type(loss).__name__}; what float(loss) or loss.data give has left the "
            "graph"
        )
    trace = Trace(param)
    return _explain(param, trace.run(loss), trace)


# =============================================================================
# The order of the questions
# =============================================================================


def _explain(param: Variable, loss: Any, trace: Trace | None) -> ChainReport:
    for question in (_of_param, on_arrival, _of_run, _of_loss, _of_graph):
        report = question(param, loss, trace)
        if report is not None:
            return report
    return _unknown(param, loss, trace)


def _of_param(param: Variable, loss: Any, trace: Trace | None) -> ChainReport | None:
    """What is wrong with the parameter itself."""
    name = name_of(param)
    if param.data is None:
        return ChainReport(
            False,
            "no data",
            f"{name} has no data yet: its layer makes it when it is first called, and "
            "was not called.",
            "Call the layer in the forward pass, or remove it.",
        )
    if not param.requires_grad and param.dtype.kind == "b":
        return ChainReport(
            False,
            "boolean",
            f"{name} is boolean, and a boolean has no gradient.",
            "Make it floating: Variable(x.astype(np.float32)).",
        )
    if not param.requires_grad:
        lines = trace.uses[0][1] if trace and trace.uses else []
        used = f" {trace.uses[0][0]} uses it." if trace and trace.uses else ""
        return ChainReport(
            False,
            "frozen",
            f"{name}.requires_grad is False: it is frozen, or a constant (from "
            f"as_variable, detach() or no_grad).{used}",
            f"{name}.requires_grad = True before the forward pass.",
            lines,
        )
    return None


def _of_run(param: Variable, loss: Any, trace: Trace | None) -> ChainReport | None:
    """What the observed run says."""
    if trace is None:
        return None
    breaks = trace.breaks(loss)
    if breaks:
        return broken_report(param, breaks)
    if not trace.uses and not trace.values[0].exits:
        return ChainReport(
            False,
            "unused",
            f"{name_of(param)} was not used: no function got it.",
            "Use it in the forward pass. Is it a parameter of another copy of the "
            "model?",
        )
    return None


def _of_loss(param: Variable, loss: Any, trace: Trace | None) -> ChainReport | None:
    """What is wrong with the loss itself."""
    last = _last_exit(trace)
    if not isinstance(loss, Variable):
        return ChainReport(
            False,
            "no variable",
            f"The function returned {type(loss).__name__}, no Variable: it has left "
            f"the graph.{last[0]}",
            "Return the Variable itself, without .data, float() or item().",
            last[1],
        )
    if loss.data is None:
        return ChainReport(
            False, "constant", "The loss has no data.", "Compute it from parameters."
        )
    if loss.requires_grad:
        return None
    found = match(loss, candidates_for(param))
    if found is not None:
        kind, use = found
        return found_report(param, "loss", loss, kind, use)
    if last[0]:
        return ChainReport(
            False,
            "left",
            "The loss is a constant, made outside the functions that have a gradient."
            f"{last[0]}",
            "Compute the loss from there on with functions that have a gradient.",
            last[1],
        )
    if trace is not None:
        return _unknown(param, loss, trace)
    if loss.dtype.kind in "iub":
        return ChainReport(
            False,
            "integer",
            f"The loss is a constant of dtype {loss.dtype}: what counts, compares or "
            "is cast to integers (argmax, accuracy, astype(int)) has no gradient.",
            "Use a loss that changes smoothly, such as softmax_cross_entropy.",
        )
    now = " no_grad is on now, in this thread." if not Config.enable_backprop else ""
    return ChainReport(
        False,
        "constant",
        "The loss is a constant: it was computed under no_grad, from constants only, "
        "by a measure without a gradient (accuracy), or was detached; which of these, "
        f"it does not say itself.{now}",
        f"explain_grad({name_of(param)}, lambda: ...) with the computation of the loss "
        "runs it and says at which line.",
    )


def _last_exit(trace: Trace | None) -> tuple[str, list[str]]:
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


def _of_graph(param: Variable, loss: Any, trace: Trace | None) -> ChainReport | None:
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


def _unknown(param: Variable, loss: Variable, trace: Trace | None) -> ChainReport:
    """No path, and nothing that would say why."""
    name = name_of(param)
    endings = _endings(Graph(loss)) if loss.requires_grad else []
    last, lines = _last_exit(trace)
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
