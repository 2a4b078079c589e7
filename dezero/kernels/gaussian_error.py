"""The Gaussian error linear unit: one pass over memory, where it takes eight.

For its derivative it takes nineteen.
"""

import math

import numpy as np

from dezero.kernels.fusing import elementwise

# As in dezero/functions/gaussian_error.py, where the formulas are.
K = math.sqrt(2 / math.pi)
C = 0.044715
FAR = 40

erf = np.vectorize(math.erf, otypes=[float])


@elementwise(
    "T x, bool approximate",
    "T y",
    f"""
    typedef Wide<T>::type W;
    W u = W(x);
    W z = approximate ? tanh(u * (W({K!r}) + W({K * C!r}) * u * u))
                      : erf(u * W({math.sqrt(0.5)!r}));
    y = (z + 1) * W(0.5) * u;
    """,
)
def gelu(x, approximate, y):
    """``y = x * (1 + z) / 2``, where z is the tanh or erf of the two forms."""
    x = x.astype(float)
    z = np.tanh(K * (x + C * x**3)) if approximate else erf(x * math.sqrt(0.5))
    y[...] = x * ((1 + z) / 2)


@elementwise(
    "G gy, T x, bool approximate",
    "G gx",
    f"""
    typedef Wide<T>::type W;
    W u = W(x);
    u = u > {FAR} ? W({FAR}) : u < -{FAR} ? W(-{FAR}) : u;  // NaN stays
    W uu = u * u, d;
    if (approximate) {{
        W z = tanh(u * (W({K!r}) + W({K * C!r}) * uu));
        d = (z + 1) * W(0.5);
        d += d * (1 - z) * u * (W({K!r}) + W({3 * K * C!r}) * uu);
    }} else {{
        d = (erf(u * W({math.sqrt(0.5)!r})) + 1) * W(0.5);
        d += W({K / 2!r}) * u * exp(uu * W(-0.5));
    }}
    gx = d * W(gy);
    """,
)
def gelu_grad(gy, x, approximate, gx):
    """``gx = gy * ((1 + z) / 2 + x / 2 * dz/dx)``."""
    x = np.clip(x.astype(float), -FAR, FAR)
    if approximate:
        z = np.tanh(K * (x + C * x**3))
        slope = (1 - z * z) * K * (1 + 3 * C * x * x)
    else:
        z = erf(x * math.sqrt(0.5))
        slope = K * np.exp(-x * x / 2)
    gx[...] = gy * ((1 + z) / 2 + x / 2 * slope)
