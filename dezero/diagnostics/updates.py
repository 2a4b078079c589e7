"""Do the parameters move, and how far? One training step, measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dezero.diagnostics.measures import is_finite, named_parameters, norm
from dezero.diagnostics.tables import Report, Table, number

# "The ratio of update magnitudes to value magnitudes should be somewhere around 1e-3":
# Karpathy et al., CS231n, "Neural Networks Part 3", Ratio of weights:updates. Two
# orders of magnitude to either side are marked.
WILD = 1e-1
SLOW = 1e-5


@dataclass(frozen=True)
class Update:
    """How far one parameter moved.

    Attributes:
        name: The name of the parameter in the model.
        shape: Its shape.
        moved: The L2 norm of the change; None if the step made the parameter.
        norm: Its L2 norm before the step.
        ratio: ``moved / norm``; None where the norm was 0.
        verdict: "fine", "wild", "slow", "did not move", "frozen", "not finite" or "made
            in this step".
        reason: Why it did not move, as far as can be told.
    """

    name: str
    shape: tuple[int, ...]
    moved: float | None
    norm: float | None
    ratio: float | None
    verdict: str
    reason: str = ""


@dataclass(frozen=True)
class UpdateReport(Report):
    """What :func:`check_updates` found. Printed, it is a table.

    Attributes:
        rows: An :class:`Update` for each parameter.
    """

    rows: list[Update] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Has every parameter that is trained moved, and none wildly?"""
        return not self.flagged

    @property
    def flagged(self) -> list[Update]:
        """The rows that need a look. Slow and frozen ones may be meant."""
        bad = "wild", "did not move", "not finite"
        return [row for row in self.rows if row.verdict in bad]

    def title(self) -> str:
        """One line that says the outcome."""
        n = len([row for row in self.rows if row.verdict != "frozen"])
        still = len([row for row in self.flagged if row.verdict == "did not move"])
        wild = len([row for row in self.flagged if row.verdict == "wild"])
        broken = len([row for row in self.flagged if row.verdict == "not finite"])
        if n and still == n:
            return "Updates: no parameter moved. Did the step call optimizer.update()?"
        parts = []
        if broken:
            parts.append(f"{broken} are not finite")
        if still:
            parts.append(f"{still} did not move")
        if wild:
            parts.append(f"{wild} moved by more than {WILD:g} of their norm")
        if not parts:
            return f"Updates: fine, {n} parameters moved."
        return f"Updates of {n} parameters: {', '.join(parts)}."

    def table(self) -> Table:
        """A row per parameter."""
        return Table(
            ("parameter", "shape", "norm", "moved by", "ratio", "verdict"),
            [
                (
                    row.name,
                    str(row.shape),
                    number(row.norm),
                    number(row.moved),
                    number(row.ratio),
                    row.verdict,
                )
                for row in self.rows
            ],
            right=(2, 3, 4),
        )

    def notes(self) -> list[str]:
        """Why some did not move."""
        return [f"{row.name}: {row.reason}" for row in self.rows if row.reason]


def check_updates(model: Any, step: Callable[[], Any]) -> UpdateReport:
    """Run one training step and measure how far each parameter moved.

    The measure is ``|new - old| / |old|``, in L2 norms. A rule of thumb for a training
    that goes well is about 1e-3 (Karpathy et al., CS231n, "Neural Networks Part 3"). A
    ratio above 0.1 is marked as wild, one below 1e-5 as slow. Vectors and scalars (they
    are biases, mostly) are never marked as either: they start at or near zero, so that
    their ratio says little.

    Args:
        model: A Layer, or an iterable of Parameters.
        step: One training step: forward, backward, update. It is called once, and what
            it does to the model stays.

    Returns:
        A report to print, with ``report.ok`` and ``report.rows``.

    Raises:
        TypeError: ``step`` cannot be called, or ``model`` is no Layer and no iterable
            of Parameters.
        ValueError: ``model`` has no parameters.
    """
    if not callable(step):
        raise TypeError(
            "check_updates: expected a function of no arguments as step, got "
            f"{type(step).__name__}; write lambda: train(x, t)"
        )
    before = [
        (name, p, None if p.data is None else p.data.copy())
        for name, p in named_parameters("check_updates", model)
    ]
    step()
    is_layer = hasattr(model, "named_params")
    now = dict(model.named_params()) if is_layer else None
    rows = []
    for name, p, old in before:
        there = p if now is None else now.pop(name, None)
        row = _compared(name, p if there is None else there, old)
        if there is None:
            row = replace(row, reason="the step has taken it out of the model")
        elif there is not p:
            reason = "the step has put another Parameter in its place"
            row = replace(row, reason=reason)
        rows.append(row)
    rows += [_compared(name, p, None) for name, p in (now or {}).items()]
    return UpdateReport(rows)


def _compared(name: str, p: Any, old: Any) -> Update:
    if p.data is None:
        reason = (
            "it has no data yet; its layer makes it when it is first called, and the "
            "step did not call it"
        )
        return Update(name, (), None, None, None, "did not move", reason)
    shape = p.data.shape
    if not is_finite(p.data):
        reason = (
            "it holds NaN or infinity after the step"
            if old is None or is_finite(old)
            else "it held NaN or infinity before the step already"
        )
        return Update(name, shape, None, None, None, "not finite", reason)
    if old is None:
        return Update(name, shape, None, None, None, "made in this step")
    if old.shape != shape:
        reason = f"its shape was {old.shape} before"
        return Update(name, shape, None, norm(old), None, "made in this step", reason)
    size = norm(old)
    with np.errstate(over="ignore"):  # from one end of float64 to the other
        moved = norm(p.data.astype(np.float64) - old)
    ratio = moved / size if size else None
    if not moved:
        frozen = not p.requires_grad
        verdict = "frozen" if frozen else "did not move"
        return Update(
            name, shape, moved, size, ratio, verdict, "" if frozen else _why_still(p)
        )
    verdict = "fine"
    if ratio is not None and p.data.ndim > 1:
        if ratio > WILD:
            verdict = "wild"
        elif ratio < SLOW:
            verdict = "slow"
    return Update(name, shape, moved, size, ratio, verdict)


def _why_still(p: Any) -> str:
    """Why a parameter that may move stayed where it was."""
    if p.grad is None:
        return (
            "no gradient is there after the step: the loss does not reach it "
            "(dz.explain_grad says why), or the step cleared it at its end"
        )
    g = p.grad.data
    if not is_finite(g):
        return "its gradient holds NaN or infinity, and it was not updated"
    size = norm(g)
    if not size:
        return "its gradient is zero everywhere (dz.explain_grad says where it ends)"
    reason = (
        f"it has a gradient of norm {number(size)}: the learning rate is 0, the "
        "optimizer was set up without it, or update() was not called"
    )
    if p.data.dtype == np.float16:
        reason += "; or the step is below the rounding of float16"
    return reason
