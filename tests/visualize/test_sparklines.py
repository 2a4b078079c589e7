"""Curves as text, where there are blocks and where there are none."""

import io
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from dezero import Variable
from dezero.visualize.sparklines import ASCII, BLOCKS, GAP, sparkline

ROOT = pathlib.Path(__file__).resolve().parents[2]


def stream(encoding):
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


UTF8 = stream("utf-8")


def test_each_value_is_a_block():
    assert sparkline(range_of(8), stream=UTF8) == BLOCKS
    assert sparkline([1, 2, 3, 5, 8], stream=UTF8) == "▁▂▃▅█"
    assert sparkline([8, 1], stream=UTF8) == "█▁"


def range_of(n):
    return list(range(n))


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_without_blocks(encoding):
    line = sparkline(range_of(8), stream=stream(encoding))
    assert line == ASCII and line.encode(encoding)


def test_a_stream_that_tells_no_encoding():
    assert sparkline(range_of(8), stream=io.StringIO()) == ASCII


@pytest.mark.parametrize("x", [np.arange(8.0), Variable(np.arange(8)), range_of(8)])
def test_arrays_and_variables(x):
    assert sparkline(x, stream=UTF8) == BLOCKS


def test_more_values_than_characters():
    assert sparkline(np.repeat(np.arange(8), 10), width=8, stream=UTF8) == BLOCKS
    assert len(sparkline(np.arange(1000), width=7, stream=UTF8)) == 7
    # Groups of nearly equal size, each by its mean: 1, 2.5 and 4.
    assert sparkline([0, 1, 2, 2, 3, 4], width=3, stream=UTF8) == "▁▅█"


def test_equal_values_are_neither_low_nor_high():
    assert sparkline([3, 3, 3], stream=UTF8) == "▅▅▅"


def test_given_ends():
    assert sparkline([2, 4], low=0, high=8, stream=UTF8) == "▃▅"
    assert sparkline([-5, 50], low=0, high=8, stream=UTF8) == "▁█"


def test_what_is_not_finite():
    assert sparkline([0, np.nan, 1, np.inf], stream=UTF8) == f"▁{GAP}█{GAP}"
    assert sparkline([np.nan, np.nan], stream=UTF8) == GAP * 2
    assert sparkline([0, np.nan, 1, 1], width=2, stream=UTF8) == f"{GAP}▅"


def test_values_as_large_as_floats_can_be():
    assert sparkline([-1.7e308, 0, 1.7e308], stream=UTF8) == "▁▅█"


def test_input_stays_as_it_is():
    x = np.array([0.0, np.inf])
    sparkline(x)
    assert np.isinf(x[1])


def test_no_matplotlib_is_needed():
    code = (
        "import sys, dezero as dz; print(dz.visualize.sparkline([1, 2, 3]));"
        "assert 'matplotlib' not in sys.modules"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
    )
    assert result.stdout.strip() == ".+@", result.stderr


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: sparkline([]), ValueError, r"values of shape \(N,\), N >= 1, got"),
        (
            lambda: sparkline([[1]]),
            ValueError,
            r"values of shape \(N,\), N >= 1, got \(1, 1\)",
        ),
        (lambda: sparkline(["a"]), TypeError, "values to hold numbers, got dtype"),
        (lambda: sparkline([1], width=0), ValueError, "width >= 1, got 0"),
        (lambda: sparkline([1], width=2.0), TypeError, "width to be an integer"),
        (
            lambda: sparkline([1], low=3, high=2),
            ValueError,
            "low <= high, got 3 and 2",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^sparkline: expected {message}"):
        call()
