"""The scores of attention in parts, and their softmax, on plain arrays."""

from typing import Any, NamedTuple

import numpy as np

from dezero import cuda
from dezero.cuda import Array

# Queries that are taken together where each sees the past only: the later keys of a
# part need no score then. 16 % faster with 128 places, 36 % with 512.
ROWS = 64


class Part(NamedTuple):
    """Scores that are computed together: of some queries, for the keys that they see.

    Query i of the part sees keys j <= i + ``past`` only, or all if that is None.
    """

    rows: slice
    keys: slice
    past: int | None = None

    def past_of(self, xp: Any) -> Array | None:
        """Booleans (rows, keys): what each query may see; None for all."""
        if self.past is None:
            return None
        rows = self.rows.stop - self.rows.start
        return xp.tri(rows, self.keys.stop, self.past, dtype=bool)

    def of(self, xp: Any, mask: Array, scores: tuple[int, ...]) -> Array:
        """What belongs here of a mask that broadcasts to all scores."""
        return xp.broadcast_to(mask, scores)[..., self.rows, self.keys]


def parts_of(
    scores: tuple[int, ...], causal: bool, size: int | None = None
) -> list[Part]:
    """The scores in parts, the last of which has all keys.

    Args:
        scores: Their shape, (..., Tq, Tk).
        causal: Does query i see the keys j <= i + Tk - Tq only?
        size: How many queries to take together if it saves any scores; None for all.
    """
    Tq, Tk = scores[-2:]
    if not causal:
        return [Part(slice(Tq), slice(Tk))]
    past = Tk - Tq
    size = max(size or Tq, 1)
    parts = []
    for start in range(0, max(Tq, 1), size):
        stop = min(start + size, Tq)
        seen = min(max(stop + past, 0), Tk)
        parts.append(Part(slice(start, stop), slice(seen), start + past))
    return parts


def softmax_in_place(w: Array, allowed: Array | None, bias: Array | None) -> None:
    """Softmax of the scores ``w``; what is not allowed gets 0."""
    xp = cuda.get_array_module(w)
    if allowed is not None:
        with np.errstate(invalid="ignore"):  # of infinity, see below
            w += xp.where(allowed, w.dtype.type(0), w.dtype.type(-np.inf))
    if bias is not None:
        w += bias
    partly = allowed is not None or bias is not None
    if w.shape[-1]:  # the largest of nothing is no number
        m = w.max(axis=-1, keepdims=True)
        if allowed is not None and xp is np and np.isnan(m).any():
            # A sum does not close what is NaN or infinite. To assign by the mask does,
            # but takes three to eight times as long.
            np.copyto(w, -np.inf, where=~allowed)
            m = w.max(axis=-1, keepdims=True)
        if partly:
            # Nothing to look at: exp(-inf - 0) = 0. (To assign by a mask, a GPU
            # would have to be waited for.)
            xp.copyto(m, 0, where=m == -np.inf)
        with np.errstate(over="ignore"):  # too far below is -inf: exp gives 0
            w -= m
    xp.exp(w, out=w)
    total = w.sum(axis=-1, keepdims=True)
    if partly:
        xp.copyto(total, 1, where=total == 0)
    w /= total
