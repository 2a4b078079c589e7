"""Compare all functions that PyTorch also has with PyTorch: values and gradients.

Both sides get the same random arrays in float64. What is compared: the values, the
gradients for a random incoming gradient (recorded and not, since some functions have a
faster way for the latter), and, where torch can differentiate twice, the derivatives of
these gradients by the inputs and by the incoming gradient, in a random direction.

A difference is the greatest one in an array, relative to the greatest element there.
Exits with 1 if one is not below 1e-10, or if a function in ``F.__all__`` is neither
compared nor listed with the reason why not (``torch_cases/without.py``).

Run ``python benchmarks/against_torch.py``, or name the functions to compare. PyTorch is
needed here and nowhere else: ``pip install 'dezero[peers]'``.
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

import dezero as dz
import dezero.functions as F

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

    @property
    def is_good(self) -> bool:
        """Whether everything that was compared is below the limit."""
        found = (self.value, self.gradient, self.second)
        return not self.error and all(d is None or d < LIMIT for d in found)


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


def print_table(rows: Iterable[Row], cases: Sequence[Case]) -> list[Row]:
    """Print each row as soon as it is there; return them all."""
    heads = ("function", "options", "torch")
    columns = [[c.function, c.options, c.peer] for c in cases]
    widths = [max(map(len, column)) for column in zip(heads, *columns, strict=True)]
    done = []

    def line(texts: Iterable[str], numbers: Iterable[str]) -> None:
        left = [text.ljust(w) for text, w in zip(texts, widths, strict=True)]
        print("  ".join([*left, *[n.rjust(8) for n in numbers]]))

    line(heads, ("value", "gradient", "second"))
    for row in rows:
        numbers = [
            "-" if d is None else f"{d:.1e}"
            for d in (row.value, row.gradient, row.second)
        ]
        mark = [] if row.is_good else [f"WRONG {row.error}".rstrip()]
        line((row.case.function, row.case.options, row.case.peer), numbers + mark)
        done.append(row)
    return done


def uncovered(compared: set[str], without: set[str]) -> list[str]:
    """What is wrong with the two lists, beside the functions that there are."""
    public = set(F.__all__)
    problems = [
        f"{name}: neither compared nor listed in torch_cases/without.py"
        for name in sorted(public - compared - without)
    ]
    problems += [
        f"{name}: compared, and yet listed in torch_cases/without.py"
        for name in sorted(compared & without)
    ]
    problems += [
        f"{name}: not in F.__all__" for name in sorted((compared | without) - public)
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


def main() -> int:
    """Print the table and what it adds up to; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("functions", nargs="*", metavar="FUNCTION")
    chosen = set(parser.parse_args().functions)
    if importlib.util.find_spec("torch") is None:
        parser.error(
            "expected PyTorch, which is not installed (nothing else here needs it): "
            "pip install 'dezero[peers]'"
        )
    import torch
    from torch_cases import CASES
    from torch_cases.without import WITHOUT

    torch.set_num_threads(1)  # the arrays are small
    # Of an even kernel, which is meant: the padding is then not the same on both sides.
    warnings.filterwarnings("ignore", message="Using padding='same'")
    compared = {c.function for c in CASES}
    if unknown := chosen - compared:
        parser.error(
            f"expected functions that are compared, got {', '.join(sorted(unknown))}"
        )
    cases = [c for c in CASES if not chosen or c.function in chosen]
    print(f"DeZero {dz.__version__}, torch {torch.__version__}, float64\n")
    rows = print_table(map(compare, cases), cases)
    print_summary(rows)
    if not chosen:
        print(f"\n{len(WITHOUT)} functions that torch has no counterpart for")
        for name, reason in WITHOUT.items():
            print(f"  {name}: {reason}")

    problems = uncovered(compared, set(WITHOUT))
    problems += [
        f"{r.case.function} ({r.case.options}): {r.error or f'not below {LIMIT}'}"
        for r in rows
        if not r.is_good
    ]
    if not chosen and len(functions_with_gradient(rows)) < AT_LEAST:
        problems.append(f"expected at least {AT_LEAST} functions with gradients")
    for problem in problems:
        print(f"WRONG {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
