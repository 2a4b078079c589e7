"""Networks of linear layers: plain, with batch norm and dropout, and twice derived."""

from __future__ import annotations

from typing import Any

import numpy as np

from by_hand.parts import Adam, ByHand, linear_backward, softmax_cross_entropy


class Mlp(ByHand):
    """Linear layers with relu between them, softmax cross entropy, SGD."""

    def setup(self) -> None:
        self.update: Any = self.flat.sgd
        N = len(self.inputs["x"])
        sizes = [b.size for b in self.parameters[1::2]]
        self.hs = [np.empty((N, size), np.float32) for size in sizes]
        self.ghs = [np.empty((N, size), np.float32) for size in sizes[:-1]]

    def step(self) -> float:
        Ws, bs = self.parameters[::2], self.parameters[1::2]
        gWs, gbs = self._gradients[::2], self._gradients[1::2]
        last = len(Ws) - 1
        h = self.inputs["x"]
        for i, (W, b, y) in enumerate(zip(Ws, bs, self.hs, strict=True)):
            np.dot(h, W, out=y)
            y += b
            if i < last:
                np.maximum(y, 0, out=y)
            h = y
        loss = softmax_cross_entropy(h, self.inputs["t"])

        g = h  # now the gradient of the logits
        for i in range(last, -1, -1):
            h = self.hs[i - 1] if i else self.inputs["x"]
            np.dot(h.T, g, out=gWs[i])
            g.sum(axis=0, out=gbs[i])
            if i:  # the gradient of x is nobody's
                g = np.dot(g, Ws[i].T, out=self.ghs[i - 1])
                g *= (h > 0).astype(g.dtype)
        self.update()
        return loss


class MlpAdam(Mlp):
    """The same with Adam."""

    def setup(self) -> None:
        super().setup()
        self.update = Adam(self.flat).update


class NormMlp(ByHand):
    """Linear, batch norm, relu, dropout, over and over; linear; SGD."""

    def setup(self) -> None:
        self.rng = np.random.default_rng(0)
        sizes = [b.size for b in self.parameters[1:-2:4]]
        self.running = [
            (np.zeros(size, np.float32), np.ones(size, np.float32)) for size in sizes
        ]

    def blocks(self) -> int:
        """How many parameters the blocks have, that is, all but the last two."""
        return len(self.parameters) - 2

    def step(self) -> float:
        P, G, h = self.parameters, self._gradients, self.inputs["x"]
        tape = []
        for i, running in zip(range(0, self.blocks(), 4), self.running, strict=True):
            h, saved = self._forward(h, *P[i : i + 4], running)
            tape.append((i, saved))
        z = h @ P[-2]
        z += P[-1]
        loss = softmax_cross_entropy(z, self.inputs["t"])

        g = linear_backward(h, z, P[-2], G[-2], G[-1])
        for i, saved in reversed(tape):
            g = self._backward(g, saved, P[i + 2], *G[i : i + 4])
            if i:  # the gradient of x is nobody's
                g = g @ P[i].T
        self.flat.sgd()
        return loss

    def _forward(self, x, W, b, gamma, beta, running):
        h = x @ W
        h += b
        mean = h.mean(axis=0)
        h -= mean
        N = len(h)
        var = np.einsum("ij,ij->j", h, h) / np.float32(N)
        inverse = 1 / np.sqrt(var + np.float32(1e-5))
        for r, new in zip(running, (mean, var * (N / (N - 1))), strict=True):
            r *= 0.9
            r += 0.1 * new
        h *= inverse
        y = h * gamma
        y += beta
        mask, p = y > 0, self.inputs["dropout"]
        if p:
            mask &= self._kept(y.shape, p)
        mask = mask.astype(np.float32)
        if p:
            mask *= 1 / (1 - p)
        y *= mask
        return y, (x, h, inverse, mask)

    def _kept(self, shape, p):
        """Where dropout keeps an element; for a half, a random bit is enough."""
        if p != 0.5:
            return self.rng.random(shape, dtype=np.float32) >= p
        size = shape[0] * shape[1]
        bits = np.frombuffer(self.rng.bytes(-(-size // 8)), np.uint8)
        return np.unpackbits(bits, count=size).view(bool).reshape(shape)

    def _backward(self, g, saved, gamma, gW, gb, ggamma, gbeta):
        """Write the gradients of the parameters; return that of the linear product."""
        x, h, inverse, mask = saved
        g *= mask
        N = np.float32(len(g))
        g.sum(axis=0, out=gbeta)
        np.einsum("ij,ij->j", g, h, out=ggamma)
        h *= ggamma / N
        g -= gbeta / N
        g -= h
        g *= gamma * inverse
        np.dot(x.T, g, out=gW)
        g.sum(axis=0, out=gb)
        return g


class HessianVector(ByHand):
    """The backward pass of a tanh MLP of three layers, derived along a direction.

    Pearlmutter, "Fast Exact Multiplication by the Hessian" (1994): the operator R.
    """

    def step(self) -> float:
        (W1, b1, W2, b2, W3, b3), G = self.parameters, self._gradients
        V1, c1, V2, c2, V3, c3 = self.inputs["v"]
        x, t = self.inputs["x"], self.inputs["t"]
        N = len(x)
        h1 = np.tanh(x @ W1 + b1)
        h2 = np.tanh(h1 @ W2 + b2)
        gz = h2 @ W3 + b3
        loss = softmax_cross_entropy(gz, t)
        d1, d2 = 1 - h1 * h1, 1 - h2 * h2

        r1 = d1 * (x @ V1 + c1)
        r2 = d2 * (r1 @ W2 + h1 @ V2 + c2)
        rz = r2 @ W3 + h2 @ V3 + c3
        p = gz * np.float32(N)
        p[np.arange(N), t] += 1
        rgz = p * (rz - np.einsum("ij,ij->i", p, rz)[:, None]) * np.float32(1 / N)

        G[4][...] = r2.T @ gz + h2.T @ rgz
        rgz.sum(axis=0, out=G[5])
        g2 = gz @ W3.T
        rg2 = (rgz @ W3.T + gz @ V3.T) * d2 - 2 * g2 * h2 * r2
        g2 *= d2
        G[2][...] = r1.T @ g2 + h1.T @ rg2
        rg2.sum(axis=0, out=G[3])
        g1 = g2 @ W2.T
        rg1 = (rg2 @ W2.T + g2 @ V2.T) * d1 - 2 * g1 * h1 * r1
        np.dot(x.T, rg1, out=G[0])
        rg1.sum(axis=0, out=G[1])
        return loss
