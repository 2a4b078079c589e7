r"""
Step 43: a network that bends
=============================

A linear model draws a straight line, whatever it is given. Two linear models one after
the other are no better: they are one linear model with other weights. A curve needs
something curved between them. The sigmoid is enough, which rises from 0 to 1:

.. math:: y = \sigma(x W_1 + b_1) \, W_2 + b_2, \qquad
          \sigma(a) = \frac{1}{1 + e^{-a}}

This is a neural network with two *layers*, the two linear maps. Each column of
:math:`W_1`, with its bias, makes one soft step, at a place and with a steepness that
are learned; it is called a *unit*. The second layer adds the steps up with weights.

New since the step before: a function that is not linear between two layers, and random
weights to start from.
"""

import numpy as np

import dezero as dz
import dezero.functions as F

# %%
# The data: 100 points on a wave, with a little noise.

rng = np.random.default_rng(0)
x = rng.uniform(-2, 2, (100, 1))
t = np.sin(2 * x) + 0.1 * rng.normal(size=(100, 1))

# %%
# First the claim about two linear layers. The product of the two matrices is a matrix,
# so the pair is one layer with the weights ``A @ B``.

A, B = rng.normal(size=(1, 10)), rng.normal(size=(10, 1))
print("two linear layers are one:", np.allclose((x @ A) @ B, x @ (A @ B)))

# %%
# ``train`` fits a network with 10 units between input and output, and the function
# ``bend`` applied to them. The weights start from random numbers. If they were all
# equal, all units would compute the same and get the same gradient, and remain equal
# for ever. (Ten units are added up. The division by the root of 10 keeps their sum
# about as large as one of them.) From time to time ``train`` notes the loss and the
# curve, which is the prediction for the points of ``grid``.

# New in this step


def sigmoid(a):
    return 1 / (1 + F.exp(-a))


def straight(a):
    return a


grid = np.linspace(-2, 2, 200).reshape(-1, 1)


def train(bend, steps, rate, seed=1):
    rng = np.random.default_rng(seed)
    W1 = dz.Variable(rng.normal(size=(1, 10)))
    b1 = dz.Variable(np.zeros(10))
    W2 = dz.Variable(rng.normal(size=(10, 1)) / np.sqrt(10))
    b2 = dz.Variable(np.zeros(1))
    params = [W1, b1, W2, b2]

    def predict(x):
        return F.linear(bend(F.linear(x, W1, b1)), W2, b2)

    curves = {}
    for step in range(steps + 1):
        loss = F.mean_squared_error(predict(x), t)
        for p in params:
            p.cleargrad()
        loss.backward()
        if step in (0, 100, 1000, steps):
            curves[step] = loss.item(), predict(grid).data
        for p in params:
            p.data = p.data - rate * p.grad.data
    return curves, W1


lines, _ = train(straight, steps=2000, rate=0.05)
curves, W1 = train(sigmoid, steps=5000, rate=0.2)
print("\nstep     loss with straight units")
for step, (loss, _) in lines.items():
    print(f"{step:5}    {loss:.4f}")
print("step     loss with sigmoid units")
for step, (loss, _) in curves.items():
    print(f"{step:5}    {loss:.4f}")

# %%
# The straight units end where the best line is, which ``np.polyfit`` computes. The
# sigmoid units come down to the noise, whose variance is 0.01. The picture shows the
# curve after several numbers of steps.

slope, height = np.polyfit(x[:, 0], t[:, 0], deg=1)
best_line = np.mean((slope * x + height - t) ** 2)
line_loss, curve_loss = lines[2000][0], curves[5000][0]
print(f"best line: {best_line:.4f}   straight units: {line_loss:.4f}")
print(f"sigmoid units: {curve_loss:.4f}")

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, ax = plt.subplots(figsize=(7, 4))
    ax.plot(x, t, "o", color="0.75", markersize=4, label="data")
    ax.plot(grid, lines[2000][1], "--", color="0.3", label="straight units")
    colours = ["#9ecae1", "#4292c6", "#08519c", "#d94801"]
    for (step, (_, y)), colour in zip(curves.items(), colours, strict=True):
        ax.plot(grid, y, color=colour, label=f"{step} steps")
    ax.set_xlabel("x")
    ax.set_ylabel("y")
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    fig.tight_layout()
    plt.savefig("step43.png", dpi=120)
    print("The curves are in step43.png.")

# %%
# The package has ``F.sigmoid``; ours gives the same values and slopes. Other bends are
# ``F.tanh``, known from part 3, and ``F.relu``, which is ``a`` above zero and 0 below.
# A function in this place is called an *activation*.

ours, package = dz.Variable(x), dz.Variable(x)
y0, y1 = sigmoid(ours), F.sigmoid(package)
y0.backward()
y1.backward()
print("same as F.sigmoid:", np.allclose(y0.data, y1.data))

assert np.allclose((x @ A) @ B, x @ (A @ B))
assert np.allclose(y0.data, y1.data)
assert np.allclose(ours.grad.data, package.grad.data)
assert line_loss < best_line + 1e-3
assert curve_loss < 0.02 < 0.1 < line_loss
assert len(np.unique(W1.data)) == 10

# %%
# Exercises
# ---------
#
# 1. Start with all weights equal to 0.5 in place of random ones. How many different
#    columns does ``W1`` have after 1000 steps, and what does that mean for the curve?
# 2. What is the slope of the sigmoid at 0, and what is the largest slope it has
#    anywhere? What does this do to a gradient that passes through five sigmoids?
# 3. Train with ``F.tanh`` and with ``F.relu`` in place of the sigmoid, for 2000 steps
#    with a rate of 0.1. Which is the slowest of the three? Compare the slopes of the
#    sigmoid and of tanh at 0, and that of relu above 0.
