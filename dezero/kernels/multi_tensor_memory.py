"""Do calls of kernels share memory? Then their order matters."""

from __future__ import annotations

from typing import Any

import numpy as np

from dezero import cuda
from dezero.kernels.fusing import Kernel
from dezero.kernels.multi_tensor_source import parameters_of

# From where, to where, and whether it is written to; of one array or several.
Range = tuple[Any, Any, bool]


def ranges_of(at: np.ndarray, ends: np.ndarray, written: list[bool]) -> list[Range]:
    """The memory of many calls, (N, kinds), each kind of arrays once.

    What stands in place of an array that a rule does without is a second name.
    """
    found: list[Range] = []
    for start, end, is_written in zip(at.T, ends.T, written, strict=True):
        for i, (other, its_end, its_written) in enumerate(found):
            if np.array_equal(start, other) and np.array_equal(end, its_end):
                found[i] = (start, end, is_written or its_written)
                break
        else:
            found.append((start, end, is_written))
    return found


def bounds_of(kernel: Kernel, arguments: tuple[Any, ...]) -> list[Range]:
    """The memory between the first and the last element of each array of a call."""
    found: dict[tuple[int, int], bool] = {}
    for p, x in zip(parameters_of(kernel), arguments, strict=False):
        if not cuda.is_array(x) or isinstance(x, np.ndarray) or not x.size:
            continue
        steps = [(n - 1) * s for n, s in zip(x.shape, x.strides, strict=True)]
        low = x.data.ptr + sum([s for s in steps if s < 0])
        high = x.data.ptr + sum([s for s in steps if s > 0]) + x.itemsize
        found[low, high] = found.get((low, high), False) or p.written
    return [([low], [high], written) for (low, high), written in found.items()]


def overlap(ranges: list[Range]) -> bool:
    """Is something written in one of the ranges that is part of another one?"""
    if not ranges:
        return False
    start = np.concatenate([np.asarray(start, np.uintp) for start, _, _ in ranges])
    end = np.concatenate([np.asarray(end, np.uintp) for _, end, _ in ranges])
    written = np.repeat([w for *_, w in ranges], [len(start) for start, *_ in ranges])
    order = np.argsort(start)
    start, end, written = start[order], end[order], written[order]
    # How far those before reach, all of them and those that are written to.
    reach = np.maximum.accumulate(end)[:-1]
    written_reach = np.maximum.accumulate(np.where(written, end, 0))[:-1]
    start, written = start[1:], written[1:]
    return bool(np.any((start < written_reach) | (written & (start < reach))))
