"""Is one array made from another? What memory and values can tell, and no more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dezero import cuda
from dezero.cuda import Array


def likeness(a: Any, b: Any) -> str:
    """How ``a`` may have come from ``b``; "" if nothing says that it did.

    - "memory": they share memory, so one is a view of the other or of the same array;
    - "copied": they hold the same numbers, in whatever floating dtype;
    - "cast": ``a`` holds integers, those that ``b`` is truncated to;
    - "counted": ``a`` holds the places of the maxima or minima of ``b`` along an axis.

    All but the first may be chance: a single number is no evidence, nor are numbers
    that are all the same (the zeros of a bias).
    """
    if not cuda.is_array(a) or not cuda.is_array(b) or not a.size or not b.size:
        return ""
    xp = cuda.get_array_module(a)
    if cuda.get_array_module(b) is not xp:
        return ""
    if _share_memory(xp, a, b):
        return "memory"
    if b.dtype.kind != "f" or bool((a == a.reshape(-1)[0]).all()):
        return ""
    if a.dtype.kind == "f":
        if a.shape != b.shape:
            return ""
        with np.errstate(over="ignore"):
            return "copied" if bool((a == b.astype(a.dtype)).all()) else ""
    if a.dtype.kind not in "iu":
        return ""
    if a.shape == b.shape and bool((a == xp.trunc(b)).all()):
        return "cast"
    if a.ndim == b.ndim - 1:
        for axis in range(b.ndim):
            if b.shape[axis] < 2 or a.shape != b.shape[:axis] + b.shape[axis + 1 :]:
                continue
            if (a == b.argmax(axis)).all() or (a == b.argmin(axis)).all():
                return "counted"
    return ""


def _share_memory(xp: Any, a: Array, b: Array) -> bool:
    if not xp.may_share_memory(a, b):
        return False
    if xp is not np:
        return bool(xp.shares_memory(a, b))
    try:
        work: Any = 100_000  # candidates; its type knows only the two extremes
        return np.shares_memory(a, b, max_work=work)
    except np.exceptions.TooHardError:  # strides so odd that nobody can tell
        return False


class Relatives:
    """Arrays, each with what it belongs to, among which to look for the source of one.

    They are sorted by the memory that they are in and by shape: a comparison with each
    would take the square of the length of a run.
    """

    def __init__(self) -> None:
        self._by_memory: dict[int, list[tuple[Array, Any]]] = {}
        self._by_shape: dict[tuple[int, ...], list[tuple[Array, Any]]] = {}

    def add(self, b: Array, item: Any) -> None:
        """Let ``of`` find that an array is like ``b``, in any way."""
        self.add_memory(b, item)
        self.add_values(b, item)

    def add_memory(self, b: Array, item: Any) -> None:
        """Let it find that an array shares memory with ``b``."""
        self._by_memory.setdefault(_owner(b), []).append((b, item))

    def add_values(self, b: Array, item: Any) -> None:
        """Let it find that an array holds what is computed from ``b``."""
        shapes = {b.shape}
        shapes |= {b.shape[:i] + b.shape[i + 1 :] for i in range(b.ndim)}
        for shape in shapes:
            self._by_shape.setdefault(shape, []).append((b, item))

    def of(self, a: Any) -> Iterator[tuple[str, Any]]:
        """(likeness, item) of all that ``a`` is like, surest first, then latest first.

        With itself an array shares memory.
        """
        if not cuda.is_array(a):
            return
        for b, item in reversed(self._by_memory.get(_owner(a), [])):
            if likeness(a, b) == "memory":
                yield "memory", item
        if a.size < 2:
            return
        for b, item in reversed(self._by_shape.get(a.shape, [])):
            kind = likeness(a, b)
            if kind and kind != "memory":
                yield kind, item


def _owner(a: Any) -> int:
    """The id of what owns the memory: alike for all views of an array."""
    while getattr(a, "base", None) is not None:
        a = a.base
    return id(a)
