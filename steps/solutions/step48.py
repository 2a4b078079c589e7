"""
Solutions to step 48: spirals
=============================
"""

# %%
# Exercise 1
# ----------
# One hidden layer of 2, 4 and 100 units. Each unit can bend the borders along one line.
# Two are too few for three arms, four do better, and a hundred are as good as the two
# layers of 32.
import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

x, t = dz.datasets.get_spiral(train=True)
test_x, test_t = dz.datasets.get_spiral(train=False)


def train(model, x, steps=500):
    optimizer = dz.optimizers.Adam(lr=0.02).setup(model)
    for _ in range(steps):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward()
        optimizer.update()


def count_wrong(model, x, t):
    return int((model(x).data.argmax(axis=1) != t).sum())


wrong = {}
for units in (2, 4, 100):
    np.random.seed(0)
    model = dz.models.MLP((units, 3), activation=F.relu)
    train(model, x)
    wrong[units] = count_wrong(model, test_x, test_t)
    print(f"{units:3} units: {wrong[units]} of 300 wrong")
assert wrong[2] > 2 * wrong[4] and wrong[100] < 15

# %%
# Exercise 2
# ----------
# The straight model with four other inputs. A point at distance ``r`` stands at the
# angle ``4 r + 4 c``. Turned back by the angle ``4 r``, it lies on a ray that depends
# on ``c`` alone: ``x cos(4 r) - y sin(4 r) = r sin(4 c)``, and ``y cos(4 r) + x sin(4
# r) = r cos(4 c)``. Both are sums of the four inputs with fixed weights, and three rays
# from the centre can be separated by straight borders.


def turned_back(x):
    r = np.linalg.norm(x, axis=1, keepdims=True)
    return np.hstack([x * np.cos(4 * r), x * np.sin(4 * r)])


np.random.seed(0)
straight = L.Linear(3)
train(straight, turned_back(x))
wrong_turned = count_wrong(straight, turned_back(test_x), test_t)
print("straight model, turned back:", wrong_turned, "of 300 wrong")
assert wrong_turned < 10

# %%
# Exercise 3
# ----------
# Wrong points among those that the bent model was trained with: fewer, since the
# borders were bent to suit exactly these points. What counts is the number on others.
np.random.seed(0)
L.Linear(3)(x)  # as in the step, where the straight model draws its weights first
bent = dz.models.MLP((32, 32, 3), activation=F.relu)
train(bent, x)
counts = count_wrong(bent, x, t), count_wrong(bent, test_x, test_t)
print("training points wrong:", counts[0], " test points wrong:", counts[1])
assert counts[0] <= counts[1] < 20
