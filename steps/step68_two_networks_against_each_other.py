"""
Step 68: two networks against each other
========================================

Step 67 learned to make data by a loss that was written down. Here the loss is a network
too. The *generator* G turns noise z into points. The *discriminator* D gives a score:
above zero for "real", below for "made". D learns to tell them apart, G learns to be
taken for real::

    D lowers  -log sigmoid(D(x)) - log(1 - sigmoid(D(G(z))))
    G lowers  -log sigmoid(D(G(z)))

Nobody goes down a fixed hill: each step of one changes the hill of the other. So
training has no end at which the losses are small, and may go round in circles.

New since the step before: two losses that pull against each other, and
``ExponentialMovingAverage``.
"""

# %%
# A game of two numbers
# ---------------------
# One player lowers a b by choosing a, the other raises it by choosing b. At (0, 0)
# neither can gain. If both take a gradient step at the same time, the distance from
# there grows by sqrt(1 + lr^2) each time: away from the goal, for ever. The mean of all
# places is near it.

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero.models import MLP
from dezero.optimizers import Adam, ExponentialMovingAverage

dz.seed(0)
a, b = dz.Variable(np.array(1.0)), dz.Variable(np.array(0.0))
places = []
for _ in range(63):  # about one turn
    ga, gb = dz.grad(a * b, [a, b])
    a.data, b.data = a.data - 0.1 * ga.data, b.data + 0.1 * gb.data
    places.append([a.item(), b.item()])
away = np.hypot(*places[-1])
middle = np.hypot(*np.mean(places, axis=0))
print(f"distance from (0, 0): 1.00 at first, {away:.3f} after 63 steps")
print(f"the mean of all places is {middle:.3f} away")

# %%
# Points to imitate
# -----------------
# A bow: x is normal, y is half its square, moved down, with a little noise. Means,
# spreads and the correlation of x^2 and y ("curved" below) describe it well enough for
# a comparison.


def real(n):
    x = np.random.randn(n)
    y = x * x / 2 - 1 + 0.2 * np.random.randn(n)
    return np.stack([x, y], axis=1).astype(np.float32)  # (n, 2)


def noise(n):
    return np.random.randn(n, 2).astype(np.float32)


def moments(points):
    curved = np.corrcoef(points[:, 0] ** 2, points[:, 1])[0, 1]
    return np.array([*points.mean(axis=0), *points.std(axis=0), curved])


# %%
# The game
# --------
# ``F.sigmoid_cross_entropy`` with ones is -log sigmoid, with zeros -log(1 - sigmoid).
# ``fake.detach()`` keeps the first backward out of the generator: D must not teach G to
# be found out. G's loss then goes through D and leaves gradients there, which are
# cleared before D's next step. Because weights circle, the mean of them over time is
# often better than the last ones: ``ExponentialMovingAverage`` keeps 99 % of the old
# mean at each step. ``F.leaky_relu`` has a slope below 0 too, 0.2, so that no unit of D
# can die and leave G without a gradient.

# New in this step
N = 128
G = MLP((32, 32, 2), activation=F.leaky_relu)
D = MLP((32, 32, 1), activation=F.leaky_relu)
D(G(noise(1)))  # makes the weights, for the average to start from
average = ExponentialMovingAverage(G, decay=0.99)
# Less momentum than usual: what was downhill before is soon no longer so.
optimizer_G = Adam(1e-3, beta1=0.5).setup(G)
optimizer_D = Adam(1e-3, beta1=0.5).setup(D)
ones, zeros = np.ones((N, 1), np.float32), np.zeros((N, 1), np.float32)

print("        loss D  loss G   mean x  mean y   std x  std y  curved")
history = []
for step in range(1, 2001):
    fake = G(noise(N))
    loss_D = F.sigmoid_cross_entropy(D(real(N)), ones)
    loss_D = loss_D + F.sigmoid_cross_entropy(D(fake.detach()), zeros)
    D.cleargrads()
    loss_D.backward(retain_graph=False)
    optimizer_D.update()

    loss_G = F.sigmoid_cross_entropy(D(fake), ones)
    G.cleargrads()
    loss_G.backward(retain_graph=False)
    optimizer_G.update()
    average.update()
    if step % 200 == 0:
        with dz.no_grad():
            history.append(moments(G(noise(2000)).data))
        row = "  ".join([f"{number:6.2f}" for number in history[-1]])
        print(f"{step:6}  {loss_D.item():6.3f}  {loss_G.item():6.3f}   {row}")

# %%
# What came of it
# ---------------
# The losses stay near those of a D that guesses, 2 log 2 = 1.386 and log 2 = 0.693, and
# do not say whether the points are good. The moments do: they come near those of the
# real points and keep moving. ``average.applied()`` lends G the mean weights for a
# block.

with dz.no_grad(), average.applied():
    made = G(noise(2000)).data
target = real(2000)
wander = np.ptp([row[0] for row in history[-5:]])
print("real    ", moments(target).round(2))
print("averaged", moments(made).round(2))
print(f"mean x moved within a range of {wander:.2f} in the last 1000 steps")

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), sharex=True, sharey=True)
    for ax, points, title in zip(axes, (target, made), ("real", "made"), strict=True):
        ax.scatter(*points.T, s=4, alpha=0.4)
        ax.set(title=title, xlim=(-4, 4), ylim=(-2.5, 5), xlabel="x")
    axes[0].set_ylabel("y")
    figure.tight_layout()
    plt.savefig("step68.png", dpi=120)
    print("wrote step68.png")

assert np.isclose(away, np.sqrt(1.01) ** 63) and middle < 0.2
assert np.abs(moments(made) - moments(target))[:4].max() < 0.25
assert moments(made)[4] > 0.8
assert 0.01 < wander < 1  # near, but not at rest
assert 1.0 < loss_D.item() < 1.6

# %%
# Exercises
# ---------
# 1. In the game of two numbers, let b answer to the new a instead of the old one. Does
#    the distance still grow?
# 2. G could lower log(1 - sigmoid(D(G(z)))) instead. Compare the slopes of both losses
#    by the score D(G(z)) at -8, where D is sure that a point is made. Which one can G
#    learn from?
# 3. Leave out ``.detach()`` and look at the gradients of G after D's backward. What
#    would G learn if they were not cleared?
