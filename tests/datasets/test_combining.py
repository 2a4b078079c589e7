"""Parts of datasets, several in a row, arrays side by side."""

import pickle

import numpy as np
import pytest

from dezero import DataLoader, Variable
from dezero.datasets import (
    ConcatDataset,
    Digits,
    Spiral,
    Subset,
    TensorDataset,
    train_test_split,
)

LETTERS = list("abcdef")


def test_subset():
    part = Subset(LETTERS, [2, 0, -1, 2])
    assert len(part) == 4 and list(part) == ["c", "a", "f", "c"]
    assert part[-1] == part[np.int64(0)] == "c"
    assert list(Subset(LETTERS, [])) == []
    nested = Subset(part, [1, 3])
    assert list(nested) == ["a", "c"]
    assert list(pickle.loads(pickle.dumps(nested))) == ["a", "c"]


def test_a_subset_reads_whole_batches_if_its_dataset_does():
    part = Subset(Spiral(), range(10, 60))
    x, t = part.read_batch([0, 49])
    np.testing.assert_array_equal(x, Spiral().data[[10, 59]])
    np.testing.assert_array_equal(t, Spiral().label[[10, 59]])
    assert not hasattr(Subset(LETTERS, [0]), "read_batch")
    assert hasattr(Subset(part, [0]), "read_batch")
    with pytest.raises(AttributeError, match="'Subset' object has no attribute 'x'"):
        _ = part.x
    batches = list(DataLoader(part, 20, shuffle=False))
    assert [len(x) for x, _ in batches] == [20, 20, 10]
    np.testing.assert_array_equal(batches[1][0], Spiral().data[30:50])


def test_concatenation():
    row = ConcatDataset(["ab", "", "c", LETTERS[3:]])
    assert len(row) == 6 and list(row) == LETTERS
    assert row[-1] == "f" and row[2] == "c" and row[np.int64(1)] == "b"
    assert len(ConcatDataset([Spiral(), Spiral(train=False)])) == 600


def test_arrays_side_by_side():
    x, t = np.arange(8.0).reshape(4, 2), np.arange(4)
    both = TensorDataset(Variable(x), t)
    assert len(both) == 4
    row, target = both[-1]
    assert type(row) is np.ndarray and row.tolist() == [6, 7] and target == 3
    x2, t2 = both.read_batch([2, 0])
    assert x2.tolist() == [[4, 5], [0, 1]] and t2.tolist() == [2, 0]
    assert [len(x) for x, _ in DataLoader(both, 3)] == [3, 1]
    (only,) = TensorDataset(t)[1]
    assert only == 1


@pytest.mark.parametrize("size, count", [(0.25, 25), (0.249, 25), (1, 1), (99, 99)])
@pytest.mark.parametrize("shuffle", [True, False])
def test_split(size, count, shuffle):
    train, test = train_test_split(range(100), size, shuffle)
    assert (len(train), len(test)) == (100 - count, count)
    assert sorted([*train, *test]) == list(range(100))
    assert (list(train) == list(range(100 - count))) == (not shuffle or count == 100)


def test_split_repeats():
    np.random.seed(0)
    first = list(train_test_split(range(50))[1])
    assert list(train_test_split(range(50))[1]) != first
    np.random.seed(0)
    assert list(train_test_split(range(50))[1]) == first
    first = list(train_test_split(range(50), seed=1)[1])
    assert list(train_test_split(range(50), seed=1)[1]) == first
    assert list(train_test_split(range(50), seed=2)[1]) != first


@pytest.mark.parametrize("size", [0.1, 0.25, 0.5, 7])
def test_split_of_each_class_alike(size):
    data = Digits()
    train, test = train_test_split(data, size, seed=0, stratify=data.label)
    counts = np.bincount(data.label[test.indices], minlength=10)
    share = len(test) / len(data)
    assert np.all(np.abs(counts - share * np.bincount(data.label)) <= 1)
    assert sorted([*train.indices, *test.indices]) == list(range(len(data)))
    other, _ = train_test_split(data, size, seed=1, stratify=data.label)
    assert not np.array_equal(other.indices, train.indices)


ERRORS = [
    (lambda: Subset(LETTERS, [6]), IndexError, r"Subset: .*\[-6, 6\), got 6"),
    (lambda: Subset(LETTERS, [-7]), IndexError, r"Subset: .*got -7"),
    (lambda: Subset(LETTERS, [0.5]), TypeError, "Subset: .*integers, got .*float64"),
    (lambda: Subset(LETTERS, 3), TypeError, r"Subset: .*shape \(\) of int64"),
    (lambda: Subset(LETTERS, [1])[1], IndexError, r"Subset: .*\[-1, 1\), got 1"),
    (lambda: ConcatDataset([]), ValueError, "ConcatDataset: .*got none"),
    (
        lambda: ConcatDataset(["a", "b"])[-3],
        IndexError,
        r"ConcatDataset: .*\[-2, 2\), got -3",
    ),
    (lambda: TensorDataset(), ValueError, "TensorDataset: .*got none"),
    (lambda: TensorDataset([1, 2]), TypeError, "TensorDataset: .*got list"),
    (lambda: TensorDataset(np.array(1)), TypeError, r"TensorDataset: .*shape \(\)"),
    (
        lambda: TensorDataset(np.ones(2), np.ones((3, 1))),
        ValueError,
        r"TensorDataset: expected arrays of one length, got \(2,\) and \(3, 1\)",
    ),
    (
        lambda: TensorDataset(np.ones(2))[2],
        IndexError,
        r"TensorDataset: .*\[-2, 2\), got 2",
    ),
    (lambda: train_test_split(LETTERS, 0), ValueError, "an item of 6, got 0"),
    (lambda: train_test_split(LETTERS, 6), ValueError, "an item of 6, got 6"),
    (lambda: train_test_split(LETTERS, 1.0), ValueError, "an item of 6, got 1.0"),
    (lambda: train_test_split(LETTERS, -0.1), ValueError, "got -0.1"),
    (lambda: train_test_split(LETTERS, 0.9), ValueError, "an item of 6, got 0.9"),
    (
        lambda: train_test_split(LETTERS, stratify=[1, 2]),
        ValueError,
        r"train_test_split: expected stratify to have shape \(6,\), got \(2,\)",
    ),
    (
        lambda: train_test_split(LETTERS, shuffle=False, stratify=LETTERS),
        ValueError,
        "train_test_split: expected shuffle=True with stratify",
    ),
]


@pytest.mark.parametrize("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
