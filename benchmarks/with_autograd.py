"""The workloads with autograd, which differentiates functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _by_arrays
import autograd.numpy as xp
import numpy as np
from _inputs import Inputs
from _updates import Adam, sgd
from autograd.builtins import list as traced_list
from autograd.core import make_vjp


class Side:
    """Steps of training by gradients of ``loss``; ``update`` changes arrays in place.

    ``value`` is the loss and ``state`` what follows it, both as plain arrays.
    """

    def __init__(
        self, inputs: Inputs, loss: _by_arrays.Loss, update: Any = None, state: Any = ()
    ):
        self.parameters = [p.copy() for p in inputs["parameters"]]
        self.loss, self.update, self.state = loss, update, state

    def step(self) -> float:
        after: list[Any] = []

        def loss(parameters: list[Any]) -> Any:
            value, state = self.loss(parameters, self.state)
            after.append(state)
            return value

        vjp, value = make_vjp(loss, traced_list(self.parameters))
        self._gradients = vjp(np.ones_like(value))
        self.state = [getattr(s, "_value", s) for s in after[0]]
        if self.update is not None:
            self.update(self.parameters, self._gradients)
        return float(value)

    def gradients(self) -> list[np.ndarray]:
        return list(self._gradients)


def _dropout(h: Any, ratio: float, state: Any) -> tuple[Any, Any]:
    mask = np.random.random(h.shape) >= ratio
    return h * (mask.astype(np.float32) / np.float32(1 - ratio)), state


def _lstm_steps(gates: Any, Wh: Any, h: Any, c: Any) -> tuple[Any, Any, Any]:
    hs = []
    for t in range(len(gates)):
        h, c = _by_arrays.lstm_step(xp, gates[t] + h @ Wh, c)
        hs.append(h)
    return xp.stack(hs), h, c


class _Products(Side):
    """The gradients that are looked at are the products."""

    def __init__(self, inputs: Inputs):
        super().__init__(inputs, _by_arrays.tanh_mlp(inputs, xp))
        self.v = inputs["v"]

    def step(self) -> float:
        values: list[Any] = []

        def along(parameters: list[Any]) -> Any:
            vjp, value = make_vjp(lambda p: self.loss(p, ())[0], parameters)
            values.append(value)
            gs = vjp(np.float32(1))
            return sum([xp.sum(g * v) for g, v in zip(gs, self.v, strict=True)])

        vjp, product = make_vjp(along, traced_list(self.parameters))
        self._gradients = vjp(np.ones_like(product))
        return float(getattr(values[0], "_value", values[0]))


def _plain(function: Callable[..., Any], update: Any = None) -> Callable[[Inputs], Any]:
    def make(inputs: Inputs) -> Side:
        return Side(inputs, function(inputs, xp), update)

    return make


WORKLOADS: dict[str, Callable[[Inputs], Any]] = {
    "tiny": _plain(_by_arrays.tiny),
    "deep": _plain(_by_arrays.deep),
    "wide": _plain(_by_arrays.wide),
    "mlp_sgd": _plain(_by_arrays.mlp, sgd),
    "mlp_adam": lambda inputs: Side(inputs, _by_arrays.mlp(inputs, xp), Adam()),
    "norm_mlp": lambda inputs: Side(
        inputs, _by_arrays.norm_mlp(inputs, xp, _dropout), sgd
    ),
    "lstm": lambda inputs: Side(
        inputs,
        _by_arrays.lstm(inputs, xp, _lstm_steps),
        Adam(),
        _by_arrays.lstm_start(inputs),
    ),
    "gpt": lambda inputs: Side(inputs, _by_arrays.gpt(inputs, xp), Adam()),
    "hvp": _Products,
}
