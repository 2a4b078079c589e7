"""Pickles read as data: whatever a file holds, no code in it runs."""

from __future__ import annotations

import io
import pickle
import pickletools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np


class _DType:
    """Stands for numpy.dtype in a pickle: a name and a byte order, nothing more."""

    __slots__ = ("dtype",)

    def __init__(self, name: Any) -> None:
        text = name.decode("ascii") if isinstance(name, bytes) else name
        if not isinstance(text, str) or text[:1] not in "biuf" or len(text) > 3:
            raise pickle.UnpicklingError(f"an array of dtype {name!r}")
        self.dtype = np.dtype(text)

    def __setstate__(self, state: Any) -> None:
        order = state[1].decode("ascii") if isinstance(state[1], bytes) else state[1]
        if order in ("<", ">"):
            self.dtype = np.dtype(order + self.dtype.str[1:])


class _Array:
    """Stands for numpy.ndarray in a pickle: its bytes are checked, then viewed."""

    __slots__ = ("value",)

    def __setstate__(self, state: Any) -> None:
        _, shape, dtype, is_fortran, data = state
        if isinstance(data, str):
            data = data.encode("latin-1")
        order: Any = "F" if is_fortran else "C"
        self.value = _numbers(data, dtype).reshape(shape, order=order)

    @classmethod
    def of_buffer(
        cls, data: Any, dtype: Any, shape: Any, order: Any, axes: Any = None
    ) -> _Array:
        """As protocol 5 writes arrays: ``axes`` is how one of order "K" lies."""
        self = cls()
        if order in ("C", "F") and axes is None:
            self.value = _numbers(data, dtype).reshape(shape, order=order)
        elif order == "K" and isinstance(axes, tuple):
            self.value = _numbers(data, dtype).reshape(shape).transpose(axes)
        else:
            raise pickle.UnpicklingError(f"an array of order {order!r}, axes {axes!r}")
        return self


def _numbers(data: Any, dtype: Any) -> np.ndarray:
    if not isinstance(dtype, _DType) or not isinstance(data, (bytes, bytearray)):
        raise pickle.UnpicklingError("an array of objects")
    return np.frombuffer(data, dtype.dtype)


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


def _encoded(text: str, encoding: Any = "latin-1") -> bytes:
    if encoding not in ("latin1", "latin-1", b"latin1"):
        raise pickle.UnpicklingError(f"text in the encoding {encoding!r}")
    return text.encode("latin-1")  # how Python 3 pickles bytes for Python 2


def _empty() -> bytes:
    return b""  # which it pickles as bytes(); bytes(10**12) would find no room


_HARMLESS: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): lambda *args: None,  # a mark, only handed to _reconstruct
    ("numpy", "dtype"): lambda name, *flags: _DType(name),
    ("numpy.core.multiarray", "_reconstruct"): lambda *args: _Array(),
    ("numpy._core.multiarray", "_reconstruct"): lambda *args: _Array(),
    ("numpy.core.numeric", "_frombuffer"): _Array.of_buffer,
    ("numpy._core.numeric", "_frombuffer"): _Array.of_buffer,
    ("_codecs", "encode"): _encoded,
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


class _Plain:
    """Puts arrays in the place of what stood for them.

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
        if not isinstance(x, (_Array, dict, list, tuple, set, frozenset)):
            return x
        if id(x) not in self._known:  # all live until the end: no id comes twice
            self._known[id(x)] = self._built(x)
        return self._known[id(x)]

    def _built(self, x: Any) -> Any:
        if isinstance(x, _Array):
            self._left -= x.value.nbytes
            if self._left < 0:
                raise ValueError("arrays of more bytes than it has")
            return x.value.astype(x.value.dtype.newbyteorder("="), order="C")
        if isinstance(x, dict):
            return {self.of(key): self.of(value) for key, value in x.items()}
        return type(x)([self.of(value) for value in x])
