"""A transformer that foretells characters."""

from __future__ import annotations

import numpy as np

from by_hand.parts import Adam, ByHand, linear_backward, softmax_cross_entropy

_A = np.float32(np.sqrt(2 / np.pi))
_B = np.float32(0.044715)


def _norm(x, gamma, beta):
    """Layer norm over the last axis; also what its backward needs."""
    h = x - x.mean(axis=-1, keepdims=True)
    var = np.einsum("ij,ij->i", h, h)[:, None] / np.float32(x.shape[1])
    inverse = 1 / np.sqrt(var + np.float32(1e-5))
    h *= inverse
    y = h * gamma
    y += beta
    return y, (h, inverse)


def _norm_backward(gy, saved, gamma, ggamma, gbeta):
    h, inverse = saved
    np.einsum("ij,ij->j", gy, h, out=ggamma)
    gy.sum(axis=0, out=gbeta)
    gx = gy * gamma
    along = np.einsum("ij,ij->i", gx, h)[:, None] / np.float32(h.shape[1])
    gx -= gx.mean(axis=-1, keepdims=True)
    gx -= h * along
    gx *= inverse
    return gx


def _gelu(x):
    """``0.5 x (1 + tanh(a (x + b x^3)))``, and the tanh."""
    t = x * x
    t *= _A * _B
    t += _A
    t *= x
    np.tanh(t, out=t)
    y = t + 1
    y *= x
    y *= 0.5
    return y, t


def _gelu_backward(gy, x, t):
    """Turn ``gy`` into the gradient of x."""
    d = x * x
    d *= 3 * _A * _B
    d += _A
    d *= x
    u = t * t
    np.subtract(1, u, out=u)
    d *= u
    d += t
    d += 1
    d *= 0.5
    gy *= d
    return gy


class Gpt(ByHand):
    """Per layer norm, attention, norm, linear, gelu, linear; norm; linear; Adam."""

    def setup(self) -> None:
        self.update = Adam(self.flat).update
        T, D = self.parameters[1].shape
        self.mask = np.triu(np.full((T, T), -1e9, np.float32), 1)
        self.scale = np.float32((D // self.inputs["heads"]) ** -0.5)
        self.slices = [
            slice(2 + 16 * i, 18 + 16 * i) for i in range(self.inputs["layers"])
        ]

    def step(self) -> float:
        P, G, ids = self.parameters, self._gradients, self.inputs["x"]
        (N, T), (V, D) = ids.shape, P[0].shape
        x = P[0][ids]
        x += P[1]
        x = x.reshape(N * T, D)
        tape = []
        for part in self.slices:
            x, saved = self._forward(x, *P[part])
            tape.append((part, saved))
        h, saved = _norm(x, P[-4], P[-3])
        z = h @ P[-2]
        z += P[-1]
        loss = softmax_cross_entropy(z, self.inputs["t"].ravel())

        g = linear_backward(h, z, P[-2], G[-2], G[-1])
        g = _norm_backward(g, saved, P[-4], G[-4], G[-3])
        while tape:
            part, saved = tape.pop()
            self._backward(g, saved, P[part], G[part])
        g.reshape(N, T, D).sum(axis=0, out=G[1])
        one_hot = np.zeros((V, N * T), np.float32)
        one_hot[ids.ravel(), np.arange(N * T)] = 1
        np.dot(one_hot, g, out=G[0])
        self.update()
        return loss

    def _sizes(self) -> tuple[int, int, int, int]:
        D, heads = self.parameters[0].shape[1], self.inputs["heads"]
        return *self.inputs["x"].shape, heads, D // heads

    def _forward(
        self, x, g1, b1, Wq, bq, Wk, bk, Wv, bv, Wo, bo, g2, b2, Wf, bf, Wp, bp
    ):
        N, T, heads, size = self._sizes()
        h, norm1 = _norm(x, g1, b1)
        W = np.concatenate((Wq, Wk, Wv), axis=1)
        qkv = h @ W
        qkv += np.concatenate((bq, bk, bv))
        # (N, T, 3, heads, size) -> (3, N, heads, T, size)
        qkv = qkv.reshape(N, T, 3, heads, size).transpose(2, 0, 3, 1, 4)
        q, k, v = np.ascontiguousarray(qkv)
        q *= self.scale
        a = q @ k.swapaxes(-1, -2)
        a += self.mask
        a -= a.max(axis=-1, keepdims=True)
        np.exp(a, out=a)
        a /= a.sum(axis=-1, keepdims=True)
        y = (a @ v).transpose(0, 2, 1, 3).reshape(N * T, heads * size)
        x1 = y @ Wo
        x1 += bo
        x1 += x
        h2, norm2 = _norm(x1, g2, b2)
        u = h2 @ Wf
        u += bf
        w, tanh = _gelu(u)
        x2 = w @ Wp
        x2 += bp
        x2 += x1
        return x2, (h, norm1, W, q, k, v, a, y, h2, norm2, u, w, tanh)

    def _backward(self, g, saved, P, G) -> None:
        """Turn ``g`` into the gradient of what went into the layer."""
        N, T, heads, size = self._sizes()
        D = heads * size
        h, norm1, W, q, k, v, a, y, h2, norm2, u, w, tanh = saved
        gu = _gelu_backward(linear_backward(w, g, P[14], G[14], G[15]), u, tanh)
        gh2 = linear_backward(h2, gu, P[12], G[12], G[13])
        g += _norm_backward(gh2, norm2, P[10], G[10], G[11])

        gy = linear_backward(y, g, P[8], G[8], G[9])
        gy = gy.reshape(N, T, heads, size).transpose(0, 2, 1, 3)
        gqkv = np.empty((3, *q.shape), np.float32)
        np.matmul(a.swapaxes(-1, -2), gy, out=gqkv[2])
        ga = gy @ v.swapaxes(-1, -2)
        ga -= np.einsum("nhij,nhij->nhi", ga, a)[..., None]
        ga *= a
        np.matmul(ga, k, out=gqkv[0])
        gqkv[0] *= self.scale
        np.matmul(ga.swapaxes(-1, -2), q, out=gqkv[1])
        # (3, N, heads, T, size) -> (N*T, 3*D)
        gqkv = gqkv.transpose(1, 3, 0, 2, 4).reshape(N * T, 3 * D)
        gW, gb = h.T @ gqkv, gqkv.sum(axis=0)
        for i in range(3):
            part = slice(i * D, (i + 1) * D)
            G[2 + 2 * i][...], G[3 + 2 * i][...] = gW[:, part], gb[part]
        g += _norm_backward(gqkv @ W.T, norm1, P[0], G[0], G[1])
