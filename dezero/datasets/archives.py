"""Archives that come from elsewhere, read so that none of them can do harm.

Nothing is written to disk, and what is damaged is an error, not a wrong picture.
"""

from __future__ import annotations

import gzip
import math
import os
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

Path = str | os.PathLike[str]


def read_idx(path: Path) -> np.ndarray:
    """An array of the format of MNIST (IDX), compressed by gzip or not.

    Four bytes (0, 0, type, number of axes) and the sizes come first, big-endian.

    Args:
        path: The file.

    Returns:
        The array.

    Raises:
        ValueError: The file is damaged, or too long or too short.
    """
    types = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
    try:
        with open(path, "rb") as raw:
            zipped = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            file: Any = gzip.GzipFile(fileobj=raw) if zipped else raw
            head = file.read(4)
            if len(head) < 4 or head[:2] != b"\0\0" or head[2] not in types:
                raise ValueError(f"a file that begins with {head!r}")
            sizes = file.read(4 * head[3])
            if len(sizes) < 4 * head[3]:
                raise ValueError("a file that ends within its sizes")
            shape = tuple(np.frombuffer(sizes, ">u4").tolist())
            dtype = np.dtype(types[head[2]])
            size = math.prod(shape) * dtype.itemsize
            # One byte more than there should be: a small file that unpacks to a huge
            # one is not unpacked further, and the end of gzip, with its sum, is read.
            body = _read_at_most(file, size + 1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(
            f"read_idx: expected a whole IDX file, got {os.fspath(path)!r}: {error}"
        ) from error
    if len(body) != size:
        more = "more" if len(body) > size else str(len(body))
        raise ValueError(
            f"read_idx: expected {size} bytes for shape {shape}, got {more} "
            f"in {os.fspath(path)!r}"
        )
    x = np.frombuffer(body, dtype).reshape(shape)
    return x.astype(dtype.newbyteorder("="))  # a copy that can be written


def _read_at_most(file: Any, size: int) -> bytes:
    """Bytes up to the end, or ``size`` of them; memory follows what there is."""
    parts, left = [], size
    while left:
        part = file.read(min(left, 1 << 20))
        if not part:
            break
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def read_tar(
    path: Path, names: Sequence[str], max_size: int = 1 << 28
) -> dict[str, bytes]:
    """Some files of a tar archive, compressed or not; none is written to disk.

    Args:
        path: The archive.
        names: The files in it, with their folders.
        max_size: In bytes, of each.

    Returns:
        Their contents by name.

    Raises:
        ValueError: The archive is damaged, lacks a file, has one larger than
            ``max_size``, has a link in its place, or has a member that would lie
            outside the folder that it is unpacked in.
    """
    import tarfile  # costs more than all else that importing dezero needs of it

    where = os.fspath(path)
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.replace("\\", "/")
                drive = name[1:2] == ":"
                if name.startswith("/") or drive or ".." in name.split("/"):
                    raise ValueError(f"a path that leads out of it, {member.name!r}")
                name = name.removeprefix("./")
                if name not in names:
                    continue
                if not member.isreg():
                    raise ValueError(f"{name!r} that is no plain file")
                if member.size > max_size:
                    raise ValueError(f"{name!r} of {member.size} bytes")
                file = archive.extractfile(member)
                assert file is not None
                found[name] = file.read()
            # An archive ends before its file does, and the sum of gzip comes last.
            rest: Any = archive.fileobj
            while rest.read(1 << 20):
                pass
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError, tarfile.TarError, zlib.error) as error:
        raise ValueError(
            f"read_tar: expected a whole and harmless tar archive, got {where!r} "
            f"with {error}"
        ) from error
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"read_tar: expected {missing[0]!r} in {where!r}, got none")
    return found
