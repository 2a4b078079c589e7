"""IDX and tar files: what is whole is read, what is not is an error."""

import gzip
import io
import tarfile

import numpy as np
import pytest

from dezero.datasets.archives import read_idx, read_tar


def idx(x, code=8):
    head = bytes([0, 0, code, x.ndim]) + np.array(x.shape, ">u4").tobytes()
    return head + x.tobytes()


IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)


def write(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    return path


# ---- IDX -----------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [gzip.compress, bytes])
def test_idx(tmp_path, pack):
    x = read_idx(write(tmp_path, pack(idx(IMAGES))))
    np.testing.assert_array_equal(x, IMAGES)
    assert x.dtype == np.uint8 and x.flags.writeable


@pytest.mark.parametrize(
    ("code", "dtype"), [(9, "i1"), (11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8")]
)
def test_idx_of_other_types(tmp_path, code, dtype):
    expected = np.array([[1, -2, 3]], dtype)
    x = read_idx(write(tmp_path, idx(expected, code)))
    np.testing.assert_array_equal(x, expected)
    assert x.dtype == np.dtype(dtype).newbyteorder("=")


# Without the time, which would make names of tests differ from run to run.
PACKED = gzip.compress(idx(IMAGES), mtime=0)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a file that begins with b''"),
        (b"<html>no such file</html>", "a file that begins with b'<htm'"),
        (idx(IMAGES, 7), "begins with"),
        (idx(IMAGES)[:9], "ends within its sizes"),
        (idx(IMAGES)[:-1], r"expected 24 bytes for shape \(2, 3, 4\), got 23"),
        (idx(IMAGES) + b"0", "expected 24 bytes .*, got more"),
        (PACKED[:-12], "whole IDX file"),  # cut off
        (PACKED[:-8] + bytes(8), "CRC"),  # another sum
        (PACKED[:12] + b"\xff\xff" + PACKED[14:], "whole IDX file"),
        (gzip.compress(idx(IMAGES) + bytes(10**7), mtime=0), "24 bytes .*, got more"),
        (b"\0\0\x08\x04" + b"\xff" * 16 + b"12", "got 2 in"),  # huge sizes
    ],
)
def test_damaged_idx(tmp_path, data, message):
    with pytest.raises(ValueError, match=f"read_idx: .*{message}"):
        read_idx(write(tmp_path, data))


def test_missing_idx(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_idx(tmp_path / "missing")


# ---- tar -----------------------------------------------------------------------------


def tar(*members, mode="w:gz"):
    """An archive of (name, contents); other contents than bytes are a link."""
    buffer = io.BytesIO()
    is_gz = mode == "w:gz"  # packed below, without the time
    with tarfile.open(fileobj=buffer, mode="w" if is_gz else mode) as archive:
        for name, contents in members:
            info = tarfile.TarInfo(name)
            if isinstance(contents, bytes):
                info.size = len(contents)
                archive.addfile(info, io.BytesIO(contents))
            else:
                info.type, info.linkname = tarfile.SYMTYPE, contents
                archive.addfile(info)
    data = buffer.getvalue()
    return gzip.compress(data, mtime=0) if is_gz else data


@pytest.mark.parametrize("mode", ["w:gz", "w", "w:bz2", "w:xz"])
def test_tar(tmp_path, mode):
    data = tar(("a/b", b"one"), ("./a/c", b"two"), ("a/d", b"three"), mode=mode)
    found = read_tar(write(tmp_path, data), ["a/c", "a/b"])
    assert found == {"a/b": b"one", "a/c": b"two"}
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "name", ["../x", "a/../../x", "/etc/x", "a\\..\\..\\x", "C:/x", "a/.."]
)
def test_a_path_that_leads_out_is_refused(tmp_path, name):
    data = tar(("a/b", b"one"), (name, b"bad"))
    with pytest.raises(ValueError, match="read_tar: .* a path that leads out of it"):
        read_tar(write(tmp_path, data), ["a/b"])


def test_a_link_is_not_followed(tmp_path):
    data = tar(("a/b", "/etc/passwd"))
    with pytest.raises(ValueError, match="read_tar: .*'a/b' that is no plain file"):
        read_tar(write(tmp_path, data), ["a/b"])


def test_size_is_limited(tmp_path):
    path = write(tmp_path, tar(("a", bytes(1000))))
    assert len(read_tar(path, ["a"], max_size=1000)["a"]) == 1000
    with pytest.raises(ValueError, match="read_tar: .*'a' of 1000 bytes"):
        read_tar(path, ["a"], max_size=999)


RANDOM = np.random.RandomState(0).bytes(3000)
WHOLE = tar(("a", RANDOM))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html></html>",
        WHOLE[:1500],
        WHOLE[:100],
        gzip.compress(b"no tar" * 99, mtime=0),
    ]
    + [WHOLE[:1000] + b"\xff" * 99 + WHOLE[1099:]],
)
def test_damaged_tar(tmp_path, data):
    with pytest.raises(ValueError, match="read_tar: expected"):
        read_tar(write(tmp_path, data), ["a"])


def test_missing_in_tar(tmp_path):
    path = write(tmp_path, WHOLE)
    with pytest.raises(ValueError, match="read_tar: expected 'b' in .*, got none"):
        read_tar(path, ["a", "b"])
    with pytest.raises(FileNotFoundError):
        read_tar(tmp_path / "missing", ["a"])


@pytest.mark.parametrize("read", ["idx", "tar"])
def test_random_damage_is_found(tmp_path, read):
    """Whatever byte changes: it is an error, or what is read is right all the same."""
    rng = np.random.RandomState(0)
    whole = tar(("a", RANDOM[:500])) if read == "tar" else PACKED
    path = tmp_path / "file"
    errors = 0
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[rng.randint(len(whole))] ^= 1 << rng.randint(8)
        path.write_bytes(damaged)
        try:
            if read == "tar":
                assert read_tar(path, ["a"]) == {"a": RANDOM[:500]}
            else:
                np.testing.assert_array_equal(read_idx(path), IMAGES)
        except ValueError:
            errors += 1
    assert errors > 150
