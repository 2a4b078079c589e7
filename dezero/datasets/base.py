"""Dataset, the base class: numbered examples (x, t)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.cuda import Array
from dezero.dataloaders import collate


def _unchanged(x: Any) -> Any:
    return x


class Dataset:
    """Examples ``dataset[i] -> (x, t)``; the base class of all datasets.

    A subclass writes ``prepare()``, which sets ``self.data`` and, if there are targets,
    ``self.label``, both of length N. What does not fit into memory overrides
    ``__getitem__`` and ``__len__`` instead.

    Args:
        train: The training part or the test part?
        transform: Applied to each x that is read.
        target_transform: Applied to each t that is read.

    Raises:
        ValueError: ``prepare`` made data and labels of different length.
    """

    def __init__(
        self,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
    ) -> None:
        self.train = train
        self.transform = _unchanged if transform is None else transform
        self.target_transform = (
            _unchanged if target_transform is None else target_transform
        )
        self.data: Any = None
        self.label: Any = None
        self.prepare()
        if self.data is not None and self.label is not None:
            if len(self.data) != len(self.label):
                raise ValueError(
                    f"{type(self).__name__}.prepare: expected one label per item, "
                    f"got {len(self.data)} items and {len(self.label)} labels"
                )

    def prepare(self) -> None:
        """Set ``self.data`` and ``self.label``; ``self.train`` says of which part."""

    def __len__(self) -> int:
        if self.data is None:
            name = type(self).__name__
            raise RuntimeError(f"{name}: expected prepare() to set self.data, got None")
        return len(self.data)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        """Item ``index``, counted from the end if negative; t is None without labels.

        Raises:
            IndexError: There is no such item.
            TypeError: ``index`` is no integer; ``read_batch`` reads several.
        """
        name = type(self).__name__
        try:
            i = operator.index(index)
        except TypeError:
            raise TypeError(
                f"{name}: expected an integer index, got {type(index).__name__}; "
                "read_batch(indices) reads several items as one batch"
            ) from None
        n = len(self)
        if not -n <= i < n:
            raise IndexError(f"{name}: expected an index in [{-n}, {n}), got {i}")
        x = self.transform(self.data[i])
        return x, None if self.label is None else self.target_transform(self.label[i])

    def read_batch(
        self, indices: Sequence[int] | np.ndarray
    ) -> tuple[Array, Array | None]:
        """The items ``indices`` as one batch: the same as stacking ``self[i]``.

        Args:
            indices: N integers.

        Returns:
            x of shape (N, ...) and t of shape (N, ...), or None for t without labels.

        Raises:
            IndexError: There is no such item.
            TypeError: ``indices`` are no integers.
        """
        index = np.asarray(indices)
        if index.ndim != 1 or index.dtype.kind not in "iu":
            raise TypeError(
                f"{type(self).__name__}.read_batch: expected a sequence of integers, "
                f"got shape {index.shape} of {index.dtype}"
            )
        if self._is_plain():
            # One gather instead of N calls: what makes small models train fast.
            return _rows(self.data, index), _rows(self.label, index)
        return collate([self[i] for i in index])

    def _is_plain(self) -> bool:
        """Is ``self[i]`` just a row of two arrays, with nothing to apply?"""
        return (
            type(self).__getitem__ is Dataset.__getitem__
            and self.transform is _unchanged
            and self.target_transform is _unchanged
            and cuda.is_array(self.data)
            and (self.label is None or cuda.is_array(self.label))
        )


def _rows(array: Any, index: np.ndarray) -> Any:
    return None if array is None else array[cuda.get_array_module(array).asarray(index)]
