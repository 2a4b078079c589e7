"""
Solutions to step 43: a network that bends
==========================================
"""

# %%
# Exercise 1
# ----------
# With all weights equal to 0.5, all units compute the same and get the same gradient in
# every step. ``W1`` has one distinct column for ever, so the network is worth one unit:
# the curve is a single soft step.
import numpy as np

import dezero as dz
import dezero.functions as F

rng = np.random.default_rng(0)
x = rng.uniform(-2, 2, (100, 1))
t = np.sin(2 * x) + 0.1 * rng.normal(size=(100, 1))


def train(bend, W1, W2, steps, rate):
    params = [dz.Variable(a) for a in (W1, np.zeros(10), W2, np.zeros(1))]
    for _ in range(steps):
        hidden = bend(F.linear(x, params[0], params[1]))
        loss = F.mean_squared_error(F.linear(hidden, params[2], params[3]), t)
        for p in params:
            p.cleargrad()
        loss.backward()
        for p in params:
            p.data = p.data - rate * p.grad.data
    return params[0].data, loss.item()


W1, loss = train(F.sigmoid, np.full((1, 10), 0.5), np.full((10, 1), 0.5), 1000, 0.2)
different = len(np.unique(W1.round(12)))
print("different columns:", different, f" loss: {loss:.3f}")
assert different == 1 and loss > 0.2

# %%
# Exercise 2
# ----------
# The slope of the sigmoid is ``s (1 - s)``. At 0, ``s`` is 1/2 and the slope 1/4, and
# nowhere is it larger. Through five sigmoids a gradient is multiplied by five such
# numbers: at most 1/1024 of it arrives.
a = dz.Variable(np.linspace(-5, 5, 1001))
F.sigmoid(a).backward()
slopes = a.grad.data
print("largest slope:", slopes.max(), " at", a.data[slopes.argmax()].round(6))
print("five of them: 1 /", 1 / slopes.max() ** 5)
assert np.isclose(slopes.max(), 0.25) and abs(a.data[slopes.argmax()]) < 1e-9
assert np.isclose(slopes.max() ** 5, 1 / 1024)

# %%
# Exercise 3
# ----------
# Sigmoid, tanh and relu, 2000 steps with a rate of 0.1. The sigmoid is the slowest by
# far. Its slope at 0 is 1/4. That of tanh is 1, and so is that of relu above 0.
losses = {}
for name, bend in [("sigmoid", F.sigmoid), ("tanh", F.tanh), ("relu", F.relu)]:
    rng = np.random.default_rng(1)
    W1, W2 = rng.normal(size=(1, 10)), rng.normal(size=(10, 1)) / np.sqrt(10)
    losses[name] = train(bend, W1, W2, 2000, 0.1)[1]
    print(f"{name:8} {losses[name]:.4f}")
assert losses["sigmoid"] > 2 * max(losses["tanh"], losses["relu"])
