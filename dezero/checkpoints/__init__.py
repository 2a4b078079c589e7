"""Checkpoints: a whole training run in one file, to go on from as if never stopped."""

from dezero.checkpoints.saving import load_checkpoint, save_checkpoint

__all__ = ["load_checkpoint", "save_checkpoint"]
