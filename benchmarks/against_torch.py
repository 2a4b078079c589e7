"""Compare what PyTorch also has with PyTorch: functions, optimizers and schedules.

Both sides get the same random arrays in float64. Of functions the values are compared,
the gradients for a random incoming gradient (recorded and not, since some functions
have a faster way for the latter), and, where torch can differentiate twice, the
derivatives of these gradients by the inputs and by the incoming gradient, in a random
direction. Of optimizers, with hooks and averages, the weights are compared at each of
200 updates of a small network, whose gradients each side computes by itself; of
schedules the learning rates at each of 200 steps.

A difference is the greatest one in an array, relative to the greatest element there.
Exits with 1 if one is not below 1e-10, for trajectories the limit in the table; or if a
name in ``F.__all__`` or ``dezero.optimizers.__all__`` is neither compared nor listed
with the reason why not (``torch_cases/without.py``).

Run ``python benchmarks/against_torch.py``, or name what to compare. PyTorch is needed
here and nowhere else: ``pip install 'dezero[peers]'``.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from _derivatives import Ours, Theirs, greatest_difference
from _tables import print_table
from _trajectories import TrajectoryRow
from _trajectories import compare as compare_trajectory

import dezero as dz
import dezero.functions as F
from dezero import optimizers

if TYPE_CHECKING:
    from torch_cases.case import Case

LIMIT = 1e-10  # of a relative difference
AT_LEAST = 120  # functions with values and gradients


@dataclass(frozen=True)
class Row:
    """What came out of one comparison; None is what was not compared."""

    case: Case
    value: float | None = None
    gradient: float | None = None
    second: float | None = None
    error: str = ""
    limit: float = LIMIT

    @property
    def labels(self) -> tuple[str, str, str]:
        """What was compared."""
        return self.case.function, self.case.options, self.case.peer

    @property
    def numbers(self) -> tuple[float | None, float | None, float | None]:
        """The differences."""
        return self.value, self.gradient, self.second

    @property
    def is_good(self) -> bool:
        """Whether everything that was compared is below the limit."""
        return not self.error and all(d is None or d < self.limit for d in self.numbers)


# =============================================================================
# One comparison
# =============================================================================


def compare(case: Case) -> Row:
    """Run both sides; what either of them raises is in the row."""
    value = gradient = second = None
    try:
        rng = np.random.default_rng(1)
        ours, theirs = Ours(case), Theirs(case)
        value = greatest_difference(ours.values(), theirs.values())
        if case.order:
            gys = [rng.standard_normal(y.shape) for y in theirs.values()]
            expected = theirs.gradients(gys)
            # The recorded pass comes second and stays, for the second derivatives.
            gradient = max(
                greatest_difference(ours.gradients(gys, recorded), expected)
                for recorded in (False, True)
            )
        if case.order > 1:
            directions = [rng.standard_normal(x.shape) for x in case.inputs]
            second = greatest_difference(
                ours.seconds(directions), theirs.seconds(directions)
            )
    except Exception as error:  # a row of its own, the other rows go on
        message = str(error).strip().partition("\n")[0]
        return Row(case, value, gradient, second, f"{type(error).__name__}: {message}")
    return Row(case, value, gradient, second)


# =============================================================================
# All of them
# =============================================================================


def uncovered(
    public: set[str], compared: set[str], without: set[str], module: str = "F"
) -> list[str]:
    """What is wrong with the two lists, beside the names that there are."""
    problems = [
        f"{name}: neither compared nor listed in torch_cases/without.py"
        for name in sorted(public - compared - without)
    ]
    problems += [
        f"{name}: compared, and yet listed in torch_cases/without.py"
        for name in sorted(compared & without)
    ]
    problems += [
        f"{name}: not in {module}.__all__"
        for name in sorted((compared | without) - public)
    ]
    return problems


def print_summary(rows: Sequence[Row]) -> None:
    """How many functions and comparisons there are, and the greatest differences."""
    with_gradient = functions_with_gradient(rows)
    no_gradient = {row.case.function for row in rows if not row.case.order}
    values_only = sorted(no_gradient - with_gradient)
    print(f"\n{len(with_gradient)} distinct functions compared, values and gradients")
    if values_only:
        print(
            f"{len(values_only)} more, which have no gradient, values: "
            + ", ".join(values_only)
        )
    worst = []
    for kind in ("value", "gradient", "second"):
        found = [getattr(row, kind) for row in rows]
        worst.append(f"{kind} {max([d for d in found if d is not None] or [0]):.1e}")
    print(f"{len(rows)} comparisons, greatest relative difference: {', '.join(worst)}")


def functions_with_gradient(rows: Iterable[Row]) -> set[str]:
    """The names of the functions whose gradients were compared."""
    return {row.case.function for row in rows if row.gradient is not None}


def print_trajectories(rows: Sequence[TrajectoryRow]) -> None:
    """How many there are, the greatest difference, and why some limits are higher."""
    names = {row.case.name for row in rows}
    worst = max([row.difference or 0.0 for row in rows], default=0.0)
    print(
        f"\n{len(names)} distinct optimizers, hooks, averages and schedules compared\n"
        f"{len(rows)} comparisons, greatest relative difference: {worst:.1e}"
    )
    for row in rows:
        if row.case.reason:
            name, options, _ = row.labels
            print(f"  {name} ({options}): below {row.case.limit:g}, {row.case.reason}")


def main() -> int:
    """Print the tables and what they add up to; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    chosen = set(parser.parse_args().names)
    if importlib.util.find_spec("torch") is None:
        parser.error(
            "expected PyTorch, which is not installed (nothing else here needs it): "
            "pip install 'dezero[peers]'"
        )
    import torch
    from torch_cases import CASES, TRAJECTORIES
    from torch_cases.without import WITHOUT, WITHOUT_TRAINING

    torch.set_num_threads(1)  # the arrays are small
    # Of an even kernel, which is meant: the padding is then not the same on both sides.
    warnings.filterwarnings("ignore", message="Using padding='same'")
    functions = {c.function for c in CASES}
    training = {c.name for c in TRAJECTORIES}
    if unknown := chosen - functions - training:
        parser.error(
            f"expected names of what is compared, got {', '.join(sorted(unknown))}"
        )
    cases = [c for c in CASES if not chosen or c.function in chosen]
    trajectories = [c for c in TRAJECTORIES if not chosen or c.name in chosen]
    print(f"DeZero {dz.__version__}, torch {torch.__version__}, float64")
    rows: list[Row] = []
    if cases:
        print()
        rows = print_table(
            ("function", "options", "torch"),
            ("value", "gradient", "second"),
            [Row(c).labels for c in cases],
            map(compare, cases),
        )
        print_summary(rows)
    runs: list[TrajectoryRow] = []
    if trajectories:
        print()
        runs = print_table(
            ("training", "options", "torch"),
            ("200steps", "limit"),
            [TrajectoryRow(c).labels for c in trajectories],
            map(compare_trajectory, trajectories),
        )
        print_trajectories(runs)
    if not chosen:
        for what, without in ("functions", WITHOUT), ("others", WITHOUT_TRAINING):
            print(f"\n{len(without)} {what} that torch has no counterpart for")
            for name, reason in without.items():
                print(f"  {name}: {reason}")

    problems = uncovered(set(F.__all__), functions, set(WITHOUT))
    problems += uncovered(
        set(optimizers.__all__), training, set(WITHOUT_TRAINING), "optimizers"
    )
    both: list[Row | TrajectoryRow] = [*rows, *runs]
    problems += [
        f"{r.labels[0]} ({r.labels[1]}): {r.error or f'not below {r.limit:g}'}"
        for r in both
        if not r.is_good
    ]
    if not chosen and len(functions_with_gradient(rows)) < AT_LEAST:
        problems.append(f"expected at least {AT_LEAST} functions with gradients")
    for problem in problems:
        print(f"WRONG {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
