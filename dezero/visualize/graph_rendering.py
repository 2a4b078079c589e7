"""From DOT text to pictures: with ``dot`` of Graphviz, or with ``graphviz-pure``.

Both are programs that take the same options. They are called directly: the package
``graphviz`` knows ``dot`` only, and hands over text in a file of its own.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import shutil
import subprocess
from typing import Any

from dezero.serializers import Path, atomic_write

_PURE = "graphviz-pure"
_INSTALL = (
    "drawing needs a program that lays out graphs; write pip install "
    "'dezero[plot]', or install Graphviz, whose dot is used if it is on the PATH"
)
_TEXT = ("dot", "gv")  # what it takes no program for
# What each can be asked for here; graphviz-pure writes no pdf yet.
_PURE_FORMATS = ("svg", "png", "jpg", "jpeg")
_DOT_FORMATS = (*_PURE_FORMATS, "pdf", "ps", "eps", "gif")
_FINE, _COARSE = 144, 96  # pixels per inch
_LARGE = 30_000  # characters of DOT, from which on a fine picture has too many pixels
TIMEOUT = 300.0


def find_renderer() -> str | None:
    """The path of ``dot``, else of ``graphviz-pure``, else None."""
    return shutil.which("dot") or shutil.which(_PURE) or _installed_pure()


def _installed_pure() -> str | None:
    """``graphviz-pure`` where pip put it; without an activated environment, no PATH."""
    try:
        files = importlib.metadata.files(_PURE) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.stem == _PURE and file.suffix in ("", ".exe"):
            path = str(file.locate())
            if os.access(path, os.X_OK):
                return os.path.realpath(path)
    return None


def file_format(function: str, path: Path) -> str:
    """The type of file that the end of ``path`` names.

    Raises:
        ValueError: It names none that is known.
    """
    name = os.fsdecode(path)
    suffix = os.path.splitext(name)[1][1:].lower()
    if suffix not in (*_DOT_FORMATS, *_TEXT):
        known = ", ".join([f".{s}" for s in (*_DOT_FORMATS, *_TEXT)])
        raise ValueError(
            f"{function}: expected a file name that ends in one of {known}, got "
            f"{name!r}"
        )
    return suffix


def write_picture(function: str, dot: str, path: Path) -> None:
    """Draw into a file, which takes the place of an older one when it is complete.

    Raises:
        ImportError: There is no program to draw with.
        OSError: The file cannot be written there: the folder is missing, for instance.
        RuntimeError: The program failed.
        ValueError: The type of the file is not known, or not to the program.
    """
    kind = file_format(function, path)
    if kind in _TEXT:
        with atomic_write(path) as file:
            file.write(_encoded(dot))
        return
    command = _command(function, kind, dot)
    with atomic_write(path) as file:
        _run(function, [*command, "-o", file.name], dot, TIMEOUT)
        if not os.path.getsize(file.name):
            raise RuntimeError(f"{function}: {command[0]} wrote nothing")


def picture(function: str, dot: str, kind: str, timeout: float = TIMEOUT) -> bytes:
    """Draw into memory, as ``kind`` ("svg", "png", ...).

    Raises:
        ImportError: There is no program to draw with.
        RuntimeError: The program failed, or took longer than ``timeout`` seconds.
        ValueError: The program does not know ``kind``.
    """
    command = _command(function, kind, dot)
    data = _run(function, command, dot, timeout)
    if not data:
        raise RuntimeError(f"{function}: {command[0]} wrote nothing")
    return data


def _command(function: str, kind: str, dot: str) -> list[str]:
    program = find_renderer()
    if program is None:
        raise ImportError(f"{function}: {_INSTALL}")
    pure = os.path.splitext(os.path.basename(program))[0] == _PURE
    known = _PURE_FORMATS if pure else _DOT_FORMATS
    if kind not in known:
        more = "; dot of Graphviz, where it is installed, writes more" if pure else ""
        raise ValueError(
            f"{function}: expected one of the types {', '.join(known)}, which "
            f"{os.path.basename(program)} writes, got {kind}{more}"
        )
    command = [program, "-Kdot", f"-T{kind}"]
    if kind in ("png", "jpg", "jpeg", "gif"):
        command.append(f"-Gdpi={_FINE if len(dot) < _LARGE else _COARSE}")
    return command


def _run(function: str, command: list[str], dot: str, timeout: float) -> bytes:
    options: dict[str, Any] = {}
    if os.name == "nt":  # no console window for a moment
        options["creationflags"] = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    try:
        result = subprocess.run(
            command,
            input=_encoded(dot),
            capture_output=True,
            timeout=timeout,
            **options,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(
            f"{function}: expected a drawing within {timeout:g} seconds; draw less, "
            "with fold=True, depth= or a smaller limit"
        ) from None
    except OSError as error:
        raise RuntimeError(f"{function}: {command[0]} did not start: {error}") from None
    if result.returncode:
        said = result.stderr.decode("utf-8", "replace").strip()
        raise RuntimeError(
            f"{function}: {command[0]} failed with status {result.returncode}: "
            f"{said[:500] or 'it said nothing'}"
        )
    return result.stdout


def _encoded(dot: str) -> bytes:
    return dot.encode("utf-8", "replace")  # a lone surrogate has no encoding


class Drawing:
    """A drawn graph: shown as a picture in notebooks, saved with :meth:`save`.

    Attributes:
        dot: The graph in the DOT language.
    """

    def __init__(self, dot: str, text: str) -> None:
        self.dot = dot
        self._text = text

    def save(self, path: Path) -> None:
        """Write the picture to a file.

        Args:
            path: Its end tells the type: ``.svg``, ``.png`` or ``.jpg``; ``.dot`` for
                the text alone; with Graphviz's own ``dot`` also ``.pdf`` and others.

        Raises:
            ImportError: There is no program to draw with.
            OSError: It cannot be written there: the folder is missing, for instance.
            RuntimeError: The program failed.
            ValueError: The type of the file is not known, or not to the program.
        """
        write_picture("Drawing.save", self.dot, path)

    def render(self, kind: str = "svg") -> bytes:
        """The picture as bytes: ``"svg"``, ``"png"``, ...

        Raises:
            ImportError: There is no program to draw with.
            RuntimeError: The program failed.
            ValueError: The program does not know ``kind``.
        """
        return picture("Drawing.render", self.dot, kind)

    def _repr_svg_(self) -> str | None:
        """What notebooks show; None, and so text, where it cannot be drawn."""
        with contextlib.suppress(Exception):
            return picture("Drawing", self.dot, "svg").decode("utf-8")
        return None

    def _repr_png_(self) -> bytes | None:
        """Likewise, for what takes no SVG."""
        with contextlib.suppress(Exception):
            return picture("Drawing", self.dot, "png")
        return None

    def __repr__(self) -> str:
        hint = "save('graph.svg') draws it"
        if find_renderer() is None:
            hint = "pip install 'dezero[plot]' to see it"
        return f"Drawing({self._text}; {hint})"
