"""Updates of parameters: one launch for many, where a rule takes up to nineteen each.

A gradient g may have a dtype of its own, and parameters p of half precision have state
of single precision; W is the dtype of the state, in which a rule is computed.
"""

import numpy as np

from dezero.kernels.fusing import elementwise, reduction

# ruff: noqa: D103 - the rules themselves are explained in dezero/optimizers


@elementwise(
    "G g, float64 lr",
    "P p",
    """
    typedef Wide<P>::type W;
    p = W(p) - W(lr) * W(g);
    """,
)
def sgd(g, lr, p):
    p[...] = p - lr * g


@elementwise(
    "G g, W lr, W momentum, bool nesterov",
    "P p, W v",
    """
    W step = lr * W(g);
    v = momentum * v - step;
    p = W(p) + (nesterov ? momentum * v - step : v);
    """,
)
def momentum_sgd(g, lr, momentum, nesterov, p, v):
    step = lr * g.astype(v.dtype)
    v[...] = momentum * v - step
    p[...] = p + (momentum * v - step if nesterov else v)


@elementwise(
    "G g, W lr, W beta1, W beta2, W shrink",
    "P p, W m",
    """
    W d = W(g), c = d + beta1 * (m - d), q = W(p);
    q -= shrink * q;
    p = q - lr * (c > 0 ? W(1) : c < 0 ? W(-1) : c);  // NaN stays
    m = d + beta2 * (m - d);
    """,
)
def lion(g, lr, beta1, beta2, shrink, p, m):
    g = g.astype(m.dtype)
    p[...] = p - shrink * p - lr * np.sign(g + beta1 * (m - g))
    m[...] = g + beta2 * (m - g)


@elementwise(
    "G g, W beta1, W rest1, W beta2, W rest2, W eps, W lr, W shrink, bool amsgrad",
    "P p, W m, W v, W largest",  # without amsgrad, largest is not touched
    """
    W d = W(g), q = W(p);
    m = beta1 * m + rest1 * d;
    v = beta2 * v + rest2 * (d * d);
    if (amsgrad && (v > largest || v != v)) largest = v;
    q -= shrink * q;
    p = q - lr * (m / (sqrt(amsgrad ? largest : v) + eps));
    """,
)
def adam(
    g, beta1, rest1, beta2, rest2, eps, lr, shrink, amsgrad, p, m, v, largest
):  # fmt: skip
    g = g.astype(m.dtype)
    m[...] = beta1 * m + rest1 * g
    v[...] = beta2 * v + rest2 * (g * g)
    if amsgrad:
        largest[...] = np.maximum(largest, v)
    step = m / (np.sqrt(largest if amsgrad else v) + eps)
    p[...] = p - shrink * p - lr * step


@elementwise(
    "G g, W lr, W eps",
    "P p, W h",
    """
    W d = W(g);
    h += d * d;
    p = W(p) - lr * (d / (sqrt(h) + eps));
    """,
)
def adagrad(g, lr, eps, p, h):
    g = g.astype(h.dtype)
    h[...] = h + g * g
    p[...] = p - lr * (g / (np.sqrt(h) + eps))


@elementwise(
    "G g, W rho, W rest, W eps, W lr",
    "P p, W v, W u",
    """
    W d = W(g);
    v = rho * v + rest * (d * d);
    d *= sqrt((u + eps) / (v + eps));
    u = rho * u + rest * (d * d);
    p = W(p) - lr * d;
    """,
)
def adadelta(g, rho, rest, eps, lr, p, v, u):
    g = g.astype(v.dtype)
    v[...] = rho * v + rest * (g * g)
    d = np.sqrt((u + eps) / (v + eps)) * g
    u[...] = rho * u + rest * (d * d)
    p[...] = p - lr * d


@elementwise(
    "G g, W lr, W rho, W rest, W eps, W momentum, bool centered",
    "P p, W v, W a, W d",  # what a rule does without is not touched
    """
    W x = W(g);
    v = rho * v + rest * (x * x);
    W s = v;
    if (centered) {
        a = rho * a + rest * x;
        s -= a * a;
        if (s < 0) s = 0;  // rounding makes a variance of 0 negative
    }
    W step = x / (sqrt(s) + eps);
    if (momentum != 0) step = d = momentum * d + step;
    p = W(p) - lr * step;
    """,
)
def rmsprop(g, lr, rho, rest, eps, momentum, centered, p, v, a, d):
    g = g.astype(v.dtype)
    v[...] = rho * v + rest * (g * g)
    s = v
    if centered:
        a[...] = rho * a + rest * g
        s = np.maximum(v - a * a, 0)
    step = g / (np.sqrt(s) + eps)
    if momentum:
        d[...] = momentum * d + step
        step = d
    p[...] = p - lr * step


# ---- hooks and checks ------------------------------------------------------------


@reduction(
    "T x",
    "float64 y",
    each="double(x) * double(x)",
    join="a + b",
    end="y = a",
    start="0",
    kept="double",
)
def square_sum(x, y):
    y[...] = np.square(x, dtype=np.float64).sum(axis=-1)


@reduction(
    "T x",
    "float64 y",
    each="isfinite(double(x)) ? 0.0 : 1.0",
    join="a + b",
    end="y = a",
    start="0",
    kept="double",
)
def nonfinite(x, y):
    y[...] = np.count_nonzero(~np.isfinite(x), axis=-1)


@elementwise(
    "float64 total, float64 max_norm",
    "float64 scale",
    """
    double norm = sqrt(total);  // the comparison is false for NaN
    scale = norm > max_norm && isfinite(norm) ? max_norm / norm : 1.0;
    """,
)
def clipping_scale(total, max_norm, scale):
    norm = np.sqrt(total)
    clipped = (norm > max_norm) & np.isfinite(norm)
    scale[...] = np.where(clipped, max_norm / norm, 1.0)


@elementwise(
    "T x, raw float64 scale",  # one element, which the host need not know
    "T y",
    """
    typedef Wide<T>::type W;
    y = W(x) * W(scale[0]);
    """,
)
def scaled(x, scale, y):
    wide = np.promote_types(y.dtype, np.float32)
    y[...] = x * scale[0].astype(wide)


@elementwise(
    "T p, T g, float64 rate",
    "T y",
    """
    typedef Wide<T>::type W;
    y = W(p) * W(rate) + W(g);
    """,
)
def decayed(p, g, rate, y):
    wide = np.promote_types(y.dtype, np.float32)
    y[...] = p * wide.type(rate) + g


@elementwise(
    "T x, float64 limit",
    "T y",
    """
    typedef Wide<T>::type W;
    W z = W(x), most = W(limit);
    y = z > most ? most : z < -most ? -most : z;  // NaN stays
    """,
)
def bounded(x, limit, y):
    y[...] = np.clip(x, -limit, limit)


# ---- averages --------------------------------------------------------------------


@elementwise(
    "P p, W share",
    "W a",
    "a = a + share * (W(p) - a);",
)
def averaged(p, share, a):
    a[...] = a + share * (p.astype(a.dtype) - a)
