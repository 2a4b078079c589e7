"""Loaders: they cut a dataset into the mini-batches of an epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dezero import cuda
from dezero.cuda import Array


def collate(items: Sequence[tuple[Any, Any]]) -> tuple[Array, Array | None]:
    """Put items ``(x, t)`` together as one batch.

    Args:
        items: N pairs; all x have one shape, and so have all t. A t may be None, then
            all of them are.

    Returns:
        The arrays x of shape (N, ...) and t of shape (N, ...), or None for t.

    Raises:
        TypeError: An item is no pair, or not made of numbers or text.
        ValueError: The shapes differ, or there is no item.
    """
    if not items:
        raise ValueError("collate: expected at least one item, got none")
    for item in items:
        sized = hasattr(item, "__len__")
        if not sized or len(item) != 2:
            got = type(item).__name__ + (f" of length {len(item)}" if sized else "")
            raise TypeError(f"collate: expected pairs (x, t), got {got}")
    xs, ts = zip(*items, strict=True)
    return _stack("x", xs), None if all(t is None for t in ts) else _stack("t", ts)


def _stack(name: str, values: Sequence[Any]) -> Array:
    shapes = {np.shape(value) for value in values}
    if len(shapes) > 1:
        raise ValueError(
            f"collate: expected every {name} of a batch to have one shape, "
            f"got {' and '.join(map(str, sorted(shapes)[:2]))}"
        )
    if cuda.is_array(values[0]):
        return cuda.get_array_module(values[0]).stack(values)
    batch = np.array(values)
    if batch.dtype == object:
        kinds = sorted({type(value).__name__ for value in values})
        raise TypeError(
            f"collate: expected every {name} of a batch to be numbers or an array, "
            f"got {' and '.join(kinds)}"
        )
    return batch


class _Pass:
    """How far one pass over the data has come, and in which order it goes."""

    def __init__(self) -> None:
        self.iteration = 0
        self.index: np.ndarray | None = None


class DataLoader:
    """Mini-batches ``(x, t)`` of a dataset, one epoch per ``for`` loop.

    ``for x, t in loader`` starts a fresh pass each time, reshuffled, even if the last
    one was left early. Each loop has a position of its own, so loops over one loader
    may be nested. ``next(loader)`` gives the next batch of the pass that was started
    last; at its end it raises StopIteration once, then goes on with the next pass.

    The order comes from ``np.random``, so ``np.random.seed`` makes it repeat.

    Args:
        dataset: A sequence of pairs (x, t). One with a method ``read_batch(indices)``,
            as :class:`dezero.Dataset` has, is asked for whole batches: faster.
        batch_size: Items per batch; the last batch of a pass may be smaller.
        shuffle: Whether each pass has an order of its own.
        gpu: Whether batches are CuPy arrays.

    Raises:
        TypeError: ``batch_size`` is no integer, or the dataset has no length.
        ValueError: ``batch_size`` is below one or the dataset is empty.
    """

    def __init__(
        self, dataset: Any, batch_size: int, shuffle: bool = True, gpu: bool = False
    ) -> None:
        name = type(self).__name__
        if not isinstance(batch_size, (int, np.integer)):
            kind = type(batch_size).__name__
            raise TypeError(f"{name}: expected an integer batch_size, got {kind}")
        if batch_size < 1:
            raise ValueError(f"{name}: expected batch_size >= 1, got {batch_size}")
        if not hasattr(dataset, "__len__"):
            kind = type(dataset).__name__
            raise TypeError(f"{name}: expected a dataset with a length, got {kind}")
        if len(dataset) == 0:
            raise ValueError(f"{name}: expected a dataset with items, got an empty one")
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.gpu = gpu
        self.data_size = len(dataset)
        self.max_iter = -(-self.data_size // batch_size)  # the ceiling of the quotient
        self.reset()

    def reset(self) -> None:
        """Go back to the first batch; a loader that shuffles then draws a new order."""
        self._pass = _Pass()

    @property
    def iteration(self) -> int:
        """How many batches the pass that was started last has given."""
        return self._pass.iteration

    def __len__(self) -> int:
        return self.max_iter

    def __iter__(self) -> Iterator[tuple[Array, Array | None]]:
        self.reset()
        return self._batches(self._pass)

    def __next__(self) -> tuple[Array, Array | None]:
        if self.iteration >= self.max_iter:
            self.reset()
            raise StopIteration
        return self._read(self._pass)

    def _batches(self, at: _Pass) -> Iterator[tuple[Array, Array | None]]:
        """What is left of a pass; next(loader) shares it while it is the last one."""
        while at.iteration < self.max_iter:
            yield self._read(at)
        if self._pass is at:
            self.reset()

    def _read(self, at: _Pass) -> tuple[Array, Array | None]:
        """The next batch of a pass. If reading fails, the pass stays where it is."""
        if at.index is None:  # drawn on first use: one draw per pass, however it starts
            at.index = self._order()
        indices = self._indices(at.index, at.iteration)
        if hasattr(self.dataset, "read_batch"):
            x, t = self.dataset.read_batch(indices)
        else:
            x, t = collate([self.dataset[int(i)] for i in indices])
        at.iteration += 1
        move = cuda.as_cupy if self.gpu else cuda.as_numpy
        return move(x), None if t is None else move(t)

    def _order(self) -> np.ndarray:
        n = self.data_size
        return np.random.permutation(n) if self.shuffle else np.arange(n)

    def _indices(self, order: np.ndarray, iteration: int) -> np.ndarray:
        """Which items make up a batch."""
        start = iteration * self.batch_size
        return order[start : start + self.batch_size]

    def to_cpu(self) -> None:
        """Give NumPy arrays from now on."""
        self.gpu = False

    def to_gpu(self) -> None:
        """Give CuPy arrays from now on."""
        self.gpu = True


class SeqDataLoader(DataLoader):
    """Mini-batches of a sequence, for recurrent networks: the order of time is kept.

    ``batch_size`` readers start evenly spaced, ``len(dataset) // batch_size`` items
    apart, and each steps by one from batch to batch; row i of every batch is reader i.
    A reader that comes to the end goes on at the beginning.

    Args:
        dataset: A sequence of pairs (x, t), in order of time.
        batch_size: Number of readers.
        gpu: Whether batches are CuPy arrays.

    Raises:
        ValueError: ``batch_size`` is below one or above the length of the dataset.
    """

    def __init__(self, dataset: Any, batch_size: int, gpu: bool = False) -> None:
        super().__init__(dataset, batch_size, shuffle=False, gpu=gpu)
        if batch_size > self.data_size:
            raise ValueError(
                f"SeqDataLoader: expected batch_size <= {self.data_size}, "
                f"the length of the dataset, got {batch_size}"
            )

    def _indices(self, order: np.ndarray, iteration: int) -> np.ndarray:
        starts = np.arange(self.batch_size) * (self.data_size // self.batch_size)
        return (starts + iteration) % self.data_size
