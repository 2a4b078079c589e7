"""explain_grad: does a gradient get from the loss to a parameter; if not, why not?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dezero.core import Config, Variable
from dezero.diagnostics.chain_arrivals import on_arrival
from dezero.diagnostics.chain_breaks import (
    broken_report,
    candidates_for,
    found_report,
    match,
)
from dezero.diagnostics.chain_graphs import last_exit, of_graph, unknown
from dezero.diagnostics.chain_reports import ChainReport, name_of
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
    for question in (_of_param, on_arrival, _of_run, _of_loss, of_graph):
        report = question(param, loss, trace)
        if report is not None:
            return report
    return unknown(param, loss, trace)


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
    last = last_exit(trace)
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
        return unknown(param, loss, trace)
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
