"""Products and quotients that infinite slopes do no harm: one pass instead of five.

What they are is in dezero/functions/safe.py. x0 may be of booleans. :func:`masked` is
what a dropout does.
"""

import numpy as np

from dezero.kernels.fusing import elementwise


@elementwise(
    "X x0, T x1",
    "T y",
    """
    typedef Wide<T>::type W;
    W a = W(x0), b = W(x1);
    y = a == 0 && b == b ? W(0) : a * b;
    """,
)
def safe_mul(x0, x1, y):
    """``y = x0 * x1``; 0 where x0 is, but NaN stays."""
    y[...] = np.where((x0 == 0) & (x1 == x1), 0, x0 * x1)


@elementwise(
    "X x0, T x1, bool kink",
    "T y",
    """
    typedef Wide<T>::type W;
    W a = W(x0), b = W(x1);
    bool zero = kink ? b == 0 && a == a : a == 0 && b == b;
    y = zero ? W(0) : a / b;
    """,
)
def safe_div(x0, x1, kink, y):
    """``y = x0 / x1``; 0 where x0 is, or with a kink where x1 is; but NaN stays."""
    zero = (x1 == 0) & (x0 == x0) if kink else (x0 == 0) & (x1 == x1)
    y[...] = np.where(zero, 0, x0 / x1)


@elementwise(
    "bool mask, T x, float64 scale",
    "T y",
    """
    typedef Wide<T>::type W;
    y = mask || W(x) != W(x) ? W(x) * W(scale) : W(0);
    """,
)
def masked(mask, x, scale, y):
    """``y = mask * x * scale``, the first product as safe as above."""
    y[...] = np.where(mask | (x != x), x * scale, 0)
