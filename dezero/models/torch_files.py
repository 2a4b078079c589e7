"""Files that torch.save wrote in its old format, read without torch: no code runs."""

from __future__ import annotations

import io
import math
import os
import pickle
import reprlib
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dezero.datasets.pickles import DataUnpickler, check_places

# What the file begins with: three pickles, of this number, of the version, and of the
# byte order. Then come the pickle of the tensors, in which storages are mere keys, the
# pickle of a list of the keys, and the storages in that order: the number of elements
# in eight bytes, and the elements.
_MAGIC = 0x1950A86A20F9469CFC6C
_VERSION = 1001
_DTYPES = {
    "BoolStorage": "?",
    "ByteStorage": "u1",
    "CharStorage": "i1",
    "ShortStorage": "<i2",
    "IntStorage": "<i4",
    "LongStorage": "<i8",
    "HalfStorage": "<f2",
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
}


class _Kind(str):
    """The dtype that a class of storages stands for; text, which cannot be changed."""

    __slots__ = ()


class _Storage(NamedTuple):
    """A run of numbers, which come later in the file."""

    key: str
    dtype: str
    size: int


class _Tensor(NamedTuple):
    """Which elements of a storage a tensor consists of. Nothing is checked yet."""

    storage: Any
    offset: Any
    shape: Any
    strides: Any


class _Dict(dict):
    """Stands for OrderedDict, whose attributes (versions of layers) are of no use."""

    def __setstate__(self, state: Any) -> None:
        pass


class _TorchUnpickler(DataUnpickler):
    names: ClassVar = {
        ("collections", "OrderedDict"): _Dict,
        ("torch._utils", "_rebuild_tensor_v2"): lambda *args: _Tensor(*args[:4]),
        ("torch._utils", "_rebuild_parameter"): lambda tensor, *flags: tensor,
    }

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream)
        self.storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:
        if module == "torch" and name in _DTYPES:
            return _Kind(_DTYPES[name])
        return super().find_class(module, name)

    def persistent_load(self, pid: Any) -> _Storage:
        match pid:
            case "storage", _Kind() as kind, str(key), str(), int(size), *rest if (
                rest in ([], [None])
            ):
                storage = _Storage(key, str(kind), size)
            case _:
                raise pickle.UnpicklingError("a reference to something unknown")
        if self.storages.setdefault(key, storage) != storage:
            raise pickle.UnpicklingError(f"two storages of the key {key!r}")
        return storage


def read_torch_file(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """The tensors of a file that torch.save wrote in the format before PyTorch 1.6.

    Such a file consists of pickles, and a pickle is a program that may call anything by
    name. Here it finds stand-ins of our own only, and every number is checked against
    the bytes that are there.

    Args:
        path: The file. It must hold tensors by name, as the ``state_dict()`` of a torch
            model does.

    Returns:
        Arrays by name, in the order of the file, each with memory of its own.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is damaged, holds anything else, or is of another format.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return _read(data)
    except Exception as error:
        # What damaged bytes make of an unpickler has no end: KeyError, IndexError, ...
        # A MemoryError is one of a size that is not true: the file itself found room.
        raise ValueError(
            "read_torch_file: expected a whole file of tensors by name that torch.save "
            f"wrote in its old format, got {os.fspath(path)!r}, with "
            f"{error or type(error).__name__}"
        ) from error


def _read(data: bytes) -> dict[str, np.ndarray]:
    if data.startswith(b"PK\x03\x04"):
        if b".npy" in data[:1000]:  # the name of the first file in it
            raise ValueError("arrays in the format .npz; load_weights reads weights")
        raise ValueError(
            "the zip format of PyTorch 1.6 and later; there, "
            "torch.save(..., _use_new_zipfile_serialization=False) writes the old one"
        )
    stream = io.BytesIO(data)
    if data[:1] != b"\x80" or _load(stream)[0] != _MAGIC:
        raise ValueError(f"another beginning, {data[:16]!r}")
    version, _ = _load(stream)
    if version != _VERSION:
        raise ValueError(
            f"version {reprlib.repr(version)} of the format, not {_VERSION}"
        )
    system, _ = _load(stream)
    if system["little_endian"] is not True:
        raise ValueError("numbers whose first byte is the highest")
    tensors, storages = _load(stream)
    if not isinstance(tensors, dict) or not all(
        [
            isinstance(name, str)
            and isinstance(x, _Tensor)
            and isinstance(x.storage, _Storage)
            for name, x in tensors.items()
        ]
    ):
        raise ValueError("something else than tensors by name")
    keys, _ = _load(stream)
    # Text only: to compare tuples of the same tuple twice, and so on, has no end.
    if not all([isinstance(key, str) for key in keys]) or (
        sorted(keys) != sorted(storages)
    ):
        raise ValueError("a list of storages that are not those of the tensors")
    numbers = {key: _read_storage(stream, storages[key]) for key in keys}
    if rest := len(data) - stream.tell():
        raise ValueError(f"{rest} bytes after its end")
    return {
        name: _array(name, tensor, numbers[tensor.storage.key])
        for name, tensor in tensors.items()
    }


def _load(stream: io.BytesIO) -> tuple[Any, dict[str, _Storage]]:
    """What the next pickle holds, and the storages that it refers to."""
    check_places(stream)
    unpickler = _TorchUnpickler(stream)
    return unpickler.load(), unpickler.storages


def _read_storage(stream: io.BytesIO, storage: _Storage) -> np.ndarray:
    """The numbers of a storage, a view of bytes."""
    size = int.from_bytes(stream.read(8), "little", signed=True)
    if size != storage.size:
        raise ValueError(f"{size} numbers in the place of {storage.size}")
    dtype = np.dtype(storage.dtype)
    left = len(stream.getbuffer()) - stream.tell()
    if not 0 <= size * dtype.itemsize <= left:
        raise ValueError(f"{left} bytes in the place of {size} numbers of {dtype}")
    return np.frombuffer(stream.read(size * dtype.itemsize), dtype)


def _array(name: str, tensor: _Tensor, numbers: np.ndarray) -> np.ndarray:
    """The array of a tensor, in the order of C."""
    _, offset, shape, strides = tensor
    if (
        not isinstance(shape, tuple)
        or not isinstance(strides, tuple)
        or len(shape) != len(strides)
        or not all([type(n) is int and n >= 0 for n in (offset, *shape, *strides)])
    ):
        offset, shape, strides = map(reprlib.repr, (offset, shape, strides))
        raise ValueError(
            f"the offset {offset}, shape {shape} and strides {strides} of {name}"
        )
    size = math.prod(shape)
    last = offset + sum([(n - 1) * s for n, s in zip(shape, strides, strict=True)])
    # Strides of 0 would make a tensor of any size out of one number.
    if size > len(numbers) or (size and last >= len(numbers)):
        raise ValueError(
            f"{len(numbers)} numbers for {name} of offset {offset}, shape {shape} and "
            f"strides {strides}"
        )
    if not size:
        return np.empty(shape, numbers.dtype)
    steps = [s * numbers.itemsize for s in strides]
    x = np.lib.stride_tricks.as_strided(numbers[offset:], shape, steps)
    return x.astype(numbers.dtype.newbyteorder("="), order="C")
