"""Pickles read as data: whatever a file holds, no code in it runs."""

from __future__ import annotations

import io
import pickle
import pickletools
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

_NUMBERS = re.compile("[biuf][0-9]{0,2}")  # the names of their dtypes
# Never the whole: of a list of the same list twice, and so on, it has no end.
_shown = reprlib.repr


class _DType:
    """Stands for numpy.dtype in a pickle: a name and a byte order, nothing more."""

    __slots__ = ("dtype",)

    def __init__(self, name: Any) -> None:
        text = name.decode("ascii") if isinstance(name, bytes) else name
        if not isinstance(text, str) or not _NUMBERS.fullmatch(text):
            raise pickle.UnpicklingError(f"an array of dtype {_shown(name)}")
        self.dtype = np.dtype(text)

    def __setstate__(self, state: Any) -> None:
        order = state[1].decode("ascii") if isinstance(state[1], bytes) else state[1]
        if order in ("<", ">"):
            self.dtype = np.dtype(order + self.dtype.str[1:])


class _Bytes:
    """Stands for bytes that are written as text, as Python 3 does for Python 2."""

    __slots__ = ("size", "text")

    def __init__(self, text: Any, encoding: Any = "latin-1") -> None:
        if not isinstance(text, str):
            raise pickle.UnpicklingError(f"{_shown(text)} in the place of text")
        if encoding not in ("latin1", "latin-1", b"latin1"):
            raise pickle.UnpicklingError(f"text in the encoding {_shown(encoding)}")
        self.text = text
        self.size = len(text)

    def made(self) -> bytes:
        """The bytes."""
        return self.text.encode("latin-1")


class _Array:
    """Stands for numpy.ndarray in a pickle: what it is made of is checked."""

    __slots__ = ("parts", "size")

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, is_fortran, data = state
        if isinstance(data, str):
            data = _Bytes(data)
        self._set(data, dtype, shape, "F" if is_fortran else "C")

    @classmethod
    def of_buffer(cls, *parts: Any) -> _Array:
        """As protocol 5 writes arrays."""
        self = cls()
        self._set(*parts)
        return self

    def _set(
        self, data: Any, dtype: Any, shape: Any, order: Any, axes: Any = None
    ) -> None:
        if not isinstance(dtype, _DType) or not isinstance(
            data, (bytes, bytearray, _Bytes)
        ):
            raise pickle.UnpicklingError("an array of objects")
        # Of one of order "K", the axes say how it lies.
        if not (
            isinstance(axes, tuple)
            if order == "K"
            else order in ("C", "F") and axes is None
        ):
            raise pickle.UnpicklingError(
                f"an array of order {_shown(order)}, axes {_shown(axes)}"
            )
        self.size = data.size if isinstance(data, _Bytes) else len(data)
        self.parts = data, dtype.dtype, shape, order, axes

    def made(self) -> np.ndarray:
        """The array, in memory of its own."""
        data, dtype, shape, order, axes = self.parts
        x = np.frombuffer(data.made() if isinstance(data, _Bytes) else data, dtype)
        if order == "K":
            x = x.reshape(shape).transpose(axes)
        else:
            x = x.reshape(shape, order=order)
        return x.astype(dtype.newbyteorder("="), order="C")


class _Callable:
    """Stands for a function in a pickle. Without attributes, none can be set."""

    __slots__ = ("_call",)
    _call: Any

    def __init__(self, call: Any) -> None:
        object.__setattr__(self, "_call", call)

    def __setattr__(self, name: str, value: Any) -> None:
        raise pickle.UnpicklingError(f"a change of a function, {name!r}")

    def __call__(self, *args: Any) -> Any:
        return self._call(*args)


def _empty() -> bytes:
    return b""  # which it pickles as bytes(); bytes(10**12) would find no room


_HARMLESS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): lambda *args: None,  # a mark, only handed to _reconstruct
    ("numpy", "dtype"): lambda name, *flags: _DType(name),
    ("numpy.core.multiarray", "_reconstruct"): lambda *args: _Array(),
    ("numpy._core.multiarray", "_reconstruct"): lambda *args: _Array(),
    ("numpy.core.numeric", "_frombuffer"): _Array.of_buffer,
    ("numpy._core.numeric", "_frombuffer"): _Array.of_buffer,
    ("_codecs", "encode"): _Bytes,
    ("__builtin__", "bytes"): _empty,
}


