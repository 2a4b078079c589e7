"""
Solutions to step 68: two networks against each other
=====================================================
"""

# %%
# 1. Let b answer to the new a: does the distance still grow?
#
# No: it stays near 1, though it does not shrink either. The players circle.

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero.models import MLP

dz.seed(0)
a, b = dz.Variable(np.array(1.0)), dz.Variable(np.array(0.0))
distances = []
for _ in range(1000):
    a.data = a.data - 0.1 * dz.grad(a * b, [a])[0].data
    b.data = b.data + 0.1 * dz.grad(a * b, [b])[0].data
    distances.append(np.hypot(float(a), float(b)))
print(f"1000 steps: distance between {min(distances):.3f} and {max(distances):.3f}")
assert 0.9 < min(distances) and max(distances) < 1.1

# %%
# 2. Compare the slopes of both losses by the score at -8: which one can G learn from?
#
# The slope of -log sigmoid(s) is sigmoid(s) - 1, near -1. That of log(1 - sigmoid(s))
# is -sigmoid(s), near zero: when G is worst, it would learn least.

s = dz.Variable(np.array(-8.0))
used = float(dz.grad(F.softplus(-s), [s])[0])  # -log sigmoid(s) = softplus(-s)
other = float(dz.grad(-F.softplus(s), [s])[0])  # log(1 - sigmoid(s)) = -softplus(s)
print(f"slopes at -8: {used:.5f} and {other:.5f}")
assert used < -0.999 and -0.001 < other < 0

# %%
# 3. Without ``.detach()``: the gradients of G after D's backward, and what G would
#    learn.
#
# D's loss goes through G then, and the gradients make G easier to tell from real: they
# point against those of G's own loss.

G = MLP((32, 2), activation=F.leaky_relu)
D = MLP((32, 1), activation=F.leaky_relu)
z = np.random.randn(128, 2).astype(np.float32)
ones, zeros = np.ones((128, 1), np.float32), np.zeros((128, 1), np.float32)

F.sigmoid_cross_entropy(D(G(z).detach()), zeros).backward()
print("with detach, gradients:", [p.grad for p in G.params()])
assert all(p.grad is None for p in G.params())

flat = []
for target in (zeros, ones):  # D's loss of made points, then G's own loss
    G.cleargrads()
    F.sigmoid_cross_entropy(D(G(z)), target).backward()
    flat.append(np.concatenate([p.grad.data.ravel() for p in G.params()]))
cosine = flat[0] @ flat[1] / np.linalg.norm(flat[0]) / np.linalg.norm(flat[1])
print(f"cosine between the two gradients of G: {cosine:.3f}")
assert cosine < -0.5
