"""Files are whole or not there, and what cannot stand in one is said."""

import os
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest

from dezero.serializers import (
    atomic_write,
    files,
    load_npz,
    load_safetensors,
    safetensors_metadata,
    save_npz,
    save_safetensors,
)


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


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "weights.npz"
    save_npz(path, {"x": np.ones(2)})
    path.chmod(0o600)
    save_npz(path, {"x": np.zeros(2)})
    assert path.stat().st_mode & 0o777 == 0o600


def test_links_are_followed(tmp_path):
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real" / "x", tmp_path / "link")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert os.path.islink(tmp_path / "link")
    assert (tmp_path / "real" / "x").read_bytes() == b"new"


# ---- what killed processes leave -----------------------------------------------------


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
    lock = files._lock

    def lock_late(file, wait=True):
        monkeypatch.setattr(files, "_lock", lock)
        files._remove_leftovers(str(tmp_path / "x"))  # another process does
        assert os.listdir(tmp_path) == []
        return lock(file, wait)

    monkeypatch.setattr(files, "_lock", lock_late)
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


# ---- names and paths -----------------------------------------------------------------


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


@pytest.mark.parametrize("save", [save_npz, save_safetensors])
def test_a_mask_would_be_lost(tmp_path, save):
    x = np.ma.array([1.0, 2.0], mask=[False, True])
    message = (
        rf"{save.__name__}: expected arrays without a mask, which would be lost, got "
        r"MaskedArray for 'x'; write x\.filled\(value\)"
    )
    with pytest.raises(TypeError, match=message):
        save(tmp_path / "w", {"x": x})
    assert os.listdir(tmp_path) == []


def test_a_pipe_stays_in_its_place(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with atomic_write(path) as file:
            file.write(b"text")
        assert os.read(reader, 100) == b"text"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(os.stat(path).st_mode) and os.listdir(tmp_path) == ["pipe"]
