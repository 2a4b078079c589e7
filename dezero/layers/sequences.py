"""Recurrent layers over whole sequences: stacked, and in both directions if wanted.

For one step at a time, see ``RNN``, ``LSTM`` and ``GRU``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

import dezero.functions as F
from dezero import cuda
from dezero.core import ArrayLike, Parameter, Variable, as_variable
from dezero.cuda import Array
from dezero.layers.arguments import (
    as_floating,
    as_ratio,
    as_size,
    as_size_or_none,
    call_text,
)
from dezero.layers.base import Layer


class _Pass(Layer):
    """The weights of one layer in one direction; ``gates`` of them side by side."""

    def __init__(
        self, H: int, in_size: int | None, gates: int, biases: list[str], dtype: Any
    ) -> None:
        super().__init__()
        self.hidden_size, self.gates, self.dtype = H, gates, dtype
        self.Wx = Parameter(None, name="Wx")
        if in_size is not None:
            self.init_Wx(in_size, np)
        Wh = np.random.randn(H, gates * H) * math.sqrt(1 / H)
        self.Wh = Parameter(Wh.astype(dtype), name="Wh")
        self.biases = biases
        for name in biases:
            setattr(self, name, Parameter(np.zeros(gates * H, dtype), name=name))

    def init_Wx(self, in_size: int, xp: Any) -> None:
        shape = in_size, self.gates * self.hidden_size
        self.Wx.data = (xp.random.randn(*shape) * math.sqrt(1 / in_size)).astype(
            self.dtype
        )

    def weights(self) -> list[Parameter]:
        return [self.Wx, self.Wh, *[getattr(self, name) for name in self.biases]]


class _Sequence(Layer):
    """What the layers over sequences share.

    ``forwards`` and ``backwards`` are lists of what each layer has for one direction.
    """

    function: ClassVar[Callable[..., tuple[Variable, ...]]]
    gates: ClassVar[int]
    biases: ClassVar[list[str]] = ["b"]
    states: ClassVar[tuple[str, ...]] = ("h",)

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        bidirectional: bool = False,
        dropout_ratio: float = 0.0,
        in_size: int | None = None,
        dtype: Any = np.float32,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        H = self.hidden_size = as_size(name, "hidden_size", hidden_size)
        self.num_layers = as_size(name, "num_layers", num_layers)
        self.bidirectional = bool(bidirectional)
        self.dropout_ratio = as_ratio(name, "dropout_ratio", dropout_ratio)
        first = as_size_or_none(name, "in_size", in_size)
        self.dtype = as_floating(name, dtype)
        directions = 2 if self.bidirectional else 1
        sizes = [first, *[directions * H] * (self.num_layers - 1)]

        def passes() -> list[_Pass]:
            return [_Pass(H, n, self.gates, self.biases, self.dtype) for n in sizes]

        self.forwards = passes()
        self.backwards = passes() if self.bidirectional else []

    def _over(
        self, x: ArrayLike, states: tuple[Any, ...], lengths: ArrayLike | None
    ) -> tuple[Variable, ...]:
        """All layers over ``x``: what ``forward`` returns."""
        y = as_variable(x)
        self._prepare(y.data)
        before = self._given_states(y, states)
        after: list[list[Variable]] = []
        if lengths is not None:
            xp = cuda.get_array_module(y.data)
            lengths = as_variable(xp.asarray(as_variable(_array(lengths)).data))
        stack = [self.forwards, self.backwards] if self.backwards else [self.forwards]
        for i in range(self.num_layers):
            if i > 0:
                y = F.dropout(y, self.dropout_ratio)
            results = []
            for direction, passes in enumerate(stack):
                z = _backwards(y, lengths) if direction else y
                state = [None if s is None else s[len(after)] for s in before]
                weights = passes[i].weights()
                z, *last = type(self).function(z, *state, *weights, lengths=lengths)
                results.append(_backwards(z, lengths) if direction else z)
                after.append(last)
            y = F.concatenate(results, axis=-1) if self.backwards else results[0]
        return y, *[F.stack(each, axis=0) for each in zip(*after, strict=True)]

    def _prepare(self, x: Array) -> None:
        if x.ndim != 3 or x.shape[2] == 0:
            raise ValueError(
                f"{self!r}: expected x of shape (T, N, in_size), got {x.shape}"
            )
        for p in [*self.forwards[:1], *self.backwards[:1]]:
            if p.Wx.data is None:
                p.init_Wx(x.shape[2], cuda.get_array_module(x))
            if p.Wx.shape[0] != x.shape[2]:
                raise ValueError(
                    f"{self!r}: expected x of shape (T, N, {p.Wx.shape[0]}), "
                    f"got {x.shape}"
                )

    def _given_states(
        self, x: Variable, states: tuple[Any, ...]
    ) -> list[Variable | None]:
        passes = len(self.forwards) + len(self.backwards)
        shape = passes, x.shape[1], self.hidden_size
        given: list[Variable | None] = [None] * len(self.states)
        for i, state in enumerate(states):
            if state is None:
                continue
            given[i] = as_variable(state)
            if state.shape != shape:
                raise ValueError(
                    f"{self!r}: expected {self.states[i]} of shape {shape}, "
                    f"got {state.shape}"
                )
        return given

    def __repr__(self) -> str:
        in_size = self.forwards[0].Wx
        return call_text(
            self,
            self.hidden_size,
            num_layers=(self.num_layers, 1),
            bidirectional=(self.bidirectional, False),
            dropout_ratio=(self.dropout_ratio, 0.0),
            in_size=(None if in_size.data is None else in_size.shape[0], None),
            dtype=(self.dtype, np.float32),
        )


class SequenceRNN(_Sequence):
    """Layers of :func:`dezero.functions.rnn`, each over what the one before gave.

    Parameters, of ``forwards/i`` and, in both directions, ``backwards/i``:

    - ``Wx`` (I, H), normal with standard deviation ``sqrt(1 / I)``; I is ``in_size``,
      then H, or 2H in both directions;
    - ``Wh`` (H, H), normal with standard deviation ``sqrt(1 / H)``;
    - ``b`` (H,), zeros.

    Args:
        hidden_size: H, number of features of a state.
        num_layers: How many layers.
        bidirectional: Also run from the end to the start, with weights of its own.
        dropout_ratio: What is dropped between two layers in training.
        in_size: Number of features that go in; by default the first call tells.
        dtype: Floating dtype of the parameters.

    Raises:
        TypeError: A size is no integer, or ``dtype`` is not floating.
        ValueError: A size is below 1, or ``dropout_ratio`` outside [0, 1].
    """

    function = F.rnn
    gates = 1

    def forward(
        self,
        x: ArrayLike,
        h: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> tuple[Variable, Variable]:
        """Run over sequences.

        Args:
            x: (T, N, in_size), T steps of N sequences.
            h: What this returned as h, to go on from there; None for zeros.
            lengths: (N,), how many steps each sequence has; what follows is padding.

        Returns:
            y (T, N, H), what the last layer gives at each step; both directions side by
            side make it (T, N, 2H). Then h, the state at the end of each layer,
            (num_layers, N, H); in both directions (2 * num_layers, N, H), of each layer
            first that of the forward, then that of the backward direction.

        Raises:
            TypeError: ``lengths`` are no integers.
            ValueError: ``x``, ``h`` or ``lengths`` do not fit.
        """
        y, h = self._over(x, (h,), lengths)
        return y, h


class SequenceLSTM(_Sequence):
    """Layers of :func:`dezero.functions.lstm`; otherwise as :class:`SequenceRNN`.

    Wx is (I, 4H), Wh (H, 4H) and b (4H,): gates i, f, g, o side by side.
    """

    function = F.lstm
    gates = 4
    states = ("h", "c")

    def forward(
        self,
        x: ArrayLike,
        h: ArrayLike | None = None,
        c: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> tuple[Variable, Variable, Variable]:
        """Run over sequences: as :class:`SequenceRNN`, with a second state ``c``.

        Returns:
            y (T, N, H) or (T, N, 2H), then h and c, (num_layers, N, H) or
            (2 * num_layers, N, H) each.
        """
        y, h, c = self._over(x, (h, c), lengths)
        return y, h, c


class SequenceGRU(_Sequence):
    """Layers of :func:`dezero.functions.gru`; otherwise as :class:`SequenceRNN`.

    Wx is (I, 3H), Wh (H, 3H): r, z, n side by side; b and bh are (3H,), zeros.
    """

    function = F.gru
    gates = 3
    biases = ["b", "bh"]

    def forward(
        self,
        x: ArrayLike,
        h: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
    ) -> tuple[Variable, Variable]:
        """Run over sequences: as :class:`SequenceRNN`."""
        y, h = self._over(x, (h,), lengths)
        return y, h


def _array(x: Any) -> Any:
    return np.asarray(x) if isinstance(x, (list, tuple)) else x


def _backwards(x: Variable, lengths: Variable | None) -> Variable:
    """The steps in reverse; padding stays at the end."""
    if lengths is None:
        return F.flip(x, 0)
    xp = cuda.get_array_module(x.data)
    t, n = xp.arange(x.shape[0])[:, None], lengths.data
    steps = xp.where(t < n, n - 1 - t, t)  # (T, N)
    return F.get_item(x, (steps, xp.arange(x.shape[1])))
