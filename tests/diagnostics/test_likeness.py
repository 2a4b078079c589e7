"""likeness: memory is proof, equal numbers are evidence, and chance is neither."""

import numpy as np
import pytest

from dezero.diagnostics.likeness import Relatives, likeness

A = np.random.default_rng(0).standard_normal((4, 3)) * 5


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (A, A, "memory"),
        (A[1:], A, "memory"),
        (A.T, A, "memory"),
        (A.copy(), A, "copied"),
        (A.astype(np.float32), A, "copied"),
        (A.astype(np.float16), A, "copied"),
        (A.astype(int), A, "cast"),
        (A.argmax(1), A, "counted"),
        (A.argmin(0), A, "counted"),
        (A + 1e-3, A, ""),
        (A[:2].copy(), A, ""),
        (A > 0, A, ""),
        (A.astype(int), A.astype(int), ""),
        (np.zeros(3), np.zeros(3), ""),
        (np.zeros(3, int), np.zeros(3), ""),
        (np.array(0.5), np.array(0.5), ""),
        (np.zeros(0), np.zeros(0), ""),
        (0.5, A, ""),
        (np.array([1e30, 2e30]), np.array([1.0, 2.0], np.float16), ""),
        (np.array([1.0, 2.0], np.float16), np.array([1e30, 2e30]), ""),
    ],
)
def test_likeness(a, b, expected):
    assert likeness(a, b) == expected


def test_views_that_lie_between_each_other_share_nothing():
    whole = np.random.default_rng(0).standard_normal((4, 6))
    assert likeness(whole[:, :3], whole[:, 3:]) == ""
    assert likeness(whole[:, :4], whole[:, 3:]) == "memory"


def test_strides_that_nobody_can_solve():
    # The example of np.shares_memory's own documentation: it would take a minute.
    whole = np.zeros(192163377, np.int8)
    strided = np.lib.stride_tricks.as_strided
    a = strided(whole, (1049, 1049, 1049), (36674, 61119, 85569))
    b = strided(whole[64023025:], (1049, 1049, 1), (12223, 12224, 1))
    assert likeness(a, b) == ""


def test_relatives_surest_and_latest_first():
    relatives = Relatives()
    relatives.add(A, "first")
    relatives.add(A.copy(), "second")
    relatives.add(A * 2, "third")
    assert list(relatives.of(A[1:])) == [("memory", "first")]
    assert list(relatives.of(A.copy())) == [("copied", "second"), ("copied", "first")]
    assert list(relatives.of(A)) == [("memory", "first"), ("copied", "second")]
    assert [kind for kind, _ in relatives.of(A.argmax(1))] == ["counted"] * 3
    assert list(relatives.of(A.reshape(2, 6).copy())) == []
    assert list(relatives.of(None)) == list(relatives.of(np.array(0.5))) == []


def test_relatives_by_memory_alone():
    relatives = Relatives()
    relatives.add_memory(A[:2], "views")
    assert list(relatives.of(A[1:])) == [("memory", "views")]
    assert list(relatives.of(A[2:])) == list(relatives.of(A[:2].copy())) == []
