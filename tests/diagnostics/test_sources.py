"""user_lines: the user's lines, innermost first, and no others."""

import numpy as np

import dezero.functions as F
from dezero import Variable
from dezero.diagnostics.calls import watch_calls
from dezero.diagnostics.sources import user_lines


def test_lines_are_innermost_first_and_limited():
    def inner():
        return user_lines(2)

    first, second = inner()
    assert first.startswith("test_sources.py:")
    assert first.endswith("in inner: return user_lines(2)")
    assert second.endswith(": first, second = inner()")


def test_lines_inside_the_package_are_passed_over():
    found = []

    def watcher(call, f, *inputs):
        found.append(user_lines(3)[1])
        return call(f, *inputs)

    with watch_calls(watcher):
        F.mean(Variable(np.ones(3)))  # goes through several functions of ours
    assert found and {line.rsplit(": ", 1)[1] for line in found} == {
        "F.mean(Variable(np.ones(3)))  # goes through several functions of ours"
    }


def test_code_without_a_file_is_told_without_its_source():
    names = {"user_lines": user_lines}
    exec("lines = user_lines()", names)
    (line,) = names["lines"]
    assert line == "<string>:1 in <module>"
