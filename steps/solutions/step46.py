"""
Solutions to step 46: optimizers and their memory
=================================================
"""

# %%
# Exercise 1
# ----------
# The second and the hundredth step for a gradient that is always 1, in units of the
# rate. SGD: 1 and 1. Momentum: 1 + 0.9 = 1.9, and 1 + 0.9 + 0.81 + ..., which is nearly
# 10. Adam: 1 and 1.
import numpy as np

import dezero as dz


def steps(optimizer, count):
    p = dz.Parameter(np.zeros(1))
    optimizer.setup([p])
    sizes = []
    for _ in range(count):
        before = p.data.copy()
        p.grad = dz.Variable(np.ones(1))
        optimizer.update()
        sizes.append((before - p.data).item())
    return sizes


found = {}
for make in dz.optimizers.SGD, dz.optimizers.MomentumSGD, dz.optimizers.Adam:
    sizes = steps(make(lr=1.0), 100)
    found[make.__name__] = sizes[1], sizes[99]
    print(f"{make.__name__:12} second {sizes[1]:.4f}, hundredth {sizes[99]:.4f}")
assert np.allclose(found["SGD"], 1) and np.allclose(found["Adam"], 1)
assert np.allclose(found["MomentumSGD"], [1.9, 10 * (1 - 0.9**100)])

# %%
# Exercise 2
# ----------
# The loss is 1000 times as large. The steps of SGD and momentum grow by the same factor
# and leave the valley at once. Adam divides the gradient by its own size, so its path
# is the same.


def walk(optimizer, factor, count):
    p = dz.Parameter(np.array([-2.0, 3.0]))
    optimizer.setup([p])
    for _ in range(count):
        x, y = p[0], p[1]
        loss = factor * ((x + y - 2) ** 2 + 0.01 * (x - y) ** 2)
        p.cleargrad()
        loss.backward()
        optimizer.update()
    return np.linalg.norm(p.data - 1)


distance = {}
for name, make, lr in [
    ("SGD", dz.optimizers.SGD, 0.4),
    ("momentum", dz.optimizers.MomentumSGD, 0.1),
    ("Adam", dz.optimizers.Adam, 0.4),
]:
    distance[name] = [walk(make(lr=lr), factor, 20) for factor in (1, 1000)]
    a, b = distance[name]
    print(f"{name:9} distance after 20 updates: {a:.3f}, and with 1000 times: {b:.3g}")
assert np.isclose(*distance["Adam"], rtol=1e-5)
assert distance["SGD"][1] > 1e10 and distance["momentum"][1] > 1e10

# %%
# Exercise 3
# ----------
# With 0.9 and 0.1 for the squares, ``v`` is ``0.1 g**2`` after one gradient. ``m`` is
# ``0.1 g``. The step is ``0.1 / sqrt(0.1)``, which is 0.316: too small by a factor of
# three. It depends on the two factors in which direction the missing correction errs.
first = steps(dz.optimizers.Adam(lr=1.0, beta2=0.9, bias_correction=False), 1)[0]
print("first step:", round(first, 4))
assert np.isclose(first, np.sqrt(0.1), rtol=1e-6)
