"""
Solutions to step 42: linear regression
=======================================
"""

# %%
# Exercise 1
# ----------
# 50 steps with ``rate = 0.5``: the loss grows from the first step on, each time by
# about the same factor. 0.25 and 0.28 work, 0.3 and 0.4 do not. The limit is near 0.29,
# which is 2 over the largest curvature of the loss (step 36).
import numpy as np

import dezero as dz
import dezero.functions as F

rng = np.random.default_rng(0)
N = 200
x = rng.uniform(0, 2, (N, 2))
truth = np.array([[30.0], [8.0]])
t = x @ truth + 5 + rng.normal(size=(N, 1))


def train(x, t, rate, steps, error=F.mean_squared_error):
    W, b = dz.Variable(np.zeros((2, 1))), dz.Variable(np.zeros(1))
    losses = []
    for _ in range(steps):
        loss = error(F.linear(x, W, b), t)
        W.cleargrad()
        b.cleargrad()
        loss.backward()
        W.data = W.data - rate * W.grad.data
        b.data = b.data - rate * b.grad.data
        losses.append(loss.item())
    return W.data.ravel(), b.item(), losses


ends = {}
for rate in (0.25, 0.28, 0.3, 0.4, 0.5):
    losses = train(x, t, rate, 50)[2]
    ends[rate] = losses[-1] / losses[0]
    print(f"rate {rate}: losses {losses[0]:.3g}, {losses[1]:.3g} ... {losses[-1]:.3g}")
ones = np.hstack([x, np.ones((N, 1))])
limit = 2 / np.linalg.eigvalsh(2 * ones.T @ ones / N).max()
print(f"limit: {limit:.3f}")
assert ends[0.25] < 0.01 and ends[0.28] < 0.05
assert ends[0.3] > 1 and ends[0.4] > 1 and ends[0.5] > 1
assert 0.28 < limit < 0.3

# %%
# Exercise 2
# ----------
# The climb in metres. Its column is 100 times larger, so the curvature along its weight
# is 10,000 times larger, and the rate has to be smaller by about as much. A rate of
# 0.00005 works. But for the other two numbers it is far too small: after 1000 steps the
# minutes for the length are still far from 30. That is why inputs are brought to one
# size.
metres = x * np.array([1.0, 100.0])
W, b, losses = train(metres, t, 5e-5, 1000)
print("weights:", W.round(3), " bias:", round(b, 3), f" loss: {losses[-1]:.1f}")
assert losses[-1] < losses[0] and losses[-1] > 50
assert W[0] < 10

# %%
# Exercise 3
# ----------
# Ten records say 500 minutes. The square makes a wrong record of 460 minutes count like
# 200,000 small errors, and the weights follow it. The absolute error counts it like
# 460, and its gradient is no larger than that of any other record.
wrong = t.copy()
wrong[:10] = 500


def absolute_error(y, t):
    return F.sum(F.abs(y - t)) / len(y)


square = train(x, wrong, 0.2, 1000)
absolute = train(x, wrong, 0.2, 1000, absolute_error)
for name, (W, b, _) in [("square", square), ("absolute", absolute)]:
    print(f"{name:8} weights {W.round(2)}, bias {b:.2f}")
distance = [abs(W - truth.ravel()).max() + abs(b - 5) for W, b, _ in (square, absolute)]
assert distance[1] < 2 < 10 < distance[0]
