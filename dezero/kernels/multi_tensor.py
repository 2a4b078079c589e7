"""Calls of kernels, many in one launch: a model has many small parameters.

To launch a kernel costs the host more than a small array costs the GPU. So calls of one
kernel that differ in their arrays only are made as one. Where the arrays lie travels
with the launch, as an argument by value: nothing is copied to the GPU for it.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dezero import cuda
from dezero.cuda import Array
from dezero.kernels.fusing import Kernel
from dezero.kernels.multi_tensor_memory import bounds_of, overlap, ranges_of
from dezero.kernels.multi_tensor_source import (
    CHUNK,
    TENSORS,
    THREADS,
    letters_of,
    parameters_of,
    source,
)

# A kernel and its arguments, outputs included.
Call = tuple[Kernel, tuple[Any, ...]]
NUMBERS = frozenset([float, bool, int])

#: Those that were needed so far, by the names that CuPy, and a profile, knows them by.
MULTI_TENSOR_KERNELS: dict[str, MultiTensorKernel] = {}


class MultiTensorKernel:
    """A kernel in the form that takes many arrays at once, for certain dtypes.

    Args:
        kernel: What is done to the elements.
        chars: The dtype of each parameter that stands for many arrays; "" for what is
            the same for all: numbers, raw arrays, the results of a reduction.
    """

    kind = "RawKernel"

    def __init__(self, kernel: Kernel, chars: Sequence[str]) -> None:
        self.kernel = kernel
        parameters = parameters_of(kernel)
        letters = letters_of(parameters, chars)
        assert letters is not None
        pairs = list(zip(parameters, chars, strict=True))
        self.itemsizes = np.array(
            [np.dtype(c).itemsize for _, c in pairs if c], np.uintp
        )
        self.written = [p.written for p, c in pairs if c]
        self._types = [
            np.dtype(letters.get(p.type, p.type)).type for p, c in pairs if not c
        ]
        fields = [
            ("at", np.uintp, (len(self.written), TENSORS)),
            ("size", np.int64, TENSORS),
            ("first", np.int32, TENSORS),
        ]
        self.struct = np.dtype(fields, align=True)  # as C++ aligns the source's
        dtypes = "".join(chars).replace("?", "b")  # as a name in C++ may be
        name = f"{kernel.parts['name']}_{dtypes}_many"
        self.parts = {"code": source(kernel, name, chars), "name": name}
        MULTI_TENSOR_KERNELS[name] = self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.parts['name']}>"

    def __call__(self, at: np.ndarray, sizes: np.ndarray, rest: Sequence[Any]) -> None:
        """Run it, in as many launches as the arrays need.

        Args:
            at: Where the arrays lie, (N, kinds); they must be alive.
            sizes: How many elements they have, (N,); none of them 0.
            rest: What is the same for all. Of a reduction the last one is the array for
                the results, as many as there are blocks.
        """
        rest = [
            x if cuda.is_array(x) else kind(x)  # CuPy takes a number as it is
            for x, kind in zip(rest, self._types, strict=True)
        ]
        for i in range(0, len(sizes), TENSORS):
            piece = slice(i, i + TENSORS)
            blocks = blocks_of(sizes[piece])
            n, total = len(blocks), int(blocks.sum())
            tensors = np.zeros((), self.struct)
            tensors["at"][:, :n] = at[piece].T
            tensors["size"][:n] = sizes[piece]
            tensors["first"][n:] = np.iinfo(np.int32).max  # no block is so far
            tensors["first"][1:n] = np.cumsum(blocks[:-1])
            self.launch(total, (tensors, *rest))
            if self.kernel.kind == "ReductionKernel":
                rest[-1] = rest[-1][total:]

    def launch(self, blocks: int, arguments: tuple[Any, ...]) -> None:
        """Run it on so many blocks."""
        cuda.compiled(self)((blocks,), (THREADS,), arguments)


def blocks_of(sizes: np.ndarray) -> np.ndarray:
    """How many blocks work on arrays of these sizes, each."""
    return -(-sizes // CHUNK)


# =============================================================================
# Many calls
# =============================================================================


class _Group(NamedTuple):
    """What can be launched together: arrays per call, and what is the same for all."""

    form: MultiTensorKernel
    device: Any
    rest: list[Any]
    rows: list[list[Array]]

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the arrays lie, (N, kinds), and how many elements they have, (N,)."""
        at = np.array([[x.data.ptr for x in row] for row in self.rows], np.uintp)
        return at, np.array([row[0].size for row in self.rows], np.int64)


