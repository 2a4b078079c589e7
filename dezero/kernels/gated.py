"""One time step of a recurrent network: one launch where it takes three to ten.

Backward one where it takes five to seventeen. All arrays are ``raw``, those of a whole
sequence as they are, so that no step needs a view of its part: gates (T, N, G * H),
states (T + 1, N, H) and what is kept (T, N, H), with ``t`` the number of the step. What
is of one step is (N, G * H) or (N, H). All have W, the dtype to compute in. A launch
has a thread for each element of the state: it is to be called with the ``size`` N * H.

Where ``masked``, and not ``mask[t]``, there is no step: states stay, gradients pass.
"""

import numpy as np

from dezero.kernels.fusing import elementwise

NUMBERS = "raw bool mask, bool masked, int64 t, int64 H"
# now is the place in states before the step, next that after it; k that of the first
# gate in those of all steps, u that in those of one.
STEP = """
    const ptrdiff_t size = _ind.size(), now = t * size + i, next = now + size;
    const ptrdiff_t n = i / H, j = i % H, u = n * {gates} * H + j;
    const ptrdiff_t k = t * {gates} * size + u;
    const bool here = !masked || mask[t * (size / H) + n];
    (void)next, (void)j, (void)k;  // not all need them
"""
ONE, THREE, FOUR = [STEP.format(gates=n) for n in (1, 3, 4)]


def sigmoid(x):
    """``1 / (1 + exp(-x))``, where no number overflows."""
    return np.tanh(x / 2) / 2 + 0.5


def is_here(mask, masked, t):
    """Which rows have a step, (N, 1); or True for all."""
    return mask[int(t)][:, None] if masked else True


@elementwise(
    f"raw W product, {NUMBERS}",
    "raw W a, raw W h",
    f"""{ONE}
    const W y = tanh(a[k] + product[u]);
    a[k] = y;
    h[next] = here ? y : h[now];
    """,
)
def rnn(product, mask, masked, t, H, a, h):
    """``h[t + 1] = tanh(a[t] + product)``, which stays in ``a``, too."""
    here, t = is_here(mask, masked, t), int(t)
    a[t] = np.tanh(a[t] + product)
    h[t + 1] = np.where(here, a[t], h[t])


@elementwise(
    f"raw W a, raw W gy, raw W gh, {NUMBERS}",
    "raw W rest, raw W ga",
    f"""{ONE}
    const W g = masked ? gh[i] + rest[i] : gh[i];
    ga[k] = here ? (g + gy[now]) * (1 - a[k] * a[k]) : W(0);
    if (masked) rest[i] = here ? W(0) : g;
    """,
)
def rnn_back(a, gy, gh, mask, masked, t, H, rest, ga):
    """The gradient before tanh, of ``h[t]`` through the product in ``gh``.

    ``rest`` is what reaches h besides; it is not looked at without a mask.
    """
    here, t = is_here(mask, masked, t), int(t)
    g = gh + rest if masked else gh
    ga[t] = np.where(here, g + gy[t], 0) * (1 - a[t] ** 2)
    if masked:
        rest[...] = np.where(here, 0, g)


@elementwise(
    f"raw W product, {NUMBERS}",
    "raw W a, raw W h, raw W c, raw W z",
    f"""{FOUR}
    const W in = sigmoid(a[k] + product[u]), f = sigmoid(a[k + H] + product[u + H]);
    const W g = tanh(a[k + 2 * H] + product[u + 2 * H]);
    const W o = sigmoid(a[k + 3 * H] + product[u + 3 * H]);
    a[k] = in, a[k + H] = f, a[k + 2 * H] = g, a[k + 3 * H] = o;
    const W c0 = c[now], c1 = f * c0 + in * g;
    z[now] = tanh(c1);
    c[next] = here ? c1 : c0;
    h[next] = here ? o * z[now] : h[now];
    """,
)
def lstm(product, mask, masked, t, H, a, h, c, z):
    """``i, f, g, o = a + product``, ``c = f * c + i * g``, ``h = o * z``.

    With ``z = tanh(c)``; through a sigmoid, g through tanh. ``a`` becomes the gates.
    """
    here, t = is_here(mask, masked, t), int(t)
    i, f, g, o = np.split(a[t], 4, axis=1)
    a[t] += product
    for gate in i, f, o:
        gate[...] = sigmoid(gate)
    g[...] = np.tanh(g)
    new = f * c[t] + i * g
    z[t] = np.tanh(new)
    c[t + 1] = np.where(here, new, c[t])
    h[t + 1] = np.where(here, o * z[t], h[t])


