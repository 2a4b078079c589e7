"""Recurrent layers that take one step at each call and keep their state in between.

For sequences that are there as a whole, ``SequenceLSTM`` and its like are faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dezero.functions as F
from dezero.core import ArrayLike, Variable, as_variable
from dezero.layers.arguments import as_size
from dezero.layers.base import Layer
from dezero.layers.linear import Linear
from dezero.layers.side_by_side import SideBySide


class _Recurrent(Layer):
    """What the steps share: the sublayers ``x2...`` of x and ``h2...`` of the state.

    Their weights are joined for one product of matrices instead of several; so the
    sublayers themselves are not called. ``gates`` are named in the order that the
    function wants.
    """

    gates: tuple[str, ...]
    states: tuple[str, ...] = ("h",)

    def __init__(
        self,
        names: str,
        hidden_size: int,
        in_size: int | None,
        dtype: Any,
        h_nobias: bool = True,
    ) -> None:
        super().__init__()
        H = self.hidden_size = as_size(type(self).__name__, "hidden_size", hidden_size)
        for gate in names:
            layer = Linear(H, dtype=dtype, in_size=in_size)
            setattr(self, f"x2{gate}", layer)
        for gate in names:
            layer = Linear(H, nobias=h_nobias, dtype=dtype, in_size=H)
            setattr(self, f"h2{gate}", layer)
        self.reset_state()

    def reset_state(self) -> None:
        """Forget the state: the next step starts a new sequence."""
        for name in self.states:
            setattr(self, name, None)

    def detach_state(self) -> None:
        """Keep the state and cut its graph: backward passes to come stop here.

        What ``unchain_backward()`` of the loss does too, but after
        ``backward(retain_graph=False)``, which leaves no graph to follow.
        """
        for name in self.states:
            state = getattr(self, name)
            if state is not None:
                setattr(self, name, state.detach())

    def _prepare(self, x: ArrayLike) -> Variable:
        x = as_variable(x)
        if x.ndim != 2:
            raise ValueError(
                f"{type(self).__name__}: expected x of shape (N, in_size), one step, "
                f"got {x.shape}"
            )
        H = self.hidden_size
        for gate in self.gates:
            getattr(self, f"x2{gate}").prepare(x.data)
            if (shape := getattr(self, f"h2{gate}").W.shape) != (H, H):
                raise ValueError(
                    f"{type(self).__name__}: expected h2{gate}/W of shape {(H, H)}, "
                    f"got {shape}"
                )
        for name in self.states:
            state = getattr(self, name)
            if state is not None and state.shape != (len(x), self.hidden_size):
                raise ValueError(
                    f"{type(self).__name__}: expected a batch of {state.shape[0]}, as "
                    f"in the state {name} of shape {state.shape}, got x of shape "
                    f"{x.shape}; call reset_state() before a new sequence"
                )
        return x

    def _joined(self, prefix: str, name: str) -> Any:
        """The parameters ``name`` of the sublayers side by side; None without any."""
        parts = [getattr(getattr(self, prefix + gate), name) for gate in self.gates]
        missing = [p is None for p in parts]
        if any(missing):
            if not all(missing):
                names = ", ".join([f"{prefix}{gate}" for gate in self.gates])
                raise ValueError(
                    f"{type(self).__name__}: expected {name} in all of {names} or in "
                    "none, got it in some"
                )
            return None
        packs = self.__dict__.setdefault("_packs", {})
        pack = packs.get(prefix + name)
        if pack is None or not pack.holds(parts):
            kinds = {(p.data.shape, p.data.dtype) for p in parts}
            if len(kinds) > 1 or any([p.creator is not None for p in parts]):
                return F.concatenate(parts, axis=-1)
            pack = packs[prefix + name] = SideBySide(parts)
        state = getattr(self, self.states[0])
        return pack.joined(anew=state is None or state.creator is None)

    def __getstate__(self) -> dict[str, Any]:
        # A copy of a view is no view any more.
        return {k: v for k, v in super().__getstate__().items() if k != "_packs"}


class RNN(_Recurrent):
    """One step of ``h = tanh(x Wx + b + h Wh)``: :func:`dezero.functions.rnn_cell`.

    The state ``h`` (N, hidden_size), None before the first step, stays between calls
    and carries the graph: cut it with ``unchain_backward()`` of the loss, or with
    ``detach_state()``.

    Layers:
        x2h: Linear(hidden_size).
        h2h: Linear(hidden_size, nobias=True).

    Args:
        hidden_size: Number of features of the state.
        in_size: Number of features that go in; by default the first call tells.
        dtype: Floating dtype of the parameters.

    Raises:
        TypeError: A size is no integer, or ``dtype`` is not floating.
        ValueError: A size is below 1.
    """

    gates = ("h",)
    x2h: Linear
    h2h: Linear
    h: Variable | None

    def __init__(
        self, hidden_size: int, in_size: int | None = None, dtype: Any = np.float32
    ) -> None:
        super().__init__("h", hidden_size, in_size, dtype)

    def forward(self, x: ArrayLike) -> Variable:
        """Take one step.

        Args:
            x: (N, in_size).

        Returns:
            The new state ``h``, (N, hidden_size).

        Raises:
            ValueError: ``x`` does not fit the weights, or its batch not the state.
        """
        x = self._prepare(x)
        self.h = F.rnn_cell(x, self.h, self.x2h.W, self.h2h.W, self.x2h.b)
        return self.h


class LSTM(_Recurrent):
    """One step of a long short-term memory: :func:`dezero.functions.lstm_cell`.

    With gates f (forget), i (input), o (output) and u (update):
    ``c = sigmoid(f) * c + sigmoid(i) * tanh(u)``, ``h = sigmoid(o) * tanh(c)``. The
    states ``h`` and ``c`` (N, hidden_size), None before the first step, stay between
    calls and carry the graph: cut it with ``unchain_backward()`` of the loss, or with
    ``detach_state()``.

    Layers:
        x2f, x2i, x2o, x2u: Linear(hidden_size).
        h2f, h2i, h2o, h2u: Linear(hidden_size, nobias=True).

    Args:
        hidden_size: Number of features of the state.
        in_size: Number of features that go in; by default the first call tells.
        dtype: Floating dtype of the parameters.

    Raises:
        TypeError: A size is no integer, or ``dtype`` is not floating.
        ValueError: A size is below 1.
    """

    gates = ("i", "f", "u", "o")
    states = ("h", "c")
    h: Variable | None
    c: Variable | None

    def __init__(
        self, hidden_size: int, in_size: int | None = None, dtype: Any = np.float32
    ) -> None:
        super().__init__("fiou", hidden_size, in_size, dtype)

    def forward(self, x: ArrayLike) -> Variable:
        """Take one step.

        Args:
            x: (N, in_size).

        Returns:
            The new state ``h``, (N, hidden_size).

        Raises:
            ValueError: ``x`` does not fit the weights, or its batch not the state.
        """
        x = self._prepare(x)
        Wx, Wh = self._joined("x2", "W"), self._joined("h2", "W")
        b = self._joined("x2", "b")
        self.h, self.c = F.lstm_cell(x, self.h, self.c, Wx, Wh, b)
        return self.h


class GRU(_Recurrent):
    """One step of a gated recurrent unit: :func:`dezero.functions.gru_cell`.

    With gates r (reset), z (update) and n (candidate): ``n = tanh(x2n(x) + r *
    h2n(h))``, ``h = (1 - z) * n + z * h``. The state ``h`` (N, hidden_size), None
    before the first step, stays between calls and carries the graph: cut it with
    ``unchain_backward()`` of the loss, or with ``detach_state()``.

    Layers:
        x2r, x2z, x2n: Linear(hidden_size).
        h2r, h2z, h2n: Linear(hidden_size).

    Args:
        hidden_size: Number of features of the state.
        in_size: Number of features that go in; by default the first call tells.
        dtype: Floating dtype of the parameters.

    Raises:
        TypeError: A size is no integer, or ``dtype`` is not floating.
        ValueError: A size is below 1.
    """

    gates = ("r", "z", "n")
    h: Variable | None

    def __init__(
        self, hidden_size: int, in_size: int | None = None, dtype: Any = np.float32
    ) -> None:
        super().__init__("rzn", hidden_size, in_size, dtype, h_nobias=False)

    def forward(self, x: ArrayLike) -> Variable:
        """Take one step.

        Args:
            x: (N, in_size).

        Returns:
            The new state ``h``, (N, hidden_size).

        Raises:
            ValueError: ``x`` does not fit the weights, or its batch not the state.
        """
        x = self._prepare(x)
        Wx, Wh = self._joined("x2", "W"), self._joined("h2", "W")
        b, bh = self._joined("x2", "b"), self._joined("h2", "b")
        self.h = F.gru_cell(x, self.h, Wx, Wh, b, bh)
        return self.h
