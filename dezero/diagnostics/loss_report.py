"""What a loss curve looks like, and what that is likely to come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dezero.diagnostics.tables import Report, Table, number

# For each kind, the likely causes in order, each with what to do about it.
CAUSES: dict[str, tuple[tuple[str, str], ...]] = {
    "not finite": (
        ("a learning rate that is far too large", "divide it by 10 until it goes away"),
        (
            "log, sqrt or a division at 0, or exp of something large",
            "use the fused losses (F.softmax_cross_entropy), clip the argument",
        ),
        ("NaN or Inf in the data", "check np.isfinite(x).all() of every batch"),
        ("the overflow of float16", "compute in float32"),
    ),
    "sudden rise": (
        ("a learning rate that is too large, or jumps", "lower it; warm it up"),
        ("a bad batch: outliers, wrong labels, wrong scaling", "look at that batch"),
        ("gradients that explode", "clip them: optimizers.ClipGrad(1.0)"),
        (
            "something replaced on the way: weights, data, state of the optimizer",
            "look at what happens at this step: a resumed run, a new data file",
        ),
    ),
    "saw-tooth": (
        (
            "data in the same order every epoch, sorted or from several sources",
            "shuffle: DataLoader(..., shuffle=True); is the period one epoch?",
        ),
        ("a learning rate that goes up and down", "compare the period to the schedule"),
        (
            "something reset at every period: the optimizer, a recurrent state",
            "make the optimizer once, before the loop",
        ),
    ),
    "flat from the start": (
        (
            "parameters that do not move: no update(), a learning rate of 0 or far too "
            "small, a broken graph (.data, no_grad)",
            "run check_updates(model, step) and explain_grad(param, loss)",
        ),
        (
            "dead units or vanishing gradients: all weights zero, large negative "
            "biases, many sigmoids in a row",
            "run gradient_flow(model); use He or Glorot initial weights, relu",
        ),
        (
            "inputs that say nothing about the targets: shuffled apart, all alike, "
            "unscaled",
            "run overfit_one_batch(model, loss, batch); look at pairs of x and t",
        ),
    ),
    "plateau above expectation": (
        ("a model that is too small for the task", "make it wider or deeper"),
        (
            "a learning rate that is too small by now, or too large to settle",
            "try 3 times as much and a third; check the end of the schedule",
        ),
        ("noise in the labels or inputs that lack something", "look at the worst ones"),
        ("too much weight decay or dropout", "train once without"),
    ),
    "falls then rises": (
        (
            "overfitting: the training data are learned by heart",
            "stop at the lowest point; more data, augmentation, weight decay, dropout",
        ),
        ("a model that is too large for so few data", "make it smaller"),
        (
            "validation data unlike those of the training, or prepared in another way",
            "compare both; call the model in test_mode()",
        ),
    ),
}


@dataclass(frozen=True)
class LossFinding:
    """One thing that is wrong with a loss curve.

    Attributes:
        kind: One of the keys of ``CAUSES``.
        step: Index into the history where it shows, from 0.
        evidence: The numbers that show it, by name.
        causes: Likely causes in order, each with what to do about it.
    """

    kind: str
    step: int
    evidence: dict[str, float]
    causes: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class LossReport(Report):
    """What :func:`diagnose_loss` found. Printed, it is a table with advice.

    Attributes:
        findings: What is wrong, the most pressing first.
        length: How many losses there were.
        first: The first loss.
        lowest: The lowest of the finite ones, NaN if there is none.
        last: The last loss.
        curve: The course of the losses as a line of characters.
        remarks: What could not be told, and why.
    """

    findings: list[LossFinding] = field(default_factory=list)
    length: int = 0
    first: float = 0.0
    lowest: float = 0.0
    last: float = 0.0
    curve: str = ""
    too_short: bool = False
    remarks: list[str] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        """The kinds found, the most pressing first; empty if none."""
        return [finding.kind for finding in self.findings]

    @property
    def ok(self) -> bool:
        """Was the curve long enough to tell, and nothing wrong with it?"""
        return not self.findings and not self.too_short

    @property
    def verdict(self) -> str:
        """The kinds found; else "healthy" or "too short to tell"."""
        if self.findings:
            return ", ".join(self.kinds)
        return "too short to tell" if self.too_short else "healthy"

    def title(self) -> str:
        """The verdict, and the losses in short."""
        plural = "loss" if self.length == 1 else "losses"
        return (
            f"{self.verdict}: {self.length} {plural}, first {number(self.first)}, "
            f"lowest {number(self.lowest)}, last {number(self.last)}"
        )

    def table(self) -> Table | None:
        """What was found, where, and the numbers."""
        rows = []
        for finding in self.findings:
            numbers = [f"{k} {number(x)}" for k, x in finding.evidence.items()]
            rows.append([finding.kind, str(finding.step), numbers[0]])
            rows += [["", "", text] for text in numbers[1:]]
        return Table(["found", "step", "evidence"], rows, right={1})

    def notes(self) -> Sequence[str]:
        """The course of the losses, the likely causes, and what could not be told."""
        notes = [self.curve] if self.curve else []
        for finding in self.findings:
            notes.append(f"{finding.kind}: likely causes, and what to do")
            for i, (cause, remedy) in enumerate(finding.causes, 1):
                notes.append(f"{i}. {cause}: {remedy}")
        return notes + self.remarks


def sketch(x: np.ndarray, width: int = 60) -> str:
    """The course of ``x`` in at most ``width`` characters, ``x`` where not finite."""
    levels = "▁▂▃▄▅▆▇█"
    parts = np.array_split(x, min(width, len(x)))
    # The last loss of a part that is not finite hides none of the others.
    means = [
        float(part.mean()) if np.isfinite(part).all() else np.nan for part in parts
    ]
    finite = [m for m in means if np.isfinite(m)]
    if not finite:
        return "x" * len(means)
    low, span = min(finite), max(finite) - min(finite)
    return "".join(
        [
            levels[round(7 * (m - low) / span) if span > 0 else 0]
            if np.isfinite(m)
            else "x"
            for m in means
        ]
    )
