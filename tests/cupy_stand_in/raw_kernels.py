"""Kernels in plain C++: their arguments checked against the source, then the twins.

CuPy hands over to such a kernel whatever it is given; one of the wrong size or type
makes it read elsewhere. Here the source is read for what it declares, and every pointer
must lead to an array that is alive.
"""

import ctypes
import re

import numpy as np

from dezero.kernels.multi_tensor import MULTI_TENSOR_KERNELS
from dezero.kernels.multi_tensor_source import CHUNK, THREADS, parameters_of

from . import memory
from .wrapping import is_array, unwrap

MOST_BYTES = 4096  # of all arguments: more do not work on every card
DTYPES = {"float16": "e", "float": "f", "double": "d", "bool": "?"}
FIELDS = {"void*": ctypes.c_void_p, "long long": ctypes.c_longlong, "int": ctypes.c_int}


class RawKernel:
    """A function of C++ that a :class:`MultiTensorKernel` has written."""

    __module__ = "cupy"

    def __init__(
        self,
        code,
        name,
        options=(),
        backend="nvrtc",
        *,
        translate_cucomplex=False,
        enable_cooperative_groups=False,
        jitify=None,
    ):
        if not (isinstance(code, str) and isinstance(name, str)):
            raise TypeError("Expected str")
        if not isinstance(options, tuple):
            raise TypeError("Argument 'options' has incorrect type (expected tuple)")
        found = re.search(rf'extern "C" __global__ void {name}\((.*?)\)', code, re.S)
        if found is None:
            raise RuntimeError(f"CUDA_ERROR_NOT_FOUND: named symbol not found: {name}")
        self.name = self.__name__ = name
        typedefs = re.findall(r"typedef (\w+) (\w);", code)
        types = {letter: c_name for c_name, letter in typedefs}
        self._parameters = [
            Parameter(text, types) for text in found[1].split(",") if text.strip()
        ]
        self._struct = struct_of(re.search(r"struct Tensors \{(.*?)\};", code, re.S)[1])
        self._kernel = MULTI_TENSOR_KERNELS[name].kernel
        pattern = r"(?:const )?(\w+)\* const _at_(\w+) = "
        self._many = [
            (name, np.dtype(DTYPES[types.get(kind, kind)]))
            for kind, name in re.findall(pattern, code)
        ]

    def __call__(self, grid, block, args, *, shared_mem=0, stream=None):
        if not (isinstance(grid, tuple) and isinstance(block, tuple)):
            raise TypeError("Argument has incorrect type (expected tuple)")
        if not (1 <= grid[0] < 2**31 and block == (THREADS,) and len(grid) == 1):
            raise RuntimeError(f"CUDA_ERROR_INVALID_VALUE: {grid} blocks of {block}")
        if len(args) != len(self._parameters):
            raise RuntimeError(f"{self.name} reads {len(self._parameters)} arguments")
        size = 0
        values = {}
        for p, x in zip(self._parameters, args, strict=True):
            values[p.name] = p.value(x, self._struct)
            width = ctypes.sizeof(self._struct) if p.is_struct else p.bytes
            size = -(-size // min(width, 8)) * min(width, 8) + width
        if size > MOST_BYTES:
            raise RuntimeError(f"CUDA_ERROR_INVALID_VALUE: {size} bytes of arguments")
        tensors = values.pop("_tensors")
        for number in range(grid[0]):
            self._run_block(number, tensors, values)

    def _run_block(self, number, tensors, shared):
        """What all threads of one block do."""
        k = max([k for k, first in enumerate(tensors.first) if first <= number])
        size, start = tensors.size[k], (number - tensors.first[k]) * CHUNK
        if start >= size:
            raise RuntimeError(f"block {number} of {self.name} finds nothing to do")
        values = dict(shared)
        for (name, dtype), kind in zip(self._many, tensors.at, strict=True):
            elements = memory.at(kind[k], dtype, (size,), (1,))
            values[name] = elements[start : start + CHUNK]
        arguments = []
        for p in parameters_of(self._kernel):
            if p.name in values:
                x = values[p.name]
            else:  # one result of a reduction for each block
                x = values[f"_at_{p.name}"][number : number + 1].reshape(())
            if isinstance(x, np.ndarray) and not p.written:
                x = x.view()
                x.flags.writeable = False
            arguments.append(x)
        with np.errstate(all="ignore"):
            self._kernel.twin(*arguments)


class Parameter:
    """One of ``const double* const scale``, ``const W lr``."""

    def __init__(self, text, types):
        words = text.replace("*", " * ").split()
        words = [word for word in words if word != "const"]
        self.name, self.is_pointer = words[-1], "*" in words
        self.is_struct = words[0] == "Tensors"
        if not self.is_struct:
            self.dtype = np.dtype(DTYPES[types.get(words[0], words[0])])
            self.bytes = 8 if self.is_pointer else self.dtype.itemsize

    def value(self, x, struct):
        """What the kernel reads, of an argument."""
        if isinstance(x, np.ndarray) and x.size != 1:
            raise TypeError(
                f"You are trying to pass a numpy.ndarray of shape {x.shape} as a "
                "kernel parameter. Only numpy.ndarrays of size one can be passed by "
                "value."
            )
        if self.is_struct:
            if not isinstance(x, np.ndarray) or x.nbytes != ctypes.sizeof(struct):
                raise TypeError(f"{self.name} reads {ctypes.sizeof(struct)} bytes")
            return struct.from_buffer_copy(x.tobytes())
        if self.is_pointer:
            if not is_array(x) or x.dtype != self.dtype or not x.flags.c_contiguous:
                raise TypeError(f"{self.name} reads an array of {self.dtype}")
            return unwrap(x).reshape(-1)
        if is_array(x) or np.asarray(x).dtype != self.dtype:
            raise TypeError(f"{self.name} reads a number of {self.dtype}")
        return x


def struct_of(text):
    """The struct that C++ makes of these lines, with its padding."""
    fields = []
    for line in text.strip().splitlines():
        kind, name, sizes = re.match(r"\s*(.+) (\w+)((?:\[\d+\])+);", line).groups()
        field = FIELDS[kind]
        for n in reversed(re.findall(r"\d+", sizes)):
            field = field * int(n)
        fields.append((name, field))
    return type("Tensors", (ctypes.Structure,), {"_fields_": fields})
