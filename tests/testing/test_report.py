"""The report reads well in a terminal and in a notebook."""

import numpy as np
import pytest

from dezero.testing.diagnosis import explain_elements, explain_ratios, explain_shape
from dezero.testing.report import GradientCheck, GradientReport

CHECK = GradientCheck(1, "input 0", (2, 3), 1.0, 1.0, 1e-12)
KINK = GradientCheck(1, "x", (2,), 1.0, np.nan, np.nan, "kink")


def report(*checks, **texts):
    return GradientReport("f<int> & g", checks, **texts)


def test_sections_follow_the_table_and_are_wrapped():
    text = str(
        report(CHECK, problems=("p " * 60,), hints=("h " * 60,), notes=("n " * 60,))
    )
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines if line[0] not in "o1 "] == [
        *("problem:", "wrong:", "note:")
    ]
    assert all(line.startswith("  ") for line in lines[3::2])


def test_long_names_keep_their_end():
    long = GradientCheck(2, "blocks/0/attention/heads/W_query", (4,) * 9, 1, 1, 0.0)
    lines = str(report(CHECK, long)).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[2].split()[1] == "...s/W_query"
    narrow = GradientCheck(2, "blocks/0/attention/W_query", (4,), 1, 1, 0.0)
    assert ".../attention/W_query" in str(report(narrow))


def test_numbers_that_mean_nothing_are_left_out():
    assert str(report(KINK)).splitlines()[1].split() == [
        *("1", "x", "(2,)", "1", "-", "-", "kink")
    ]


def test_the_worst_verdict_counts():
    wrong = GradientCheck(1, "x", (), 1.0, 2.0, 0.5)
    lost = GradientCheck(1, "x", (), 1.0, np.nan, np.inf, "not finite")
    assert report(CHECK).verdict == "right"
    assert report(KINK).verdict == "kink"
    assert report(KINK, CHECK).verdict == "right"
    assert report(KINK, wrong).verdict == report(lost).verdict == "wrong"
    assert report(CHECK, problems=("p",)).verdict == "wrong"
    assert (report(KINK, CHECK).kinks, report(KINK, CHECK).error) == (1, 1e-12)


def test_assert_ok():
    report(CHECK, KINK, notes=("n",)).assert_ok()
    with pytest.raises(AssertionError, match="cannot be relied on\n(.|\n)*problem: p"):
        report(CHECK, problems=("p",)).assert_ok()
    with pytest.raises(AssertionError, match="gradients of f<int> & g differ by more"):
        report(CHECK).assert_ok(1e-13)


def test_a_notebook_gets_a_table_with_everything_escaped():
    found = report(
        CHECK, KINK, problems=("a < b",), hints=("<i>",), notes=("&",)
    )._repr_html_()
    assert "<caption>f&lt;int&gt; &amp; g: wrong</caption>" in found
    assert found.count("<tr>") == 3
    assert "<td>(2, 3)</td>" in found
    assert (
        "<ul><li>problem: a &lt; b</li><li>wrong: &lt;i&gt;</li>"
        "<li>note: &amp;</li></ul>"
    ) in found
    assert "<ul>" not in report(CHECK)._repr_html_()


def test_ratios_without_a_pattern_say_nothing():
    assert explain_ratios([0.2, 1.7, -3.0], 1, (3,)) is None


def test_right_elements_say_nothing():
    assert explain_elements(np.ones(3), np.ones(3)) is None
    text = explain_elements(np.array(2.0), np.array(1.0))
    assert text == "1 of 1 elements: 2 for 1"


def test_other_errors_are_not_explained():
    assert (
        explain_shape(ValueError("linear: expected x of shape (2,), got (3,)")) is None
    )
