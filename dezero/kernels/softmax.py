"""Softmax: two passes over memory where it takes five, or eight behind a mask.

x, and gradients, may be of half precision; W is the dtype to compute in.
"""

import numpy as np

from dezero.kernels.fusing import elementwise, reduction


def scores(x, open, bias):
    """``x + bias``, and -inf in places that are not open."""
    return np.where(open, x.astype(float) + bias, -np.inf)


@reduction(
    "X x, bool open, W bias, bool partly",
    "W m, W total",
    each="Pair<W>(open ? W(x) + bias : W(-CUDART_INF), W(1))",
    join="softmax_sum(a, b)",
    end="""
    m = partly && a.x == W(-CUDART_INF) ? W(0) : a.x,
    total = partly && a.y == 0 ? W(1) : a.y
    """,
    start="-CUDART_INF",
    kept="Pair<W>",
)
def softmax_sums(x, open, bias, partly, m, total):
    """``m = max(s)`` and ``total = sum(exp(s - m))``, s from :func:`scores`.

    Both in one pass: a sum that was made below another maximum is scaled. Where
    ``partly``, and nothing is open, they are 0 and 1, for weights of 0.
    """
    s = scores(x, open, bias)
    m[...] = largest = s.max(axis=-1)
    if partly:
        m[...] = largest = np.where(largest == -np.inf, 0, largest)
    total[...] = np.exp(s - largest[..., None]).sum(axis=-1)
    if partly:
        total[...] = np.where(total == 0, 1, total)


@elementwise(
    "X x, bool open, W bias, W m, W total",
    "Y y",
    "y = exp((open ? W(x) + bias : W(-CUDART_INF)) - m) / total;",
)
def softmax(x, open, bias, m, total, y):
    """``y = exp(s - m) / total``."""
    y[...] = np.exp(scores(x, open, bias) - m) / total


@reduction(
    "X y, G g",
    "W dot",
    each="W(y) * W(g)",
    join="a + b",
    end="dot = a",
    start="0",
    kept="W",
)
def softmax_dot(y, g, dot):
    """``sum(y * g)``."""
    dot[...] = (y.astype(float) * g).sum(axis=-1)


@elementwise("X y, G g, W dot", "Z gx", "gx = W(y) * (W(g) - dot);")
def softmax_grad(y, g, dot, gx):
    """``gx = y * (g - dot)``."""
    gx[...] = y * (g - dot)


# ---- cross-entropy ---------------------------------------------------------------


@elementwise(
    "raw X x, I t, W m, W total, W mean, W smoothing, int64 C, W n",
    "W y",
    """
    W picked = t >= 0 && t < C ? W(x[i * C + t]) - m : W(CUDART_NAN);
    if (smoothing != 0) picked += smoothing * (mean - m - picked);
    y = (log(total) - picked) / n;
    """,
)
def cross_entropy(x, t, m, total, mean, smoothing, C, n, y):
    """``y = (log(total) - z[t]) / n`` for each row, ``z = x - m``.

    NaN for unknown labels. With smoothing the mean of z has that share in place of
    ``z[t]``.
    """
    known = (t >= 0) & (t < C)
    picked = x[np.arange(len(x)), np.where(known, t, 0)].astype(float) - m
    picked = np.where(known, picked, np.nan)
    if smoothing:
        picked = picked + smoothing * (mean - m - picked)
    y[...] = (np.log(total) - picked) / n


@elementwise(
    "X x, I t, W m, W total, G gy, W smoothing, int64 C, W n",
    "X gx",
    """
    W target = smoothing / C + (i % C == t ? 1 - smoothing : W(0));
    gx = W(gy) / n * (exp(W(x) - m) / total - target);
    """,
)
def cross_entropy_grad(x, t, m, total, gy, smoothing, C, n, gx):
    """``gx = gy / n * (softmax(x) - target)``, target of ``t`` and of smoothing."""
    target = smoothing / C + np.where(np.arange(C) == t, 1 - smoothing, 0)
    gx[...] = gy / n * (np.exp(x.astype(float) - m) / total - target)
