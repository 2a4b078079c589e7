"""What several computations by hand share: parameters, updates, the loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class FlatParameters:
    """Parameters as views of one flat buffer, their gradients as views of another.

    Updates run over the flat buffers in blocks small enough to stay in the cache.
    """

    block = 32768

    def __init__(self, parameters: Sequence[np.ndarray]):
        total = sum([p.size for p in parameters])
        self.data = np.concatenate([p.ravel() for p in parameters])
        self.grad = np.zeros(total, self.data.dtype)
        self.scratch = np.empty(self.block, self.data.dtype)
        self.parameters: list[np.ndarray] = []
        self.gradients: list[np.ndarray] = []
        start = 0
        for p in parameters:
            part = slice(start, start + p.size)
            self.parameters.append(self.data[part].reshape(p.shape))
            self.gradients.append(self.grad[part].reshape(p.shape))
            start += p.size
        self.blocks = [
            slice(i, min(i + self.block, total)) for i in range(0, total, self.block)
        ]

    def sgd(self, lr: float = 0.01) -> None:
        """``p -= lr * g``."""
        for block in self.blocks:
            g = self.grad[block]
            change = self.scratch[: g.size]
            np.multiply(g, lr, out=change)
            self.data[block] -= change


class Adam:
    """Adam, bias correction folded into the step (Kingma and Ba 2015, section 2)."""

    def __init__(self, flat: FlatParameters, lr: float = 0.001):
        self.flat, self.lr, self.t = flat, lr, 0
        self.m, self.v = np.zeros((2, flat.data.size), flat.data.dtype)

    def update(self, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> None:
        """``p -= lr * m / (sqrt(v) + eps)`` with both means corrected."""
        self.t += 1
        lr = float(self.lr * np.sqrt(1 - b2**self.t) / (1 - b1**self.t))
        for block in self.flat.blocks:
            g, m, v = self.flat.grad[block], self.m[block], self.v[block]
            change = self.flat.scratch[: g.size]
            np.multiply(g, 1 - b1, out=change)
            m *= b1
            m += change
            np.multiply(g, g, out=change)
            change *= 1 - b2
            v *= b2
            v += change
            np.sqrt(v, out=change)
            change += eps
            np.divide(m, change, out=change)
            change *= lr
            self.flat.data[block] -= change


class ByHand:
    """A computation written by hand.

    Each has a ``step()``, which runs forward, backward and the update, if any, and
    returns the loss.

    Args:
        inputs: What the function of its name in ``_inputs`` made.
    """

    def __init__(self, inputs: dict[str, Any]):
        self.inputs = inputs
        self.flat = FlatParameters(inputs["parameters"])
        self.parameters, self._gradients = self.flat.parameters, self.flat.gradients
        self.setup()

    def setup(self) -> None:
        """Make buffers that all steps use."""

    def gradients(self) -> list[np.ndarray]:
        """What the last step found, in the order of the parameters."""
        return self._gradients


def softmax_cross_entropy(z: np.ndarray, t: np.ndarray) -> float:
    """Mean cross entropy of logits ``z`` (N, C); writes its gradient over ``z``."""
    rows = np.arange(len(z))
    z -= z.max(axis=1, keepdims=True)
    loss = -z[rows, t].mean()
    np.exp(z, out=z)
    total = z.sum(axis=1, keepdims=True)
    loss += np.log(total).mean()
    z /= total
    z[rows, t] -= 1
    z *= 1 / len(z)
    return float(loss)


def linear_backward(
    x: np.ndarray, gy: np.ndarray, W: np.ndarray, gW: np.ndarray, gb: np.ndarray
) -> np.ndarray:
    """Write the gradients of W and b of ``x @ W + b``, and return that of x."""
    np.dot(x.T, gy, out=gW)
    gy.sum(axis=0, out=gb)
    return gy @ W.T
