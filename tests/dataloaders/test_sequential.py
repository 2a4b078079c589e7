"""Readers of a sequence."""

import numpy as np
import pytest

from dezero.dataloaders import SeqDataLoader


def pairs(n):
    return [(np.array([i], dtype=np.float32), i % 3) for i in range(n)]


def firsts(loader):
    return [x.ravel().tolist() for x, _ in loader]


def test_readers_of_a_sequence():
    loader = SeqDataLoader(pairs(10), 3)
    assert len(loader) == 4
    expected = [[0, 3, 6], [1, 4, 7], [2, 5, 8], [3, 6, 9]]
    assert firsts(loader) == expected
    next(iter(loader))
    assert firsts(loader) == expected


def test_readers_when_the_length_does_not_divide():
    # Each reader takes ceil(5 / 2) = 3 steps.
    assert firsts(SeqDataLoader(pairs(5), 2)) == [[0, 2], [1, 3], [2, 4]]
    assert firsts(SeqDataLoader(pairs(5), 4)) == [[0, 1, 2, 3], [1, 2, 3, 4]]
    assert firsts(SeqDataLoader(pairs(3), 3)) == [[0, 1, 2]]


ERRORS = [
    (lambda: SeqDataLoader(pairs(3), 4), ValueError, "SeqDataLoader: .* <= 3.* got 4"),
    (lambda: SeqDataLoader(pairs(3), 0), ValueError, "SeqDataLoader: .* >= 1, got 0"),
]


@pytest.mark.parametrize("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
