"""What pictures accept as arrays, labels, names and numbers."""

import sys
import types

import numpy as np
import pytest

from dezero import Parameter, Variable
from dezero.visualize.arrays import (
    as_array,
    as_count,
    as_finite,
    as_labels,
    as_names,
    as_predictions,
)


class OnDevice:
    """A stand-in for an array of a GPU."""

    def __init__(self, data):
        self.data = data

    def get(self):
        return self.data


@pytest.mark.parametrize(
    "x",
    [
        [1.0, 2.0],
        (1, 2),
        np.array([1, 2], np.float16),
        Variable(np.array([1.0, 2.0])),
        Parameter(np.array([1.0, 2.0])),
        [Variable(np.array(1.0)), Variable(np.array(2.0))],
        [np.float32(1), 2],
    ],
)
def test_arrays(x):
    assert as_array("f", "x", x).tolist() == [1, 2]
    assert as_finite("f", "x", x).dtype == np.float64


def test_an_array_of_a_gpu(monkeypatch):
    cupy = types.SimpleNamespace(ndarray=OnDevice)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert as_array("f", "x", OnDevice(np.arange(3))).tolist() == [0, 1, 2]
    assert as_array("f", "x", [OnDevice(np.array(4))]).tolist() == [4]


def test_labels():
    assert as_labels("f", "t", [0, 2, 1], 3).tolist() == [0, 2, 1]
    assert as_labels("f", "t", Variable(np.array([True, False]))).tolist() == [1, 0]


def test_predictions():
    assert as_predictions("f", [1, 0])[0].tolist() == [1, 0]
    y, n = as_predictions("f", Variable(np.array([[0.1, 0.9, 0.0], [2.0, 1.0, 0.0]])))
    assert y.tolist() == [1, 0] and n == 3


def test_names():
    assert as_names("f", "names", None) is None
    assert as_names("f", "names", ("a", 1), 2) == ["a", "1"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: as_array("f", "x", ["a"]), TypeError, "x to hold numbers, got dtype"),
        (lambda: as_array("f", "x", None), TypeError, "x to hold numbers, got None"),
        (lambda: as_array("f", "x", [[1], [1, 2]]), ValueError, "different shapes"),
        (lambda: as_finite("f", "x", []), ValueError, "x to hold numbers, got none"),
        (
            lambda: as_finite("f", "x", [1, np.nan, np.inf]),
            ValueError,
            "x to be finite, got 2 of 3 numbers that are NaN or infinite",
        ),
        (
            lambda: as_labels("f", "t", [0.0, 1.0]),
            TypeError,
            r"t to be integers, got float64; .* t.astype\(int\)",
        ),
        (lambda: as_labels("f", "t", [[1]]), ValueError, r"t of shape \(N,\), got .*1"),
        (
            lambda: as_labels("f", "t", np.zeros(0, int)),
            ValueError,
            r"t of shape \(N,\), got shape \(0,\)",
        ),
        (lambda: as_labels("f", "t", [-1, 5]), ValueError, "t 0 or above, got -1"),
        (lambda: as_labels("f", "t", [0, 5], 3), ValueError, r"t in \[0, 3\), got 5"),
        (
            lambda: as_predictions("f", np.ones((2, 1))),
            ValueError,
            r"class ids \(N,\) or scores \(N, C\) of two .* got shape \(2, 1\)",
        ),
        (lambda: as_predictions("f", [0.5]), TypeError, "y to be integers, got float"),
        (
            lambda: as_predictions("f", [[np.nan, 1]]),
            ValueError,
            "y without NaN, got NaN among them",
        ),
        (lambda: as_names("f", "names", "ab"), TypeError, "list of texts, got str"),
        (lambda: as_names("f", "names", 3), TypeError, "list of texts, got int"),
        (lambda: as_names("f", "names", ["a"], 2), ValueError, "2 texts, got 1"),
        (lambda: as_count("f", "n", 1.5), TypeError, "n to be an integer, got float"),
        (lambda: as_count("f", "n", True), TypeError, "n to be an integer, got bool"),
        (lambda: as_count("f", "n", 0), ValueError, "n >= 1, got 0"),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^f: expected .*{message}"):
        call()
