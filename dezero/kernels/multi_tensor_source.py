"""The C++ of kernels in the form that takes many arrays in one launch.

The body is the one of the kernel itself; here is what stands around it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dezero.kernels.fusing import WIDE, Kernel

#: Arrays of each kind in one launch. With five kinds and the numbers of a rule they
#: fill the 4096 bytes that the arguments of a launch may have on every card.
TENSORS = 72
THREADS = 256  # of one block
CHUNK = 2048  # elements that one block works on

#: The names in C++ of the dtypes that the arrays may have, and the numbers.
NAMES = {"e": "float16", "f": "float", "d": "double", "?": "bool"}

# Stored in half precision, computed with in single: two conversions are all it takes.
HALF = """
#include <cuda_fp16.h>
struct float16 {
  __half stored;
  __device__ float16& operator=(float x) { stored = __float2half_rn(x); return *this; }
  __device__ operator float() const { return __half2float(stored); }
};
"""

AROUND = """
struct Tensors {
  void* at[%(kinds)d][%(most)d];
  long long size[%(most)d];
  int first[%(most)d];
};
extern "C" __global__ void %(name)s(%(arguments)s) {
  // The tensor of this block: the last whose first block does not come after it.
  const int _block = blockIdx.x;
  int _k = 0;
  for (int _step = 64; _step > 0; _step /= 2)
    if (_k + _step < %(most)d && _tensors.first[_k + _step] <= _block) _k += _step;
  const long long _from = (long long)(_block - _tensors.first[_k]) * %(chunk)d;
  const long long _size = _tensors.size[_k];
  const long long _end = _size - _from < %(chunk)d ? _size : _from + %(chunk)d;
  %(pointers)s
  %(work)s
}
"""

ELEMENTWISE = """
  for (long long i = _from + threadIdx.x; i < _end; i += %(threads)d) {
    %(elements)s
    { %(body)s }
  }
"""

# Each thread joins elements of its own, then half of the threads those of the others.
REDUCTION = """
  %(kept)s a = %(start)s;
  for (long long i = _from + threadIdx.x; i < _end; i += %(threads)d) {
    %(elements)s
    const %(kept)s b = %(each)s;
    a = %(join)s;
  }
  __shared__ %(kept)s _all[%(threads)d];
  _all[threadIdx.x] = a;
  for (int _half = %(threads)d / 2; _half > 0; _half /= 2) {
    __syncthreads();
    if (threadIdx.x < _half) {
      a = _all[threadIdx.x];
      const %(kept)s b = _all[threadIdx.x + _half];
      _all[threadIdx.x] = %(join)s;
    }
  }
  if (threadIdx.x == 0) {
    a = _all[0];
    %(results)s
    %(end)s;
  }
"""


class Parameter(NamedTuple):
    """One of ``"raw T x, float64 lr"``, and whether the kernel writes to it."""

    type: str
    name: str
    raw: bool
    written: bool


@functools.cache
def parameters_of(kernel: Kernel) -> tuple[Parameter, ...]:
    """Inputs, then outputs."""
    found = []
    for part, written in ("in_params", False), ("out_params", True):
        for text in kernel.parts[part].split(","):
            *raw, kind, name = text.split()
            found.append(Parameter(kind, name, bool(raw), written))
    return tuple(found)


def letters_of(
    parameters: Sequence[Parameter], chars: Sequence[str]
) -> dict[str, str] | None:
    """Which dtypes the letters stand for; None where the arrays leave that open."""
    letters: dict[str, str] = {}
    for p, char in zip(parameters, chars, strict=True):
        if char:
            fixed = np.dtype(p.type).char if len(p.type) > 1 else char
            if letters.setdefault(p.type, fixed) != char or char not in NAMES:
                return None
    open_ones = [p for p in parameters if len(p.type) == 1 and p.type not in letters]
    return None if open_ones else letters


def source(kernel: Kernel, name: str, chars: Sequence[str]) -> str:
    """The code of a function ``name``.

    Its arguments are a struct with the pointers, then what is the same for all arrays,
    in the order of the parameters; of a reduction then the results, one per block.

    Args:
        kernel: An elementwise kernel or a reduction.
        name: Of the function.
        chars: The dtype of each parameter that stands for many arrays; "" for others.
    """
    parameters = parameters_of(kernel)
    letters = letters_of(parameters, chars)
    assert letters is not None
    c_names = {k: NAMES[char] for k, char in letters.items() if len(k) == 1}
    is_reduction = kernel.kind == "ReductionKernel"
    arguments = ["const Tensors _tensors"]
    pointers: list[str] = []
    elements, results = [], []
    for p, char in zip(parameters, chars, strict=True):
        kind = p.type if p.type in c_names else NAMES[np.dtype(p.type).char]
        plain = kind if p.written else f"const {kind}"
        if is_reduction and p.written:
            arguments.append(f"{plain}* const _at_{p.name}")
            results.append(f"{plain}& {p.name} = _at_{p.name}[_block];")
        elif char:
            at = f"({plain}*)_tensors.at[{len(pointers)}][_k]"
            pointers.append(f"{plain}* const _at_{p.name} = {at};")
            elements.append(f"{plain}& {p.name} = _at_{p.name}[i];")
        else:
            arguments.append(f"{plain}{'* const' if p.raw else ''} {p.name}")
    texts = {
        "name": name,
        "kinds": len(pointers),
        "most": TENSORS,
        "chunk": CHUNK,
        "threads": THREADS,
        "arguments": ", ".join(arguments),
        "pointers": "\n  ".join(pointers),
        "elements": "\n    ".join(elements),
    }
    parts = kernel.parts
    if is_reduction:
        work = REDUCTION % {
            **texts,
            "kept": parts["reduce_type"],
            "start": parts["identity"],
            "each": parts["map_expr"],
            "join": parts["reduce_expr"],
            "results": " ".join(results),
            "end": parts["post_map_expr"],
        }
    else:
        work = ELEMENTWISE % {**texts, "body": parts["operation"]}
    typedefs = [f"typedef {c_name} {letter};" for letter, c_name in c_names.items()]
    head = HALF if "e" in chars else "struct float16;\n"
    return head + WIDE + "\n".join(typedefs) + AROUND % {**texts, "work": work}
