r"""
Step 48: spirals
================

Three spiral arms turn around each other; each is a class. No straight line separates
them, so this small task shows whether a network can bend the border between classes.
All parts are known: a model (step 45), an optimizer (step 46), the loss (step 47).

The *region* of a class is the set of points where its score is the largest. Its edge is
the decision boundary, and in the plane we can draw it.

New since the step before: everything together, for a model with straight borders and
for one with bent borders, and a picture of what they learned.
"""

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

# %%
# The package has the points: 300 to learn from, and 300 others to test with. ``x`` has
# a row of two coordinates for each point, ``t`` its class. The answer of a model is the
# class with the largest score. For the answers no graph is needed (step 18).

x, t = dz.datasets.get_spiral(train=True)
test_x, test_t = dz.datasets.get_spiral(train=False)
print("points", x.shape, "classes", t[:10], "...")

# New in this step


def train(model, steps=500):
    optimizer = dz.optimizers.Adam(lr=0.02).setup(model)
    for _ in range(steps):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()
    return loss.item()


def choose(model, points):
    with dz.no_grad():
        return model(points).data.argmax(axis=1)


np.random.seed(0)
models = {
    "straight": L.Linear(3),
    "bent": dz.models.MLP((32, 32, 3), activation=F.relu),  # two hidden layers
}
losses, wrong = {}, {}
for name, model in models.items():
    losses[name] = train(model)
    wrong[name] = int((choose(model, test_x) != test_t).sum())
    print(f"{name:8} loss {losses[name]:.3f}, test points wrong: {wrong[name]} of 300")

# %%
# ``straight`` is one matrix and a bias: three scores that are linear in the position.
# Two scores are equal on a straight line, so its regions have straight edges. It gets
# about half of the points right, and more training does not help.
#
# ``bent`` has two *hidden* layers, which are those between input and output, of 32
# units each, with ``F.relu`` after them. Its scores are made of many flat pieces, so
# its edges are made of many short lines.
#
# A region of ``straight`` lies on one side of each of its edges, so it has no dents:
# halfway between two points of a region, one is still inside. Below, pairs of points of
# the same region are drawn at random, and the halfway points that lie outside are
# counted.

rng = np.random.default_rng(0)
dents = {}
for name, model in models.items():
    a, b = rng.uniform(-1, 1, (2, 5000, 2)).astype(np.float32)
    same = choose(model, a) == choose(model, b)
    halfway = choose(model, (a + b) / 2)
    outside = halfway[same] != choose(model, a)[same]
    dents[name] = int(outside.sum())
    print(f"{name:8} halfway points outside: {dents[name]} of {same.sum()}")

# %%
# The picture asks each model for the class of every point of a grid.

side = np.linspace(-1.2, 1.2, 300, dtype=np.float32)
u, v = np.meshgrid(side, side)
grid = np.stack([u.ravel(), v.ravel()], axis=1)  # (300 * 300, 2)
regions = {name: choose(model, grid) for name, model in models.items()}

try:
    import matplotlib.pyplot as plt
    from matplotlib.colors import ListedColormap
except ImportError:
    plt = None

if plt is not None:
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.8))
    colours = ["#0072b2", "#e69f00", "#009e73"]
    pale = ListedColormap(["#b3d4e8", "#f7e1b0", "#b3dfd2"])
    for ax, (name, region) in zip(axes, regions.items(), strict=True):
        picture = region.reshape(u.shape)
        edges = (-1.2, 1.2, -1.2, 1.2)
        ax.imshow(picture, cmap=pale, vmin=0, vmax=2, extent=edges, origin="lower")
        for c, marker in enumerate("o^s"):
            ax.plot(*test_x[test_t == c].T, marker, color=colours[c], markersize=4)
        ax.set_title(f"{name}: {wrong[name]} of 300 test points wrong")
    fig.tight_layout()
    plt.savefig("step48.png", dpi=120)
    print("The regions are in step48.png.")

# %%
# The package draws such a picture with one call:
# ``dz.visualize.plot_decision_boundary(model, x, t)``.

assert losses["straight"] > 0.7 and wrong["straight"] > 120
assert losses["bent"] < 0.1 and wrong["bent"] < 60
assert dents["straight"] == 0 and dents["bent"] > 100

# %%
# Exercises
# ---------
#
# 1. Train models with one hidden layer of 2, 4 and 100 units, ``MLP((2, 3))`` and so
#    on, all with ``F.relu``. How many test points are wrong?
# 2. A point of arm ``c`` at distance ``r`` from the centre stands at about the angle
#    ``4 r + 4 c``: x is ``r sin(4 r + 4 c)`` and y is ``r cos(4 r + 4 c)``. Give the
#    straight model four inputs in place of x and y: ``x cos(4 r)``, ``x sin(4 r)``,
#    ``y cos(4 r)`` and ``y sin(4 r)``. How many test points are wrong now? Why does
#    that help?
# 3. How many points are wrong among those that the bent model was trained with? Why is
#    that fewer?
