"""Arrays in .npz files: as they were, and never with code in them."""

import os
import pickle
import zipfile

import numpy as np
import pytest

from dezero.serializers import load_npz, save_npz

from .arrays import ARRAYS, same


@pytest.mark.parametrize("saved", ["x", "x.npz"])
@pytest.mark.parametrize("loaded", ["x", "x.npz"])
@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "Path"])
def test_round_trip(tmp_path, saved, loaded, kind):
    save_npz(kind(tmp_path / saved), ARRAYS)
    same(load_npz(kind(tmp_path / loaded)), ARRAYS)
    assert os.listdir(tmp_path) == ["x.npz"]


def test_a_file_that_has_another_suffix(tmp_path):
    save_npz(tmp_path / "x", ARRAYS)
    os.rename(tmp_path / "x.npz", tmp_path / "x.weights")
    same(load_npz(tmp_path / "x.weights"), ARRAYS)


def test_a_path_of_bytes(tmp_path):
    save_npz(os.fsencode(tmp_path / "x"), ARRAYS)
    same(load_npz(os.fsencode(tmp_path / "x")), ARRAYS)


def test_numpy_reads_and_writes_the_same_format(tmp_path):
    save_npz(tmp_path / "ours", ARRAYS)
    with np.load(tmp_path / "ours.npz") as file:
        same(dict(file), ARRAYS)
    plain = {name: x for name, x in ARRAYS.items() if name != "file"}
    for save in np.savez, np.savez_compressed:
        save(tmp_path / "theirs.npz", **plain)
        same(load_npz(tmp_path / "theirs"), plain)


def test_the_same_arrays_give_the_same_bytes(tmp_path):
    for name in "x", "y":
        save_npz(tmp_path / name, ARRAYS)
    assert (tmp_path / "x.npz").read_bytes() == (tmp_path / "y.npz").read_bytes()


# ---- names and paths -----------------------------------------------------------------


def test_there_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        load_npz(tmp_path / "nothing")


def test_there_is_no_directory(tmp_path):
    with pytest.raises(FileNotFoundError):
        save_npz(tmp_path / "nowhere" / "x", ARRAYS)


def test_errors_name_the_path_that_was_given(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere/x\.npz'$"):
        save_npz(tmp_path / "nowhere" / "x", ARRAYS)
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(OSError, match=r"folder\.npz'$"):
        save_npz(tmp_path / "folder", ARRAYS)
    for function, call in (
        ("save_npz", lambda p: save_npz(p, {})),
        ("load_npz", load_npz),
    ):
        with pytest.raises(
            ValueError, match=f"{function}: expected the path of a file"
        ):
            call(f"{tmp_path}/")
    assert os.listdir(tmp_path) == ["folder.npz"]


def test_a_name_that_zip_files_cut_short(tmp_path):
    with pytest.raises(ValueError, match=r"save_npz: expected a name .* got 'a\\x00b'"):
        save_npz(tmp_path / "x", {"a\0b": np.ones(1), "a": np.zeros(1)})


@pytest.mark.parametrize(("length", "fits"), [(65_531, True), (65_532, False)])
def test_names_that_are_too_long_for_a_zip_file(tmp_path, length, fits):
    arrays = {"a" * length: np.ones(1)}
    if fits:
        save_npz(tmp_path / "x", arrays)
        assert load_npz(tmp_path / "x").keys() == arrays.keys()
        return
    message = "save_npz: expected a name that an .npz file can hold, got 'aaaaaaaaaaaa"
    with pytest.raises(ValueError, match=message) as caught:
        save_npz(tmp_path / "x", arrays)
    assert len(str(caught.value)) < 100
    assert os.listdir(tmp_path) == []


# ---- files that are not what they should be ------------------------------------------


class Evil:
    def __reduce__(self):
        return os.system, ("echo evil > evil",)


def refused(path):
    message = r"load_npz: expected a whole .npz file without pickled objects, got '.*'"
    with pytest.raises(ValueError, match=message):
        load_npz(path)


def test_objects_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="allow_pickle"):
        save_npz(tmp_path / "x", {"a": np.ones(1), "x": np.array([Evil()])})
    assert os.listdir(tmp_path) == []


def test_pickles_are_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savez(tmp_path / "array.npz", x=np.array([Evil()], dtype=object))
    (tmp_path / "bare.npz").write_bytes(pickle.dumps(Evil()))
    with zipfile.ZipFile(tmp_path / "member.npz", "w") as archive:
        archive.writestr("x.npy", pickle.dumps(Evil()))
    for name in "array", "bare", "member":
        refused(tmp_path / name)
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("content", [b"", b"PK", b"hello, this is no zip file"])
def test_other_files(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    refused(tmp_path / "x.npz")


def test_damaged_files(tmp_path):
    path = tmp_path / "x.npz"
    save_npz(path, ARRAYS)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for size in rng.integers(0, len(whole), 20):
        path.write_bytes(whole[:size])
        refused(path)
    for _ in range(100):
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        try:
            load_npz(path)  # some bytes of a zip file mean nothing
        except ValueError:
            refused(path)


def test_any_flipped_byte_is_found_or_harmless(tmp_path):
    save_npz(tmp_path / "x", {"a": np.arange(3.0)})
    whole = (tmp_path / "x.npz").read_bytes()
    for i in range(len(whole)):
        broken = bytearray(whole)
        broken[i] ^= 0xFF
        (tmp_path / "x.npz").write_bytes(broken)
        try:
            found = load_npz(tmp_path / "x")
        except ValueError:
            continue
        assert [x.tolist() for x in found.values()] == [[0.0, 1.0, 2.0]]


def test_a_header_that_is_no_header(tmp_path):
    text = b"{'descr': '<f4', 'fortran_order': False, 'shape': " + b"(" * 3000 + b"}\n"
    member = np.lib.format.magic(1, 0) + len(text).to_bytes(2, "little") + text
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("a.npy", member)
    with pytest.raises(ValueError, match="load_npz: expected a whole"):
        load_npz(tmp_path / "x")


def test_a_header_that_claims_more_than_there_is(tmp_path):
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }\n"
    for size in 3, 10**16:  # more than any machine finds room for
        text = (header % size).encode()
        path = tmp_path / "x.npz"
        with zipfile.ZipFile(path, "w") as archive:
            start = b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little")
            archive.writestr("x.npy", start + text + bytes(16))
        refused(path)


def test_without_memory_no_file_is_called_damaged(tmp_path, monkeypatch):
    def no_room(*args, **kwargs):
        raise MemoryError

    save_npz(tmp_path / "x", {"x": np.ones(3)})
    monkeypatch.setattr(np.lib.format, "read_array", no_room)
    monkeypatch.setattr(zipfile.ZipFile, "read", no_room)
    with pytest.raises(MemoryError):
        load_npz(tmp_path / "x")
