"""Tables fit 80 columns, and say the same in HTML and as data."""

import json
from dataclasses import dataclass, field

import numpy as np
import pytest

from dezero.diagnostics.tables import (
    Report,
    Table,
    number,
    percent,
    shortened,
    wrapped,
)


@pytest.mark.parametrize(
    ("x", "expected"),
    [(None, "-"), (0.0, "0"), (1.23456, "1.23"), (-1.2345e-12, "-1.23e-12")],
)
def test_numbers(x, expected):
    assert number(x) == expected
    assert len(number(x)) <= 9


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (None, "-"),
        (0, "0 %"),
        (1, "100 %"),
        (0.123, "12.3 %"),
        (1e-6, "<0.1 %"),
        (0.99999, ">99.9 %"),
    ],
)
def test_percents(x, expected):
    assert percent(x) == expected


def test_of_a_long_name_the_end_is_kept():
    assert shortened("blocks/0/W", 80) == "blocks/0/W"
    assert shortened("blocks/0/linear/W", 12) == ".../linear/W"
    assert shortened("abc", 2) == "ab"


def test_a_table():
    table = Table(("name", "n"), [("a", "1"), ("bc", "10")], right=(1,))
    assert str(table) == "name   n\n----  --\na      1\nbc    10"
    assert table._repr_html_() == (
        '<table><thead><tr><th style="text-align:left">name</th>'
        '<th style="text-align:right">n</th></tr></thead><tbody>'
        '<tr><td style="text-align:left">a</td><td style="text-align:right">1</td></tr>'
        '<tr><td style="text-align:left">bc</td>'
        '<td style="text-align:right">10</td></tr></tbody></table>'
    )


@pytest.mark.parametrize("elastic", [0, 1])
def test_a_wide_table_gives_way_in_one_column(elastic):
    rows = [["x", "y"]]
    rows[0][elastic] = "long/" * 40
    table = Table(("first", "second"), rows, elastic=elastic)
    lines = str(table).splitlines()
    assert max(map(len, lines)) <= 80 and "..." in lines[2]
    assert "long/" * 40 in table._repr_html_()


def test_html_is_escaped():
    assert "<b>" not in Table(("x",), [("<b>",)])._repr_html_()


@dataclass(frozen=True)
class Row:
    x: float


@dataclass(frozen=True)
class Example(Report):
    rows: list = field(default_factory=list)
    error: Exception | None = None
    extra: dict = field(default_factory=dict)

    def title(self):
        return "A title " * 20

    def table(self):
        return Table(("x",), [(str(row.x),) for row in self.rows])

    def notes(self):
        return ["A <note> " * 20, "At:\n  line one\n" + "line two " * 20]


def test_a_report():
    report = Example([Row(1.5)])
    text = str(report)
    assert max(map(len, text.splitlines())) <= 80
    assert "1.5" in text and "\n    line one\n" in text and text.endswith("...")
    html = report._repr_html_()
    assert "<table>" in html and "&lt;note&gt;" in html and "At:<br>" in html
    assert "<table>" not in Example()._repr_html_()


def test_a_report_as_data():
    extra = {1: np.float32(0.5), "a": np.arange(2), "b": (float("nan"), None)}
    report = Example([Row(float("inf"))], ValueError("no"), extra)
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data == {
        "rows": [{"x": "inf"}],
        "error": "ValueError: no",
        "extra": {"1": 0.5, "a": [0, 1], "b": ["nan", None]},
    }


def test_a_report_of_nothing():
    assert Report().title() == "Report" and Report().table() is None
    assert str(Report()) == "Report" and not list(Report().notes())


def test_lines_are_wrapped_with_their_indentation():
    lines = wrapped("word " * 40, "    ").splitlines()
    assert len(lines) > 2 and all(line.startswith("    word") for line in lines)
