"""A small convolutional network, and the blocks of VGG and ResNet."""

from __future__ import annotations

import numpy as np

from by_hand.convolution import convolution, pool, pool_backward
from by_hand.parts import ByHand, linear_backward, softmax_cross_entropy


def _through_relu(g: np.ndarray, y: np.ndarray) -> np.ndarray:
    g *= y > 0  # on large arrays faster than a mask of floats
    return g


class ConvNet(ByHand):
    """Convolution, relu, pooling, twice; linear; softmax cross entropy; SGD."""

    def step(self) -> float:
        (W1, b1, W2, b2, W3, b3), G = self.parameters, self._gradients
        x = self.inputs["x"]
        conv1 = convolution(W1, x)
        a1 = conv1.forward()
        a1 += b1[:, None, None]
        np.maximum(a1, 0, out=a1)
        p1, rows1 = pool(a1)
        conv2 = convolution(W2, p1)
        a2 = conv2.forward()
        a2 += b2[:, None, None]
        np.maximum(a2, 0, out=a2)
        p2, rows2 = pool(a2)
        h = p2.reshape(len(x), -1)
        z = h @ W3
        z += b3
        loss = softmax_cross_entropy(z, self.inputs["t"])

        g = linear_backward(h, z, W3, G[4], G[5]).reshape(p2.shape)
        g = _through_relu(pool_backward(a2, rows2, g), a2)
        g.sum(axis=(0, 2, 3), out=G[3])
        g = conv2.backward(g, G[2])
        g = _through_relu(pool_backward(a1, rows1, g), a1)
        g.sum(axis=(0, 2, 3), out=G[1])
        conv1.backward(g, G[0], x_too=False)
        self.flat.sgd()
        return loss


class _Block(ByHand):
    """A block, whose x is among its parameters; a large one, so not in the buffer."""

    def __init__(self, inputs):
        super().__init__(inputs | {"parameters": inputs["parameters"][1:]})
        self.x, self.gx = inputs["parameters"][0], None

    def gradients(self) -> list[np.ndarray]:
        return [self.gx, *self._gradients]


class ConvBlock(_Block):
    """``sum(relu(conv(x, W) + b) * g)``."""

    def step(self) -> float:
        (W, b), (gW, gb), g = self.parameters, self._gradients, self.inputs["g"]
        conv = convolution(W, self.x)
        y = conv.forward()
        y += b[:, None, None]
        np.maximum(y, 0, out=y)
        loss = float(np.vdot(y, g))
        g = np.multiply(g, y > 0, out=y)
        g.sum(axis=(0, 2, 3), out=gb)
        self.gx = conv.backward(g, gW)
        return loss


class ResnetBlock(_Block):
    """``sum(relu(x + bn(conv(relu(bn(conv(x)))))) * g)``, x also the shortcut."""

    def setup(self) -> None:
        C = len(self.parameters[1])
        self.running = [
            (np.zeros(C, np.float32), np.ones(C, np.float32)) for _ in range(2)
        ]

    def step(self) -> float:
        (W1, gamma1, beta1, W2, gamma2, beta2), G = self.parameters, self._gradients
        x, g = self.x, self.inputs["g"]
        conv1 = convolution(W1, x)
        a, saved1 = _norm(conv1.forward(), gamma1, beta1, self.running[0])
        np.maximum(a, 0, out=a)
        conv2 = convolution(W2, a)
        y, saved2 = _norm(conv2.forward(), gamma2, beta2, self.running[1])
        y += x
        np.maximum(y, 0, out=y)
        loss = float(np.vdot(y, g))

        g = np.multiply(g, y > 0, out=y)
        h = _norm_backward(g.copy(), saved2, gamma2, G[4], G[5])
        h = _through_relu(conv2.backward(h, G[3]), a)
        h = _norm_backward(h, saved1, gamma1, G[1], G[2])
        gx = conv1.backward(h, G[0])
        gx += g
        self.gx = gx
        return loss


def _norm(h, gamma, beta, running):
    """Batch norm, which writes over ``h``; also what its backward needs."""
    N = h.size // h.shape[1]
    mean = h.mean(axis=(0, 2, 3))
    h -= mean[:, None, None]
    var = np.einsum("ncij,ncij->c", h, h) / np.float32(N)
    for r, new in zip(running, (mean, var * (N / (N - 1))), strict=True):
        r *= 0.9
        r += 0.1 * new
    inverse = 1 / np.sqrt(var + np.float32(1e-5))
    h *= inverse[:, None, None]
    y = h * gamma[:, None, None]
    y += beta[:, None, None]
    return y, (h, inverse)


def _norm_backward(g, saved, gamma, ggamma, gbeta):
    """Write the gradients of scale and shift; turn ``g`` into that of the input."""
    h, inverse = saved
    N = np.float32(h.size // h.shape[1])
    g.sum(axis=(0, 2, 3), out=gbeta)
    np.einsum("ncij,ncij->c", g, h, out=ggamma)
    h *= (ggamma / N)[:, None, None]
    g -= (gbeta / N)[:, None, None]
    g -= h
    g *= (gamma * inverse)[:, None, None]
    return g
