"""SeqDataLoader: batches of a sequence, in which the order of time is kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from dezero.dataloaders.loader import DataLoader


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
