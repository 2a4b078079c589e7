"""Arrays that are kept in the cache."""

import os

import numpy as np
import pytest

from dezero import downloads
from dezero.datasets import load_cache_npz, save_cache_npz
from dezero.datasets.caching import discarded_if_damaged


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "a" / "cache"
    monkeypatch.setattr(downloads, "cache_dir", str(folder))
    return folder


DATA, LABEL = np.arange(6, dtype=np.uint8).reshape(2, 3), np.array([1, 0])


def test_both_parts_are_kept(cache):
    assert load_cache_npz("x") == (None, None)
    path = save_cache_npz(DATA, LABEL, "https://host/folder/x.tar.gz", train=True)
    save_cache_npz(DATA + 1, LABEL, "x.tar.gz")
    assert path == str(cache / "x.tar.gz.train.npz")
    assert sorted(os.listdir(cache)) == ["x.tar.gz.test.npz", "x.tar.gz.train.npz"]
    data, label = load_cache_npz("https://elsewhere/x.tar.gz", True)
    np.testing.assert_array_equal(data, DATA)
    np.testing.assert_array_equal(label, LABEL)
    assert data.dtype == np.uint8
    np.testing.assert_array_equal(load_cache_npz("x.tar.gz", False)[0], DATA + 1)


def test_what_is_there_stays():
    path = save_cache_npz(DATA, LABEL, "x")
    assert save_cache_npz(DATA + 1, LABEL, "x") == path
    np.testing.assert_array_equal(load_cache_npz("x")[0], DATA)


@pytest.mark.parametrize("damage", ["cut", "empty", "objects", "other"])
def test_what_is_damaged_is_removed(cache, damage):
    path = save_cache_npz(DATA, LABEL, "x")
    with open(path, "rb") as file:
        whole = file.read()
    if damage == "objects":
        np.savez(path, data=np.array([None]), label=LABEL)
    elif damage == "other":
        np.savez(path, data=DATA)
    else:
        with open(path, "wb") as file:
            file.write(whole[:100] if damage == "cut" else b"")
    assert load_cache_npz("x") == (None, None)
    assert os.listdir(cache) == []


def test_a_file_that_cannot_be_read_is_discarded(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    with pytest.raises(ValueError, match="no; removed from the cache, the next try"):
        with discarded_if_damaged(str(path)):
            raise ValueError("no")
    assert not path.exists()
    path.write_bytes(b"")
    with pytest.raises(KeyError), discarded_if_damaged(str(path)):
        raise KeyError("a fault of ours")
    assert path.exists()
