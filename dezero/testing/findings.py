"""What comes up during a gradient check, gathered for its report."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dezero.testing.report import LIMIT, GradientCheck, GradientReport

Key = tuple[int, str]  # order, what was varied


class Findings:
    """Rows, problems, hints and notes; each said once."""

    def __init__(self) -> None:
        self.rows: dict[Key, GradientCheck] = {}
        self.hints: dict[Key, str] = {}
        self._problems: dict[str, None] = {}
        self._kinks: dict[Key, str] = {}
        self._notes: dict[str, None] = {}

    def add_check(self, check: GradientCheck) -> None:
        """Keep the worst row of each order and input."""
        key = check.order, check.by
        if key not in self.rows or _badness(check) > _badness(self.rows[key]):
            self.rows[key] = check

    def add_problem(self, text: str) -> None:
        """Something that fails the check."""
        self._problems[text] = None

    def add_note(self, text: str) -> None:
        """Something good to know."""
        self._notes[text] = None

    def note_kink(self, key: Key, text: str) -> None:
        """Where a kink or a jump is."""
        self._kinks.setdefault(key, text)

    def note_casts(
        self,
        inputs: Iterable[tuple[str, np.dtype]],
        parameters: Iterable[tuple[str, np.dtype]],
    ) -> None:
        """Say in one line what was cast to float64."""
        cast = [pair for pair in inputs if _is_cast(pair[1])]
        names = [name for name, _ in cast]
        cast_parameters = [pair for pair in parameters if _is_cast(pair[1])]
        if len(cast_parameters) == 1:
            names.append(cast_parameters[0][0])
        elif cast_parameters:
            names.append(f"{len(cast_parameters)} parameters")
        if names:
            if len(names) > 3:
                names = [*names[:2], f"{len(names) - 2} more"]
            dtypes = {str(dtype) for _, dtype in cast + cast_parameters}
            self.add_note(
                f"cast to float64: {', '.join(names)} ({', '.join(sorted(dtypes))})"
            )

    def report(self, name: str) -> GradientReport:
        """All of it, rows by order."""
        keys = sorted(self.rows, key=lambda key: key[0])
        if any([text.endswith("in place") for text in self._problems]):
            self.hints.clear()  # what the numbers look like then is a consequence
        wrong = [k for k in keys if k in self.hints and _badness(self.rows[k])[0] > 1]
        kinks = [
            f"{self.rows[k].kind} at {k[1]}, order {k[0]}: {self._kinks[k]}"
            for k in keys
            if k in self._kinks and not self.rows[k].judged
        ]
        return GradientReport(
            name,
            tuple([self.rows[key] for key in keys]),
            tuple(self._problems),
            tuple([f"{k[1]}, order {k[0]}: {self.hints[k]}" for k in wrong]),
            (*self._notes, *kinks),
        )


def _badness(check: GradientCheck) -> tuple[int, float]:
    if not check.judged:
        return 1, check.error
    return (0 if check.error <= LIMIT else 2), check.error


def _is_cast(dtype: np.dtype) -> bool:
    return dtype.kind == "f" and dtype != np.float64
