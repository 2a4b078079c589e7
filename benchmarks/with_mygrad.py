"""The workloads with MyGrad, whose tensors are NumPy arrays that record.

Networks over sequences are left out, and so are second derivatives, which it has not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mygrad as mg
import numpy as np
from _inputs import Inputs
from _updates import Adam, sgd
from mygrad.nnet.activations import relu
from mygrad.nnet.layers import batchnorm, conv_nd, max_pool
from mygrad.nnet.losses import softmax_crossentropy

# Its own advice for speed: no locks on the memory of arrays.
mg.turn_memory_guarding_off()


class Side:
    """A step of training, and the gradients that it left."""

    def __init__(
        self, inputs: Inputs, loss: Callable[[list[Any]], Any], update: Any = None
    ):
        self.parameters = [mg.tensor(p) for p in inputs["parameters"]]
        self.loss, self.update = loss, update

    def step(self) -> float:
        for p in self.parameters:
            p.null_grad()
        loss = self.loss(self.parameters)
        loss.backward()
        if self.update is not None:
            self.update([p.data for p in self.parameters], self.gradients())
        return float(loss.data)

    def gradients(self) -> list[np.ndarray]:
        return [p.grad for p in self.parameters]


def tiny(inputs: Inputs) -> Side:
    def loss(parameters: list[Any]) -> Any:
        w, b = parameters
        h = inputs["x"]
        for _ in range(inputs["repeats"]):
            h = mg.sin(h * w + b) ** 2
        return h.sum()

    return Side(inputs, loss)


def deep(inputs: Inputs) -> Side:
    def loss(parameters: list[Any]) -> Any:
        w, b = parameters
        h = inputs["x"]
        for _ in range(inputs["repeats"]):
            h = h * w
            h = h + b
        return h.sum()

    return Side(inputs, loss)


def wide(inputs: Inputs) -> Side:
    first, *others = inputs["constants"]

    def loss(parameters: list[Any]) -> Any:
        (x,) = parameters
        y = x * first
        for c in others:
            y = y + x * c
        return y.sum()

    return Side(inputs, loss)


def _mlp(inputs: Inputs, update: Any) -> Side:
    def loss(parameters: list[Any]) -> Any:
        h = inputs["x"]
        for i in range(0, len(parameters), 2):
            h = (relu(h) if i else h) @ parameters[i] + parameters[i + 1]
        return softmax_crossentropy(h, inputs["t"])

    return Side(inputs, loss, update)


def mlp_sgd(inputs: Inputs) -> Side:
    return _mlp(inputs, sgd)


def mlp_adam(inputs: Inputs) -> Side:
    return _mlp(inputs, Adam())


def norm_mlp(inputs: Inputs) -> Side:
    ratio = inputs["dropout"]

    def loss(parameters: list[Any]) -> Any:
        h = inputs["x"]
        for i in range(0, len(parameters) - 2, 4):
            W, b, gamma, beta = parameters[i : i + 4]
            h = relu(batchnorm(h @ W + b, gamma=gamma, beta=beta, eps=1e-5))
            if ratio:
                mask = np.random.random(h.shape) >= ratio
                h = h * (mask.astype(np.float32) / np.float32(1 - ratio))
        return softmax_crossentropy(h @ parameters[-2] + parameters[-1], inputs["t"])

    return Side(inputs, loss, sgd)


def _conv(x: Any, W: Any, b: Any) -> Any:
    y = conv_nd(x, W, stride=1, padding=1)
    return y + b.reshape(1, -1, 1, 1)


def conv_net(inputs: Inputs) -> Side:
    def loss(parameters: list[Any]) -> Any:
        W1, b1, W2, b2, W3, b3 = parameters
        x = max_pool(relu(_conv(inputs["x"], W1, b1)), (2, 2), 2)
        x = max_pool(relu(_conv(x, W2, b2)), (2, 2), 2)
        return softmax_crossentropy(x.reshape(len(x), -1) @ W3 + b3, inputs["t"])

    return Side(inputs, loss, sgd)


def conv_block(inputs: Inputs) -> Side:
    def loss(parameters: list[Any]) -> Any:
        return (relu(_conv(*parameters)) * inputs["g"]).sum()

    return Side(inputs, loss)


WORKLOADS = {
    f.__name__: f
    for f in (tiny, deep, wide, mlp_sgd, mlp_adam, norm_mlp, conv_net, conv_block)
}