class DataUnpickler(pickle.Unpickler):
    """An unpickler that finds stand-ins of ours and nothing else.

    A subclass for another kind of file has a table ``names`` of its own: by module and
    name, a function that makes data of its arguments.
    """

    names: ClassVar[Mapping[tuple[str, str], Callable[..., Any]]] = _HARMLESS

    def find_class(self, module: str, name: str) -> Any:
        """What stands for a name."""
        if (module, name) not in self.names:
            raise pickle.UnpicklingError(f"the name {module}.{name}")
        return _Callable(self.names[module, name])

    def persistent_load(self, pid: Any) -> Any:
        """What stands for something outside of the pickle: nothing does."""
        raise pickle.UnpicklingError("a reference to something outside")


_OPCODES = {opcode.code: opcode for opcode in pickletools.opcodes}
_REMEMBERS = ("PUT", "BINPUT", "LONG_BINPUT")


def check_places(stream: io.BytesIO) -> None:
    """Refuse a pickle that would take more memory than its own bytes account for.

    An unpickler makes room for the highest place to remember something at: up to 64 GB
    for a number in five bytes. True places are counted from 0 or 1, one for each thing
    that was made before, and so never come to more than the steps up to there. Reading
    the steps also finds lengths that go beyond the end, for which room would be made.

    Args:
        stream: At the beginning of a pickle, where it will be again.

    Raises:
        ValueError: There is such a place or length, or the pickle is damaged.
    """
    start = stream.tell()
    for i, (name, place) in enumerate(_steps(stream)):
        if name in _REMEMBERS and isinstance(place, int) and place > i:
            raise ValueError(f"a place {place} to remember something at")
    stream.seek(start)


def _steps(stream: io.BytesIO) -> Iterator[tuple[str, Any]]:
    """The steps of a pickle by name, and what each takes.

    What pickletools.genops gives, but for STRING: it would refuse any text of Python 2
    that is not ASCII, such as the bytes of an array.
    """
    name = ""
    while name != "STOP":
        code = stream.read(1)
        opcode = _OPCODES.get(code.decode("latin-1"))
        if opcode is None:
            raise ValueError(f"the step {code!r}" if code else "no last step")
        name = opcode.name
        if name == "STRING":
            yield name, stream.readline()
        else:
            yield name, opcode.arg.reader(stream) if opcode.arg else None


def unpickle_data(data: bytes) -> Any:
    """What a pickle holds: numbers, text, containers and numeric arrays. No code runs.

    A pickle is a program that may call anything by name. Here it only finds stand-ins
    of our own, which build arrays from bytes. What it holds twice is one object.

    Args:
        data: The pickle, of Python 2 or 3; text of Python 2 becomes bytes.

    Raises:
        ValueError: It is damaged, or asks for anything else.
    """
    stream = io.BytesIO(data)
    try:
        check_places(stream)
        found = DataUnpickler(stream, encoding="bytes").load()
        return _Plain(len(data)).of(found)
    except MemoryError:
        raise
    except Exception as error:
        # What damaged bytes make of an unpickler has no end: KeyError, IndexError, ...
        raise ValueError(
            "unpickle_data: expected a whole pickle of numbers, text and arrays, "
            f"got one with {error or type(error).__name__}"
        ) from error


_MADE_ANEW = _Array, _Bytes, dict, list, tuple, set, frozenset


class _Plain:
    """Puts arrays and bytes in the place of what stood for them.

    Args:
        size: Of the pickle. The arrays of a true one have no more bytes, for each
            brings its own; those of a made-up one could all name the same many.
    """

    def __init__(self, size: int) -> None:
        self._left = size
        # What was seen before: lists of the same list twice, in lists of that list
        # twice and so on, would become too many if each counted anew.
        self._known: dict[int, Any] = {}

    def of(self, x: Any) -> Any:
        """What ``x`` is without stand-ins."""
        if isinstance(x, (_DType, _Callable)):
            raise ValueError("a function in the place of data")
        if not isinstance(x, _MADE_ANEW):
            return x
        if id(x) not in self._known:  # all live until the end: no id comes twice
            self._known[id(x)] = self._built(x)
        return self._known[id(x)]

    def _built(self, x: Any) -> Any:
        if isinstance(x, (_Array, _Bytes)):
            self._left -= x.size
            if self._left < 0:
                raise ValueError("more bytes in it than it has")
            return x.made()
        if isinstance(x, dict):
            return {self.of(key): self.of(value) for key, value in x.items()}
        return type(x)([self.of(value) for value in x])
