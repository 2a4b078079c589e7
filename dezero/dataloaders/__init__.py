"""Loaders: they cut a dataset into the mini-batches of an epoch."""

from dezero.dataloaders.collation import collate
from dezero.dataloaders.loader import DataLoader
from dezero.dataloaders.sequential import SeqDataLoader

__all__ = ["DataLoader", "SeqDataLoader", "collate"]
