"""What a dataset keeps in the cache, and what it throws out of it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import numpy as np

from dezero import downloads, serializers


@contextlib.contextmanager
def discarded_if_damaged(*paths: str) -> Iterator[None]:
    """Remove files of the cache that cannot be read, so that they are fetched anew."""
    try:
        yield
    except ValueError as error:
        for path in paths:
            with contextlib.suppress(OSError):
                os.remove(path)
        raise ValueError(
            f"{error}; removed from the cache, the next try downloads it again"
        ) from error


def _cache_path(filename: str, train: bool) -> str:
    name = filename.replace("\\", "/").rpartition("/")[2]
    return os.path.join(
        downloads.cache_dir, name + (".train.npz" if train else ".test.npz")
    )


def load_cache_npz(
    filename: str, train: bool = False
) -> tuple[np.ndarray | None, np.ndarray | None]:
    """What :func:`save_cache_npz` kept; one that is damaged is removed.

    Args:
        filename: A name, or an address that ends with one.
        train: Of which part.

    Returns:
        Data and labels, or None and None if there is nothing.
    """
    path = _cache_path(filename, train)
    if not os.path.exists(path):
        return None, None
    try:
        arrays = serializers.load_npz(path)
        return arrays["data"], arrays["label"]
    except (ValueError, KeyError):
        with contextlib.suppress(OSError):
            os.remove(path)
        return None, None


def save_cache_npz(
    data: np.ndarray, label: np.ndarray, filename: str, train: bool = False
) -> str:
    """Keep arrays in the cache, so that they need not be unpacked again.

    Args:
        data: Of a dataset.
        label: Likewise.
        filename: A name, or an address that ends with one.
        train: Of which part. Both may be kept.

    Returns:
        The path of the file; if there is one already, it stays as it is.
    """
    path = _cache_path(filename, train)
    if not os.path.exists(path):
        os.makedirs(downloads.cache_dir, exist_ok=True)
        serializers.save_npz(path, {"data": data, "label": label})
    return path
