"""The rows of a profile, and how its tables read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dezero.diagnostics.profile_frames import Totals
from dezero.diagnostics.tables import Table, percent


@dataclass(frozen=True)
class ProfileRow:
    """What the calls of one Function class took; or of one layer.

    Times are in seconds, sizes in bytes, both summed over all calls.

    Attributes:
        name: The class of the Function, "backward pass" or "Adam.update"; the name of
            the layer in its model.
        calls: How often it was called.
        forward: Time of the calls, what they call included; without those that another
            Function made, for they are in its time.
        backward: The same of what ran in backward passes.
        seconds: Both together. These of all rows, and the rest, are the whole time. Of
            an update or a backward pass, it is the time outside of Functions.
        own: The time of all calls, without that of what they call. These add up to the
            same. A layer has none: see ``seconds``.
        output: Bytes of the results, without those that are views of an input. Those
            of a layer are of all Functions called for it, in backward too.
        kept: Bytes that were kept for backward: arrays that Functions made, each
            counted once, where it was kept first.
    """

    name: str
    calls: int
    forward: float
    backward: float
    seconds: float
    own: float
    output: int
    kept: int


def rows_of(sums: Mapping[Any, Totals]) -> list[ProfileRow]:
    """A row for each, most time first; classes of one name get their modules too."""
    names = [totals.name for totals in sums.values()]
    rows = []
    for key, totals in sums.items():
        name = totals.name
        if names.count(name) > 1 and isinstance(key, type):
            name = f"{key.__module__}.{name}"
        rows.append(ProfileRow(**vars(totals) | {"name": name}))
    return sorted(rows, key=lambda row: (-row.seconds, -row.own))


def table_of(what: str, rows: Iterable[ProfileRow], seconds: float) -> Table:
    """The rows as text.

    Args:
        what: "function" or "layer".
        rows: In order.
        seconds: The whole time.
    """
    titles = ["calls", "forward", "backward", "share", "own", "output", "kept"]
    cells = [
        [
            row.name,
            str(row.calls) if row.calls else "-",
            duration(row.forward),
            duration(row.backward),
            percent(share(row.seconds, seconds)),
            duration(row.own),
            size(row.output),
            size(row.kept),
        ]
        for row in rows
    ]
    if what == "layer":
        titles.remove("own")
        for line in cells:
            del line[5]
    return Table([what, *titles], cells, right=range(1, len(titles) + 1))


def share(part: float, whole: float) -> float:
    """How much of the whole it is; 0 of nothing."""
    return min(part / whole, 1.0) if whole else 0.0


def duration(seconds: float) -> str:
    """A time in three digits; ``-`` for none at all."""
    return _in_units(seconds, ((1e-6, "us"), (1e-3, "ms"), (1.0, "s")))


def size(count: int) -> str:
    """A number of bytes in three digits; ``-`` for none."""
    return _in_units(count, ((1, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB")))


def _in_units(x: float, units: Iterable[tuple[float, str]]) -> str:
    if not x:
        return "-"
    text = ""
    for unit, name in units:
        value = x / unit
        if value < 999.5:
            return f"{value:.3g} {name}"
        text = f"{value:.0f} {name}"
    return text
