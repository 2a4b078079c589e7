"""
Solutions to step 69: what the network looked at
================================================
"""

# %%
# 1. Linear layers with relu, without bias: the winning score and the sum of slope * x.
#
# They are equal. Between its bends such a network is linear, and without biases the
# piece of each image goes through zero: score = slope . x.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import DataLoader
from dezero.datasets import Digits
from dezero.models import Sequential
from dezero.optimizers import Adam

dz.seed(0)
model = Sequential(
    F.flatten, L.Linear(64, nobias=True), F.relu, L.Linear(10, nobias=True)
)
images = Digits(train=False).data  # (360, 1, 8, 8)
rows = np.arange(len(images))


def read(x):
    with dz.no_grad():
        return model(x).data


def slopes_of(weights):
    x = dz.Variable(images)
    return dz.grad(F.sum(model(x) * weights), [x])[0].data


def fall_of_winning_score():
    y = read(images)
    best = y.argmax(axis=1)
    importance = (slopes_of(np.eye(10, dtype=np.float32)[best]) * images).reshape(
        -1, 64
    )
    flat = images.reshape(-1, 64).copy()
    np.put_along_axis(flat, importance.argsort(axis=1)[:, -8:], 0, axis=1)
    falls = (y - read(flat.reshape(images.shape)))[rows, best]
    return falls.mean() / y[rows, best].mean()


untrained = fall_of_winning_score()  # for exercise 3
optimizer = Adam(3e-3).setup(model)
for _ in range(15):
    for x, t in DataLoader(Digits(train=True), batch_size=64):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward(retain_graph=False)
        optimizer.update()

y = read(images)
best = y.argmax(axis=1)
one_hot = np.eye(10, dtype=np.float32)
winning = y[rows, best]
sums = (slopes_of(one_hot[best]) * images).sum(axis=(1, 2, 3))
print(f"largest difference: {np.abs(winning - sums).max():.1e}")
assert np.allclose(winning, sums, rtol=1e-3, atol=1e-4)

# %%
# 2. Along the sign of d(second - winning) / dx: how many digits are read otherwise?
#
# Far more than with random signs: the small changes of all pixels add up.

second = np.argsort(y, axis=1)[:, -2]
towards = np.sign(slopes_of(one_hot[second] - one_hot[best]))
signs = np.sign(np.random.randn(*images.shape)).astype(np.float32)
for size in (0.1, 0.2):
    changed = [
        (read(images + np.float32(size) * step).argmax(axis=1) != best).mean()
        for step in (towards, signs)
    ]
    print(
        f"by {size}: {changed[0]:.0%} read otherwise, by random signs {changed[1]:.0%}"
    )
    assert changed[0] > 5 * changed[1] and changed[0] > 0.1

# %%
# 3. The fall with ``slope * x`` for a network that was never trained.
#
# There too it falls by far, in units of the mean winning score. The map is true of the
# network; whether the network knows anything about digits is another question.

trained = fall_of_winning_score()
print(
    f"falls, as a share of the score: untrained {untrained:.2f}, trained {trained:.2f}"
)
assert untrained > 0.3 and trained > 0.3
