"""
Solutions to step 62: LSTM: a memory with gates
===============================================
"""

# %%
# 1. Weights and biases with which a cell counts: f = i = o = 1 and u = tanh(x).
#
# All weights of the three gates are 0 and their biases large: sigmoid(20) is 1 up to
# 2e-9. For ``u`` the weight of the input is 1, and all else is 0.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L


def lstm_by_hand(x, h, c, weights):
    a = {}
    for gate, (Wx, b, Wh) in weights.items():
        a[gate] = F.matmul(x, Wx) + b
        if h is not None:
            a[gate] = a[gate] + F.matmul(h, Wh)
    f, i, o = (F.sigmoid(a[gate]) for gate in "fio")
    u = F.tanh(a["u"])
    c = i * u if c is None else f * c + i * u
    return o * F.tanh(c), c


zero, one, open_gate = np.zeros((1, 1)), np.ones((1, 1)), np.array([20.0])
weights = {gate: (zero, open_gate, zero) for gate in "fio"}
weights["u"] = one, np.zeros(1), zero
h = c = None
for _ in range(10):
    h, c = lstm_by_hand(np.array([[0.1]]), h, c, weights)
print(f"cell {c.item():.6f}, 10 * tanh(0.1) = {10 * np.tanh(0.1):.6f}")
assert abs(c.item() - 10 * np.tanh(0.1)) < 1e-6

# %%
# 2. The share left after 10 steps with a forget gate of 0.5; the steps after which half
# is left with 0.95.
#
# 0.5 ** 10 is a thousandth. 0.95 ** n = 0.5 for n = log(0.5) / log(0.95), between 13
# and 14.

share = 0.5**10
n = np.log(0.5) / np.log(0.95)
print(f"left after 10 steps: {share:.6f}; half is left after {n:.1f} steps")
assert round(share, 6) == 0.000977 and 13 < n < 14

# %%
# 3. The weights of ``L.RNN(100, in_size=50)`` and ``L.LSTM(100, in_size=50)``.
#
# One set is 50 * 100 for the input, 100 * 100 for the state and 100 for the bias. The
# LSTM has four of them.

one_set = 50 * 100 + 100 * 100 + 100
dz.seed(0)
counted = [
    sum(p.size for p in layer.params())
    for layer in (L.RNN(100, in_size=50), L.LSTM(100, in_size=50))
]
print("RNN and LSTM:", counted)
assert counted == [one_set, 4 * one_set] == [15_100, 60_400]
