"""Rows of a table by their numbers: one launch where it takes seven, or five back.

What a GPU does with a number that is no row is said here too: to refuse it, the host
would have to wait.
"""

import numpy as np

from dezero.kernels.fusing import elementwise


@elementwise(
    "raw T W, I id, int64 V, int64 D, float64 missing",
    "T y",
    "y = id >= 0 && id < V ? W[id * D + i % D] : T(missing);",
)
def look_up(W, id, V, D, missing, y):
    """``y[m] = W[id[m]]``, of V rows of D elements; ``missing`` where that is none."""
    known = (id >= 0) & (id < V)
    rows = np.where(known, id, 0)[:, 0]
    y[...] = np.where(known, W.reshape(V, D)[rows] if V else 0, missing)


@elementwise(
    "G g, I id, int64 V, int64 D",
    "raw W gW",
    "if (id >= 0 && id < V) atomicAdd(&gW[id * D + i % D], W(g));",
)
def add_rows(g, id, V, D, gW):
    """``gW[id[m]] += g[m]``, in no fixed order; nothing where that is no row."""
    known = ((id >= 0) & (id < V))[:, 0]
    np.add.at(gW.reshape(V, D), id[known, 0], g[known])


@elementwise(
    "I id, int64 n, float64 missing",
    "T y",
    "y = id >= 0 && id < n ? T(i % n == id) : T(missing);",
)
def one_hot(id, n, missing, y):
    """``y[m, id[m]] = 1``, 0 elsewhere; ``missing`` in a row without a number."""
    known = (id >= 0) & (id < n)
    y[...] = np.where(known, id == np.arange(n), missing)
