"""Arrays in .safetensors files: as they were, for others too."""

import contextlib
import json
import os
import sys

import numpy as np
import pytest

from dezero.serializers import (
    load_safetensors,
    safetensors_metadata,
    save_safetensors,
)

from .arrays import same

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
