"""How training went: a dict of lists with one entry per epoch, and the same as CSV."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

from dezero import serializers


class History:
    """Columns of one length, and a file that has them too, row by row.

    Args:
        names: The columns, in order.
        path: Of the file; None for none.
    """

    def __init__(self, names: Iterable[str], path: serializers.Path | None) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in names}
        self._path = path

    def __len__(self) -> int:
        return len(self.columns["epoch"])

    def begin_file(self) -> None:
        """Write the names and all rows so far; what was in the file goes.

        So whatever a killed run left there is put right.

        Raises:
            OSError: It cannot be written there.
        """
        if self._path is None:
            return
        rows = zip(*self.columns.values(), strict=True)
        with serializers.atomic_write(self._path) as file:
            file.write(_lines(self.columns, *rows))

    def append(self, row: Mapping[str, Any]) -> None:
        """Add an epoch, to the lists alone."""
        for name, column in self.columns.items():
            column.append(row[name])

    def write_last(self) -> None:
        """Add the last epoch to the file, with one call: a row is there or is not."""
        if self._path is None:
            return
        row = [column[-1] for column in self.columns.values()]
        with open(self._path, "ab", buffering=0) as file:
            file.write(_lines(row))

    def replace(self, columns: Mapping[str, list[Any]]) -> None:
        """Take over other columns of the same names, into the same lists."""
        for name, column in self.columns.items():
            column[:] = columns[name]


def _lines(*rows: Iterable[Any]) -> bytes:
    """Rows as CSV; numbers are written such that they are read back exactly."""
    import csv  # rarely needed

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
