"""What a gradient check found: numbers, verdicts, and a table to print."""

from __future__ import annotations

import html
import textwrap
from dataclasses import dataclass

BANDS = ((1e-7, "right"), (1e-5, "rounding"), (1e-3, "suspicious"))

LIMIT = 1e-5  # the largest relative error of a gradient that passes

WIDTH = 80  # columns of a terminal


def verdict(error: float) -> str:
    """What a relative error says about a gradient.

    Up to 1e-7 it is "right"; up to 1e-5 the difference may be "rounding"; up to 1e-3 it
    is "suspicious"; above, or if it is no number, the gradient is "wrong".
    """
    for limit, name in BANDS:
        if error <= limit:
            return name
    return "wrong"


@dataclass(frozen=True)
class GradientCheck:
    """One derivative, computed in two ways.

    Attributes:
        order: 1 for the gradient of f, 2 for the gradient of its gradient, and so on.
        by: What was varied: an input, a parameter or, from order 2 on, the incoming
            gradient gy of an output; at order 3 also the gradient ggx that comes in for
            an input's gx.
        shape: The shape of what was varied.
        analytic: The derivative along the direction, from ``backward``.
        numeric: The same from central differences.
        error: ``|analytic - numeric| / (sqrt(sum (g_i d_i)**2) + tiny)``, the largest
            over the directions; the other two are those of that direction.
        kind: Empty where there is a derivative to compare with. Else why there is none:
            "kink" (the slopes on both sides differ), "jump" (so do the values), or
            "not finite". At a kink or jump the numbers are those of the elements that
            are not there; NaN where there are none.
    """

    order: int
    by: str
    shape: tuple[int, ...]
    analytic: float
    numeric: float
    error: float
    kind: str = ""

    @property
    def verdict(self) -> str:
        """``kind``, or the band that the error falls into, see :func:`verdict`."""
        return self.kind or verdict(self.error)

    @property
    def judged(self) -> bool:
        """Whether there is a derivative: not at a kink or a jump."""
        return self.kind not in ("kink", "jump")


@dataclass(frozen=True)
class GradientReport:
    """What :func:`check_gradients` found. Printed, it is a table, 80 columns at most.

    Attributes:
        name: What was checked.
        checks: The rows of the table.
        problems: What is wrong, in words; any of them fails.
        hints: What the numbers of wrong rows look like.
        notes: What is good to know: casts, kinks.
    """

    name: str
    checks: tuple[GradientCheck, ...]
    problems: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def error(self) -> float:
        """The largest error, of the rows that are not at a kink or a jump."""
        return max([c.error for c in self.checks if c.judged], default=0.0)

    @property
    def kinks(self) -> int:
        """How many rows are at a kink or a jump, and say nothing about the gradient."""
        return sum([not check.judged for check in self.checks])

    @property
    def verdict(self) -> str:
        """The worst verdict; "wrong" with any problem, "kink" if nothing else is there.

        See :func:`verdict` for the others.
        """
        if self.problems:
            return "wrong"
        if self.kinks and self.kinks == len(self.checks):
            return "kink"
        return verdict(self.error)

    def assert_ok(self, limit: float = LIMIT) -> None:
        """Fail, with the table, if there is a problem or an error exceeds ``limit``.

        Rows at a kink or a jump do not fail; ``kinks`` says how many there are.

        Raises:
            AssertionError: There is one.
        """
        name = self.name[:40]
        if not self.error <= limit:
            raise AssertionError(
                f"gradients of {name} differ by more than {limit:g}\n{self}"
            )
        if self.problems:
            raise AssertionError(f"gradients of {name} cannot be relied on\n{self}")

    def __str__(self) -> str:
        lines = [] if self.problems and not self.checks else self._table()
        for title, texts in self._sections():
            for text in texts:
                lines += textwrap.wrap(
                    f"{title}: {text}", WIDTH, subsequent_indent="  "
                )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        head = "".join([f"<th>{name}</th>" for name in _COLUMNS])
        rows = "".join(
            [
                "<tr>"
                + "".join([f"<td>{html.escape(cell)}</td>" for cell in _cells(check)])
                + "</tr>"
                for check in self.checks
            ]
        )
        items = "".join(
            [
                f"<li>{title}: {html.escape(text)}</li>"
                for title, texts in self._sections()
                for text in texts
            ]
        )
        caption = f"{html.escape(self.name)}: {self.verdict}"
        return (
            f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{rows}</tbody></table>" + (f"<ul>{items}</ul>" if items else "")
        )

    def _sections(self) -> list[tuple[str, tuple[str, ...]]]:
        return [("problem", self.problems), ("wrong", self.hints), ("note", self.notes)]

    def _table(self) -> list[str]:
        rows = [_COLUMNS, *map(_cells, self.checks)]
        # Names and shapes share what the numbers leave: 26 columns.
        shape = max([5, *[min(len(row[2]), 14) for row in rows]])
        by = max([2, *[min(len(row[1]), 26 - shape) for row in rows]])
        return [
            f"{order:5}  {_from_the_end(name, by):{by}}  {_fit(text, shape):{shape}}  "
            f"{analytic:>10}  {numeric:>10}  {error:>7}  {word}"
            for order, name, text, analytic, numeric, error, word in rows
        ]


_COLUMNS = ("order", "by", "shape", "analytic", "numeric", "error", "verdict")


def _cells(check: GradientCheck) -> tuple[str, ...]:
    blank = not check.judged and check.error != check.error  # nothing to compare with
    return (
        str(check.order),
        check.by,
        str(check.shape),
        f"{check.analytic:.3g}",
        "-" if blank else f"{check.numeric:.3g}",
        "-" if blank else f"{check.error:.1e}",
        check.verdict,
    )


def _fit(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def _from_the_end(text: str, width: int) -> str:
    """A name such as ``blocks/0/attention/W``: its end says most."""
    return text if len(text) <= width else "..." + text[3 - width :]