def run(calls: Sequence[Call]) -> None:
    """Make calls of elementwise kernels, in as few launches as can be.

    The result is that of the calls one after the other. Together go calls of the same
    kernel with the same numbers, on C-contiguous floating arrays of the same dtypes on
    one GPU; the others are made by themselves, and so are all of them where one writes
    what another one reads or writes.

    Args:
        calls: Kernels and their arguments, outputs included.
    """
    groups, alone = _grouped(calls)
    placed = [(group, *group.places()) for group in groups]
    if len(calls) > 1:
        ranges = [r for call in alone for r in bounds_of(*call)]
        for group, at, sizes in placed:
            ends = at + sizes[:, None].astype(np.uintp) * group.form.itemsizes
            ranges += ranges_of(at, ends, group.form.written)
        if overlap(ranges):
            placed, alone = [], list(calls)
    for group, at, sizes in placed:
        with group.device:
            group.form(at, sizes, group.rest)
    for kernel, arguments in alone:
        with cuda.on_device_of(arguments[-1]):  # an output
            kernel(*arguments)


def reduced(kernel: Kernel, arrays: Sequence[Array]) -> Array:
    """What a reduction with one output gives for all elements of each array, in pieces.

    Args:
        kernel: A reduction of one input.
        arrays: Arrays of a GPU, at least one.

    Returns:
        (M,) results for pieces of the arrays, as many as there are blocks, in no
        particular order. To join them is left to the caller.
    """
    xp = cuda.get_array_module(arrays[0])
    here = xp.empty(0).data.device_id  # where the results will be
    groups, alone = _grouped([(kernel, (x,)) for x in arrays], here)
    placed = [(group, *group.places()) for group in groups]
    counts = [int(blocks_of(sizes).sum()) for _, _, sizes in placed]
    dtype = parameters_of(kernel)[-1].type
    pieces = xp.empty(sum(counts) + len(alone), dtype)
    start = 0
    for (group, at, sizes), count in zip(placed, counts, strict=True):
        group.form(at, sizes, [pieces[start : start + count]])
        start += count
    for i, (_, arguments) in enumerate(alone, start):
        kernel(*arguments, pieces[i])
    return pieces


def _grouped(
    calls: Sequence[Call], device: int | None = None
) -> tuple[list[_Group], list[Call]]:
    """What can be launched together, and the calls that stay alone.

    Where nothing has any elements, there is nothing to be launched.
    """
    groups: dict[Any, _Group] = {}
    alone: list[Call] = []
    for call in calls:  # once for every parameter at every update: few steps only
        kernel, arguments = call
        plan = _plan(kernel, tuple(map(type, arguments)))
        found = None if plan is None else plan.sort(arguments)
        if plan is None or found is None or device not in (None, found.key[1]):
            alone.append(call)
        elif found.arrays[0].size == 0:
            pass
        elif found.key in groups:
            groups[found.key].rows.append(found.arrays)
        elif (form := plan.form(found.chars)) is None:
            alone.append(call)
        else:
            rest = [arguments[i] for i in plan.others]
            groups[found.key] = _Group(
                form, found.arrays[0].device, rest, [found.arrays]
            )
    return list(groups.values()), alone


class _Sorted(NamedTuple):
    """The arrays among arguments, their dtypes, and the key of the group they join."""

    arrays: list[Array]
    chars: str
    key: tuple[Any, ...]


class _Plan:
    """Which of the arguments are arrays, given their types."""

    def __init__(self, kernel: Kernel, places: list[int], others: list[int]) -> None:
        self.kernel, self.places, self.others = kernel, places, others
        self.raw = any([p.raw for p in parameters_of(kernel)])

    def sort(self, arguments: tuple[Any, ...]) -> _Sorted | None:
        """The arguments in their groups; None where they cannot join one."""
        arrays = [arguments[i] for i in self.places]
        shape, device = arrays[0].shape, arrays[0].data.device_id
        chars = ""
        for x in arrays:
            if (
                x.shape != shape
                or not x.flags.c_contiguous
                or x.data.device_id != device
            ):
                return None
            chars += x.dtype.char
        rest = [arguments[i] for i in self.others]
        if self.raw:
            rest = [x if type(x) in NUMBERS else id(x) for x in rest]
        return _Sorted(arrays, chars, (self, device, chars, *rest))

    def form(self, chars: str) -> MultiTensorKernel | None:
        """The form for arrays of these dtypes, if there is one."""
        found = dict(zip(self.places, chars, strict=True))
        n = len(parameters_of(self.kernel))
        return _form(self.kernel, tuple([found.get(i, "") for i in range(n)]))


@functools.cache
def _plan(kernel: Kernel, types: tuple[type, ...]) -> _Plan | None:
    """None where the arguments are not those of arrays on a GPU."""
    parameters = parameters_of(kernel)[: len(types)]
    others = [
        i
        for i, (p, t) in enumerate(zip(parameters, types, strict=True))
        if p.raw or t in NUMBERS
    ]
    places = [i for i in range(len(types)) if i not in others]
    is_here = [issubclass(types[i], (np.ndarray, np.generic)) for i in places]
    return None if not places or any(is_here) else _Plan(kernel, places, others)


@functools.cache
def _form(kernel: Kernel, chars: tuple[str, ...]) -> MultiTensorKernel | None:
    """The form for these dtypes, if there is one."""
    if letters_of(parameters_of(kernel), chars) is None:
        return None
    return MultiTensorKernel(kernel, chars)
