"""Arrays in files: ``.npz`` without pickle, and an old file that survives a crash."""

from __future__ import annotations

import contextlib
import os
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from dezero import cuda

Path = str | os.PathLike[str]


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of ``path`` only when it is complete.

    After an exception, or if the process is killed, what was at ``path`` still is.
    A killed process leaves the unfinished file beside it, named ``path`` and ``.tmp``.

    Args:
        path: Where the file goes. A link is followed.

    Raises:
        OSError: It cannot be written there: the folder is missing, for instance.
    """
    path = os.path.realpath(os.fsdecode(path))
    # In the same directory: a file can only replace another one of its own file system.
    # And not by tempfile, which would make it readable for nobody else.
    temporary = f"{path}.{uuid.uuid4().hex}.tmp"
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            # Under the name that the user knows.
            raise type(error)(error.errno, error.strerror, path) from None
        raise


def save_npz(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write named arrays to an ``.npz`` file, which ``np.load`` reads too.

    The same arrays give the same bytes. Unlike ``np.savez`` it takes any name as a key.

    Args:
        path: ``.npz`` is added where it is missing.
        arrays: Arrays of either library, by name.

    Raises:
        OSError: It cannot be written there: the folder is missing, for instance.
        ValueError: An array holds Python objects, ``path`` names no file, or a name
            has a character that no ``.npz`` can hold.
    """
    with (
        atomic_write(_with_suffix("save_npz", path)) as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for name, x in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # dated 1980, hence the same bytes
            if entry.filename != f"{name}.npy":
                raise ValueError(
                    "save_npz: expected a name that an .npz file can hold, "
                    f"got {name!r}"
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
        ValueError: The file is damaged, is no ``.npz``, or holds pickled objects.
    """
    given = os.fsdecode(path)
    path = _with_suffix("load_npz", path)
    if not os.path.exists(path):
        path = given
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
            with archive.open(name) as member:
                x = np.lib.format.read_array(member, allow_pickle=False)
            arrays[name.removesuffix(".npy")] = x
    return arrays


def _with_suffix(function: str, path: Path) -> str:
    path = os.fsdecode(path)
    if not os.path.basename(path):
        raise ValueError(f"{function}: expected the path of a file, got {path!r}")
    return path if path.endswith(".npz") else f"{path}.npz"
