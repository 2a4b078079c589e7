"""Arrays in files: ``.npz`` without pickle, and ``.safetensors``.

An old file survives a crash: a new one takes its place only when it is complete.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import reprlib
import stat
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

from dezero import cuda

Path = str | os.PathLike[str]

# How the types that NumPy has are called in .safetensors files.
_DTYPES = {
    "BOOL": "bool",
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
}


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of ``path`` only when it is complete.

    After an exception, or if the process is killed, what was at ``path`` still is.
    A killed process leaves its unfinished file beside it, with a name that begins like
    ``path`` and ends in ``.tmp``. The next write to ``path`` removes it, on systems
    with ``flock`` (not on Windows); that of a process still writing is left alone. Who
    may read and write ``path`` stays as it was.

    Args:
        path: Where the file goes. A link is followed.

    Raises:
        OSError: It cannot be written there: the folder is missing, for instance.
    """
    path = os.path.realpath(os.fsdecode(path))
    # In the same directory: a file can only replace another one of its own file system.
    # And not by tempfile, which would make it readable for nobody else.
    temporary = f"{path}.{uuid.uuid4().hex}.tmp"
    _remove_leftovers(path)
    try:
        with _opened(temporary) as file:
            with contextlib.suppress(OSError):  # most often: there was no file
                os.chmod(temporary, stat.S_IMODE(os.stat(path).st_mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "nt":  # which renames no open file; elsewhere the lock stays
                file.close()
            os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        if isinstance(error, OSError) and error.filename == temporary:
            # Under the name that the user knows.
            raise type(error)(error.errno, error.strerror, path) from None
        raise


def _opened(temporary: str) -> IO[bytes]:
    """A new file, locked for as long as it is open; a killed process loses the lock."""
    while True:
        file = open(temporary, "xb")
        if not _lock(file) or os.path.exists(temporary):
            return file
        file.close()  # somebody took it for a leftover, before it was locked


def _remove_leftovers(path: str) -> None:
    """Remove the unfinished files of processes that were killed."""
    folder, name = os.path.split(path)
    pattern = re.compile(re.escape(name) + r"\.[0-9a-f]{32}\.tmp")
    with contextlib.suppress(OSError):
        for other in os.listdir(folder):
            if pattern.fullmatch(other):
                other = os.path.join(folder, other)
                with contextlib.suppress(OSError), open(other, "rb") as file:
                    if _lock(file, wait=False):
                        os.remove(other)


def _lock(file: IO[bytes], wait: bool = True) -> bool:
    """Lock a file until it is closed, if nobody else has and the system knows how."""
    try:
        fcntl: Any = importlib.import_module("fcntl")
        fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except (ImportError, OSError):
        return False
    return True


def save_npz(path: Path, arrays: Mapping[str, Any]) -> None:
    """Write named arrays to an ``.npz`` file, which ``np.load`` reads too.

    The same arrays give the same bytes. Unlike ``np.savez`` it takes any name as a key.

    Args:
        path: ``.npz`` is added where it is missing.
        arrays: Arrays of either library, by name.

    Raises:
        OSError: It cannot be written there: the folder is missing, for instance.
        TypeError: ``arrays`` is no dict, a name is no text, or ``path`` no path.
        ValueError: An array holds Python objects, ``path`` names no file, or a name
            is too long or has a character that no ``.npz`` can hold.
    """
    _check_arrays("save_npz", arrays)
    with (
        atomic_write(_with_suffix("save_npz", path)) as file,
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
    given, path = path, _with_suffix("load_npz", path)
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
            with archive.open(name) as member:
                x = np.lib.format.read_array(member, allow_pickle=False)
            arrays[name.removesuffix(".npy")] = x
    return arrays


def save_safetensors(
    path: Path, arrays: Mapping[str, Any], metadata: Mapping[str, str] | None = None
) -> None:
    """Write named arrays to a ``.safetensors`` file, which other frameworks read too.

    Args:
        path: ``.safetensors`` is added where it is missing.
        arrays: Arrays of numbers of either library, by name.
        metadata: Text by name that goes with them; ``format``, which some readers ask
            for, is ``np`` if it is not given.

    Raises:
        ImportError: The package safetensors is not installed.
        OSError: It cannot be written there: the folder is missing, for instance.
        TypeError: ``arrays`` is no dict, a name is no text, ``metadata`` holds
            something else than text, or ``path`` is no path.
        ValueError: An array has a dtype that the format has not; a name is
            ``__metadata__``; text has a character that UTF-8 has not; or ``path`` names
            no file.
    """
    path = _with_suffix("save_safetensors", path, ".safetensors")
    library = _safetensors("save_safetensors")
    metadata = {"format": "np", **(metadata or {})}
    for item in metadata.items():
        if not all([isinstance(text, str) for text in item]):
            raise TypeError(
                f"save_safetensors: expected metadata of text by name, got {item}"
            )
        for text in item:
            _check_text("save_safetensors", "metadata", text)
    _check_arrays("save_safetensors", arrays)
    converted = {}
    for name, x in arrays.items():
        array = np.asarray(cuda.as_numpy(x))
        if name == "__metadata__" or array.dtype.name not in _DTYPES.values():
            raise ValueError(
                "save_safetensors: expected numbers of a usual dtype and a name other "
                f"than __metadata__, got {array.dtype} for {name!r}"
            )
        # in the byte order and the order of elements that the format has
        converted[name] = array.astype(array.dtype.newbyteorder("<"), order="C")
    content = library.numpy.save(converted, metadata)
    with atomic_write(path) as file:
        file.write(content)


def load_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Read all arrays of a ``.safetensors`` file; it has no way to hold code.

    Numbers of the type bfloat16, which NumPy has not, become float32. The format has
    no checksum: damage that leaves the names and sizes as they are goes unnoticed.

    Args:
        path: As given to :func:`save_safetensors`, with or without ``.safetensors``.

    Returns:
        The arrays by name.

    Raises:
        FileNotFoundError: There is no such file.
        ImportError: The package safetensors is not installed.
        TypeError: ``path`` is no path.
        ValueError: The file is damaged, is no ``.safetensors``, or holds numbers of a
            type or a shape that NumPy has not; or ``path`` names no file.
    """
    path = _with_suffix("load_safetensors", path, ".safetensors")
    library = _safetensors("load_safetensors")
    with open(path, "rb") as file:
        content = file.read()
    try:
        tensors = library.deserialize(content)
    except library.SafetensorError as error:
        raise ValueError(
            f"load_safetensors: expected a whole .safetensors file, got {path!r}: "
            f"{error}"
        ) from error
    arrays = {}
    for name, tensor in tensors:
        kind = tensor["dtype"]
        if kind != "BF16" and kind not in _DTYPES:
            raise ValueError(
                f"load_safetensors: expected numbers of a type that NumPy has, "
                f"got {kind} for {name!r} in {path!r}"
            )
        dtype = np.dtype(_DTYPES.get(kind, "uint16")).newbyteorder("<")
        try:
            x = np.frombuffer(tensor["data"], dtype).reshape(tensor["shape"])
        except ValueError:  # too many axes, or an empty one beside a gigantic one
            raise ValueError(
                "load_safetensors: expected a shape that NumPy can hold, got "
                f"{reprlib.repr(tuple(tensor['shape']))} for {name!r} in {path!r}"
            ) from None
        x = x.astype(dtype.newbyteorder("="))  # a copy, which may be written to
        if kind == "BF16":  # the upper half of a float32
            x = (x.astype(np.uint32) << 16).view(np.float32)
        arrays[name] = x
    return arrays


def safetensors_metadata(path: Path) -> dict[str, str]:
    """The text that goes with the arrays of a ``.safetensors`` file, by name.

    Args:
        path: As in :func:`load_safetensors`.

    Raises:
        FileNotFoundError: There is no such file.
        ImportError: The package safetensors is not installed.
        TypeError: ``path`` is no path.
        ValueError: The file is damaged or is no ``.safetensors``, or ``path`` names no
            file.
    """
    path = _with_suffix("safetensors_metadata", path, ".safetensors")
    library = _safetensors("safetensors_metadata")
    try:
        with library.safe_open(path, "np") as file:
            return file.metadata() or {}
    except library.SafetensorError as error:
        raise ValueError(
            f"safetensors_metadata: expected a whole .safetensors file, got {path!r}: "
            f"{error}"
        ) from error


def _safetensors(function: str) -> Any:
    try:
        importlib.import_module("safetensors.numpy")
        return importlib.import_module("safetensors")
    except ImportError as error:
        raise ImportError(
            f"{function}: expected the package safetensors, got none; "
            "pip install dezero[safetensors]"
        ) from error


def _check_arrays(function: str, arrays: Any) -> None:
    if not isinstance(arrays, Mapping):
        raise TypeError(
            f"{function}: expected a dict of arrays by name, got "
            f"{type(arrays).__name__}"
        )
    for name in arrays:
        _check_text(function, "a name", name)


def _check_text(function: str, what: str, text: Any) -> None:
    """Can ``text`` stand in a file? Halves of surrogate pairs, for instance, cannot."""
    if not isinstance(text, str):
        raise TypeError(
            f"{function}: expected text as {what}, got {type(text).__name__}"
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{function}: expected {what} of characters that UTF-8 has, got "
            f"{reprlib.repr(text)}"
        ) from None


def _with_suffix(function: str, path: Path, suffix: str = ".npz") -> str:
    try:
        path = os.fsdecode(path)
    except TypeError:
        raise TypeError(
            f"{function}: expected the path of a file, got {type(path).__name__}"
        ) from None
    try:
        possible = os.path.basename(path) and b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise ValueError(f"{function}: expected the path of a file, got {path!r}")
    return path if path.endswith(suffix) else f"{path}{suffix}"
