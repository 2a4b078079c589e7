"""Normalization: two passes over memory and a small one, where it takes ten.

The arguments broadcast to four axes, so that numbers that go by channel fit beside an
array. x, g and y may be of half precision; W is the dtype to compute in.
"""

import numpy as np

from dezero.kernels.fusing import elementwise, reduction


@reduction(
    "X x, W mean",
    "W first, W second",
    each="Pair<W>(W(x) - mean, (W(x) - mean) * (W(x) - mean))",
    join="a + b",
    end="first = a.x, second = a.y",
    start="0",
    kept="Pair<W>",
)
def deviations(x, mean, first, second):
    """Sums of ``d = x - mean`` and of its squares.

    The mean is rounded. Far from 0 that is much, compared with the deviations, but they
    are exact: their sum says what it lacks.
    """
    d = (x - mean).astype(float)
    first[...] = d.sum(axis=-1)
    second[...] = (d * d).sum(axis=-1)


@reduction(
    "W first, W second, W n, W eps, bool center",
    "W rest, W var, W inv",
    each="Pair<W>(first, second)",
    join="a + b",
    end="""
    rest = center ? a.x / n : W(0), var = a.y / n - rest * rest,
    var = var < 0 ? W(0) : var, inv = 1 / sqrt(var + eps)
    """,
    start="0",
    kept="Pair<W>",
)
def variance(first, second, n, eps, center, rest, var, inv):
    """``rest = sum(first)/n``, ``var = sum(second)/n - rest**2``, and from it inv.

    ``inv = 1 / sqrt(var + eps)``. Without ``center`` rest is 0.
    """
    rest[...] = first.astype(float).sum(axis=-1) / n if center else 0
    square = second.astype(float).sum(axis=-1) / n
    var[...] = np.maximum(square - rest * rest, 0)
    inv[...] = 1 / np.sqrt(var + eps)


@elementwise(
    "X x, W mean, W rest, W inv, W gamma, W beta",
    "Y y",
    "y = ((W(x) - mean) - rest) * inv * gamma + beta;",
)
def standardized(x, mean, rest, inv, gamma, beta, y):
    """``y = gamma * (x - m) * inv + beta``, ``m = mean + rest``."""
    y[...] = (x - mean - rest) * inv * gamma + beta


@reduction(
    "G g, X x, W mean, W rest, W inv, W gamma",
    "W dot, W total",
    each="Pair<W>(W(g) * gamma * (((W(x) - mean) - rest) * inv), W(g) * gamma)",
    join="a + b",
    end="dot = a.x, total = a.y",
    start="0",
    kept="Pair<W>",
)
def gradient_sums(g, x, mean, rest, inv, gamma, dot, total):
    """Sums of ``g * gamma * y`` and of ``g * gamma``, y the standardized x."""
    g = g.astype(float) * gamma
    dot[...] = (g * ((x - mean - rest) * inv)).sum(axis=-1)
    total[...] = g.sum(axis=-1)


@elementwise(
    "G g, X x, W mean, W rest, W inv, W gamma, W dot, W total, W n, W scale",
    "W gx",
    """
    W y = ((W(x) - mean) - rest) * inv;
    gx = inv * scale * (W(g) * gamma - y * (dot / n) - total / n);
    """,
)
def standardized_grad(g, x, mean, rest, inv, gamma, dot, total, n, scale, gx):
    """``gx = inv * scale * (g * gamma - y * dot/n - total/n)``."""
    y = (x - mean - rest) * inv
    gx[...] = inv * scale * (g * gamma - y * (dot / n) - total / n)


@elementwise(
    "W m, W rest, W v, float64 decay, float64 fresh, float64 unbiased",
    "T mean, U var",  # a channel of one element says nothing of the variance
    """
    typedef Wide<T>::type M;
    typedef Wide<U>::type V;
    mean = M(mean) * M(decay) + M((m + rest) * W(fresh));
    if (unbiased != 0) var = V(var) * V(decay) + V(v * W(unbiased));
    """,
)
def running(m, rest, v, decay, fresh, unbiased, mean, var):
    """``mean = decay * mean + fresh * m``; var by ``fresh * n / (n - 1)``."""
    mean[...] = decay * mean + fresh * (m + rest)
    if unbiased:
        var[...] = decay * var + unbiased * v
