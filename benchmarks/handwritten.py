"""The computations of the benchmarks, derived by hand in NumPy: the yardstick.

Each is as fast as we know how to make it without a framework: only the operations the
mathematics needs, nothing checked, work in place and in buffers that are used again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Tiny:
    """``h = sin(h * w + b) ** 2``, ``repeats`` times, then the sum."""

    def __init__(self, x: np.ndarray, w: np.ndarray, b: np.ndarray, repeats: int):
        self.x, self.w, self.b, self.repeats = x, w, b, repeats
        self.gradients: list[np.ndarray] = [np.empty_like(w), np.empty_like(b)]

    def step(self) -> float:
        """Loss; leaves the gradients of ``w`` and ``b`` in ``gradients``."""
        h, w, b = self.x, self.w, self.b
        tape = []
        for _ in range(self.repeats):
            u = h * w + b
            s = np.sin(u)
            tape.append((h, u, s))
            h = s * s
        loss = float(h.sum())

        gw, gb = self.gradients
        gw.fill(0)
        gb.fill(0)
        g = np.ones_like(h)
        for h, u, s in reversed(tape):
            g = g * (2 * s) * np.cos(u)
            gb += g
            gw += g * h
            g = g * w
        return loss


class Deep:
    """``h = h * w``, then ``h = h + b``, ``repeats`` times over, then the sum."""

    def __init__(self, x: np.ndarray, w: np.ndarray, b: np.ndarray, repeats: int):
        self.x, self.w, self.b, self.repeats = x, w, b, repeats
        self.gradients: list[np.ndarray] = [np.empty_like(w), np.empty_like(b)]

    def step(self) -> float:
        """Loss; leaves the gradients of ``w`` and ``b`` in ``gradients``."""
        h, w, b = self.x, self.w, self.b
        tape = []
        for _ in range(self.repeats):
            tape.append(h)
            h = h * w + b
        loss = float(h.sum())

        gw, gb = self.gradients
        gw.fill(0)
        gb.fill(0)
        g = np.ones_like(h)
        for h in reversed(tape):
            gb += g
            gw += g * h
            g = g * w
        return loss


class Wide:
    """``x * c`` for each of many constants, added one after the other, then the sum."""

    def __init__(self, x: np.ndarray, constants: Sequence[np.ndarray]):
        self.x, self.constants = x, constants
        self.gradients: list[np.ndarray] = [np.empty_like(x)]

    def step(self) -> float:
        """Loss; leaves the gradient of ``x`` in ``gradients``."""
        x = self.x
        y = np.zeros_like(x)
        for c in self.constants:
            y = y + x * c
        loss = float(y.sum())

        (gx,) = self.gradients
        gx.fill(0)
        g = np.ones_like(y)
        for c in reversed(self.constants):
            gx += g * c
        return loss


class FlatParameters:
    """Parameters as views of one flat buffer, their gradients as views of another.

    Updates run over the flat buffers in blocks small enough to stay in the cache.
    """

    block = 32768

    def __init__(self, parameters: Sequence[np.ndarray]):
        total = sum([p.size for p in parameters])
        self.data = np.concatenate([p.ravel() for p in parameters])
        self.grad = np.zeros_like(self.data)
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
        self.m, self.v = np.zeros_like(flat.data), np.zeros_like(flat.data)

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


class Mlp:
    """Linear layers with relu between them, softmax cross entropy, and an update.

    Args:
        x: (N, D) inputs.
        t: (N,) classes.
        parameters: ``W, b`` of each layer, in order.
        adam: Update by Adam (lr 0.001) instead of SGD (lr 0.01).
    """

    def __init__(
        self,
        x: np.ndarray,
        t: np.ndarray,
        parameters: Sequence[np.ndarray],
        adam: bool = False,
    ):
        self.x, self.t = x, t
        flat = FlatParameters(parameters)
        self.parameters, self.gradients = flat.parameters, flat.gradients
        self.update = Adam(flat).update if adam else flat.sgd
        shapes = [(len(x), b.size) for b in flat.parameters[1::2]]
        self.hs = [np.empty(shape, x.dtype) for shape in shapes]
        self.ghs = [np.empty(shape, x.dtype) for shape in shapes[:-1]]

    def step(self) -> float:
        """Loss; leaves the gradients in ``gradients``, and updates the parameters."""
        Ws, bs = self.parameters[::2], self.parameters[1::2]
        gWs, gbs = self.gradients[::2], self.gradients[1::2]
        last = len(Ws) - 1
        h = self.x
        for i, (W, b, y) in enumerate(zip(Ws, bs, self.hs, strict=True)):
            np.dot(h, W, out=y)
            y += b
            if i < last:
                np.maximum(y, 0, out=y)
            h = y
        loss = softmax_cross_entropy(h, self.t)

        g = h  # now the gradient of the logits
        for i in range(last, -1, -1):
            h = self.hs[i - 1] if i else self.x
            np.dot(h.T, g, out=gWs[i])
            g.sum(axis=0, out=gbs[i])
            if i:  # the gradient of x is nobody's
                g = np.dot(g, Ws[i].T, out=self.ghs[i - 1])
                g *= (h > 0).astype(g.dtype)
        self.update()
        return loss
