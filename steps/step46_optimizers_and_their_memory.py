r"""
Step 46: optimizers and their memory
====================================

Plain gradient descent looks at the present gradient ``g`` alone. In a narrow valley it
bounces between the walls and creeps along the floor. Two ideas help, and both need
memory. *Momentum* remembers in which direction it was going. *Adam* remembers the mean
``m`` of past gradients, and ``v``, how large their squares were, for each number.

::

    SGD        p = p - rate * g
    momentum   v = 0.9 v - rate * g                  p = p + v
    Adam       m = 0.9 m + 0.1 g
               v = 0.999 v + 0.001 g**2
               p = p - rate * (m / c1) / (sqrt(v / c2) + eps)
               with c1 = 1 - 0.9**n and c2 = 1 - 0.999**n in update number n

New since the step before: the line ``p.data = ...`` of all loops becomes an object.
"""

import numpy as np

import dezero as dz

# %%
# An optimizer gets the parameters once. ``update`` changes each by its own gradient.
# What it remembers of a parameter is a list, which ``start`` makes and ``step`` renews.
# (SGD, *stochastic gradient descent*, is the name of the plain kind; step 50 says why.)
# The attribute ``correct`` switches off ``c1`` and ``c2``, to see what they are for.

# New in this step


class Optimizer:
    def __init__(self, params, rate):
        self.params = list(params)
        self.rate = rate
        self.memory = [self.start(p.data) for p in self.params]

    def start(self, data):
        return []

    def update(self):
        for p, memory in zip(self.params, self.memory, strict=True):
            p.data = p.data + self.step(p.grad.data, memory)


class SGD(Optimizer):
    def step(self, g, memory):
        return -self.rate * g


class Momentum(Optimizer):
    def start(self, data):
        return [np.zeros_like(data)]

    def step(self, g, memory):
        memory[0] = 0.9 * memory[0] - self.rate * g
        return memory[0]


class Adam(Optimizer):
    correct = True

    def start(self, data):
        return [np.zeros_like(data), np.zeros_like(data), 0]

    def step(self, g, memory):
        m, v, n = memory
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g * g
        n = n + 1
        memory[:] = m, v, n
        c1, c2 = (1 - 0.9**n, 1 - 0.999**n) if self.correct else (1, 1)
        return -self.rate * (m / c1) / (np.sqrt(v / c2) + 1e-8)


class UncorrectedAdam(Adam):
    correct = False


# %%
# The first steps of Adam. Its memory starts from zero, so after one gradient ``m`` is
# ``0.1 g`` and ``v`` is ``0.001 g**2``: both far too small. ``c1`` and ``c2`` are the
# shares that are there already, 0.1 and 0.001, and dividing by them makes up for the
# rest. The first step is then as long as the rate, whatever the size of the gradient.
# (``eps``, here 1e-8, only keeps the divisor from 0.) Here are steps in units of the
# rate for a gradient that stays the same.


def step_sizes(kind, gradient, count=3000):
    optimizer = kind([dz.Parameter(np.array(0.0))], rate=1.0)
    (memory,) = optimizer.memory
    return np.array([-optimizer.step(gradient, memory) for _ in range(count)])


with_correction = step_sizes(Adam, 1000.0)
without = step_sizes(UncorrectedAdam, 1000.0)
print("update    corrected   not corrected")
for n in (1, 2, 5, 12, 100, 1000, 3000):
    print(f"{n:6} {with_correction[n - 1]:12.3f} {without[n - 1]:15.3f}")
tiny = step_sizes(Adam, 0.001, count=1)
print(f"first step for a gradient of 0.001: {tiny[0]:.3f}")

# %%
# Without the correction the steps are not too small, as one might think, but too large:
# the root of ``v`` is missing more than ``m`` is. The first is 3.2 times too large, the
# 12th 6.6 times, and it takes thousands of updates until they are right.
#
# Now the valley. Its floor runs along a diagonal, and the walls bend 100 times as much
# as the floor. The walls set the limit for SGD: with a rate of 0.5 it would bounce
# between them for ever. With 0.4 it is slow along the floor. An optimizer has arrived
# when it stays within 0.1 of the minimum, which is at (1, 1).


