"""Datasets, loaders, transforms, download cache."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import dezero as dz
from dezero import DataLoader


def pairs(n):
    return [(np.array([float(i)], dtype=np.float32), i % 3) for i in range(n)]


def run(code, *args, **extra):
    """Run code in a fresh interpreter that finds the same dezero."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(dz.__file__)))
    env = dict(
        os.environ,
        PYTHONPATH=os.pathsep.join([here, os.environ.get("PYTHONPATH", "")]),
        **extra,
    )
    return subprocess.run(
        [sys.executable, "-c", code, *args], env=env, capture_output=True, text=True
    )


# Leaving an epoch early continued it in the next loop.
def test_new_loop_starts_afresh():
    loader = DataLoader(pairs(10), 4, shuffle=False)
    for _ in loader:
        break
    assert [float(x[0, 0]) for x, t in loader] == [0.0, 4.0, 8.0]


# Len(loader) is the number of batches.
def test_number_of_batches():
    assert len(DataLoader(pairs(10), 4)) == 3


# Pictures without colour channels.
def test_grey_picture_to_array():
    Image = pytest.importorskip("PIL.Image")
    grey = Image.fromarray(np.arange(12, dtype=np.uint8).reshape(3, 4))
    a = dz.transforms.ToArray()(grey)
    assert a.dtype == np.float32 and a.shape == (1, 3, 4)
    np.testing.assert_array_equal(a[0], np.arange(12).reshape(3, 4))


# The parent of the cache folder does not exist yet.
def test_cache_folder_is_made(tmp_path):
    source = tmp_path / "source" / "data.bin"
    source.parent.mkdir()
    source.write_bytes(b"abc")
    home = tmp_path / "new" / "home"
    code = (
        "import sys, dezero.utils as u\n"
        'print(open(u.get_file(sys.argv[1]), "rb").read())'
    )
    out = run(
        code,
        pathlib.Path(source).as_uri(),
        HOME=str(home),
        USERPROFILE=str(home),
        MPLCONFIGDIR=str(tmp_path),
    )
    assert out.returncode == 0, out.stderr
    assert "b'abc'" in out.stdout
