"""One row of the report: a gradient against differences, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dezero.testing.diagnosis import explain_elements, explain_ratios
from dezero.testing.findings import Findings
from dezero.testing.report import GradientCheck
from dezero.testing.slopes import (
    Along,
    Judgement,
    judge,
    kind_at,
    lies_between,
    slope,
)

# Arrays of more elements are not looked through one by one: for kinks, for faults.
_MOST_AT_A_KINK = 256
_MOST_DESCRIBED = 64


class Row:
    """A gradient, and the function that it should be the gradient of.

    ``along(d)`` is the function of one number along the direction d.
    """

    def __init__(
        self,
        findings: Findings,
        key: tuple[int, str],
        g: np.ndarray,
        along: Callable[[np.ndarray], Along],
        scale: float,
    ) -> None:
        self.findings, self.key, self.g = findings, key, g
        self.along, self.scale = along, scale
        self.wrong = False

    @np.errstate(all="ignore")  # the step may leave the domain of f, g be infinite
    def check(self, d: np.ndarray) -> GradientCheck:
        """Compare both derivatives along ``d``."""
        found = self._judge(d)
        if found.kind in ("kink", "jump"):
            d, found = self._around(d, found)
        self.wrong = found.wrong
        if found.kind == "not finite":
            self.findings.hints.setdefault(
                self.key, "f is not finite near these inputs: the edge of its domain?"
            )
        analytic = float(np.sum(self.g * d))
        return GradientCheck(
            *self.key, self.g.shape, analytic, found.numeric, found.error, found.kind
        )

    def _judge(self, d: np.ndarray) -> Judgement:
        terms = self.g * d
        weight = float(np.sum(abs(terms)))
        return judge(self.along(d), float(np.sum(terms)), weight, self.scale)

    def _around(self, d: np.ndarray, found: Judgement) -> tuple[np.ndarray, Judgement]:
        """At a kink: judge the elements that are not there.

        Returns:
            The direction that the judgement holds for, and the judgement.
        """
        size = self.g.size
        no_slope = Judgement(np.nan, np.nan, found.kind)
        if size > _MOST_AT_A_KINK:
            self.findings.note_kink(self.key, f"some of {size} elements, none judged")
            return d, no_slope
        kinks = np.zeros(d.shape, bool)
        away = 0.01 * abs(float(np.sum(self.g * d)) - found.numeric) / size
        for index in np.ndindex(d.shape):
            one = np.zeros(d.shape)
            one[index] = d[index]
            kind = kind_at(self.along(one), self.scale, away)
            if kind in ("kink", "jump"):
                kinks[index] = True
            slope_here = float(self.g[index] * d[index])
            if kind == "kink" and not lies_between(self.along(one), slope_here):
                return d, Judgement(found.numeric, found.error)
        rest = np.where(kinks, 0.0, d)
        if kinks.any() and rest.any():
            others = self._judge(rest)
            if others.wrong:
                return rest, others
            first = tuple(map(int, np.argwhere(kinks)[0]))
            text = f"{kinks.sum()} of {size} elements, the first at {first}"
            if not others.kind:
                self.findings.note_kink(self.key, f"{text}; the others are right")
                return rest, Judgement(others.numeric, others.error, found.kind)
        self.findings.note_kink(self.key, f"its {size} elements are not judged")
        return d, no_slope

    @np.errstate(all="ignore")
    def describe(self, directions: Sequence[np.ndarray]) -> None:
        """If the row is wrong, say what it looks like."""
        if not self.wrong or self.key in self.findings.hints:
            return
        text = self._description(directions)
        if text is not None:
            self.findings.hints[self.key] = text

    def _description(self, directions: Sequence[np.ndarray]) -> str | None:
        g, (order, _) = self.g, self.key
        if not np.isfinite(g).all():
            return f"analytic is not finite: {count_of(g)}"
        ratios = []
        for d in directions:
            analytic, numeric = float(np.sum(g * d)), slope(self.along(d))
            weight = max(float(np.sum(abs(g * d))), abs(analytic))
            if abs(numeric) > 1e-3 * weight:
                ratios.append(analytic / numeric)
        if len(ratios) == len(directions):
            text = explain_ratios(ratios, order, g.shape)
            if text is not None:
                return text
        if not 1 < g.size <= _MOST_DESCRIBED:
            return None
        expected = np.empty(g.shape)
        for index in np.ndindex(g.shape):
            one = np.zeros(g.shape)
            one[index] = 1.0
            expected[index] = slope(self.along(one))
        return explain_elements(g, expected)


def count_of(x: np.ndarray) -> str:
    """How many elements are NaN or infinite."""
    nan, infinite = int(np.isnan(x).sum()), int(np.isinf(x).sum())
    parts = [f"{nan} nan"] * bool(nan) + [f"{infinite} inf"] * bool(infinite)
    return f"{' and '.join(parts)} of {x.size}"
