"""One time step of an LSTM and a GRU: one launch where it takes nine or ten.

Backward one where it takes sixteen or seventeen. The gates of a step lie side by side
in the rows of ``raw`` arrays, (N, G * H); a launch has a thread for each element of the
state, (N, H), with ``k`` the place of its first gate.
"""

import numpy as np

from dezero.kernels.fusing import elementwise


def sigmoid(x):
    """``1 / (1 + exp(-x))``, where no number overflows."""
    return np.tanh(x / 2) / 2 + 0.5


@elementwise(
    "raw T u, T c0, int64 H",
    "raw T a, T h, T c, T z",
    """
    ptrdiff_t k = i / H * 4 * H + i % H;
    T in = sigmoid(a[k] + u[k]), f = sigmoid(a[k + H] + u[k + H]);
    T g = tanh(a[k + 2 * H] + u[k + 2 * H]), o = sigmoid(a[k + 3 * H] + u[k + 3 * H]);
    a[k] = in, a[k + H] = f, a[k + 2 * H] = g, a[k + 3 * H] = o;
    c = f * c0 + in * g;
    z = tanh(c);
    h = o * z;
    """,
)
def lstm(u, c0, H, a, h, c, z):
    """``i, f, g, o = a + u``; ``c = f * c0 + i * g``, ``h = o * z``, ``z = tanh(c)``.

    Through a sigmoid, g through tanh; ``a`` becomes the gates.
    """
    a[...] = a + u
    i, f, g, o = np.split(a, 4, axis=1)
    for gate in i, f, o:
        gate[...] = sigmoid(gate)
    g[...] = np.tanh(g)
    c[...] = f * c0 + i * g
    z[...] = np.tanh(c)
    h[...] = o * z


@elementwise(
    "raw T a, T c0, T z, T gh, int64 H",
    "T gc, raw T ga",
    """
    ptrdiff_t k = i / H * 4 * H + i % H;
    T in = a[k], f = a[k + H], g = a[k + 2 * H], o = a[k + 3 * H];
    T d = gc + gh * o * (1 - z * z);
    ga[k] = d * g * (in * (1 - in));
    ga[k + H] = d * c0 * (f * (1 - f));
    ga[k + 2 * H] = d * in * (1 - g * g);
    ga[k + 3 * H] = gh * z * (o * (1 - o));
    gc = d * f;
    """,
)
def lstm_back(a, c0, z, gh, H, gc, ga):
    """The gradients of what went through the gates, and of ``c0`` in place of c."""
    i, f, g, o = np.split(a, 4, axis=1)
    d = gc + gh * o * (1 - z * z)
    parts = [d * g * i * (1 - i), d * c0 * f * (1 - f), d * i * (1 - g * g)]
    ga[...] = np.concatenate([*parts, gh * z * o * (1 - o)], axis=1)
    gc[...] = d * f


@elementwise(
    "raw T u, T h0, int64 H",
    "raw T a, T h, T un",
    """
    ptrdiff_t k = i / H * 3 * H + i % H;
    un = u[k + 2 * H];
    T r = sigmoid(a[k] + u[k]), s = sigmoid(a[k + H] + u[k + H]);
    T n = tanh(a[k + 2 * H] + r * un);
    a[k] = r, a[k + H] = s, a[k + 2 * H] = n;
    h = n + s * (h0 - n);
    """,
)
def gru(u, h0, H, a, h, un):
    """``r, s = sigmoid(a + u)``, ``n = tanh(a + r * u)``, ``h = n + s * (h0 - n)``.

    ``a`` becomes the gates, ``un`` keeps the third part of u.
    """
    (r, s, n), (ur, us, un[...]) = np.split(a, 3, axis=1), np.split(u, 3, axis=1)
    r[...] = sigmoid(r + ur)
    s[...] = sigmoid(s + us)
    n[...] = np.tanh(n + r * un)
    h[...] = n + s * (h0 - n)


@elementwise(
    "raw T a, T h0, T un, int64 H",
    "T gh, raw T ga, raw T gu",
    """
    ptrdiff_t k = i / H * 3 * H + i % H;
    T r = a[k], s = a[k + H], n = a[k + 2 * H];
    T gn = gh * (1 - s) * (1 - n * n);
    ga[k] = gu[k] = gn * un * (r * (1 - r));
    ga[k + H] = gu[k + H] = gh * (h0 - n) * (s * (1 - s));
    ga[k + 2 * H] = gn;
    gu[k + 2 * H] = gn * r;
    gh = gh * s;
    """,
)
def gru_back(a, h0, un, H, gh, ga, gu):
    """The gradients of both summands before the gates, and of ``h0`` in place of h."""
    r, s, n = np.split(a, 3, axis=1)
    gn = gh * (1 - s) * (1 - n * n)
    gr = gn * un * r * (1 - r)
    gs = gh * (h0 - n) * s * (1 - s)
    ga[...] = np.concatenate([gr, gs, gn], axis=1)
    gu[...] = np.concatenate([gr, gs, gn * r], axis=1)
    gh[...] = gh * s
