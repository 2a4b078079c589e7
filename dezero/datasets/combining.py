"""Datasets made of others: a part, several in a row, arrays side by side."""

from __future__ import annotations

import bisect
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array


def _checked(name: str, index: int, n: int) -> int:
    """``index`` counted from the front, or an IndexError."""
    i = operator.index(index)
    if not -n <= i < n:
        raise IndexError(f"{name}: expected an index in [{-n}, {n}), got {i}")
    return i % n


class Subset:
    """Some of the items of a dataset, in an order of one's own.

    Args:
        dataset: Anything with items and a length.
        indices: Which items; one may occur several times.

    Raises:
        IndexError: There is no such item.
        TypeError: ``indices`` are no integers.
    """

    def __init__(self, dataset: Any, indices: Sequence[int] | np.ndarray) -> None:
        index = np.asarray(indices)
        if index.size == 0:
            index = index.astype(int)
        if index.ndim != 1 or index.dtype.kind not in "iu":
            raise TypeError(
                "Subset: expected indices to be a sequence of integers, "
                f"got shape {index.shape} of {index.dtype}"
            )
        n = len(dataset)
        wrong = index[(index < -n) | (index >= n)]
        if wrong.size:
            raise IndexError(
                f"Subset: expected indices in [{-n}, {n}), got {int(wrong[0])}"
            )
        self.dataset = dataset
        self.indices = np.where(index < 0, index + n, index)

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> Any:
        return self.dataset[int(self.indices[_checked("Subset", index, len(self))])]

    def __getattr__(self, name: str) -> Any:
        # Whole batches, if the dataset can read them: a loader looks whether it can.
        if name == "read_batch" and "dataset" in vars(self):
            read = self.dataset.read_batch
            return lambda indices: read(self.indices[np.asarray(indices)])
        raise AttributeError(f"'Subset' object has no attribute {name!r}")


class ConcatDataset:
    """Several datasets, one after the other.

    Args:
        datasets: At least one, each with items and a length.

    Raises:
        ValueError: There is none.
    """

    def __init__(self, datasets: Sequence[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError("ConcatDataset: expected at least one dataset, got none")
        self.ends = np.cumsum([len(dataset) for dataset in self.datasets]).tolist()

    def __len__(self) -> int:
        return self.ends[-1]

    def __getitem__(self, index: int) -> Any:
        i = _checked("ConcatDataset", index, len(self))
        which = bisect.bisect_right(self.ends, i)  # the first that ends after i
        start = self.ends[which - 1] if which else 0
        return self.datasets[which][i - start]


class TensorDataset:
    """Arrays of one length, side by side: item i is a tuple of one row of each.

    Args:
        *arrays: Arrays of either library, or Variables, which leave their graph.

    Raises:
        TypeError: One is no array.
        ValueError: There is none, or their lengths differ.
    """

    def __init__(self, *arrays: Any) -> None:
        arrays = tuple([x.data if isinstance(x, Variable) else x for x in arrays])
        if not arrays:
            raise ValueError("TensorDataset: expected at least one array, got none")
        for x in arrays:
            if not cuda.is_array(x) or x.ndim == 0:
                raise TypeError(
                    "TensorDataset: expected arrays with rows, "
                    f"got {type(x).__name__} of shape {np.shape(x)}"
                )
        if len({len(x) for x in arrays}) > 1:
            shapes = " and ".join([str(x.shape) for x in arrays])
            raise ValueError(
                f"TensorDataset: expected arrays of one length, got {shapes}"
            )
        self.arrays: tuple[Array, ...] = arrays

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        i = _checked("TensorDataset", index, len(self))
        return tuple([x[i] for x in self.arrays])

    def read_batch(self, indices: Sequence[int] | np.ndarray) -> tuple[Array, ...]:
        """The rows ``indices`` of each array, as arrays (N, ...)."""
        index = np.asarray(indices)
        return tuple([x[cuda.get_array_module(x).asarray(index)] for x in self.arrays])


def train_test_split(
    dataset: Any,
    test_size: float | int = 0.25,
    shuffle: bool = True,
    seed: int | None = None,
    stratify: Sequence[int] | np.ndarray | None = None,
) -> tuple[Subset, Subset]:
    """Two parts of a dataset that have no item in common, and together all of them.

    Args:
        dataset: Anything with items and a length.
        test_size: Size of the second part: a share in (0, 1), rounded up, or a number
            of items.
        shuffle: Whether chance decides; if not, the last items are the second part.
        seed: None to draw from ``np.random``; an integer for a split that repeats.
        stratify: The class of each item: then each class is split alike.

    Returns:
        The part to train on and the part to test on.

    Raises:
        ValueError: One part would be empty, ``stratify`` has another length than the
            dataset, or it is given without ``shuffle``.
    """
    n = len(dataset)
    if isinstance(test_size, (float, np.floating)):
        count = math.ceil(test_size * n) if 0 < test_size < 1 else 0
    else:
        count = operator.index(test_size)
    if not 0 < count < n:
        raise ValueError(
            "train_test_split: expected test_size to leave both parts an item "
            f"of {n}, got {test_size}"
        )
    if not shuffle:
        if stratify is not None:
            raise ValueError("train_test_split: expected shuffle=True with stratify")
        return Subset(dataset, range(n - count)), Subset(dataset, range(n - count, n))
    rng: Any = np.random if seed is None else np.random.RandomState(seed)
    order = rng.permutation(n)
    if stratify is not None:
        classes = np.asarray(stratify)
        if classes.shape != (n,):
            raise ValueError(
                f"train_test_split: expected stratify to have shape ({n},), "
                f"got {classes.shape}"
            )
        order = order[_evenly(classes[order])]
    return Subset(dataset, order[count:]), Subset(dataset, order[:count])


def _evenly(classes: np.ndarray) -> np.ndarray:
    """An order in which any first part has each class in its share, within about one.

    Item j of the n_c items of a class stands at (j + 1/2) / n_c of the way.
    """
    place = np.empty(len(classes))
    for c in np.unique(classes):
        members = np.flatnonzero(classes == c)
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
    return np.argsort(place, kind="stable")
