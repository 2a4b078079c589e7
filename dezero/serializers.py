"""Arrays in files: ``.npz`` without pickle, and an old file that survives a crash."""

from __future__ import annotations

import contextlib
import os
import uuid
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from dezero import cuda

# What zipfile and NumPy raise on bytes that are not what they should be. RuntimeError
# stands for encrypted files and unknown ways of compression.
_DAMAGE = (ValueError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error)

Path = str | os.PathLike[str]


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of ``path`` only when it is complete.

    After an exception, or if the process is killed, what was at ``path`` still is.

    Args:
        path: Where the file goes. A link is followed.
    """
    path = os.path.realpath(path)
    # In the same directory: a file can only replace another one of its own file system.
    # And not by tempfile, which would make it readable for nobody else.
    temporary = f"{path}.{uuid.uuid4().hex}.tmp"
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(temporary)
        raise


def save_npz(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write named arrays to an ``.npz`` file, which ``np.load`` reads too.

    The same arrays give the same bytes. Unlike ``np.savez`` it takes any name as a key.

    Args:
        path: ``.npz`` is added where it is missing.
        arrays: Arrays of either library, by name.

    Raises:
        ValueError: An array holds Python objects.
    """
    with (
        atomic_write(_with_suffix(path)) as file,
        zipfile.ZipFile(file, "w") as archive,
    ):
        for name, x in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy")  # dated 1980, hence the same bytes
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
    given = os.fspath(path)
    path = _with_suffix(path)
    if not os.path.exists(path):
        path = given
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as member:
                    x = np.lib.format.read_array(member, allow_pickle=False)
                arrays[name.removesuffix(".npy")] = x
    except _DAMAGE as error:
        raise ValueError(
            f"load_npz: expected a whole .npz file without pickled objects, "
            f"got {path!r}: {error}"
        ) from error
    return arrays


def _with_suffix(path: Path) -> str:
    path = os.fspath(path)
    return path if path.endswith(".npz") else f"{path}.npz"
