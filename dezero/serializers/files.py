"""What every kind of file needs: names and paths are checked, and writes are whole.

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
from collections.abc import Iterator, Mapping
from typing import IO, Any

import numpy as np

Path = str | os.PathLike[str]


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of ``path`` only when it is complete.

    After an exception, or if the process is killed, what was at ``path`` still is.
    A killed process leaves its unfinished file beside it, with a name that begins like
    ``path`` and ends in ``.tmp``. The next write to ``path`` removes it, on systems
    with ``flock`` (not on Windows); that of a process still writing is left alone. Who
    may read and write ``path`` stays as it was.

    Args:
        path: Where the file goes. A link is followed. What is no file (a pipe,
            ``/dev/null``) stays in its place and is written to as it is.

    Raises:
        OSError: It cannot be written there: the folder is missing, for instance.
    """
    if _is_stream(path):
        with open(path, "wb") as file:
            yield file
        return
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


def _is_stream(path: Path) -> bool:
    """Is there something that bytes go through, a pipe or a device?"""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


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


def with_suffix(function: str, path: Path, suffix: str) -> str:
    """The path of a file, with the suffix where it is missing."""
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


def check_arrays(function: str, arrays: Any) -> None:
    """Is it a dict whose names, and all of whose numbers, can stand in a file?"""
    if not isinstance(arrays, Mapping):
        raise TypeError(
            f"{function}: expected a dict of arrays by name, got "
            f"{type(arrays).__name__}"
        )
    for name, x in arrays.items():
        check_text(function, "a name", name)
        if isinstance(x, np.ma.MaskedArray):
            raise TypeError(
                f"{function}: expected arrays without a mask, which would be lost, got "
                f"{type(x).__name__} for {name!r}; write x.filled(value)"
            )


def check_text(function: str, what: str, text: Any) -> None:
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
