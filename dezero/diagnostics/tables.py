"""Reports: text for 80 columns, HTML for a notebook, data for programs."""

from __future__ import annotations

import dataclasses
import html
import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

WIDTH = 80


def number(x: float | None) -> str:
    """A number in at most 9 characters; ``-`` for None."""
    if x is None:
        return "-"
    return f"{x:.3g}"


def percent(x: float | None) -> str:
    """A share as percent; only exact ones read as 0 % and 100 %."""
    if x is None:
        return "-"
    if 0 < x < 0.001:
        return "<0.1 %"
    if 0.999 < x < 1:
        return ">99.9 %"
    return f"{100 * x:.3g} %"


def shortened(text: str, width: int) -> str:
    """``text`` in at most ``width`` characters; of a name the end says most."""
    if len(text) <= width:
        return text
    return "..." + text[len(text) - width + 3 :] if width > 3 else text[:width]


def wrapped(text: str, indent: str = "") -> str:
    """``text`` in lines of at most 80 columns."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


class Table:
    """Rows under a header. Numbers stand flush right, text flush left.

    Args:
        header: A title per column.
        rows: Text per column.
        right: Which columns are numbers, flush right.
        elastic: The column that gives way when the table is wider than 80 columns.
    """

    def __init__(
        self,
        header: Sequence[str],
        rows: Iterable[Sequence[str]],
        right: Iterable[int] = (),
        elastic: int = 0,
    ) -> None:
        self.header = list(header)
        self.rows = [list(row) for row in rows]
        self.right = set(right)
        self.elastic = elastic

    def __str__(self) -> str:
        columns = range(len(self.header))
        lines = [self.header, *self.rows]
        widths = [max([len(line[i]) for line in lines]) for i in columns]
        surplus = sum(widths) + 2 * (len(widths) - 1) - WIDTH
        if surplus > 0:
            i = self.elastic
            widths[i] = max(widths[i] - surplus, len(self.header[i]), 8)
        text = []
        for line in [self.header, ["-" * n for n in widths], *self.rows]:
            cells = []
            for i in columns:
                cell = shortened(line[i], widths[i]) if i == self.elastic else line[i]
                n = widths[i]
                cells.append(cell.rjust(n) if i in self.right else cell.ljust(n))
            text.append("  ".join(cells).rstrip())
        return "\n".join(text)

    def _repr_html_(self) -> str:
        def row(cells: Sequence[str], tag: str) -> str:
            parts = []
            for i, cell in enumerate(cells):
                side = "right" if i in self.right else "left"
                text = html.escape(cell)
                parts.append(f'<{tag} style="text-align:{side}">{text}</{tag}>')
            return f"<tr>{''.join(parts)}</tr>"

        head = row(self.header, "th")
        body = "".join([row(cells, "td") for cells in self.rows])
        return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"


class Report:
    """What a check found: printed it is text, in a notebook a table.

    A subclass is a dataclass; it gives the lines before the table and after it.
    """

    def table(self) -> Table | None:
        """The rows, if there are any."""
        return None

    def title(self) -> str:
        """One line that says the outcome."""
        return type(self).__name__

    def notes(self) -> Sequence[str]:
        """What stands below the table, a paragraph each."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as dicts, lists, text and numbers, ready for JSON."""
        fields: Any = self  # each subclass is a dataclass
        return {
            f.name: _plain(getattr(fields, f.name)) for f in dataclasses.fields(fields)
        }

    def __str__(self) -> str:
        parts = [wrapped(self.title())]
        table = self.table()
        if table is not None and table.rows:
            parts.append(str(table))
        parts += [_note(note) for note in self.notes()]
        return "\n".join(parts)

    def _repr_html_(self) -> str:
        parts = [f"<p><b>{html.escape(self.title())}</b></p>"]
        table = self.table()
        if table is not None and table.rows:
            parts.append(table._repr_html_())
        for note in self.notes():
            text = html.escape(note).replace("\n", "<br>")
            parts.append(f"<p>{text}</p>")
        return "".join(parts)


def _note(note: str) -> str:
    """A paragraph; lines of source below its first line keep their indentation."""
    first, *rest = note.split("\n")
    lines = [wrapped(first)]
    for line in rest:
        text = line.strip()
        room = WIDTH - 4
        lines.append("    " + (text if len(text) <= room else text[: room - 3] + "..."))
    return "\n".join(lines)


def _plain(x: Any) -> Any:
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return {f.name: _plain(getattr(x, f.name)) for f in dataclasses.fields(x)}
    if isinstance(x, dict):
        return {str(k): _plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [_plain(v) for v in x]
    if isinstance(x, (np.generic, np.ndarray)):
        return x.tolist()
    if isinstance(x, BaseException):
        return f"{type(x).__name__}: {x}"
    if isinstance(x, float) and not math.isfinite(x):
        return repr(x)  # JSON knows neither NaN nor infinity
    return x
