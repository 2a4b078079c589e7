"""Digits and the names of ImageNet of the package; MNIST from files of the tests."""

import gzip
import os
import pickle
import sys
import types

import numpy as np
import pytest

from dezero import DataLoader, downloads
from dezero.datasets import MNIST, Digits, ImageNet


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setattr(downloads, "cache_dir", str(folder))
    return folder


def idx(x):
    head = bytes([0, 0, 8, x.ndim]) + np.array(x.shape, ">u4").tobytes()
    return gzip.compress(head + x.astype(np.uint8).tobytes(), mtime=0)


IMAGES = np.random.RandomState(0).randint(0, 256, (5, 28, 28)).astype(np.uint8)
LABELS = np.array([3, 1, 4, 1, 5], dtype=np.uint8)


@pytest.fixture
def served(tmp_path, monkeypatch, cache):
    """A folder where MNIST finds its files."""
    folder = tmp_path / "served"
    folder.mkdir()
    for part, n in ("train", 5), ("t10k", 2):
        (folder / f"{part}-images-idx3-ubyte.gz").write_bytes(idx(IMAGES[:n]))
        (folder / f"{part}-labels-idx1-ubyte.gz").write_bytes(idx(LABELS[:n]))
    missing = (tmp_path / "missing").as_uri() + "/"
    monkeypatch.setattr(MNIST, "urls", (missing, folder.as_uri() + "/"))
    monkeypatch.setattr(MNIST, "sha256", {})
    return folder


def test_mnist(served, cache):
    train, test = MNIST(), MNIST(train=False)
    assert (len(train), len(test)) == (5, 2) and len(os.listdir(cache)) == 4
    assert train.data.shape == (5, 1, 28, 28) and train.data.dtype == np.uint8
    assert train.label.tolist() == LABELS.tolist() and train.label.dtype == np.int64
    x, t = train[2]
    assert x.shape == (784,) and x.dtype == np.float32 and t == 4
    np.testing.assert_allclose(x, IMAGES[2].ravel() / 255, rtol=1e-6)
    x, t = next(DataLoader(train, 5, shuffle=False))
    assert x.shape == (5, 784) and t.tolist() == LABELS.tolist()
    plain = MNIST(transform=None, target_transform=lambda t: t % 2)
    np.testing.assert_array_equal(plain[1][0], IMAGES[1][np.newaxis])
    assert plain[1][1] == 1
    assert len(pickle.loads(pickle.dumps(train))) == 5
    assert MNIST.labels()[7] == "7" and len(MNIST.labels()) == 10


def test_mnist_shows_pictures(served, monkeypatch):
    drawn = []
    plt = types.ModuleType("matplotlib.pyplot")
    plt.imshow = lambda sheet, cmap: drawn.append((sheet, cmap))
    plt.axis = lambda what: None
    plt.show = lambda: drawn.append("shown")
    package = types.ModuleType("matplotlib")
    package.pyplot = plt
    monkeypatch.setitem(sys.modules, "matplotlib", package)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", plt)
    MNIST().show(2, 3)
    (sheet, cmap), shown = drawn
    assert sheet.shape == (56, 84) and cmap == "gray" and shown == "shown"
    corner = sheet[:28, 28:56]
    assert any(np.array_equal(corner, image) for image in IMAGES)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t10k-images-idx3-ubyte.gz", b"<html>", "read_idx"),
        ("t10k-images-idx3-ubyte.gz", idx(IMAGES[:2])[:-20], "read_idx"),
        ("t10k-images-idx3-ubyte.gz", idx(LABELS[:2]), "MNIST: expected images"),
        ("t10k-labels-idx1-ubyte.gz", idx(LABELS), r"\(2, 28, 28\) and \(5,\)"),
    ],
)
def test_damaged_mnist_leaves_the_cache_clean(served, cache, name, data, message):
    whole = (served / name).read_bytes()
    (served / name).write_bytes(data)
    with pytest.raises(ValueError, match=f"{message}.*removed from the cache"):
        MNIST(train=False)
    assert os.listdir(cache) == []
    (served / name).write_bytes(whole)
    assert len(MNIST(train=False)) == 2


def test_mnist_of_another_checksum(served, cache, monkeypatch):
    monkeypatch.undo()
    assert sorted(MNIST.sha256) == sorted(sum(MNIST.files.values(), ()))
    monkeypatch.setattr(downloads, "cache_dir", str(cache))
    monkeypatch.setattr(MNIST, "urls", (served.as_uri() + "/",))
    with pytest.raises(ValueError, match="get_file: expected sha256 440fcabf"):
        MNIST()
    assert os.listdir(cache) == []


def test_names_of_imagenet():
    names = ImageNet.labels()
    assert list(names) == list(range(1000))
    assert names[0] == "tench, Tinca tinca" and names[967] == "espresso"
    assert names[999] == "toilet tissue, toilet paper, bathroom tissue"
    assert names[134] == names[517] == "crane"
    assert all([name and name == name.strip() for name in names.values()])


def test_digits():
    train, test = Digits(), Digits(train=False)
    assert (len(train), len(test)) == (1437, 360)
    x, t = train[0]
    assert x.shape == (1, 8, 8) and x.dtype == np.float32 and t == 1
    x, t = train.read_batch(range(len(train)))
    assert x.min() == 0 and x.max() == 1
    assert set(np.unique(x * 16)) == set(range(17))
    assert set(np.unique(t)) == set(range(10))


def test_digits_are_split_evenly_and_without_overlap():
    train, test = Digits(), Digits(train=False)
    share = np.bincount(test.label) / (
        np.bincount(train.label) + np.bincount(test.label)
    )
    assert np.all(np.abs(share - 0.2) < 0.01)
    images = np.concatenate([train.data, test.data])
    assert len(np.unique(images, axis=0)) == 1797  # no image occurs twice


def test_digits_look_like_digits():
    # The nearest mean image tells the digit, if images and labels belong together.
    train, test = Digits(), Digits(train=False)
    means = np.stack([train.data[train.label == c].mean(axis=0) for c in range(10)])
    distance = ((test.data[:, None] - means) ** 2).sum(axis=(2, 3, 4))  # (360, 10)
    assert np.mean(distance.argmin(axis=1) == test.label) > 0.85
