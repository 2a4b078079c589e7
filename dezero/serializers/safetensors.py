"""Arrays in ``.safetensors`` files, the format in which many models are published."""

from __future__ import annotations

import importlib
import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from dezero import cuda
from dezero.serializers.files import (
    Path,
    atomic_write,
    check_arrays,
    check_text,
    with_suffix,
)

# How the types that NumPy has are called in .safetensors files.
_DTYPES = {
    "BOOL": "bool",
    **{f"U{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"F{bits}": f"float{bits}" for bits in (16, 32, 64)},
}


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
        TypeError: ``arrays`` is no dict, a name is no text, an array has a mask,
            ``metadata`` holds something else than text, or ``path`` is no path.
        ValueError: An array has a dtype that the format has not; a name is
            ``__metadata__``; text has a character that UTF-8 has not; or ``path`` names
            no file.
    """
    path = with_suffix("save_safetensors", path, ".safetensors")
    library = _safetensors("save_safetensors")
    metadata = {"format": "np", **(metadata or {})}
    for item in metadata.items():
        if not all([isinstance(text, str) for text in item]):
            raise TypeError(
                f"save_safetensors: expected metadata of text by name, got {item}"
            )
        for text in item:
            check_text("save_safetensors", "metadata", text)
    check_arrays("save_safetensors", arrays)
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
    path = with_suffix("load_safetensors", path, ".safetensors")
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
    path = with_suffix("safetensors_metadata", path, ".safetensors")
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
