r"""
Step 28: descent in Rosenbrock's valley
=======================================

A gradient points uphill. So a small step against it leads to a smaller value, and many
such steps lead into a minimum. This is gradient descent:

.. math:: x \leftarrow x - \eta \, \nabla f(x)

Here :math:`\nabla f` is the gradient, that is, the slopes by all variables together,
and :math:`\eta` a small number, the learning rate (``lr`` in the code). We try it on
Rosenbrock's function, a long bent valley with a nearly flat floor:

.. math:: f(x_0, x_1) = (1 - x_0)^2 + 100 \, (x_1 - x_0^2)^2

New since the step before: an update of ``x.data``, over and over, with the gradient.
"""

# %%
# The descent
# -----------
# The minimum is at (1, 1), with value 0. We start at (−1.2, 1). Each turn clears the
# gradients, computes the value, goes back, and moves both numbers. The move is written
# on ``.data``: it is not part of the function, so it must not be recorded.

import numpy as np

import dezero as dz


def rosenbrock(x0, x1):
    return (1 - x0) ** 2 + 100 * (x1 - x0**2) ** 2


# New in this step
def descend(lr, limit=20_000):
    x0 = dz.Variable(np.array(-1.2))
    x1 = dz.Variable(np.array(1.0))
    path = []
    for _ in range(limit):
        x0.cleargrad()
        x1.cleargrad()
        y = rosenbrock(x0, x1)
        path.append((float(x0), float(x1), float(y)))
        if y.data < 1e-6 or y.data > 1e6:
            break
        y.backward()
        x0.data = x0.data - lr * x0.grad.data
        x1.data = x1.data - lr * x1.grad.data
    return np.array(path)


path = descend(lr=0.001)
print("  step       x0       x1           f")
for i in (0, 1, 2, 10, 100, 1000, 10_000, len(path) - 1):
    x0, x1, y = path[i]
    print(f"{i:6d} {x0:8.4f} {x1:8.4f} {y:11.2e}")

# %%
# Two things happen. After two steps the value has fallen from 24 to 4: the path has
# dropped from the slope to the floor of the valley. Then it creeps. Between step 10 and
# step 100 it moves by 0.16 in all, and it takes 15,000 steps to arrive.
#
# Why it creeps
# -------------
# On the floor, :math:`x_1 = x_0^2`, the gradient is small. A tenth beside it, it is
# large. At :math:`x_0 = 0.5` the curve :math:`x_0^2` has the slope 1, so the valley
# runs in the direction (1, 1) there. The direction across it is (−1, 1), and nearly all
# of the large gradient points that way.


def gradient(x0, x1):
    x0, x1 = dz.Variable(np.array(x0)), dz.Variable(np.array(x1))
    rosenbrock(x0, x1).backward()
    return np.array([x0.grad.data, x1.grad.data])


on_floor, beside = gradient(0.5, 0.25), gradient(0.5, 0.35)
print("\ngradient on the floor, at (0.5, 0.25): ", on_floor)
print("gradient beside it, at (0.5, 0.35):    ", beside)

# %%
# One learning rate serves both directions. It must be small because of the steep one
# across the valley, and then it is far too small for the flat one along it. With ten
# times the learning rate the first steps overshoot, and three of them are enough to
# leave the valley for good.

wild = descend(lr=0.01)
print("\nlr 0.01:")
for i, (x0, x1, y) in enumerate(wild):
    print(f"{i:6d} {x0:8.2f} {x1:8.2f} {y:11.2e}")

# %%
# The picture shows the first drop as one long line, and the marks at 10, 100, 1000 and
# 10,000 steps show how the pace slackens. Lines of equal height are drawn at
# f = 0.1, 1, 10 and 100.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    grid0, grid1 = np.meshgrid(np.linspace(-1.6, 1.6, 641), np.linspace(-0.5, 2, 1001))
    height = rosenbrock(grid0, grid1)
    figure, axes = plt.subplots(figsize=(7, 5))
    levels = 10.0 ** np.arange(-1, 3)
    axes.contour(grid0, grid1, height, levels, colors="tab:blue", linewidths=0.8)
    axes.plot(path[:, 0], path[:, 1], color="tab:red", linewidth=1.5)
    marks = {0: (-12, -14), 10: (12, -4), 100: (9, -3), 1000: (7, -13), 10000: (7, -13)}
    for i, offset in marks.items():
        axes.plot(path[i, 0], path[i, 1], "o", color="tab:red")
        axes.annotate(f"{i:,}", path[i, :2], xytext=offset, textcoords="offset points")
    axes.plot(1, 1, "k*", markersize=14)
    axes.set(xlabel="x0", ylabel="x1", title="Steps down Rosenbrock's valley")
    plt.savefig("step28.png", dpi=120)
    print("step28.png shows the path")

# %%
# What would help is to know not only how steep the function is, but how soon that
# changes: how *curved* it is. The next step tries that, in one dimension.

moved = np.linalg.norm(path[100, :2] - path[10, :2])
assert abs(moved - 0.16) < 0.005
assert path[0, 2] > 24 and path[2, 2] < 6
assert 14_000 < len(path) - 1 < 16_000 and path[-1, 2] < 1e-6
assert np.allclose(on_floor, [-1, 0]) and np.allclose(beside, [-21, 20])
assert len(wild) == 4 and wild[-1, 2] > 1e6

# %%
# Exercises
# ---------
# 1. Try the learning rates 0.0005, 0.001 and 0.002. How many steps does each need
#    until f is below 0.1? What is the relation between learning rate and steps?
# 2. Remove the two calls of ``cleargrad`` and run the first 1000 steps. What does the
#    update use instead of the gradient?
# 3. Replace the 100 in the function by 1, and start at the same point with learning
#    rate 0.05. How many steps does it take now, and why?
