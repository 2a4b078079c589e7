"""One row of the report: a gradient against differences, and what is wrong with it."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence

import numpy as np

from dezero.testing.diagnosis import explain_elements, explain_ratios
from dezero.testing.findings import Findings
from dezero.testing.report import LIMIT, GradientCheck
from dezero.testing.slopes import (
    Along,
    Judgement,
    judge,
    kind_at,
    lies_between,
    slope,
)

# In arrays of more elements, kinks are looked for by halving, with so many probes, or
# fewer where one takes long; and no faults are looked for one by one.
_MOST_ONE_BY_ONE = 256
_MOST_PROBES = 512
_MOST_DESCRIBED = 64

# Terms of the derivative that are so much smaller than the largest are judged apart:
# beside it they would not be seen.
_BANDS = (1e-4, 1e-8)


class Row:
    """A gradient, and the function that it should be the gradient of.

    ``terms(d)(t)`` is how much each output changes from ``x`` to ``x + t*d``, times its
    weight; ``gradient(d)`` is what ``backward`` gives at ``x + d``, and ``g`` at ``x``.
    """

    def __init__(
        self,
        findings: Findings,
        key: tuple[int, str],
        g: np.ndarray,
        terms: Callable[[np.ndarray], Callable[[float], np.ndarray]],
        gradient: Callable[[np.ndarray], np.ndarray],
        scale: float,
        x: np.ndarray,
    ) -> None:
        self.findings, self.key, self.g = findings, key, g
        self.terms, self.gradient = terms, gradient
        self.scale, self.x = scale, x
        self.wrong = False
        self._wrong_ones: np.ndarray | None = None  # the mask, if it is not all

    @np.errstate(all="ignore")  # the step may leave the domain of f, g be infinite
    def check(self, d: np.ndarray) -> GradientCheck:
        """Compare both derivatives along ``d``."""
        found = self._judge(d)
        if found.wrong or found.kind == "not finite":
            d, found = self._with_shorter_steps(d, found)
        if found.wrong:
            found = self._unless_kinks_cancel(d, found)
        if found.kind in ("kink", "jump"):
            d, found = self._around(d, found)
        if not found.wrong and np.isfinite(found.error):  # there is something to judge
            d, found = self._in_bands(d, found)
        self.wrong = found.wrong
        if found.kind == "not finite":
            self.findings.hints.setdefault(
                self.key, "f is not finite near these inputs: the edge of its domain?"
            )
        analytic = float(np.sum(self.g * d))
        return GradientCheck(
            *self.key, self.g.shape, analytic, found.numeric, found.error, found.kind
        )

    def _judge(self, d: np.ndarray, total: float = 0.0) -> Judgement:
        terms = self.g * d
        weight = float(np.sqrt(np.sum(terms * terms)))
        if not np.isfinite(weight) or not weight:  # the squares leave the range
            weight = float(np.sum(abs(terms)))
        # Rounding of g is relative to its largest elements.
        scale = max(self.scale, total)
        return judge(self.along(d), self._by_backward(d), weight, scale)

    def _by_backward(self, d: np.ndarray) -> Along:
        """The derivative along ``d``, at any place there, as backward gives it."""

        def derivative(t: float) -> float:
            g = self.gradient(np.asarray(t * d)) if t else self.g
            return float(np.sum(g * d))

        return derivative

    def along(self, d: np.ndarray) -> Along:
        """The function of one number along ``d``."""
        terms = self.terms(d)
        return lambda t: float(np.sum(terms(t)))

    def _with_shorter_steps(
        self, d: np.ndarray, found: Judgement
    ) -> tuple[np.ndarray, Judgement]:
        """Where steps along ``d`` may lead across zero: judge those elements apart.

        They are right only if nothing has to be put down to rounding.
        """
        near_zero = (self.x != 0) & (abs(self.x) < 0.01 * abs(d))
        if not near_zero.any():
            return d, found
        short = np.where(near_zero, d * abs(self.x), 0.0)
        terms = self.g * short
        inner = self._judge(short)
        away = abs(float(np.sum(terms)) - inner.numeric)
        if inner.kind or not away <= LIMIT * float(np.sqrt(np.sum(terms * terms))):
            return d, found
        rest = np.where(near_zero, 0.0, d)
        if not rest.any():
            return short, inner
        outer = self._judge(rest)
        if outer.wrong or outer.kind or outer.error > inner.error:
            return rest, outer
        return short, inner

    def _unless_kinks_cancel(self, d: np.ndarray, found: Judgement) -> Judgement:
        """Along ``d`` is no kink; but several may cancel, so look at halves of it."""
        away = abs(float(np.sum(self.g * d)) - found.numeric)
        rng = np.random.RandomState(0)
        for _ in range(4 if d.size > 1 else 0):
            half = np.where(rng.permutation(d.size).reshape(d.shape) % 2, d, 0.0)
            for part in (half, d - half):
                kind = kind_at(self.along(part), self.scale, away)
                if kind in ("kink", "jump"):
                    return Judgement(found.numeric, found.error, kind)
        return found

    def _in_bands(
        self, d: np.ndarray, found: Judgement
    ) -> tuple[np.ndarray, Judgement]:
        """Judge elements that contribute little by themselves.

        Returns:
            The direction and judgement of those that are wrong, else what was given.
        """
        terms = abs(self.g * d)
        largest, total = terms.max(initial=0.0), float(terms.sum())
        if not largest or not np.isfinite(largest):
            return d, found
        upper = largest * _BANDS[0]
        for lower in (largest * _BANDS[1], -1.0):
            band = (terms < upper) & (terms >= lower) & (d != 0)
            upper = lower
            if band.any():
                part = np.where(band, d, 0.0)
                judged = self._judge(part, total)
                if judged.wrong:
                    judged = self._unless_kinks_cancel(part, judged)
                if judged.wrong:
                    self._wrong_ones = band
                    return part, judged
        return d, found

    def _around(self, d: np.ndarray, found: Judgement) -> tuple[np.ndarray, Judgement]:
        """At a kink: judge the elements that are not there.

        Returns:
            The direction that the judgement holds for, and the judgement.
        """
        size = self.g.size
        away = 0.01 * abs(float(np.sum(self.g * d)) - found.numeric) / size
        kinks, unknown, wrong = self._kinks(d, away)
        if wrong is not None:
            self._wrong_ones = np.zeros(d.shape, bool)
            self._wrong_ones.flat[wrong] = True
            return d, Judgement(found.numeric, found.error)
        rest = np.where(kinks | unknown, 0.0, d)
        if kinks.any() and rest.any():
            others = self._judge(rest)
            if others.wrong:
                return rest, others
            first = tuple(map(int, np.argwhere(kinks)[0]))
            text = f"{kinks.sum()} of {size} elements, the first at {first}"
            if unknown.any():
                text += f"; {unknown.sum()} more are not judged"
            if not others.kind:
                self.findings.note_kink(self.key, f"{text}; the others are right")
                return rest, Judgement(others.numeric, others.error, found.kind)
        self.findings.note_kink(self.key, f"its {size} elements are not judged")
        return d, Judgement(np.nan, np.nan, found.kind)

    def _kinks(
        self, d: np.ndarray, away: float
    ) -> tuple[np.ndarray, np.ndarray, int | None]:
        """Look for the elements that are at a kink or a jump.

        Returns:
            Those, as a mask; those that were not looked at, as a mask; and the first
            element whose gradient is none of the slopes that its kink allows.
        """
        size = d.size
        # Large parts first, so that a kink in one place hides none of the others; then
        # down to single elements, some of which shall be looked at in any case.
        large: collections.deque[np.ndarray] = collections.deque()
        small = [np.array([i]) for i in range(size)][::-1]
        probes = size
        if size > _MOST_ONE_BY_ONE:
            large, small = collections.deque([np.arange(size)]), []
            probes = max(64, min(_MOST_PROBES, 2**22 // size))
        rng = np.random.RandomState(0)
        kinks, unknown = np.zeros(d.shape, bool), np.zeros(d.shape, bool)
        while large or small:
            part = large.popleft() if large else small.pop()
            if not probes:
                unknown.flat[part] = True
                continue
            probes -= 1
            some = np.zeros(d.shape)
            some.flat[part] = d.flat[part]
            kind = kind_at(self.along(some), self.scale, away)
            if not kind and part.size > 1:  # kinks of several elements may cancel
                other = some * rng.uniform(0.5, 1.0, d.shape)
                kind = kind_at(self.along(other), self.scale, away)
            if kind in ("kink", "jump") and part.size > 1:
                half = part.size // 2
                parts = [part[half:], part[:half]]
                (large if half > size // 32 else small).extend(parts)
                continue
            if kind in ("kink", "jump"):
                kinks.flat[part] = True
            if kind == "kink" and not lies_between(
                self.terms(some), self._by_backward(some)
            ):
                return kinks, unknown, int(part[0])
        return kinks, unknown, None

    @np.errstate(all="ignore")
    def describe(self, directions: Sequence[np.ndarray]) -> None:
        """If the row is wrong, say what it looks like."""
        if not self.wrong or self.key in self.findings.hints:
            return
        text = None
        if self._wrong_ones is None:
            text = self._description(directions)
        elif self._wrong_ones.any():
            text = self._description_of_some(directions, self._wrong_ones)
        if text is not None:
            self.findings.hints[self.key] = text

    def _description_of_some(
        self, directions: Sequence[np.ndarray], mask: np.ndarray
    ) -> str:
        first = tuple(map(int, np.argwhere(mask)[0]))
        place = f", the first at {first}" if first else ""
        text = f"among {mask.sum()} of {mask.size} elements{place}"
        ratios = []
        for d in directions:
            part = np.where(mask, d, 0.0)
            numeric = slope(self.along(part))
            ratios.append(float(np.sum(self.g * part)) / numeric if numeric else np.nan)
        if np.isfinite(ratios).all():
            more = explain_ratios(ratios, self.key[0], self.g.shape)
            return f"{text}: {more}" if more else text
        return text

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
