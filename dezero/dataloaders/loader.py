"""DataLoader: passes over a dataset in batches, shuffled or weighted, read ahead."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dezero import cuda
from dezero.dataloaders import states
from dezero.dataloaders.collation import collate as collate_items
from dezero.dataloaders.collation import map_arrays

if TYPE_CHECKING:
    from concurrent.futures import Future


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

    The order comes from ``np.random``, so ``np.random.seed`` makes it repeat, or from
    a ``seed`` of the loader's own.

    Args:
        dataset: A sequence of pairs (x, t), other tuples or dicts. One with a method
            ``read_batch(indices)``, as :class:`dezero.Dataset` has, is asked for whole
            batches: faster.
        batch_size: Items per batch; the last batch of a pass may be smaller.
        shuffle: Whether each pass has an order of its own.
        gpu: Whether batches are CuPy arrays.
        seed: None to draw from ``np.random``; an integer for numbers of its own.
        drop_last: Whether a last batch that is smaller is left out.
        collate: Makes a batch of a list of items, if the usual way does not suit.
        weights: One number per item: each pass draws as many items as there are, each
            with a chance in proportion to its weight, the same one more than once.
        workers: Threads that read batches ahead in a ``for`` loop. It helps where
            reading waits for a disk or for NumPy. The order is the same as without,
            but what transforms draw at random no longer repeats.
        progress: Whether a ``for`` loop on a terminal shows a bar (needs tqdm).

    Raises:
        ImportError: ``progress`` is wanted and tqdm is not installed.
        TypeError: ``batch_size`` or ``workers`` is no integer, or the dataset has no
            length.
        ValueError: ``batch_size`` is below one, the dataset is empty, ``drop_last``
            would leave no batch, or ``weights`` are not one per item, negative, all
            zero, or given without ``shuffle``.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int,
        shuffle: bool = True,
        gpu: bool = False,
        *,
        seed: int | None = None,
        drop_last: bool = False,
        collate: Callable[[list[Any]], Any] | None = None,
        weights: Sequence[float] | np.ndarray | None = None,
        workers: int = 0,
        progress: bool = False,
    ) -> None:
        name = type(self).__name__
        for key, value in ("batch_size", batch_size), ("workers", workers):
            if not isinstance(value, (int, np.integer)):
                kind = type(value).__name__
                raise TypeError(f"{name}: expected an integer {key}, got {kind}")
        if batch_size < 1:
            raise ValueError(f"{name}: expected batch_size >= 1, got {batch_size}")
        if workers < 0:
            raise ValueError(f"{name}: expected workers >= 0, got {workers}")
        if not hasattr(dataset, "__len__"):
            kind = type(dataset).__name__
            raise TypeError(f"{name}: expected a dataset with a length, got {kind}")
        if len(dataset) == 0:
            raise ValueError(f"{name}: expected a dataset with items, got an empty one")
        self.dataset = dataset
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.gpu = gpu
        self.drop_last = drop_last
        self.collate = collate
        self.workers = workers
        self.data_size = len(dataset)
        self.max_iter = -(-self.data_size // batch_size)  # the ceiling of the quotient
        if drop_last:
            self.max_iter = self.data_size // batch_size
            if not self.max_iter:
                raise ValueError(
                    f"{name}: expected batch_size <= {self.data_size} with drop_last, "
                    f"got {batch_size}"
                )
        self._generator = None if seed is None else np.random.RandomState(seed)
        self._chances = None if weights is None else self._checked(weights)
        self._bar = _tqdm(name) if progress else None
        self._resumes = False
        self.reset()

    def _checked(self, weights: Sequence[float] | np.ndarray) -> np.ndarray:
        """Weights as chances, which sum to one."""
        name = type(self).__name__
        w = np.asarray(weights, dtype=np.float64)
        if w.shape != (self.data_size,):
            raise ValueError(
                f"{name}: expected weights of shape ({self.data_size},), got {w.shape}"
            )
        if not np.all(np.isfinite(w)) or np.any(w < 0) or not np.any(w > 0):
            raise ValueError(
                f"{name}: expected weights >= 0, finite, and one above zero, "
                f"got {w.min()} to {w.max()}"
            )
        if not self.shuffle:
            raise ValueError(f"{name}: expected shuffle=True with weights, got False")
        return w / w.sum()

    def reset(self) -> None:
        """Go back to the first batch; a loader that shuffles then draws a new order."""
        self._pass = _Pass()
        self._resumes = False

    @property
    def iteration(self) -> int:
        """How many batches the pass that was started last has given."""
        return self._pass.iteration

    def __len__(self) -> int:
        return self.max_iter

    def __iter__(self) -> Iterator[Any]:
        if not self._resumes:
            self.reset()
        self._resumes = False
        at = self._pass
        batches = self._prefetched(at) if self.workers else self._batches(at)
        if self._bar is None:
            return batches
        # disable=None: no bar where nobody looks.
        return iter(
            self._bar(batches, total=self.max_iter, initial=at.iteration, disable=None)
        )

    def __next__(self) -> Any:
        self._resumes = False
        if self.iteration >= self.max_iter:
            self.reset()
            raise StopIteration
        return self._read(self._pass)

    def _batches(self, at: _Pass) -> Iterator[Any]:
        """What is left of a pass; next(loader) shares it while it is the last one."""
        while at.iteration < self.max_iter:
            yield self._read(at)
        if self._pass is at:
            self.reset()

    def _prefetched(self, at: _Pass) -> Iterator[Any]:
        """The same, read ahead in threads."""
        from concurrent.futures import ThreadPoolExecutor  # dear, and rarely needed

        pending: dict[int, Future[Any]] = {}
        with ThreadPoolExecutor(self.workers) as executor:
            try:
                while at.iteration < self.max_iter:
                    now = at.iteration
                    last = min(now + 2 * self.workers, self.max_iter)
                    for i in range(now, last):
                        if i not in pending:
                            indices = self._indices(self._order_of(at), i)
                            pending[i] = executor.submit(self._load, indices)
                    for i in [i for i in pending if i < now]:  # next(loader) had it
                        pending.pop(i).cancel()
                    batch = self._moved(pending.pop(now).result())
                    at.iteration = now + 1
                    yield batch
            finally:
                for future in pending.values():
                    future.cancel()
        if self._pass is at:
            self.reset()

    def _read(self, at: _Pass) -> Any:
        """The next batch of a pass. If reading fails, the pass stays where it is."""
        batch = self._load(self._indices(self._order_of(at), at.iteration))
        batch = self._moved(batch)
        at.iteration += 1
        return batch

    def _load(self, indices: np.ndarray) -> Any:
        if self.collate is None and hasattr(self.dataset, "read_batch"):
            return self.dataset.read_batch(indices)
        items = [self.dataset[int(i)] for i in indices]
        return collate_items(items) if self.collate is None else self.collate(items)

    def _moved(self, batch: Any) -> Any:
        return map_arrays(cuda.as_cupy if self.gpu else cuda.as_numpy, batch)

    def _order_of(self, at: _Pass) -> np.ndarray:
        if at.index is None:  # drawn on first use: one draw per pass, however it starts
            at.index = self._order()
        return at.index

    def _order(self) -> np.ndarray:
        n = self.data_size
        if not self.shuffle:
            return np.arange(n)
        rng: Any = np.random if self._generator is None else self._generator
        if self._chances is not None:
            return rng.choice(n, n, p=self._chances)
        return rng.permutation(n)

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

    def state_dict(self) -> dict[str, Any]:
        """Where the pass that was started last stands: numbers and arrays to store.

        The state of ``np.random``, which decides later orders of a loader without a
        ``seed``, is not part of it.
        """
        return states.state_dict(self)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go to where a loader was; the next ``for`` loop goes on from there.

        Args:
            state: What :meth:`state_dict` of a loader of the same dataset gave.

        Raises:
            TypeError: ``state`` is no such dict.
            ValueError: It is of another dataset or batch size, or one of the two
                loaders has a seed and the other one has none; nothing is changed.
        """
        states.load_state_dict(self, state)


def _tqdm(name: str) -> Any:
    try:
        return importlib.import_module("tqdm").tqdm
    except ImportError as error:
        raise ImportError(
            f"{name}: expected the package tqdm for progress=True, got none; "
            "pip install tqdm"
        ) from error
