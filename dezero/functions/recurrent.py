"""The simplest recurrent network: whole sequences and single steps."""

import numpy as np

from dezero.core import ArrayLike, Variable
from dezero.functions.hyperbolic import tanh
from dezero.functions.recurrence import Recurrence, one_step, run
from dezero.kernels import gated

__all__ = ["RNN", "rnn", "rnn_cell"]


class RNN(Recurrence):
    kernels = gated.rnn, gated.rnn_back

    def step(self, a, product, old, new, kept):
        a += product
        np.tanh(a, out=a)
        new[0][...] = a

    def step_back(self, y, old, kept, gs, ga, gu, scratch):
        np.multiply(y, y, out=scratch)
        np.subtract(1, scratch, out=scratch)
        np.multiply(gs[0], scratch, out=ga)

    def compose_step(self, a, product, h):
        return [tanh(a + product)]


def rnn(
    x: ArrayLike,
    h: ArrayLike | None,
    Wx: ArrayLike,
    Wh: ArrayLike,
    b: ArrayLike | None = None,
    lengths: ArrayLike | None = None,
    mask: ArrayLike | None = None,
) -> tuple[Variable, Variable]:
    """Recurrent network over a sequence: ``h = tanh(x[t] @ Wx + h @ Wh + b)``.

    Padding, where sequences of unequal length share a batch, carries the state through:
    y is 0 there, x is not looked at and gets no gradient. The gradient is fused over
    the sequence; with ``create_graph=True`` the sequence is recomputed step by step.
    Elman 1990, "Finding structure in time".

    Args:
        x: (T, N, I), T steps of N sequences.
        h: (N, H), the state before the first step; None for zeros.
        Wx: (I, H).
        Wh: (H, H).
        b: (H,), or None for no bias.
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
    inputs = {"x": x, "h": h, "Wx": Wx, "Wh": Wh, "b": b}
    y, h = run(RNN, "rnn", 1, inputs, lengths, mask)
    return y, h


def rnn_cell(
    x: ArrayLike,
    h: ArrayLike | None,
    Wx: ArrayLike,
    Wh: ArrayLike,
    b: ArrayLike | None = None,
) -> Variable:
    """One step of :func:`rnn`: ``h = tanh(x @ Wx + h @ Wh + b)``.

    Args:
        x: (N, I).
        h: (N, H); None for zeros.
        Wx: (I, H).
        Wh: (H, H).
        b: (H,), or None for no bias.

    Returns:
        The next state (N, H).

    Raises:
        ValueError: The shapes do not fit.
    """
    inputs = {"x": one_step("rnn_cell", x), "h": h, "Wx": Wx, "Wh": Wh, "b": b}
    return run(RNN, "rnn_cell", 1, inputs, None, None)[1]
