"""
Solutions to step 56: initialisation and dead units
===================================================
"""

# %%
# 1. Without relu: which scale keeps the standard deviation?
#
# Nothing is cut off, so the factor per layer is ``scale * sqrt(D)``, which is 1 for
# ``sqrt(1 / D)``.

import numpy as np

import dezero as dz
import dezero.functions as F

D, LAYERS = 128, 20
rng = np.random.default_rng(0)
h = first = rng.standard_normal((200, D))
for _ in range(LAYERS):
    h = h @ (np.sqrt(1 / D) * rng.standard_normal((D, D)))
print(f"scale {np.sqrt(1 / D):.3f}: std {first.std():.2f} -> {h.std():.2f}")
assert 0.5 < h.std() < 2

# %%
# 2. Send slopes back through 20 layers with He's scale.
#
# ``W.T`` sums over as many numbers as ``W`` did, and the mask of relu sets half of them
# to 0. So the size of the slopes stays as well.

weights = [np.sqrt(2 / D) * rng.standard_normal((D, D)) for _ in range(LAYERS)]
masks = []
h = first
for W in weights:
    h = np.maximum(h @ W, 0)
    masks.append(h > 0)
g = rng.standard_normal(h.shape)
for W, mask in zip(reversed(weights), reversed(masks), strict=True):
    g = (g * mask) @ W.T
print(f"std of the slopes: 1.00 at the end, {g.std():.2f} at the beginning")
assert 0.3 < g.std() < 3

# %%
# 3. The long step with ``F.leaky_relu``: how many units are 0 for every sample?
#
# None: below 0 its result is small but not 0, and so is its slope.

digits = dz.datasets.Digits()
x, t = digits.data.reshape(-1, 64), digits.label


def zeros_after_a_long_step(activation):
    dz.seed(0)
    model = dz.models.MLP((100, 100, 10), activation=activation)
    optimizer = dz.optimizers.SGD(lr=20.0).setup(model)
    loss = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    loss.backward()
    optimizer.update()
    h, counts = x, []
    for hidden in (model.l0, model.l1):
        h = activation(hidden(h))
        counts.append(int((h.data == 0).all(axis=0).sum()))
    return counts


relu, leaky = map(zeros_after_a_long_step, (F.relu, F.leaky_relu))
print("relu:", relu, "leaky relu:", leaky)
assert min(relu) > 5 and leaky == [0, 0]
