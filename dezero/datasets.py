"""Datasets: numbered examples (x, t), a part to train on and a part to test on."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from importlib import resources
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


def get_spiral(train: bool = True) -> tuple[np.ndarray, np.ndarray]:
    r"""Three arms of a spiral, 100 noisy points each, in shuffled order.

    Point j of arm c has radius r = j / 100 and angle 4 r + 4 c + 0.2 n, with n drawn
    from the standard normal distribution; it lies at (r sin(angle), r cos(angle)).

    Args:
        train: Two parts that differ in their noise.

    Returns:
        The points, (300, 2) float32, and the number of each one's arm, (300,) integer.
    """
    rng = np.random.RandomState(1984 if train else 2020)  # not the user's np.random
    arms, points = 3, 100
    t = np.repeat(np.arange(arms), points)  # (300,)
    r = np.tile(np.arange(points) / points, arms)
    angle = 4 * r + 4 * t + 0.2 * rng.standard_normal(arms * points)
    x = np.stack([r * np.sin(angle), r * np.cos(angle)], axis=1)  # (300, 2)
    order = rng.permutation(arms * points)
    return x[order].astype(np.float32), t[order]


class Spiral(Dataset):
    """The points of :func:`get_spiral`: x (2,) float32, t 0, 1 or 2."""

    def prepare(self) -> None:
        """Compute the points."""
        self.data, self.label = get_spiral(self.train)


class Digits(Dataset):
    """Handwritten digits, 8x8 grey images: 1,437 to train on and 360 to test on.

    x is an image (1, 8, 8) float32 from 0 (paper) to 1 (ink), t the digit 0 to 9. They
    come with the package. The test part takes every fifth image of each digit, so both
    parts have all digits and all 13 writers alike.

    E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits (test part),
    UCI Machine Learning Repository, 1998, https://doi.org/10.24432/C50P49, CC BY 4.0.
    """

    def prepare(self) -> None:
        """Read the images and keep those of the part asked for."""
        path = resources.files("dezero") / "data" / "digits.npz"
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            data, label = archive["data"], archive["label"].astype(int)
        test = np.zeros(len(label), dtype=bool)
        test[np.argsort(label, kind="stable")[::5]] = True
        part = ~test if self.train else test
        # (N, 8, 8) -> (N, 1, 8, 8): one channel, as convolutions expect
        self.data = data[part, np.newaxis].astype(np.float32) / 16
        self.label = label[part]
