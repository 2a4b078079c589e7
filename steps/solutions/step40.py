"""
Solutions to step 40: broadcasting and the silent error
=======================================================
"""

# %%
# Exercise 1
# ----------
# Which pairs of shapes broadcast? (3, 1) and (4,) give (3, 4). (3,) and (4,) do not
# fit. (2, 3, 4) and (3, 1) give (2, 3, 4). (5, 1, 3) and (2, 3) give (5, 2, 3).
import numpy as np

import dezero as dz

pairs = [((3, 1), (4,)), ((3,), (4,)), ((2, 3, 4), (3, 1)), ((5, 1, 3), (2, 3))]
found = []
for a, b in pairs:
    try:
        found.append(np.broadcast_shapes(a, b))
    except ValueError:
        found.append(None)
    print(a, "and", b, "->", found[-1])
assert found == [(3, 4), None, (2, 3, 4), (5, 2, 3)]

# %%
# Exercise 2
# ----------
# The mean of ``(p - t_j)**2`` over all ``j`` is smallest at ``p = mean(t)``, and there
# it is the variance of ``t``. Any other ``p`` adds the square of its distance from the
# mean.
t = np.array([1.0, 2.0, 6.0])
p = np.linspace(0, 6, 601)
means = ((p[:, None] - t) ** 2).mean(axis=1)
best = p[means.argmin()]
print("best p:", best.round(6), " mean:", t.mean(), " value:", means.min().round(6))
assert np.isclose(best, t.mean()) and np.isclose(means.min(), t.var())
assert np.allclose(means, t.var() + (p - t.mean()) ** 2)

# %%
# Exercise 3
# ----------
# ``b`` of shape (1, 3) is added to (5, 2, 3). Its gradient has the shape (1, 3), and
# each number in it is 10: it was used in 5 times 2 places.
b = dz.Variable(np.zeros((1, 3)))
(np.zeros((5, 2, 3)) + b).backward()
print("gradient of b:", b.grad.data)
assert b.grad.shape == (1, 3) and (b.grad.data == 10).all()
