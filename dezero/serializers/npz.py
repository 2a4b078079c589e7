"""Arrays in ``.npz`` files, NumPy's own, without pickle: no code is ever in them."""

from __future__ import annotations

import os
import reprlib
import zipfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from dezero import cuda
from dezero.serializers.files import Path, atomic_write, check_arrays, with_suffix


def save_npz(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write named arrays to an ``.npz`` file, which ``np.load`` reads too.

    The same arrays give the same bytes. Unlike ``np.savez`` it takes any name as a key.

    Args:
        path: ``.npz`` is added where it is missing.
        arrays: Arrays of either library, by name.

    Raises:
        OSError: It cannot be written there: the folder is missing, for instance.
        TypeError: ``arrays`` is no dict, a name is no text, an array has a mask, or
            ``path`` is no path.
        ValueError: An array holds Python objects, ``path`` names no file, or a name
            is too long or has a character that no ``.npz`` can hold.
    """
    check_arrays("save_npz", arrays)
    with (
        atomic_write(with_suffix("save_npz", path, ".npz")) as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for name, x in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # dated 1980, hence the same bytes
            length = len(entry.filename.encode())
            if entry.filename != f"{name}.npy" or length > 0xFFFF:
                raise ValueError(
                    "save_npz: expected a name that an .npz file can hold, "
                    f"got {reprlib.repr(name)}"
                )
            with archive.open(entry, "w", force_zip64=True) as member:
                array = np.asanyarray(cuda.as_numpy(x))
                np.lib.format.write_array(member, array, allow_pickle=False)


def load_npz(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of an ``.npz`` file. No code in the file is ever run.

    Args:
        path: As given to :func:`save_npz`, with or without ``.npz``.

    Returns:
        The arrays by name.

    Raises:
        FileNotFoundError: There is no such file.
        TypeError: ``path`` is no path.
        ValueError: The file is damaged, is no ``.npz``, or holds pickled objects; or
            ``path`` names no file.
    """
    given, path = path, with_suffix("load_npz", path, ".npz")
    if not os.path.exists(path):
        path = os.fsdecode(given)
    with open(path, "rb") as file:
        try:
            return _read_arrays(file)
        except MemoryError:
            raise
        except Exception as error:
            # What zipfile and NumPy raise on bytes that are not what they should be
            # has no end: EOFError, zlib.error, OSError for a negative offset, ...
            raise ValueError(
                f"load_npz: expected a whole .npz file without pickled objects, "
                f"got {path!r}: {error}"
            ) from error


def _read_arrays(file: IO[bytes]) -> dict[str, np.ndarray]:
    arrays = {}
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            try:
                with archive.open(name) as member:
                    x = np.lib.format.read_array(member, allow_pickle=False)
            except MemoryError:
                # Is it so large, or does its header only say so? Then there is room
                # for the bytes that are there.
                archive.read(name)
                raise ValueError(f"more numbers for {name!r} than it has") from None
            arrays[name.removesuffix(".npy")] = x
    return arrays
