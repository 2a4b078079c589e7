"""Dataset, the base class."""

import pickle

import numpy as np
import pytest

from dezero.datasets import Dataset, Digits


class Squares(Dataset):
    def prepare(self):
        self.data = np.arange(5, dtype=np.float32)
        self.label = np.arange(5) ** 2


class Unlabelled(Dataset):
    def prepare(self):
        self.data = np.arange(4)


class Uneven(Dataset):
    def prepare(self):
        self.data, self.label = np.zeros(3), np.zeros(2)


class Computed(Dataset):
    """Overrides the two methods, as a dataset does that does not fit into memory."""

    def __len__(self):
        return 3

    def __getitem__(self, index):
        return np.full(2, index), -index


def double(x):
    return 2 * x


def test_items():
    dataset = Squares()
    assert len(dataset) == 5
    assert dataset[2] == (2, 4)
    assert dataset[-1] == (4, 16)
    assert dataset[np.int64(3)] == (3, 9)
    assert [t for _, t in dataset] == [0, 1, 4, 9, 16]  # so the end is an IndexError


def test_part_is_known_to_prepare():
    assert Squares().train and not Squares(train=False).train


def test_transforms_apply_to_what_is_read():
    dataset = Squares(transform=double, target_transform=lambda t: t + 1)
    assert dataset[3] == (6, 10)
    x, t = dataset.read_batch([1, 3])
    assert x.tolist() == [2, 6] and t.tolist() == [2, 10]


def test_items_without_labels():
    dataset = Unlabelled()
    assert dataset[1] == (1, None)
    assert Unlabelled(transform=double, target_transform=double)[1] == (2, None)
    for dataset in Unlabelled(), Unlabelled(transform=double):
        assert dataset.read_batch([0, 1])[1] is None


def test_batch_equals_stacked_items():
    dataset = Digits(train=False)
    indices = [7, 0, -1, 7]
    x, t = dataset.read_batch(indices)
    np.testing.assert_array_equal(x, np.stack([dataset[i][0] for i in indices]))
    np.testing.assert_array_equal(t, [dataset[i][1] for i in indices])
    assert x.dtype == np.float32


def test_batch_is_a_copy():
    dataset = Squares()
    x, t = dataset.read_batch(range(5))
    x[...] = t[...] = -1
    assert dataset[2] == (2, 4)


def test_batch_goes_through_an_overridden_getitem():
    x, t = Computed().read_batch([2, 1])
    assert x.tolist() == [[2, 2], [1, 1]] and t.tolist() == [-2, -1]


def test_batch_of_lists():
    dataset = Squares()
    dataset.data = [np.ones(2, np.float32) * i for i in range(5)]
    x, t = dataset.read_batch([1, 4])
    assert x.tolist() == [[1, 1], [4, 4]] and t.tolist() == [1, 16]
    assert x.dtype == np.float32


def test_datasets_can_be_pickled():
    dataset = pickle.loads(pickle.dumps(Squares(transform=double)))
    assert dataset[2] == (4, 4)


@pytest.mark.parametrize("index", [5, -6])
def test_no_such_item(index):
    with pytest.raises(IndexError, match=rf"Squares: .*\[-5, 5\), got {index}"):
        Squares()[index]
    with pytest.raises(IndexError):
        Squares().read_batch([index])


@pytest.mark.parametrize("index", [slice(2), 1.0, [0, 1], None])
def test_index_must_be_an_integer(index):
    kind = type(index).__name__
    with pytest.raises(TypeError, match=rf"Squares: .* got {kind}; read_batch"):
        Squares()[index]


@pytest.mark.parametrize("indices", [[0.0, 1.0], 2, [[0], [1]], [True, False]])
def test_batch_takes_integers(indices):
    with pytest.raises(
        TypeError, match="Squares.read_batch: expected a sequence of int"
    ):
        Squares().read_batch(indices)


def test_prepare_must_fit():
    with pytest.raises(ValueError, match="Uneven.prepare: .* 3 items and 2 labels"):
        Uneven()
    with pytest.raises(RuntimeError, match="Dataset: expected prepare.*got None"):
        len(Dataset())
    with pytest.raises(RuntimeError, match="Dataset: expected prepare.*got None"):
        Dataset()[0]
