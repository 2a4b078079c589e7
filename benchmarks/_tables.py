"""The tables that a comparison prints, a line as soon as it is there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar


class Line(Protocol):
    """What a table shows of a comparison."""

    @property
    def labels(self) -> Sequence[str]:
        """What was compared."""

    @property
    def numbers(self) -> Sequence[float | None]:
        """What came out; None is what was not compared."""

    @property
    def is_good(self) -> bool:
        """Whether it is as it should be."""

    @property
    def error(self) -> str:
        """What was raised, if anything."""


AnyLine = TypeVar("AnyLine", bound=Line)


def print_table(
    heads: Sequence[str],
    number_heads: Sequence[str],
    labels: Iterable[Sequence[str]],
    lines: Iterable[AnyLine],
) -> list[AnyLine]:
    """Print each line as soon as it is there; return them all.

    Args:
        heads: Of the columns of text.
        number_heads: Of the columns of numbers.
        labels: The texts of all the lines to come, which tell how wide columns are.
        lines: The comparisons, run one by one as they are taken from it.
    """
    columns = zip(heads, *labels, strict=True)
    widths = [max(map(len, column)) for column in columns]
    done = []

    def show(texts: Iterable[str], numbers: Iterable[str]) -> None:
        left = [text.ljust(w) for text, w in zip(texts, widths, strict=True)]
        print("  ".join([*left, *[n.rjust(8) for n in numbers]]))

    show(heads, number_heads)
    for line in lines:
        numbers = ["-" if d is None else f"{d:.1e}" for d in line.numbers]
        mark = [] if line.is_good else [f"WRONG {line.error}".rstrip()]
        show(line.labels, numbers + mark)
        done.append(line)
    return done
