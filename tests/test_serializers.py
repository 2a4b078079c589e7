"""Arrays in files: whole or not at all, and never with code in them."""

import contextlib
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from dezero import serializers
from dezero.serializers import (
    atomic_write,
    load_npz,
    load_safetensors,
    safetensors_metadata,
    save_npz,
    save_safetensors,
)

ARRAYS = {
    "a/0/W": np.arange(6, dtype=np.float32).reshape(2, 3),
    "0-d": np.array(2.0, dtype=np.float16),
    "empty": np.zeros((0, 3)),
    "columns first": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "file": np.array([True, False]),
    "text": np.array("text"),
}


def same(x, y):
    assert list(x) == list(y)
    for name in x:
        assert x[name].dtype == y[name].dtype
        np.testing.assert_array_equal(x[name], y[name])


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


# ---- files that are not what they should be -----------------------------------------


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


def test_there_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        load_npz(tmp_path / "nothing")


# ---- writing ------------------------------------------------------------------------


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), atomic_write(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["x"]
    assert path.read_bytes() == b"old"
    with atomic_write(path) as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == ["x"]
    assert path.read_bytes() == b"new"


def test_a_killed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.npz"
    save_npz(path, {"x": np.ones(1)})
    code = """
import os, signal, sys
from dezero.serializers import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write(b"new")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""
    result = subprocess.run([sys.executable, "-c", code, str(path)])
    assert result.returncode == -signal.SIGKILL
    np.testing.assert_array_equal(load_npz(path)["x"], np.ones(1))


def test_others_may_read_the_file_as_they_may_read_any(tmp_path):
    with atomic_write(tmp_path / "x"), open(tmp_path / "y", "w"):
        pass
    assert stat.S_IMODE(os.stat(tmp_path / "x").st_mode) == stat.S_IMODE(
        os.stat(tmp_path / "y").st_mode
    )


def test_links_are_followed(tmp_path):
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real" / "x", tmp_path / "link")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert os.path.islink(tmp_path / "link")
    assert (tmp_path / "real" / "x").read_bytes() == b"new"


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


def test_a_path_of_bytes(tmp_path):
    save_npz(os.fsencode(tmp_path / "x"), ARRAYS)
    same(load_npz(os.fsencode(tmp_path / "x")), ARRAYS)


def test_a_name_that_zip_files_cut_short(tmp_path):
    with pytest.raises(ValueError, match=r"save_npz: expected a name .* got 'a\\x00b'"):
        save_npz(tmp_path / "x", {"a\0b": np.ones(1), "a": np.zeros(1)})


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


# ---- what killed processes leave ----------------------------------------------------


def leftover(path, digit):
    unfinished = path.parent / f"{path.name}.{digit * 32}.tmp"
    unfinished.write_bytes(b"unfinished")
    return unfinished


def test_the_next_write_removes_unfinished_files_of_the_same_path(tmp_path):
    path = tmp_path / "x[1].npz"
    leftover(path, "a"), leftover(path, "0")
    others = [leftover(tmp_path / "x.npz", "b"), leftover(tmp_path / "x[1].npz.x", "c")]
    others += [leftover(path, "g"), tmp_path / "x[1].npz.tmp"]
    others[-1].write_bytes(b"")
    with atomic_write(path) as file:
        file.write(b"new")
    names = {"x[1].npz", *[other.name for other in others]}
    assert set(os.listdir(tmp_path)) == names


def test_two_may_write_at_once(tmp_path):
    path = tmp_path / "x"
    with atomic_write(path) as first:
        first.write(b"first")
        with atomic_write(path) as second:  # leaves the unfinished first one
            second.write(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["x"]


def test_nobody_takes_a_complete_file_for_a_leftover(tmp_path, monkeypatch):
    path = tmp_path / "x"
    replace = os.replace

    def replace_late(source, target):
        monkeypatch.setattr(os, "replace", replace)
        with atomic_write(path) as file:
            file.write(b"second")
        replace(source, target)

    monkeypatch.setattr(os, "replace", replace_late)
    with atomic_write(path) as file:
        file.write(b"first")
    assert path.read_bytes() == b"first"


def test_a_new_file_that_was_taken_for_a_leftover_is_made_again(tmp_path, monkeypatch):
    lock = serializers._lock

    def lock_late(file, wait=True):
        monkeypatch.setattr(serializers, "_lock", lock)
        serializers._remove_leftovers(str(tmp_path / "x"))  # another process does
        assert os.listdir(tmp_path) == []
        return lock(file, wait)

    monkeypatch.setattr(serializers, "_lock", lock_late)
    with atomic_write(tmp_path / "x") as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == ["x"]
    assert (tmp_path / "x").read_bytes() == b"new"


def test_without_locks_leftovers_stay(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setattr(os, "name", "nt")
    unfinished = leftover(tmp_path / "x", "a")
    with atomic_write(tmp_path / "x") as file:
        file.write(b"new")
    assert set(os.listdir(tmp_path)) == {"x", unfinished.name}


# ---- .safetensors -------------------------------------------------------------------

TENSORS = {
    "a/0/W": np.arange(6, dtype=np.float32).reshape(2, 3),
    "0-d": np.array(2.0, dtype=np.float16),
    "empty": np.zeros((0, 3)),
    "columns first": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "steps": np.arange(12, dtype=np.int8)[::-3],
    "flags": np.array([True, False]),
    **{kind: np.array([1, 2], kind) for kind in ("u1", "u2", "u4", "u8", "i2", "i4")},
}


@pytest.mark.parametrize("saved", ["x", "x.safetensors"])
@pytest.mark.parametrize("loaded", ["x", "x.safetensors"])
def test_safetensors_round_trip(tmp_path, saved, loaded):
    save_safetensors(tmp_path / saved, TENSORS)
    arrays = load_safetensors(str(tmp_path / loaded))
    same(dict(sorted(arrays.items())), dict(sorted(TENSORS.items())))
    assert all(x.flags.writeable and x.flags.c_contiguous for x in arrays.values())
    assert os.listdir(tmp_path) == ["x.safetensors"]


def test_safetensors_of_others(tmp_path):
    import safetensors.numpy

    usual = {name: np.ascontiguousarray(x) for name, x in TENSORS.items()}
    safetensors.numpy.save_file(usual, tmp_path / "theirs.safetensors")
    theirs = load_safetensors(tmp_path / "theirs")
    same(dict(sorted(theirs.items())), dict(sorted(TENSORS.items())))
    save_safetensors(tmp_path / "ours", TENSORS)
    ours = safetensors.numpy.load_file(tmp_path / "ours.safetensors")
    same(dict(sorted(ours.items())), dict(sorted(TENSORS.items())))


def test_byte_order(tmp_path):
    save_safetensors(tmp_path / "x", {"a": np.array([1.0, 2.0], ">f4")})
    x = load_safetensors(tmp_path / "x")["a"]
    assert x.dtype == np.float32 and x.dtype.isnative and x.tolist() == [1, 2]


def test_metadata(tmp_path):
    save_safetensors(tmp_path / "x", TENSORS, {"author": "me", "π": "é"})
    expected = {"format": "np", "author": "me", "π": "é"}
    assert safetensors_metadata(tmp_path / "x") == expected
    save_safetensors(tmp_path / "x.safetensors", {}, {"format": "pt"})
    assert safetensors_metadata(tmp_path / "x.safetensors") == {"format": "pt"}
    write_safetensors(tmp_path / "y.safetensors", {}, b"")
    assert safetensors_metadata(tmp_path / "y") == load_safetensors(tmp_path / "y")
    with pytest.raises(TypeError, match="save_safetensors: expected metadata of text "):
        save_safetensors(tmp_path / "x", TENSORS, {"epoch": 3})
    assert safetensors_metadata(tmp_path / "x") == {"format": "pt"}


def write_safetensors(path, header, data):
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def test_numbers_that_numpy_has_not(tmp_path):
    x = np.array([1.5, -2.25, np.inf, 1e30], np.float32)
    halves = (x.view(np.uint32) >> 16).astype("<u2").tobytes()  # rounds towards zero
    header = {"x": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}}
    write_safetensors(tmp_path / "x.safetensors", header, halves)
    found = load_safetensors(tmp_path / "x")["x"]
    assert found.dtype == np.float32 and found.shape == (2, 2)
    np.testing.assert_allclose(found.ravel(), x, rtol=2**-7)
    assert found.ravel()[:3].tolist() == x[:3].tolist()
    header = {"x": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]}}
    write_safetensors(tmp_path / "x.safetensors", header, b"ab")
    message = "load_safetensors: expected numbers of a type .* got F8_E4M3 for 'x' in '"
    with pytest.raises(ValueError, match=message):
        load_safetensors(tmp_path / "x")


@pytest.mark.parametrize(
    "name, x",
    [
        ("x", np.array(["text"])),
        ("x", np.ones(1, complex)),
        ("x", np.array([None])),
        ("x", np.zeros(1, np.longdouble)),
        ("__metadata__", np.ones(1)),
    ],
)
def test_what_safetensors_has_not(tmp_path, name, x):
    save_safetensors(tmp_path / "x", TENSORS)
    message = "save_safetensors: expected numbers of a usual dtype .* got .* for '"
    with pytest.raises(ValueError, match=message + name):
        save_safetensors(tmp_path / "x", {"a": np.ones(1), name: x})
    assert len(load_safetensors(tmp_path / "x")) == len(TENSORS)


@pytest.mark.parametrize("function", [save_npz, save_safetensors])
@pytest.mark.parametrize("arrays", [None, [np.ones(1)], np.ones(1)])
def test_arrays_without_names(tmp_path, function, arrays):
    message = f"{function.__name__}: expected a dict of arrays by name, got "
    with pytest.raises(TypeError, match=message + type(arrays).__name__):
        function(tmp_path / "x", arrays)
    assert os.listdir(tmp_path) == []


NO_TEXT = [3, None, b"a", ("a",)]


@pytest.mark.parametrize("function", [save_npz, save_safetensors])
@pytest.mark.parametrize("name", NO_TEXT)
def test_names_that_are_no_text(tmp_path, function, name):
    message = f"{function.__name__}: expected text as a name, got {type(name).__name__}"
    with pytest.raises(TypeError, match=message):
        function(tmp_path / "x", {"a": np.ones(1), name: np.ones(1)})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("function", [save_npz, save_safetensors])
def test_names_that_no_file_can_hold(tmp_path, function):
    message = f"{function.__name__}: expected a name of characters that UTF-8 has"
    with pytest.raises(ValueError, match=rf"^{message}, got 'a\\ud800'"):
        function(tmp_path / "x", {"a\ud800": np.ones(1)})
    assert os.listdir(tmp_path) == []


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


@pytest.mark.parametrize("name", ["", "a\nb", "x/../y", "é", "𝜋", "a" * 70_000, "a\0b"])
def test_odd_names_of_safetensors(tmp_path, name):
    save_safetensors(tmp_path / "x", {name: np.arange(3)})
    (found,) = load_safetensors(tmp_path / "x").items()
    assert found[0] == name and found[1].tolist() == [0, 1, 2]


@pytest.mark.parametrize("metadata", [{"a": "\ud800"}, {"\udfff": "a"}])
def test_metadata_that_no_file_can_hold(tmp_path, metadata):
    message = "save_safetensors: expected metadata of characters that UTF-8 has, got '"
    with pytest.raises(ValueError, match=f"^{message}"):
        save_safetensors(tmp_path / "x", TENSORS, metadata)


WITH_A_PATH = {
    "save_npz": lambda path: save_npz(path, {}),
    "load_npz": load_npz,
    "save_safetensors": lambda path: save_safetensors(path, {}),
    "load_safetensors": load_safetensors,
    "safetensors_metadata": safetensors_metadata,
}


@pytest.mark.parametrize("function", WITH_A_PATH)
@pytest.mark.parametrize("path", ["", "folder/", "a\0b", "\ud800", 3, None])
def test_paths_that_name_no_file(function, path):
    is_text = isinstance(path, str)
    got = repr(path) if is_text else type(path).__name__
    message = f"{function}: expected the path of a file, got {got}"
    with pytest.raises(ValueError if is_text else TypeError) as caught:
        WITH_A_PATH[function](path)
    assert str(caught.value) == message


@pytest.mark.parametrize("shape", [[0, 2**62], [0, 2**63], [1] * 70])
def test_shapes_that_numpy_cannot_hold(tmp_path, shape):
    data = b"" if 0 in shape else b"\0\0\0\0"
    header = {"x": {"dtype": "F32", "shape": shape, "data_offsets": [0, len(data)]}}
    write_safetensors(tmp_path / "x.safetensors", header, data)
    message = (
        r"load_safetensors: expected a shape that NumPy can hold, got \(.* for 'x'"
    )
    with pytest.raises(ValueError, match=message):
        load_safetensors(tmp_path / "x")


def test_damaged_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    save_safetensors(path, TENSORS)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for size in [0, 7, *rng.integers(0, len(whole), 20)]:
        path.write_bytes(whole[:size])
        for function in load_safetensors, safetensors_metadata:
            message = f"{function.__name__}: expected a whole .safetensors file, got '"
            with pytest.raises(ValueError, match=message):
                function(path)
    for _ in range(200):
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        path.write_bytes(flipped)
        with contextlib.suppress(ValueError):
            load_safetensors(path)
    header = {"x": {"dtype": "F32", "shape": [9**9], "data_offsets": [0, 4 * 9**9]}}
    write_safetensors(path, header, b"")
    with pytest.raises(ValueError, match="load_safetensors: expected a whole"):
        load_safetensors(path)


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.delitem(sys.modules, "safetensors.numpy", raising=False)
    for name, call in (
        ("save_safetensors", lambda: save_safetensors(tmp_path / "x", {})),
        ("load_safetensors", lambda: load_safetensors(tmp_path / "x")),
        ("safetensors_metadata", lambda: safetensors_metadata(tmp_path / "x")),
    ):
        message = (
            f"{name}: expected the package safetensors, got none; "
            r"pip install dezero\[safetensors\]"
        )
        with pytest.raises(ImportError, match=message):
            call()
    assert os.listdir(tmp_path) == []


def test_safetensors_paths(tmp_path):
    for function in load_safetensors, safetensors_metadata:
        with pytest.raises(FileNotFoundError, match="nothing"):
            function(tmp_path / "nothing")
        message = f"{function.__name__}: expected the path of a file"
        with pytest.raises(ValueError, match=message):
            function(f"{tmp_path}/")
    with pytest.raises(FileNotFoundError, match=r"nowhere/x\.safetensors'$"):
        save_safetensors(tmp_path / "nowhere" / "x", TENSORS)
    with pytest.raises(ValueError, match="save_safetensors: expected the path of a"):
        save_safetensors(f"{tmp_path}/", TENSORS)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "weights.npz"
    save_npz(path, {"x": np.ones(2)})
    path.chmod(0o600)
    save_npz(path, {"x": np.zeros(2)})
    assert path.stat().st_mode & 0o777 == 0o600
