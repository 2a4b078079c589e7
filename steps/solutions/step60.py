"""
Solutions to step 60: batch normalisation
=========================================
"""

# %%
# 1. How far has a running average with decay 0.9 come towards 1?
#
# What is missing shrinks by the factor 0.9 per batch: after n batches it is
# ``1 - 0.9 ** n``.

import numpy as np

import dezero as dz
import dezero.functions as F

average = 0.0
came = {}
for n in range(1, 51):
    average = 0.9 * average + 0.1 * 1.0
    came[n] = average
for n in (1, 10, 50):
    print(f"after {n:2} batches: {came[n]:.3f}, formula {1 - 0.9**n:.3f}")
assert all(np.isclose(came[n], 1 - 0.9**n) for n in came)

# %%
# 2. ``norm_images`` for (N, C, H, W) in training, without gamma and beta.
#
# Mean and variance run over all axes but that of the channels, and keep their places
# so that they broadcast.


def norm_images(x, eps=2e-5):
    m = F.mean(x, axis=(0, 2, 3), keepdims=True)  # (1, C, 1, 1)
    v = F.mean((x - m) ** 2, axis=(0, 2, 3), keepdims=True)
    return (x - m) / F.sqrt(v + eps)


rng = np.random.default_rng(0)
x = dz.Variable(rng.standard_normal((6, 3, 5, 4)) * 3 + 1)
weights = rng.standard_normal(x.shape)
ours = norm_images(x)
theirs = F.batch_norm(x, None, None, np.zeros(3), np.ones(3))
slopes = [dz.grad(F.sum(y * weights), [x])[0].data for y in (ours, theirs)]
print(f"values differ by {abs(ours.data - theirs.data).max():.0e}, ", end="")
print(f"slopes by {abs(slopes[0] - slopes[1]).max():.0e}")
assert np.allclose(ours.data, theirs.data) and np.allclose(*slopes)

# %%
# 3. A batch of one sample in training.
#
# It is its own mean, so ``x - m`` is 0 and the result is beta, whatever x is.

beta = np.array([1.0, 2.0, 3.0])
one = rng.standard_normal((1, 3))
y = F.batch_norm(one, np.ones(3), beta, np.zeros(3), np.ones(3))
print("x", one.round(2), "-> y", y.data)
assert np.array_equal(y.data, beta[np.newaxis])
