"""The workloads with JAX, each step compiled as a whole.

The graphs of many small nodes are left out: there is no node left after compiling.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import _by_arrays
import jax
import jax.numpy as xp
import numpy as np
from _inputs import Inputs
from jax import lax


class Side:
    """Steps by the gradients of ``loss``.

    ``update(parameters, gradients, moments)`` returns new parameters and moments.
    """

    def __init__(
        self, inputs: Inputs, loss: _by_arrays.Loss, update: Any = None, state: Any = ()
    ):
        differentiated = jax.value_and_grad(loss, has_aux=True)
        self.parameters = [xp.asarray(p) for p in inputs["parameters"]]
        self.state, self.update = state, update
        self.moments = _moments(self.parameters) if update is _adam else ()
        self.before: Any = None  # what the last step began with, and its gradients

        def trained(parameters: Any, state: Any, moments: Any) -> Any:
            (value, state), gs = differentiated(parameters, state)
            parameters, moments = update(parameters, gs, moments)
            return value, state, parameters, moments

        self.derive = jax.jit(differentiated)
        self.train = jax.jit(trained)

    def step(self) -> Any:
        if self.update is None:
            (value, _), gs = self.derive(self.parameters, self.state)
            self.found = gs
            return jax.block_until_ready((value, gs))[0]
        self.before = self.parameters, self.state
        answer = self.train(self.parameters, self.state, self.moments)
        value, self.state, self.parameters, self.moments = jax.block_until_ready(answer)
        return value

    def gradients(self) -> list[np.ndarray]:
        if self.update is not None:  # the compiled step does not hand them out
            self.found = self.derive(*self.before)[1]
        return [np.asarray(g) for g in self.found]


def _sgd(parameters: Any, gradients: Any, moments: Any) -> tuple[Any, Any]:
    pairs = zip(parameters, gradients, strict=True)
    return [p - 0.01 * g for p, g in pairs], moments


def _moments(parameters: Any) -> Any:
    zeros = [xp.zeros_like(p) for p in parameters]
    return zeros, zeros, xp.zeros((), xp.float32)


def _adam(
    parameters: Any, gradients: Any, moments: Any, b1: float = 0.9, b2: float = 0.999
) -> tuple[Any, Any]:
    ms, vs, t = moments
    t = t + 1
    ms = [b1 * m + (1 - b1) * g for m, g in zip(ms, gradients, strict=True)]
    vs = [b2 * v + (1 - b2) * g * g for v, g in zip(vs, gradients, strict=True)]
    c1, c2 = 1 - b1**t, 1 - b2**t
    parameters = [
        p - 0.001 * (m / c1) / (xp.sqrt(v / c2) + 1e-8)
        for p, m, v in zip(parameters, ms, vs, strict=True)
    ]
    return parameters, (ms, vs, t)


def _dropout(h: Any, ratio: float, key: Any) -> tuple[Any, Any]:
    key, drawn = jax.random.split(key)
    mask = jax.random.bernoulli(drawn, 1 - ratio, h.shape)
    return xp.where(mask, h / (1 - ratio), 0), key


def _lstm_steps(gates: Any, Wh: Any, h: Any, c: Any) -> tuple[Any, Any, Any]:
    def step(state: Any, a: Any) -> tuple[Any, Any]:
        h, c = _by_arrays.lstm_step(xp, a + state[0] @ Wh, state[1])
        return (h, c), h

    (h, c), hs = lax.scan(step, (h, c), gates)
    return hs, h, c


def _conv(x: Any, W: Any) -> Any:
    return lax.conv(x, W, (1, 1), "SAME")


def _pool(x: Any) -> Any:
    window = (1, 1, 2, 2)
    return lax.reduce_window(x, -xp.inf, lax.max, window, window, "VALID")


def _conv_net(inputs: Inputs) -> Side:
    def loss(parameters: Any, state: Any) -> tuple[Any, Any]:
        W1, b1, W2, b2, W3, b3 = parameters
        x = _pool(xp.maximum(_conv(inputs["x"], W1) + b1[:, None, None], 0))
        x = _pool(xp.maximum(_conv(x, W2) + b2[:, None, None], 0))
        z = x.reshape(len(x), -1) @ W3 + b3
        return _by_arrays.cross_entropy(xp, z, inputs["t"]), state

    return Side(inputs, loss, _sgd)


def _conv_block(inputs: Inputs) -> Side:
    g = inputs["g"]

    def loss(parameters: Any, state: Any) -> tuple[Any, Any]:
        x, W, b = parameters
        y = xp.maximum(_conv(x, W) + b[:, None, None], 0)
        return xp.sum(y * g), state

    return Side(inputs, loss)


def _resnet_block(inputs: Inputs) -> Side:
    g = inputs["g"]

    def loss(parameters: Any, state: Any) -> tuple[Any, Any]:
        x, W1, gamma1, beta1, W2, gamma2, beta2 = parameters
        y = _by_arrays.batch_norm(xp, _conv(x, W1), gamma1, beta1)
        y = _conv(xp.maximum(y, 0), W2)
        y = x + _by_arrays.batch_norm(xp, y, gamma2, beta2)
        return xp.sum(xp.maximum(y, 0) * g), state

    return Side(inputs, loss)


class _Products:
    """The gradients that are looked at are the products."""

    def __init__(self, inputs: Inputs):
        loss = _by_arrays.tanh_mlp(inputs, xp)
        parameters = [xp.asarray(p) for p in inputs["parameters"]]
        v = [xp.asarray(a) for a in inputs["v"]]
        derive = jax.value_and_grad(lambda p: loss(p, ())[0])

        @jax.jit
        def product(parameters: Any, v: Any) -> Any:
            (value, _), (_, along) = jax.jvp(derive, (parameters,), (v,))
            return value, along

        def step() -> Any:
            value, self.products = jax.block_until_ready(product(parameters, v))
            return value

        self.step = step

    def gradients(self) -> list[np.ndarray]:
        return [np.asarray(p) for p in self.products]


def _key_for(inputs: Inputs) -> Any:
    return jax.random.key(0) if inputs["dropout"] else ()


WORKLOADS: dict[str, Callable[[Inputs], Any]] = {
    "mlp_sgd": lambda inputs: Side(inputs, _by_arrays.mlp(inputs, xp), _sgd),
    "mlp_adam": lambda inputs: Side(inputs, _by_arrays.mlp(inputs, xp), _adam),
    "norm_mlp": lambda inputs: Side(
        inputs, _by_arrays.norm_mlp(inputs, xp, _dropout), _sgd, _key_for(inputs)
    ),
    "conv_net": _conv_net,
    "conv_block": _conv_block,
    "resnet_block": _resnet_block,
    "lstm": lambda inputs: Side(
        inputs,
        _by_arrays.lstm(inputs, xp, _lstm_steps),
        _adam,
        _by_arrays.lstm_start(inputs),
    ),
    "gpt": lambda inputs: Side(inputs, _by_arrays.gpt(inputs, xp), _adam),
    "hvp": _Products,
}
