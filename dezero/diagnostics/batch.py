"""overfit_one_batch: the acceptance run of a model, on a batch it must learn by heart.

"Overfit a single batch" is the classic check before any real training; see Karpathy
2019, "A Recipe for Training Neural Networks".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dezero.core import using_config
from dezero.diagnostics.batch_checks import Check, Run, Stop
from dezero.diagnostics.states import unchanged_random_states
from dezero.diagnostics.tables import Report, Table, wrapped
from dezero.layers import Layer
from dezero.optimizers.base import Optimizer


@dataclass(frozen=True)
class BatchReport(Report):
    """What :func:`overfit_one_batch` found. Printed, it is a table.

    Attributes:
        rows: A :class:`Check` each, in the order in which they were made.
        losses: The loss before each step of the last check, and after the last one.
        error: What stopped the run, if something did.
    """

    rows: list[Check] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    error: Exception | None = None

    @property
    def ok(self) -> bool:
        """Has no check failed?"""
        return not any([row.verdict == "fail" for row in self.rows])

    def title(self) -> str:
        """One line that says the outcome."""
        failed = [row.name for row in self.rows if row.verdict == "fail"]
        if failed:
            return f"One batch: failed: {', '.join(failed)}."
        hints = len([row for row in self.rows if row.verdict == "hint"])
        return "One batch: passed" + (f", with {hints} hints." if hints else ".")

    def table(self) -> Table:
        """A row per check."""
        return Table(
            ("check", "verdict", "found"),
            [(row.name, row.verdict, row.detail) for row in self.rows],
            elastic=2,
        )

    def __str__(self) -> str:
        # Details are sentences, which a column would cut off.
        lines = [wrapped(self.title())]
        for row in self.rows:
            lines.append(f"{row.verdict:8}{row.name}")
            lines.append(wrapped(row.detail, " " * 8))
        return "\n".join(lines)


def overfit_one_batch(
    model: Any,
    loss: Callable[..., Any],
    batch: Sequence[Any],
    steps: int = 200,
    optimizer: Optimizer | None = None,
) -> BatchReport:
    """The acceptance run of a model: ten checks, the last of which trains on one batch.

    In this order: (1) output and target have fitting shapes; (2) the loss is one finite
    floating number; (3) a softmax classifier starts near log(C); (4) a second forward
    in test mode gives the same loss, and (5) so does its formula in NumPy; (6) every
    parameter gets a finite gradient; (7) gradients equal central differences along
    random directions, in a float64 copy; (8) one step of the optimizer moves every
    parameter; (9) the loss falls along the negative gradient; (10) within ``steps`` the
    loss comes down to what is possible: 5 % of the way from the start to the floor may
    be left. The floor is 0, or what equal inputs with different targets leave.

    All of it is done on copies: the model, the optimizer and the random states of NumPy
    and Python stay as they are. Layers with ``reset_state()`` start every forward pass
    without a state.

    Args:
        model: A Layer.
        loss: A function of the model's output and the targets, such as
            ``F.softmax_cross_entropy``. It must not use the model itself.
        batch: ``(x, t)``. ``x`` may be a tuple, of several inputs of the model; there
            may be more targets or none.
        steps: How many steps the last check may take.
        optimizer: One, with its numbers and hooks, set up or not. By default
            ``Adam(0.01)``.

    Returns:
        A report to print, with ``report.ok``, ``report.rows`` and ``report.losses``.

    Raises:
        TypeError: ``model`` is no Layer, ``loss`` no function, ``batch`` no tuple or
            list, or ``optimizer`` no Optimizer; or one of them cannot be copied.
        ValueError: ``batch`` is empty, or ``steps`` is below 1; or ``model`` still has
            no parameters after its first call.
    """
    if not isinstance(model, Layer):
        got = f"the class {model.__name__}" if isinstance(model, type) else None
        raise TypeError(
            "overfit_one_batch: expected a Layer as model, got "
            f"{got or type(model).__name__}"
        )
    if not callable(loss):
        raise TypeError(
            "overfit_one_batch: expected a function of output and target as loss, got "
            f"{type(loss).__name__}"
        )
    if not isinstance(batch, (tuple, list)):
        raise TypeError(
            "overfit_one_batch: expected a tuple (x, t) as batch, got "
            f"{type(batch).__name__}"
        )
    if not batch:
        raise ValueError("overfit_one_batch: expected (x, t) as batch, got nothing")
    if steps < 1:
        raise ValueError(f"overfit_one_batch: expected steps >= 1, got {steps}")
    if optimizer is not None and not isinstance(optimizer, Optimizer):
        raise TypeError(
            "overfit_one_batch: expected an Optimizer, such as Adam(), got "
            f"{type(optimizer).__name__}"
        )
    try:
        run = Run(model, loss, batch, steps, optimizer)
    except Exception as raised:  # whatever the model holds that is no data
        raise TypeError(
            "overfit_one_batch: expected a model and an optimizer that copy.deepcopy "
            f"can copy, got {type(model).__name__} ({type(raised).__name__}: {raised})"
        ) from raised
    error = None
    with (
        unchanged_random_states(),
        using_config("enable_backprop", True),
        using_config("train", True),
    ):
        try:
            for check in run.checks():
                run.rows.append(check)
        except Stop:
            pass
        except Exception as raised:  # the model and the loss may raise anything
            error = raised
            run.rows.append(
                Check(run.now, "fail", f"{type(raised).__name__}: {raised}")
            )
    return BatchReport(run.rows, run.losses, error)
