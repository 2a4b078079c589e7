"""Curves for TensorBoard, through whichever of two packages is installed."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any

from dezero import serializers

#: Both have a SummaryWriter of the same methods; the first is the lighter one.
PACKAGES = ("tensorboardX", "torch.utils.tensorboard")


def find_writer(function: str) -> Any:
    """The class that writes events.

    Raises:
        ImportError: None of the packages is installed.
    """
    for name in PACKAGES:
        try:
            return importlib.import_module(name).SummaryWriter
        except ImportError:  # torch without the package tensorboard, too
            continue
    raise ImportError(
        f"{function}: expected the package tensorboardX (or PyTorch and tensorboard) "
        "for log_dir, got none; pip install tensorboardX"
    )


class Events:
    """A point per epoch and column in the files of ``log_dir``.

    Args:
        writer: The class that :func:`find_writer` gave.
        log_dir: The folder; it is made where it is missing.
        epochs: How many epochs are there; what a run that was stopped has written of
            later ones is not shown.
    """

    def __init__(self, writer: Any, log_dir: serializers.Path, epochs: int) -> None:
        purge = {"purge_step": epochs + 1} if epochs else {}
        self._writer = writer(os.fsdecode(log_dir), **purge)

    def add(self, row: Mapping[str, Any]) -> None:
        """Write the numbers of an epoch, each under its name, and flush them."""
        for name, value in row.items():
            if name != "epoch":
                self._writer.add_scalar(name, value, row["epoch"])
        self._writer.flush()

    def close(self) -> None:
        """Close the file."""
        self._writer.close()
