"""Downloads into a cache: whole files or none, checked, resumed, from any mirror."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
import time
import urllib.parse
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

cache_dir = os.path.join(os.path.expanduser("~"), ".dezero")

_CHUNK = 1 << 16
_TIMEOUT = 30  # seconds without a byte
_ATTEMPTS = 5  # per address, as long as the connection only breaks


class _WrongFile(ValueError):
    """What came has another checksum."""


class _Broken(OSError):
    """The connection ended before the file did."""


def get_file(
    url: str,
    file_name: str | None = None,
    sha256: str | None = None,
    mirrors: Sequence[str] = (),
) -> str:
    """A file of the internet as a local file, downloaded on first need only.

    It is kept in the folder ``cache_dir``. Under its name there is a whole file or
    none, also while several processes ask for it and after one of them is killed. When
    the connection breaks, the rest is asked for, if the server is able to send a part.
    With ``sha256`` a later call resumes where an earlier one failed; without, nothing
    would tell whether the parts fit, so that it starts anew. On a terminal, and if tqdm
    is installed, a bar shows the progress.

    Args:
        url: Where it is: ``https://``, ``http://`` or ``file://``.
        file_name: Its name in the cache; the last part of ``url`` if None.
        sha256: SHA-256 of its contents, 64 hexadecimal digits. A file in the cache that
            has another one is downloaded again.
        mirrors: Other addresses of the same file, tried in order.

    Returns:
        The path of the file.

    Raises:
        ConnectionError: No address gave the file: no network, no such file, or the
            connection broke. Nothing of a file without ``sha256`` is left behind.
        ValueError: What came has another ``sha256`` (it is removed), ``url`` is of
            another kind, or ``file_name`` is no plain name.
    """
    urls = [url, *mirrors]
    for one in urls:
        if urllib.parse.urlsplit(one).scheme not in ("http", "https", "file"):
            raise ValueError(
                f"get_file: expected a url of http, https or file, got {one!r}"
            )
    if sha256 is not None and not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):
        raise ValueError(
            f"get_file: expected sha256 to be 64 hexadecimal digits, got {sha256!r}"
        )
    sha256 = None if sha256 is None else sha256.lower()
    path = os.path.join(cache_dir, _plain_name(url, file_name))
    if os.path.isfile(path) and (sha256 is None or _sha256_of(path) == sha256):
        return path
    os.makedirs(cache_dir, exist_ok=True)
    from http.client import HTTPException

    failures: list[tuple[str, Exception]] = []
    for one in urls:
        try:
            _download(one, path, sha256)
            return path
        except (OSError, HTTPException, ValueError) as error:
            failures.append((one, error))
    reasons = "".join([f"\n  {one}: {_reason(error)}" for one, error in failures])
    if all([isinstance(error, _WrongFile) for _, error in failures]):
        raise ValueError(f"get_file: expected sha256 {sha256}, got{reasons}")
    raise ConnectionError(
        f"get_file: expected to download {os.path.basename(path)}, got{reasons}\n"
        f"Without network, put the file there by hand: {path}"
    )


def _plain_name(url: str, file_name: str | None) -> str:
    name = file_name
    if name is None:
        # A path may hold %2F, and a name of the cache must not lead out of it.
        name = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])
    if not name or name in (".", "..") or re.search(r'[/\\:*?"<>|\x00-\x1f]', name):
        raise ValueError(
            f"get_file: expected a plain file name, got {name!r}"
            + (f" from {url!r}; give one as file_name" if file_name is None else "")
        )
    return name


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None)  # of a URLError; str(error) wraps it in <>
    if reason is not None and not hasattr(error, "code"):
        return str(reason)
    return str(error) or type(error).__name__


def _sha256_of(path: str) -> str:
    import hashlib  # loads OpenSSL: on need only, like the modules of the net

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _size(path: str) -> int:
    return os.path.getsize(path) if os.path.exists(path) else 0


def _left_behind(path: str) -> list[str]:
    """The unfinished files of processes that were killed.

    A living one writes, or gives up, within the time-out.
    """
    folder, name = os.path.split(path)
    pattern = re.compile(re.escape(name) + r"\.[0-9a-f]{32}\.part")
    old = time.time() - 10 * _TIMEOUT
    found = []
    for name in os.listdir(folder):
        left = os.path.join(folder, name)
        with contextlib.suppress(OSError):  # another process may be faster
            if pattern.fullmatch(name) and os.path.getmtime(left) < old:
                found.append(left)
    return found


def _download(url: str, path: str, sha256: str | None) -> None:
    """Bring the file of ``url`` to ``path``, all of it or nothing."""
    kept = None  # where an earlier call left what it had got
    # In the same folder, for a rename is atomic only within a file system. The name is
    # nobody else's: a process that takes over what is kept takes it alone.
    part = f"{path}.{uuid.uuid4().hex}.part"
    if sha256 is not None:
        kept = f"{path}.{sha256[:16]}.part"
        with contextlib.suppress(OSError):
            os.replace(kept, part)
    for left in _left_behind(path):
        with contextlib.suppress(OSError):
            if sha256 is None or os.path.exists(part):
                os.remove(left)
            else:
                os.replace(left, part)
    try:
        resumed = os.path.exists(part)
        _fetch(url, part, resumed)
        if resumed and _sha256_of(part) != sha256:
            os.remove(part)  # the two parts are not of one file: all of it again
            _fetch(url, part, False)
        if sha256 is not None and _sha256_of(part) != sha256:
            raise _WrongFile(f"a file of sha256 {_sha256_of(part)}")
        os.replace(part, path)
    except BaseException as error:
        # A wrong file is removed; half of a right one may be kept.
        with contextlib.suppress(OSError):
            if kept is None or isinstance(error, _WrongFile) or not _size(part):
                os.remove(part)
            else:
                os.replace(part, kept)
        raise


def _fetch(url: str, part: str, resume: bool) -> None:
    """Write the contents of ``url`` to ``part``; go on when the connection breaks."""
    import urllib.error

    validator = None  # what tells that the file of the server is still the same
    for attempt in range(_ATTEMPTS):
        size = _size(part)
        first = attempt == 0
        may_resume = size > 0 and (validator is not None or (resume and first))
        try:
            validator = _fetch_once(url, part, size if may_resume else 0, validator)
            return
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 416 or not may_resume:
                raise
            os.remove(part)  # it is longer than the file of the server
            validator = None
        except _Broken as error:
            validator = error.args[1]
            if attempt == _ATTEMPTS - 1 or validator is None:
                raise _Broken(error.args[0]) from error


def _fetch_once(url: str, part: str, start: int, validator: str | None) -> str | None:
    """Append what follows byte ``start``, or write it all if the server does so.

    Returns:
        The validator of the file that the server sent, or None.

    Raises:
        _Broken: With what happened and the validator as arguments.
    """
    import urllib.request
    from http.client import HTTPException

    request = urllib.request.Request(url, headers={"User-Agent": "dezero"})
    if start and request.type != "file":
        request.add_header("Range", f"bytes={start}-")
        if validator is not None:  # else the whole file, if it is another one by now
            request.add_header("If-Range", validator)
    with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
        headers = response.headers
        length = headers.get("Content-Length")
        is_part = getattr(response, "status", None) == 206
        if is_part and not (headers.get("Content-Range") or "").startswith(
            f"bytes {start}-"
        ):
            raise OSError(f"expected bytes from {start} on, got other ones")
        if not is_part:
            start = 0
        tag = headers.get("ETag")
        if tag is None or tag.startswith("W/"):  # a weak one does not say "same bytes"
            tag = headers.get("Last-Modified")
        total = None if length is None else start + int(length)
        done = start
        with (
            open(part, "r+b" if start else "wb") as file,
            _progress(os.path.basename(url), total, start) as advance,
        ):
            file.seek(start)
            while True:
                try:
                    chunk = response.read(_CHUNK)
                except (OSError, HTTPException) as error:
                    what = f"the connection broke after {done} bytes: {_reason(error)}"
                    raise _Broken(what, tag) from error
                if not chunk:
                    break
                file.write(chunk)
                done += len(chunk)
                advance(len(chunk))
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
    if total is not None and done != total:
        raise _Broken(f"{done} bytes of {total}: the connection broke", tag)
    return tag


@contextlib.contextmanager
def _progress(
    name: str, total: int | None, start: int
) -> Iterator[Callable[[int], Any]]:
    """A function that takes the number of new bytes: a bar if one is of use."""
    if not sys.stderr.isatty():
        yield lambda n: None
        return
    try:
        tqdm = importlib.import_module("tqdm").tqdm
    except ImportError:
        print(f"Downloading {name}", file=sys.stderr)
        yield lambda n: None
        return
    with tqdm(desc=name, total=total, initial=start, unit="B", unit_scale=True) as bar:
        yield bar.update
