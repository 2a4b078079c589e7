"""Datasets: numbered examples (x, t), a part to train on and a part to test on."""

from dezero.datasets.base import Dataset
from dezero.datasets.caching import load_cache_npz, save_cache_npz
from dezero.datasets.cifar import CIFAR10, CIFAR100
from dezero.datasets.combining import (
    ConcatDataset,
    Subset,
    TensorDataset,
    train_test_split,
)
from dezero.datasets.pictures import MNIST, Digits, ImageNet
from dezero.datasets.synthetic import (
    Blobs,
    Moons,
    SinCurve,
    Spiral,
    get_blobs,
    get_moons,
    get_spiral,
)
from dezero.datasets.text import Shakespear, Shakespeare, TextCorpus, read_text

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "MNIST",
    "Blobs",
    "ConcatDataset",
    "Dataset",
    "Digits",
    "ImageNet",
    "Moons",
    "Shakespear",
    "Shakespeare",
    "SinCurve",
    "Spiral",
    "Subset",
    "TensorDataset",
    "TextCorpus",
    "get_blobs",
    "get_moons",
    "get_spiral",
    "load_cache_npz",
    "read_text",
    "save_cache_npz",
    "train_test_split",
]
