"""Items put together as a batch."""

import numpy as np
import pytest

from dezero.dataloaders import collate
from dezero.dataloaders.collation import map_arrays


def test_pairs():
    x, t = collate([([1, 2], 0.5), ([3, 4], 1.5)])
    assert x.tolist() == [[1, 2], [3, 4]] and t.tolist() == [0.5, 1.5]
    x, t = collate([[1, None], [2, None]])  # a list of two is a pair too
    assert x.tolist() == [1, 2] and t is None


def test_tuples():
    (only,) = collate([(np.ones(2, np.float32),)] * 3)
    assert only.shape == (3, 2) and only.dtype == np.float32
    a, b, c = collate([(1, "a", None), (2, "b", None)])
    assert a.tolist() == [1, 2] and b.tolist() == ["a", "b"] and c is None


def test_dicts():
    batch = collate([{"x": {"a": i, "b": [i, i]}, "t": None} for i in range(3)])
    assert list(batch) == ["x", "t"] and batch["t"] is None
    assert batch["x"]["a"].tolist() == [0, 1, 2] and batch["x"]["b"].shape == (3, 2)
    x, t = collate([({"a": i}, i) for i in range(3)])
    assert x["a"].tolist() == t.tolist() == [0, 1, 2]


def test_map_arrays():
    batch = {"x": (np.ones(2), None), "name": np.array(["a"]), "n": 3}
    found = map_arrays(lambda x: x + 1, batch)
    assert found["x"][0].tolist() == [2, 2] and found["x"][1] is None
    assert found["name"] is batch["name"] and found["n"] == 3


ERRORS = [
    (lambda: collate([]), ValueError, "collate: expected at least one item"),
    (
        lambda: collate([(1, None), (2, 3)]),
        TypeError,
        "collate: expected every t .* numbers or an array, got NoneType and int$",
    ),
    (
        lambda: collate([(np.ones(3), 0), (np.ones(2), 0)]),
        ValueError,
        r"collate: expected every x .* got \(2,\) and \(3,\)",
    ),
    (
        lambda: collate([(0, np.ones((1, 2))), (0, 1)]),
        ValueError,
        r"collate: expected every t .* got \(\) and \(1, 2\)",
    ),
    (lambda: collate([1, 2]), TypeError, "collate: .*pairs.*tuples or dicts, got int$"),
    (lambda: collate([[1, 2, 3]]), TypeError, "collate: .*got list of length 3$"),
    (
        lambda: collate([(1, 2), (1, 2, 3)]),
        ValueError,
        "collate: expected items of one length, got 2 and 3",
    ),
    (
        lambda: collate([{"a": 1}, {"b": 1}]),
        ValueError,
        r"collate: .*dict with the keys \['a'\], got \['b'\]",
    ),
    (lambda: collate([{"a": 1}, (1, 2)]), ValueError, "collate: .*keys.*got tuple"),
    (
        lambda: collate([{"x": {"a": 1}}, {"x": {"a": [1]}}]),
        ValueError,
        "collate: expected every x/a of a batch to have one shape",
    ),
    (lambda: collate([({"a": 1}, 1), (2, 1)]), ValueError, "keys.*, got int"),
]


@pytest.mark.parametrize("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
