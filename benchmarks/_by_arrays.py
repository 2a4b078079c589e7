"""The workloads as functions of arrays, for the libraries that differentiate those.

Each function here takes the inputs and a module like NumPy, and returns
``loss(parameters, state)``, which returns the loss and the state of the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from _inputs import Inputs

Loss = Callable[[list[Any], Any], tuple[Any, Any]]


def cross_entropy(xp: Any, z: Any, t: np.ndarray) -> Any:
    """Mean over the rows of z (N, C)."""
    z = z - xp.max(z, axis=1, keepdims=True)
    log_sum = xp.log(xp.sum(xp.exp(z), axis=1))
    return xp.mean(log_sum - z[np.arange(len(t)), t])


def tiny(inputs: Inputs, xp: Any) -> Loss:
    def loss(parameters: list[Any], state: Any) -> tuple[Any, Any]:
        w, b = parameters
        h = inputs["x"]
        for _ in range(inputs["repeats"]):
            h = xp.sin(h * w + b) ** 2
        return xp.sum(h), state

    return loss


def deep(inputs: Inputs, xp: Any) -> Loss:
    def loss(parameters: list[Any], state: Any) -> tuple[Any, Any]:
        w, b = parameters
        h = inputs["x"]
        for _ in range(inputs["repeats"]):
            h = h * w
            h = h + b
        return xp.sum(h), state

    return loss


def wide(inputs: Inputs, xp: Any) -> Loss:
    first, *others = inputs["constants"]

    def loss(parameters: list[Any], state: Any) -> tuple[Any, Any]:
        (x,) = parameters
        y = x * first
        for c in others:
            y = y + x * c
        return xp.sum(y), state

    return loss


def _mlp(inputs: Inputs, xp: Any, activation: Callable[[Any], Any]) -> Loss:
    def loss(parameters: list[Any], state: Any) -> tuple[Any, Any]:
        h = inputs["x"]
        for i in range(0, len(parameters), 2):
            h = (activation(h) if i else h) @ parameters[i] + parameters[i + 1]
        return cross_entropy(xp, h, inputs["t"]), state

    return loss


def mlp(inputs: Inputs, xp: Any) -> Loss:
    return _mlp(inputs, xp, lambda h: xp.maximum(h, 0))


def tanh_mlp(inputs: Inputs, xp: Any) -> Loss:
    return _mlp(inputs, xp, xp.tanh)


def batch_norm(xp: Any, h: Any, gamma: Any, beta: Any) -> Any:
    """By the batch; the running statistics are left out."""
    axes = (0, *range(2, h.ndim))
    shape = (-1,) + (1,) * (h.ndim - 2)
    h = h - xp.mean(h, axis=axes, keepdims=True)
    var = xp.mean(h * h, axis=axes, keepdims=True)
    h = h / xp.sqrt(var + np.float32(1e-5))
    return h * xp.reshape(gamma, shape) + xp.reshape(beta, shape)


def norm_mlp(inputs: Inputs, xp: Any, dropout: Callable[..., Any]) -> Loss:
    """``dropout(h, ratio, state)`` returns what it makes of h, and a new state."""

    def loss(parameters: list[Any], state: Any) -> tuple[Any, Any]:
        h = inputs["x"]
        for i in range(0, len(parameters) - 2, 4):
            W, b, gamma, beta = parameters[i : i + 4]
            h = xp.maximum(batch_norm(xp, h @ W + b, gamma, beta), 0)
            if inputs["dropout"]:
                h, state = dropout(h, inputs["dropout"], state)
        z = h @ parameters[-2] + parameters[-1]
        return cross_entropy(xp, z, inputs["t"]), state

    return loss


def lstm_step(xp: Any, gates: Any, c: Any) -> tuple[Any, Any]:
    """The next h and c, from the gates i, f, g, o before their functions."""
    H = c.shape[-1]

    def sigmoid(a: Any) -> Any:
        return 0.5 * (xp.tanh(0.5 * a) + 1)

    i, f, g, o = (gates[:, k * H : (k + 1) * H] for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * xp.tanh(g)
    return sigmoid(o) * xp.tanh(c), c


def lstm(inputs: Inputs, xp: Any, steps: Callable[..., Any]) -> Loss:
    """``steps(gates, Wh, h, c)`` returns all h, and the last h and c."""

    def loss(parameters: list[Any], state: Any) -> tuple[Any, Any]:
        E, Wx, Wh, b, Wy, by = parameters
        hs, h, c = steps(E[inputs["x"]] @ Wx + b, Wh, *state)
        z = xp.reshape(hs, (-1, len(Wh))) @ Wy + by
        return cross_entropy(xp, z, inputs["t"].ravel()), (h, c)

    return loss


def lstm_start(inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
    """The states before the first step."""
    shape = inputs["x"].shape[1], len(inputs["parameters"][2])
    return np.zeros(shape, np.float32), np.zeros(shape, np.float32)


def _layer_norm(xp: Any, x: Any, gamma: Any, beta: Any) -> Any:
    x = x - xp.mean(x, axis=-1, keepdims=True)
    var = xp.mean(x * x, axis=-1, keepdims=True)
    return x / xp.sqrt(var + np.float32(1e-5)) * gamma + beta


def _gelu(xp: Any, x: Any) -> Any:
    a = np.float32(np.sqrt(2 / np.pi))
    return 0.5 * x * (1 + xp.tanh(a * (x + 0.044715 * (x * x * x))))


def gpt(inputs: Inputs, xp: Any) -> Loss:
    ids, heads = inputs["x"], inputs["heads"]
    (N, T), D = ids.shape, inputs["parameters"][0].shape[1]
    scale = np.float32((D // heads) ** -0.5)
    mask = np.triu(np.full((T, T), -1e9, np.float32), 1)

    def split(x: Any) -> Any:
        return xp.swapaxes(xp.reshape(x, (N, T, heads, D // heads)), 1, 2)

    def loss(parameters: list[Any], state: Any) -> tuple[Any, Any]:
        x = parameters[0][ids] + parameters[1]
        for i in range(2, len(parameters) - 4, 16):
            P = parameters[i : i + 16]
            h = _layer_norm(xp, x, P[0], P[1])
            q, k, v = (split(h @ P[j] + P[j + 1]) for j in (2, 4, 6))
            a = (q * scale) @ xp.swapaxes(k, -1, -2) + mask
            a = xp.exp(a - xp.max(a, axis=-1, keepdims=True))
            a = a / xp.sum(a, axis=-1, keepdims=True)
            y = xp.reshape(xp.swapaxes(a @ v, 1, 2), (N, T, D))
            x = x + (y @ P[8] + P[9])
            h = _layer_norm(xp, x, P[10], P[11])
            x = x + (_gelu(xp, h @ P[12] + P[13]) @ P[14] + P[15])
        z = _layer_norm(xp, x, *parameters[-4:-2]) @ parameters[-2] + parameters[-1]
        z = xp.reshape(z, (N * T, -1))
        return cross_entropy(xp, z, inputs["t"].ravel()), state

    return loss