@elementwise(
    f"raw W a, raw W c, raw W z, raw W gy, raw W gh, {NUMBERS}",
    "raw W gc, raw W rest, raw W ga",
    f"""{FOUR}
    const W in = a[k], f = a[k + H], g = a[k + 2 * H], o = a[k + 3 * H], y = z[now];
    const W passing = masked ? gh[i] + rest[i] : gh[i], g0 = gc[i];
    const W gs = here ? passing + gy[now] : W(0);
    const W d = (here ? g0 : W(0)) + gs * o * (1 - y * y);
    ga[k] = d * g * (in * (1 - in));
    ga[k + H] = d * c[now] * (f * (1 - f));
    ga[k + 2 * H] = d * in * (1 - g * g);
    ga[k + 3 * H] = gs * y * (o * (1 - o));
    gc[i] = here ? d * f : g0;
    if (masked) rest[i] = here ? W(0) : passing;
    """,
)
def lstm_back(a, c, z, gy, gh, mask, masked, t, H, gc, rest, ga):
    """The gradients before the gates, and of ``c[t]`` in place of ``c[t + 1]``.

    ``gh`` and ``rest`` as in :func:`rnn_back`.
    """
    here, t = is_here(mask, masked, t), int(t)
    i, f, g, o = np.split(a[t], 4, axis=1)
    passing = gh + rest if masked else gh
    gs = np.where(here, passing + gy[t], 0)
    d = np.where(here, gc, 0) + gs * o * (1 - z[t] ** 2)
    parts = [d * g * i * (1 - i), d * c[t] * f * (1 - f), d * i * (1 - g * g)]
    ga[t] = np.concatenate([*parts, gs * z[t] * o * (1 - o)], axis=1)
    gc[...] = np.where(here, d * f, gc)
    if masked:
        rest[...] = np.where(here, 0, passing)


@elementwise(
    f"raw W product, raw W bh, {NUMBERS}",
    "raw W a, raw W h, raw W un",
    f"""{THREE}
    const W r = sigmoid(a[k] + (product[u] + bh[j]));
    const W s = sigmoid(a[k + H] + (product[u + H] + bh[j + H]));
    const W v = product[u + 2 * H] + bh[j + 2 * H], m = tanh(a[k + 2 * H] + r * v);
    un[now] = v;
    a[k] = r, a[k + H] = s, a[k + 2 * H] = m;
    h[next] = here ? m + s * (h[now] - m) : h[now];
    """,
)
def gru(product, bh, mask, masked, t, H, a, h, un):
    """``r, s = sigmoid(a + u)``, ``m = tanh(a + r * u)``, ``h = m + s * (h - m)``.

    With ``u = product + bh``. ``a`` becomes the gates, ``un`` keeps the third part of
    u.
    """
    here, t = is_here(mask, masked, t), int(t)
    r, s, m = np.split(a[t], 3, axis=1)
    ur, us, un[t] = np.split(product + bh, 3, axis=1)
    r[...] = sigmoid(r + ur)
    s[...] = sigmoid(s + us)
    m[...] = np.tanh(m + r * un[t])
    h[t + 1] = np.where(here, m + s * (h[t] - m), h[t])


@elementwise(
    f"raw W a, raw W h, raw W un, raw W gy, raw W gh, {NUMBERS}",
    "raw W rest, raw W ga, raw W gu",
    f"""{THREE}
    const W r = a[k], s = a[k + H], m = a[k + 2 * H], passing = gh[i] + rest[i];
    const W g = here ? passing + gy[now] : W(0), gm = g * (1 - s) * (1 - m * m);
    ga[k] = gu[k] = gm * un[now] * (r * (1 - r));
    ga[k + H] = gu[k + H] = g * (h[now] - m) * (s * (1 - s));
    ga[k + 2 * H] = gm;
    gu[k + 2 * H] = gm * r;
    rest[i] = here ? g * s : passing;
    """,
)
def gru_back(a, h, un, gy, gh, mask, masked, t, H, rest, ga, gu):
    """The gradients of both summands before the gates.

    ``gh`` and ``rest`` as in :func:`rnn_back`; in ``rest``, what reaches ``h[t]`` takes
    the place of what reached ``h[t + 1]``.
    """
    here, t = is_here(mask, masked, t), int(t)
    r, s, m = np.split(a[t], 3, axis=1)
    g = np.where(here, gh + rest + gy[t], 0)
    gm = g * (1 - s) * (1 - m * m)
    gr = gm * un[t] * r * (1 - r)
    gs = g * (h[t] - m) * s * (1 - s)
    ga[t] = np.concatenate([gr, gs, gm], axis=1)
    gu[t] = np.concatenate([gr, gs, gm * r], axis=1)
    rest[...] = np.where(here, g * s, gh + rest)
