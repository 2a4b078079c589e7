"""CIFAR-10 and CIFAR-100: small colour pictures, to download."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dezero import downloads
from dezero.datasets import labels
from dezero.datasets.archives import read_tar
from dezero.datasets.base import Dataset
from dezero.datasets.caching import (
    discarded_if_damaged,
    load_cache_npz,
    save_cache_npz,
)
from dezero.datasets.pickles import unpickle_data


class _CIFAR(Dataset):
    """Base class of the two; an archive of pickles, unpacked once into the cache."""

    url: str
    sha256: str | None
    parts: Mapping[bool, Sequence[str]]
    label_key: bytes

    def prepare(self) -> None:
        """Download the archive, unless it was unpacked before, and read it."""
        kept = f"{self.url}.{self.label_key.decode()}"
        self.data, self.label = load_cache_npz(kept, self.train)
        if self.data is None:
            path = downloads.get_file(self.url, sha256=self.sha256)
            with discarded_if_damaged(path):
                self.data, self.label = self._read(path)
            save_cache_npz(self.data, self.label, kept, self.train)

    def _read(self, path: str) -> tuple[np.ndarray, np.ndarray]:
        names = self.parts[self.train]
        files = read_tar(path, names)
        data, label = [], []
        for name in names:
            batch = unpickle_data(files[name])
            x = batch.get(b"data") if isinstance(batch, dict) else None
            t = batch.get(self.label_key) if isinstance(batch, dict) else None
            if (
                not isinstance(x, np.ndarray)
                or x.dtype != np.uint8
                or x.ndim != 2
                or x.shape[1] != 3072
                or not isinstance(t, list)
                or not all([isinstance(i, int) for i in t])
                or len(t) != len(x)
            ):
                raise ValueError(
                    f"{type(self).__name__}: expected {name!r} to hold uint8 data "
                    f"(N, 3072) and N integers {self.label_key.decode()!r}, "
                    "got something else"
                )
            data.append(x.reshape(-1, 3, 32, 32))
            label.append(np.array(t, dtype=int))
        return np.concatenate(data), np.concatenate(label)


class CIFAR10(_CIFAR):
    """Colour pictures of ten things: 50,000 to train on and 10,000 to test on.

    Downloaded on first use (170 MB). x is (3, 32, 32) uint8 from 0 to 255, in the order
    red, green, blue; t the class, see :meth:`labels`. Networks want
    ``transform=Compose([ToFloat(), Normalize(0, 255)])`` or the like.

    A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009.

    Args:
        train: The training part or the test part?
        transform: Applied to each x that is read.
        target_transform: Applied to each t that is read.

    Raises:
        ConnectionError: It could not be downloaded.
        ValueError: What came is damaged; it is removed.
    """

    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    sha256 = "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce"
    parts = {
        True: [f"cifar-10-batches-py/data_batch_{i}" for i in range(1, 6)],
        False: ["cifar-10-batches-py/test_batch"],
    }
    label_key = b"labels"

    @staticmethod
    def labels() -> dict[int, str]:
        """The names of the classes by number."""
        return dict(enumerate(labels.CIFAR10_LABELS))


class CIFAR100(_CIFAR):
    """Colour pictures of a hundred things, in twenty groups; otherwise as CIFAR10.

    Args:
        train: The training part or the test part?
        transform: Applied to each x that is read.
        target_transform: Applied to each t that is read.
        label_type: 'fine' for the hundred classes, 'coarse' for the twenty groups.

    Raises:
        ConnectionError: It could not be downloaded.
        ValueError: What came is damaged (it is removed), or ``label_type`` is neither.
    """

    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    sha256 = "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7"
    parts = {True: ["cifar-100-python/train"], False: ["cifar-100-python/test"]}

    def __init__(
        self,
        train: bool = True,
        transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None,
        label_type: str = "fine",
    ) -> None:
        _check_label_type("CIFAR100", label_type)
        self.label_type = label_type
        self.label_key = f"{label_type}_labels".encode()
        super().__init__(train, transform, target_transform)

    @staticmethod
    def labels(label_type: str = "fine") -> dict[int, str]:
        """The names of the classes by number, or those of the groups ('coarse')."""
        _check_label_type("CIFAR100.labels", label_type)
        is_fine = label_type == "fine"
        return dict(
            enumerate(
                labels.CIFAR100_FINE_LABELS
                if is_fine
                else labels.CIFAR100_COARSE_LABELS
            )
        )


def _check_label_type(name: str, label_type: str) -> None:
    if label_type not in ("fine", "coarse"):
        raise ValueError(
            f"{name}: expected label_type 'fine' or 'coarse', got {label_type!r}"
        )
