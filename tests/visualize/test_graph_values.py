"""Arrays, names and settings as short lines."""

import numpy as np
import pytest

import dezero.functions as F
from dezero.core import Function, Variable
from dezero.visualize.graph_values import (
    setting_lines,
    shape_text,
    shorten,
    value_lines,
)


@pytest.mark.parametrize(
    ("x", "lines"),
    [
        (np.array(0.25), ["0.25"]),
        (np.array([[1.0001]]), ["1.0001"]),
        (np.array(7), ["7"]),
        (np.array(True), ["True"]),
        (2.5, ["2.5"]),
        (np.array([1.0, 2.0]), ["1  2"]),
        (np.array([[1, 2], [3, 4]]), ["1  2", "3  4"]),
        (np.zeros((0, 3)), ["empty"]),
        (np.arange(10.0), ["mean 4.5", "0 … 9"]),
        (np.arange(10), ["mean 4.5", "0 … 9"]),
        (np.arange(12) < 5, ["5 of 12 true"]),
        (np.full(10, np.nan), ["10 not finite"]),
        (np.array([np.inf] + [1.0] * 9), ["mean 1", "1 … 1", "1 not finite"]),
        (np.zeros((2, 2, 2)), ["mean 0", "0 … 0"]),
        (np.array(np.nan), ["nan"]),
    ],
)
def test_value_lines(x, lines):
    assert value_lines(x) == lines


def test_half_precision_does_not_overflow():
    assert value_lines(np.full(10, 60000, np.float16))[0] == "mean 6e+04"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("x" * 41, "x" * 19 + "…" + "x" * 20),
        ("x" * 40, "x" * 40),
        ("\ud800", "\\ud800"),
    ],
)
def test_shorten(text, expected):
    assert shorten(text) == expected


def test_shape_text():
    assert shape_text((3, 4), np.dtype("float32")) == "(3, 4) float32"
    assert shape_text(None, None) == "shape not known yet"


def test_setting_lines():
    assert "axis=(1,)" in setting_lines(
        F.sum(Variable(np.ones((2, 3))), axis=1).creator
    )

    class Odd(Function):
        def forward(self, x):
            return x

    f = Odd()
    f.mask, f.table, f.note, f._hidden, f.off = np.ones(3), [1], "hi", 4, False
    assert setting_lines(f) == ["note=hi"]
    assert setting_lines(None) == []
