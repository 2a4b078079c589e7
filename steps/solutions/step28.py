r"""
Solutions to step 28: descent in Rosenbrock's valley
====================================================
"""

# %%
# The descent of the step, with the goal and the factor 100 as arguments.
import numpy as np

import dezero as dz


def descend(lr, goal, limit=20_000, factor=100, clear=True):
    x0 = dz.Variable(np.array(-1.2))
    x1 = dz.Variable(np.array(1.0))
    path = []
    for _ in range(limit):
        if clear:
            x0.cleargrad()
            x1.cleargrad()
        y = (1 - x0) ** 2 + factor * (x1 - x0**2) ** 2
        path.append((float(x0), float(x1), float(y)))
        if y.data < goal or y.data > 1e6:
            break
        y.backward()
        x0.data = x0.data - lr * x0.grad.data
        x1.data = x1.data - lr * x1.grad.data
    return np.array(path)


# %%
# 1. How many steps until f is below 0.1, for three learning rates? Half the learning
# rate, twice as many steps: along the flat floor the path is the same, and each step
# goes half as far.
counts = {lr: len(descend(lr, 0.1)) - 1 for lr in (0.0005, 0.001, 0.002)}
print(counts)
assert 1.8 < counts[0.0005] / counts[0.001] < 2.2
assert 1.8 < counts[0.001] / counts[0.002] < 2.2

# %%
# 2. What does the update use without ``cleargrad``? The sum of all gradients so far,
# since ``backward`` adds. The path is not turned by the slope where it stands; old
# slopes push it on, and it shoots over the floor from side to side.
path = descend(0.001, 1e-6, limit=1000, clear=False)
cleared = descend(0.001, 1e-6, limit=1000)
sides = path[:, 1] > path[:, 0] ** 2
turns = np.count_nonzero(sides[1:] != sides[:-1])
print("changes of side without clearing:", turns)
sides = cleared[:, 1] > cleared[:, 0] ** 2
print("changes of side with clearing:   ", np.count_nonzero(sides[1:] != sides[:-1]))
assert turns > 20 > np.count_nonzero(sides[1:] != sides[:-1])
print("value after the first steps without clearing:", np.round(path[:6, 2], 2))

# %%
# 3. With 1 in place of 100 and learning rate 0.05: how many steps, and why? Some three
# hundred: the valley is hardly longer than it is wide, and one learning rate suits all
# directions. So it can be fifty times as large.
path = descend(0.05, 1e-6, factor=1)
print("steps in the round valley:", len(path) - 1)
assert len(path) - 1 < 500 and path[-1, 2] < 1e-6
