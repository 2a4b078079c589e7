"""A character model: embedding, LSTM, linear."""

from __future__ import annotations

import numpy as np

from by_hand.parts import Adam, ByHand, linear_backward, softmax_cross_entropy


def _sigmoid(x: np.ndarray) -> None:
    """In place; by tanh, which NumPy has vectorised."""
    x *= 0.5
    np.tanh(x, out=x)
    x *= 0.5
    x += 0.5


class Lstm(ByHand):
    """Gates i, f, g, o side by side; the state goes on from step to step; Adam."""

    def setup(self) -> None:
        self.update = Adam(self.flat).update
        T, N = self.inputs["x"].shape
        H = len(self.parameters[2])
        self.hs = np.zeros((T + 1, N, H), np.float32)  # hs[0] is the state before
        self.cs = np.zeros((T + 1, N, H), np.float32)
        self.tanhs = np.empty((T, N, H), np.float32)  # of c
        self.gates = np.empty((T, N, 4 * H), np.float32)
        self.ggates = np.empty((T, N, 4 * H), np.float32)

    def step(self) -> float:
        E, Wx, Wh, b, Wy, by = self.parameters
        gE, gWx, gWh, gb, gWy, gby = self._gradients
        ids = self.inputs["x"].ravel()
        T, N, H = self.tanhs.shape

        self.hs[0], self.cs[0] = self.hs[T], self.cs[T]
        table = E @ Wx  # of all ids at once: they are fewer than places
        table += b
        flat_gates = self.gates.reshape(T * N, 4 * H)
        np.take(table, ids, axis=0, out=flat_gates, mode="clip")
        for t in range(T):
            self._forward(t, Wh)
        hs = self.hs[1:].reshape(T * N, H)
        z = hs @ Wy
        z += by
        loss = softmax_cross_entropy(z, self.inputs["t"].ravel())

        ghs = linear_backward(hs, z, Wy, gWy, gby).reshape(T, N, H)
        gh, gc = np.zeros((2, N, H), np.float32)
        for t in range(T - 1, -1, -1):
            gh += ghs[t]
            self._backward(t, gh, gc)
            np.dot(self.ggates[t], Wh.T, out=gh)
        g = self.ggates.reshape(T * N, 4 * H)
        np.dot(self.hs[:T].reshape(T * N, H).T, g, out=gWh)
        np.dot(E[ids].T, g, out=gWx)
        g.sum(axis=0, out=gb)
        one_hot = np.zeros((len(E), T * N), np.float32)
        one_hot[ids, np.arange(T * N)] = 1
        np.dot(one_hot, g @ Wx.T, out=gE)
        self.update()
        return loss

    def _forward(self, t: int, Wh: np.ndarray) -> None:
        H = len(Wh)
        a, h, c = self.gates[t], self.hs[t + 1], self.cs[t + 1]
        a += self.hs[t] @ Wh
        _sigmoid(a[:, : 2 * H])
        _sigmoid(a[:, 3 * H :])
        g = a[:, 2 * H : 3 * H]
        np.tanh(g, out=g)
        np.multiply(a[:, H : 2 * H], self.cs[t], out=c)
        c += a[:, :H] * g
        np.tanh(c, out=self.tanhs[t])
        np.multiply(a[:, 3 * H :], self.tanhs[t], out=h)

    def _backward(self, t: int, gh: np.ndarray, gc: np.ndarray) -> None:
        """Write the gradient of the gates; turn ``gc`` into that of the step before."""
        H = gh.shape[1]
        a, ga, tanh = self.gates[t], self.ggates[t], self.tanhs[t]
        i, f, g, o = (a[:, k * H : (k + 1) * H] for k in range(4))
        gc += gh * o * (1 - tanh * tanh)
        np.multiply(gc, g, out=ga[:, :H])
        np.multiply(gc, self.cs[t], out=ga[:, H : 2 * H])
        np.multiply(gc, i, out=ga[:, 2 * H : 3 * H])
        np.multiply(gh, tanh, out=ga[:, 3 * H :])
        gc *= f
        ga[:, 2 * H : 3 * H] *= 1 - g * g
        for part in (slice(0, 2 * H), slice(3 * H, None)):
            ga[:, part] *= a[:, part] * (1 - a[:, part])
