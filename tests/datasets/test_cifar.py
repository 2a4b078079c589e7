"""CIFAR from small archives of the tests' own; no network."""

import io
import os
import pathlib
import pickle
import tarfile

import numpy as np
import pytest

from dezero import downloads
from dezero.datasets import CIFAR10, CIFAR100


def pack(path, files):
    """Write an archive of pickles, or of bytes, by name."""
    with tarfile.open(path, "w:gz") as archive:
        for name, contents in files.items():
            if not isinstance(contents, bytes):
                contents = pickle.dumps(contents, 2)
            info = tarfile.TarInfo(name)
            info.size = len(contents)
            archive.addfile(info, io.BytesIO(contents))
    return path


def batch(seed, n=4):
    rng = np.random.RandomState(seed)
    return {
        b"data": rng.randint(0, 256, (n, 3072)).astype(np.uint8),
        b"labels": rng.randint(0, 10, n).tolist(),
        b"fine_labels": rng.randint(0, 100, n).tolist(),
        b"coarse_labels": rng.randint(0, 20, n).tolist(),
        b"filenames": [b"a.png"] * n,
    }


TEN = {f"cifar-10-batches-py/data_batch_{i}": batch(i) for i in range(1, 6)}
TEN["cifar-10-batches-py/test_batch"] = batch(6)
HUNDRED = {"cifar-100-python/train": batch(7), "cifar-100-python/test": batch(8)}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setattr(downloads, "cache_dir", str(folder))
    return folder


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Let the datasets find an archive of these files."""

    def at(files):
        path = pack(tmp_path / "archive.tar.gz", files)
        for cls in CIFAR10, CIFAR100:
            monkeypatch.setattr(cls, "url", path.as_uri())
            monkeypatch.setattr(cls, "sha256", None)
        return path

    return at


def test_ten(serve):
    path = serve(TEN)
    train, test = CIFAR10(), CIFAR10(train=False)
    assert len(train) == 20 and len(test) == 4
    assert train.data.shape == (20, 3, 32, 32) and train.data.dtype == np.uint8
    first = TEN["cifar-10-batches-py/data_batch_1"]
    x, t = train[1]
    # A row has all of red, then green, then blue, each row by row.
    np.testing.assert_array_equal(x[2, 5], first[b"data"][1, 2048 + 160 : 2048 + 192])
    assert t == first[b"labels"][1] and train.label.dtype == np.int64
    np.testing.assert_array_equal(
        test.label, TEN["cifar-10-batches-py/test_batch"][b"labels"]
    )
    path.unlink()  # from now on the cache has all
    np.testing.assert_array_equal(CIFAR10().data, train.data)
    scaled = CIFAR10(False, lambda x: x / np.float32(255), lambda t: t + 1)
    assert scaled[0][0].dtype == np.float32 and scaled[0][1] == test[0][1] + 1


def test_hundred(serve):
    serve(HUNDRED)
    for label_type in "fine", "coarse", "fine":
        dataset = CIFAR100(label_type=label_type)
        expected = HUNDRED["cifar-100-python/train"][f"{label_type}_labels".encode()]
        assert dataset.label.tolist() == expected
        assert dataset.data.shape == (4, 3, 32, 32)
    assert (
        CIFAR100(train=False).label.tolist()
        == (HUNDRED["cifar-100-python/test"][b"fine_labels"])
    )


def test_names_of_classes():
    assert CIFAR10.labels()[0] == "airplane" and CIFAR10.labels()[9] == "truck"
    assert len(CIFAR10.labels()) == 10
    fine, coarse = CIFAR100.labels(), CIFAR100.labels("coarse")
    assert (len(set(fine.values())), len(set(coarse.values()))) == (100, 20)
    assert (fine[0], fine[49], fine[99]) == ("apple", "mountain", "worm")
    assert (coarse[0], coarse[19]) == ("aquatic_mammals", "vehicles_2")
    assert list(fine.values()) == sorted(fine.values())


@pytest.mark.parametrize("call", [lambda x: CIFAR100(label_type=x), CIFAR100.labels])
def test_label_type(call):
    with pytest.raises(ValueError, match="CIFAR100.*: .*'fine' or 'coarse', got 'all'"):
        call("all")


class Runs:
    def __init__(self, code):
        self.code = code

    def __reduce__(self):
        return exec, (self.code,)


NAME = "cifar-10-batches-py/test_batch"


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (b"no pickle", "unpickle_data: "),
        ([1, 2], "CIFAR10: expected 'cifar-10-batches-py/test_batch' to hold uint8"),
        ({b"data": 1, b"labels": [1]}, "CIFAR10: .* got something else"),
        ({b"data": batch(0)[b"data"]}, "CIFAR10: .*'labels', got something else"),
        (batch(0) | {b"labels": [1, 2, 3]}, "CIFAR10: "),
        (batch(0) | {b"labels": "abcd"}, "CIFAR10: "),
        (batch(0) | {b"data": np.zeros((4, 3072))}, "CIFAR10: "),
        (batch(0) | {b"data": np.zeros((4, 3071), np.uint8)}, "CIFAR10: "),
    ],
)
def test_damage_leaves_the_cache_clean(serve, cache, contents, message):
    serve({NAME: contents})
    with pytest.raises(ValueError, match=f"{message}.*removed from the cache"):
        CIFAR10(train=False)
    assert os.listdir(cache) == []
    serve(TEN)  # what is right by now is fetched
    assert len(CIFAR10(train=False)) == 4


def test_code_in_an_archive_does_not_run(serve, cache, tmp_path):
    mark = tmp_path / "was here"
    serve({NAME: batch(0) | {b"labels": Runs(f"open({str(mark)!r}, 'w').close()")}})
    with pytest.raises(ValueError, match="the name .*exec"):
        CIFAR10(train=False)
    assert not mark.exists() and os.listdir(cache) == []


def test_a_path_that_leads_out(serve, cache, tmp_path):
    serve({"../../escaped": b"bad"} | TEN)
    with pytest.raises(ValueError, match=r"leads out of it, '\.\./\.\./escaped'"):
        CIFAR10(train=False)
    assert os.listdir(cache) == []
    assert not list(pathlib.Path(tmp_path).rglob("escaped"))


def test_an_archive_that_was_cut_off(serve, cache):
    path = serve(TEN)
    path.write_bytes(path.read_bytes()[:-5000])
    with pytest.raises(ValueError, match="read_tar: .*removed from the cache"):
        CIFAR10()
    assert os.listdir(cache) == []


def test_another_checksum(serve, cache, monkeypatch):
    serve(TEN)
    monkeypatch.setattr(CIFAR10, "sha256", "0" * 64)
    with pytest.raises(ValueError, match="get_file: expected sha256"):
        CIFAR10()
    assert os.listdir(cache) == []


def test_published_checksums_are_given():
    for cls in CIFAR10, CIFAR100:
        assert cls.url.startswith("https://www.cs.toronto.edu/~kriz/cifar-")
        assert cls.sha256 is not None and len(cls.sha256) == 64
