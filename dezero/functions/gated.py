"""Recurrent networks with gates, LSTM and GRU: whole sequences and single steps."""

import numpy as np

from dezero.core import ArrayLike, Variable
from dezero.functions.activation import sigmoid
from dezero.functions.hyperbolic import tanh
from dezero.functions.joining import split
from dezero.functions.recurrence import Recurrence, one_step, run
from dezero.kernels import gated

__all__ = ["GRU", "LSTM", "gru", "gru_cell", "lstm", "lstm_cell"]


class LSTM(Recurrence):
    states = 2
    keeps = 1  # tanh(c)
    kernels = gated.lstm, gated.lstm_back

    def prepare(self, a):
        # sigmoid(a) = tanh(a / 2) / 2 + 1 / 2, so that one tanh does for all four gates
        # and no number overflows.
        H = a.shape[-1] // 4
        self.half = np.full(4 * H, 0.5, a.dtype)
        self.half[2 * H : 3 * H] = 1
        self.shift = np.full(4 * H, 0.5, a.dtype)
        self.shift[2 * H : 3 * H] = 0

    def step(self, a, product, old, new, kept):
        (_, c0), (h, c), tanh_c = old, new, kept[0]
        a += product
        a *= self.half
        np.tanh(a, out=a)
        a *= self.half
        a += self.shift
        i, f, g, o = _parts(a, 4)
        np.multiply(f, c0, out=c)
        np.multiply(i, g, out=h)
        c += h
        np.tanh(c, out=tanh_c)
        np.multiply(o, tanh_c, out=h)

    def step_back(self, a, old, kept, gs, ga, gu, scratch):
        c0, tanh_c = old[1], kept[0]
        gh, gc = gs
        i, f, g, o = _parts(a, 4)
        gi, gf, gg, go = _parts(ga, 4)
        np.multiply(gh, tanh_c, out=go)
        d = tanh_c * tanh_c  # gc += gh * o * (1 - tanh(c)**2)
        np.subtract(1, d, out=d)
        d *= gh
        d *= o
        gc += d
        np.multiply(gc, g, out=gi)
        np.multiply(gc, c0, out=gf)
        np.multiply(gc, i, out=gg)
        gc *= f
        # The slopes: s * (1 - s) of a sigmoid s, 1 - g**2 of tanh.
        np.subtract(1, a, out=scratch)
        scratch *= a
        slope = _parts(scratch, 4)[2]
        np.multiply(g, g, out=slope)
        np.subtract(1, slope, out=slope)
        ga *= scratch

    def seen(self):
        return self.gates, self.history[1], self.kept

    def compose_step(self, a, product, h, c):
        i, f, g, o = split(a + product, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        return [sigmoid(o) * tanh(c), c]


class GRU(Recurrence):
    keeps = 1  # the third part of h @ Wh + bh
    apart = True
    kernels = gated.gru, gated.gru_back

    def step(self, a, product, old, new, kept):
        h0, h, u = old[0], new[0], kept[0]
        H = u.shape[1]
        u[...] = product[:, 2 * H :]
        r, z, n = _parts(a, 3)
        rz = a[:, : 2 * H]
        rz += product[:, : 2 * H]
        rz *= 0.5  # sigmoid(a) = tanh(a / 2) / 2 + 1 / 2, and no number overflows
        np.tanh(rz, out=rz)
        rz *= 0.5
        rz += 0.5
        np.multiply(r, u, out=h)
        n += h
        np.tanh(n, out=n)
        np.subtract(h0, n, out=h)
        h *= z
        h += n

    def step_back(self, a, old, kept, gs, ga, gu, scratch):
        h0, u, gh = old[0], kept[0], gs[0]
        H = u.shape[1]
        r, z, n = _parts(a, 3)
        gr, gz, gn = _parts(ga, 3)
        np.multiply(n, n, out=gn)  # gn = gh * (1 - z) * (1 - n**2)
        np.subtract(1, gn, out=gn)
        gn *= gh
        gn *= 1 - z
        np.subtract(h0, n, out=gz)
        gz *= gh
        np.multiply(gn, u, out=gr)
        grz, slope = ga[:, : 2 * H], scratch[:, : 2 * H]
        np.subtract(1, a[:, : 2 * H], out=slope)  # s * (1 - s) of a sigmoid s
        slope *= a[:, : 2 * H]
        grz *= slope
        gu[:, : 2 * H] = grz
        np.multiply(gn, r, out=gu[:, 2 * H :])
        gs[0] = gh * z

    def seen(self):
        return self.gates, self.history[0], self.kept

    def compose_step(self, a, product, h):
        ar, az, an = split(a, 3, axis=1)
        ur, uz, un = split(product, 3, axis=1)
        z = sigmoid(az + uz)
        n = tanh(an + sigmoid(ar + ur) * un)
        return [n + z * (h - n)]


def _parts(a, n):
    """The n gates beside each other in (N, n * H), as views."""
    H = a.shape[1] // n
    return [a[:, i * H : (i + 1) * H] for i in range(n)]


# =============================================================================
# Whole sequences
# =============================================================================


def lstm(
    x: ArrayLike,
    h: ArrayLike | None,
    c: ArrayLike | None,
    Wx: ArrayLike,
    Wh: ArrayLike,
    b: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> tuple[Variable, Variable, Variable]:
    """Long short-term memory over a sequence.

    At each step ``i, f, g, o = x[t] @ Wx + h @ Wh + b``, cut in four in this order, and
    ``c = sigmoid(f) * c + sigmoid(i) * tanh(g)``, ``h = sigmoid(o) * tanh(c)``.
    Hochreiter, Schmidhuber 1997, "Long short-term memory", with the forget gate of
    Gers, Schmidhuber, Cummins 2000.

    Padding, where sequences of unequal length share a batch, carries the states
    through: y is 0 there, x is not looked at and gets no gradient. The gradient is
    fused over the sequence; with ``create_graph=True`` the sequence is recomputed step
    by step, so that any derivative is right.

    Args:
        x: (T, N, I), T steps of N sequences.
        h: (N, H), the state before the first step; None for zeros.
        c: (N, H), the cell before the first step; None for zeros.
        Wx: (I, 4H).
        Wh: (H, 4H).
        b: (4H,), or None for no bias.
        lengths: (N,), how many steps each sequence has; what follows is padding.
        mask: (T, N), True where there is a step, instead of ``lengths``.

    Returns:
        y (T, N, H), the state h after each step; h and c (N, H) after the last. Half
        precision is computed in single precision.

    Raises:
        TypeError: ``lengths`` are no integers, or ``mask`` is not boolean.
        ValueError: The shapes do not fit, a length is outside [0, T], or both
            ``lengths`` and ``mask`` are given.
    """
    inputs = {"x": x, "h": h, "c": c, "Wx": Wx, "Wh": Wh, "b": b}
    y, h, c = run(LSTM, "lstm", 4, inputs, lengths, mask)
    return y, h, c


def gru(
    x: ArrayLike,
    h: ArrayLike | None,
    Wx: ArrayLike,
    Wh: ArrayLike,
    b: ArrayLike | None = None,
    bh: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> tuple[Variable, Variable]:
    """Gated recurrent unit over a sequence.

    At each step ``ar, az, an = x[t] @ Wx + b`` and ``ur, uz, un = h @ Wh + bh``, each
    cut in three in this order (reset, update, candidate); ``r = sigmoid(ar + ur)``,
    ``z = sigmoid(az + uz)``, ``n = tanh(an + r * un)``, ``h = (1 - z) * n + z * h``.
    Cho et al. 2014, arXiv:1406.1078, in the form of cuDNN: the reset gate acts on the
    product ``un``, after the multiplication by Wh, not on h before it; so one product
    of matrices serves all gates.

    Padding is treated as in :func:`lstm`, and so are gradients.

    Args:
        x: (T, N, I), T steps of N sequences.
        h: (N, H), the state before the first step; None for zeros.
        Wx: (I, 3H).
        Wh: (H, 3H).
        b: (3H,), or None for no bias.
        bh: (3H,), a bias of the recurrent product; or None for none.
        lengths: (N,), how many steps each sequence has; what follows is padding.
        mask: (T, N), True where there is a step, instead of ``lengths``.

    Returns:
        y (T, N, H), the state after each step, and h (N, H), that after the last.
        Half precision is computed in single precision.

    Raises:
        TypeError: ``lengths`` are no integers, or ``mask`` is not boolean.
        ValueError: The shapes do not fit, a length is outside [0, T], or both
            ``lengths`` and ``mask`` are given.
    """
    inputs = {"x": x, "h": h, "Wx": Wx, "Wh": Wh, "b": b, "bh": bh}
    y, h = run(GRU, "gru", 3, inputs, lengths, mask)
    return y, h


# =============================================================================
# Single steps
# =============================================================================


def lstm_cell(
    x: ArrayLike,
    h: ArrayLike | None,
    c: ArrayLike | None,
    Wx: ArrayLike,
    Wh: ArrayLike,
    b: ArrayLike | None = None,
) -> tuple[Variable, Variable]:
    """One step of :func:`lstm`.

    Args:
        x: (N, I).
        h: (N, H); None for zeros.
        c: (N, H); None for zeros.
        Wx: (I, 4H).
        Wh: (H, 4H).
        b: (4H,), or None for no bias.

    Returns:
        The next h and c, (N, H) each.

    Raises:
        ValueError: The shapes do not fit.
    """
    x = one_step("lstm_cell", x)
    inputs = {"x": x, "h": h, "c": c, "Wx": Wx, "Wh": Wh, "b": b}
    _, h, c = run(LSTM, "lstm_cell", 4, inputs, None, None)
    return h, c


def gru_cell(
    x: ArrayLike,
    h: ArrayLike | None,
    Wx: ArrayLike,
    Wh: ArrayLike,
    b: ArrayLike | None = None,
    bh: ArrayLike | None = None,
) -> Variable:
    """One step of :func:`gru`.

    Args:
        x: (N, I).
        h: (N, H); None for zeros.
        Wx: (I, 3H).
        Wh: (H, 3H).
        b: (3H,), or None for no bias.
        bh: (3H,), or None.

    Returns:
        The next state (N, H).

    Raises:
        ValueError: The shapes do not fit.
    """
    x = one_step("gru_cell", x)
    inputs = {"x": x, "h": h, "Wx": Wx, "Wh": Wh, "b": b, "bh": bh}
    return run(GRU, "gru_cell", 3, inputs, None, None)[1]