def valley(p):
    x, y = p
    return (x + y - 2) ** 2 + 0.01 * (x - y) ** 2


def walk(make, count=400):
    p = dz.Parameter(np.array([-2.0, 3.0]))
    optimizer = make([p])
    path = [p.data.copy()]
    for _ in range(count):
        loss = valley(p)
        p.cleargrad()
        loss.backward()
        optimizer.update()
        path.append(p.data.copy())
    return np.array(path)


makers = {
    "SGD": lambda params: SGD(params, rate=0.4),
    "momentum": lambda params: Momentum(params, rate=0.1),
    "Adam": lambda params: Adam(params, rate=0.4),
    "Adam, not corrected": lambda params: UncorrectedAdam(params, rate=0.4),
}
paths = {name: walk(make) for name, make in makers.items()}
needed, highest = {}, {}
print("\noptimizer              updates needed   highest loss")
for name, path in paths.items():
    far = np.linalg.norm(path - 1, axis=1) >= 0.1
    needed[name], highest[name] = np.flatnonzero(far)[-1] + 1, valley(path.T).max()
    print(f"{name:22} {needed[name]:14} {highest[name]:14.2f}")

# %%
# Momentum and Adam need a fraction of the updates. The loss starts at 1.25. Without the
# correction, Adam first throws it to twice that height. In this smooth valley it comes
# back, and is even early. In a network, such a leap may end where the gradient is
# nearly zero.
#
# The memory is paid for: one number per parameter for momentum, two for Adam. The
# picture shows the first 50 updates.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, axes = plt.subplots(1, 4, figsize=(12, 3.4), sharey=True)
    u, w = np.meshgrid(np.linspace(-2.6, 2.2, 200), np.linspace(-0.2, 4.6, 200))
    for ax, (name, path) in zip(axes, paths.items(), strict=True):
        levels = [0.03, 0.1, 0.3, 1, 3, 10]
        ax.contour(u, w, valley((u, w)), levels=levels, colors="0.8")
        ax.plot(*path[:51].T, "o-", color="#0072b2", markersize=2.5, lw=1)
        ax.plot(1, 1, "k*", markersize=9)
        ax.set(title=name, xlabel="x", aspect="equal")
    axes[0].set_ylabel("y")
    fig.tight_layout()
    plt.savefig("step46.png", dpi=120)
    print("The first 50 updates are in step46.png.")

# %%
# The package has these and more in ``dz.optimizers``. The rate is called ``lr`` there.
# They are set up with a model or a list of parameters (``setup`` returns the optimizer
# itself), and ``update`` works as above. The paths are the same.

package = {
    "SGD": dz.optimizers.SGD(lr=0.4),
    "momentum": dz.optimizers.MomentumSGD(lr=0.1, momentum=0.9),
    "Adam": dz.optimizers.Adam(lr=0.4),
    "Adam, not corrected": dz.optimizers.Adam(lr=0.4, bias_correction=False),
}
same = {}
for name, optimizer in package.items():
    same[name] = np.allclose(walk(optimizer.setup), paths[name])
    print(f"{name:22} same path from the package: {same[name]}")

assert all(same.values())
assert np.allclose(with_correction, 1) and abs(tiny[0] - 1) < 1e-4
assert abs(without[0] - np.sqrt(10)) < 1e-6 and without.argmax() == 11
assert abs(without.max() - 6.57) < 0.01 and without[-1] < 1.05
assert needed["momentum"] < needed["SGD"] / 3
assert needed["Adam"] < needed["SGD"] / 2 and needed["SGD"] < 400
assert highest["Adam"] < 1.26 and highest["Adam, not corrected"] > 2.5

# %%
# Exercises
# ---------
#
# 1. How large is the second step of SGD, momentum and Adam for a gradient that is
#    always 1, in units of the rate? And the hundredth?
# 2. Change ``valley`` so that the loss is 1000 times as large. Which of the optimizers
#    still arrive with the same rate? Why?
# 3. Put 0.9 in place of 0.999 and 0.1 in place of 0.001 (in the package, that is
#    ``Adam(beta2=0.9)``). How large is the first step of Adam without correction then?
#    Find it on paper.
