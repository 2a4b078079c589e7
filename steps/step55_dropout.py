"""
Step 55: dropout, training and testing
======================================

A network with many units and few examples learns the examples by heart. Dropout makes
that harder: at each step of training it draws anew which units are set to 0, each with
probability ``r``, so that no unit can rely on one certain other. What is left is
divided by the share that stays, which keeps the mean of every unit as it was:

    ``y = x * m / (1 - r)``, each ``m`` 1 with probability ``1 - r``, else 0.

When the network is used, nothing is dropped. So the same model must compute in two
ways, and something must say which.

New since the step before: ``F.dropout``, ``Config.train``, ``dz.test_mode``.
"""

# %%
# By hand
# -------
# The mask is made with random numbers and not differentiated: it is a constant. So two
# operators are the whole graph, and the gradient is multiplied by the same factors.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L


# New in this step
def dropout_by_hand(x, r, mask=None):
    if not dz.Config.train:
        return x
    if mask is None:
        mask = np.random.random_sample(x.shape) >= r
    return x * (mask / (1 - r)).astype(x.dtype)


np.random.seed(0)
x = dz.Variable(np.arange(1, 9, dtype=np.float32))
y = dropout_by_hand(x, 0.5)
F.sum(y).backward()
print("x    ", x.data)
print("y    ", y.data)
print("slope", x.grad.data)

# %%
# The mean stays
# --------------
# 100,000 units with the value 3, for three ratios: the share of zeros is about ``r``,
# and the mean stays near 3.

shares, means = {}, {}
for r in (0.2, 0.5, 0.9):
    many = dropout_by_hand(dz.Variable(np.full(100_000, 3.0)), r).data
    shares[r], means[r] = float((many == 0).mean()), float(many.mean())
    print(f"r = {r}: zeros {shares[r]:.3f}, mean {means[r]:.3f}")

# %%
# Two modes
# ---------
# ``Config`` of step 18 has a second switch, ``Config.train``. It is on by default.
# ``with dz.test_mode():`` turns it off for a block, as ``no_grad`` does with the other.

print("train:", dz.Config.train)
with dz.test_mode():
    print("train inside test_mode:", dz.Config.train)
    unchanged = dropout_by_hand(x, 0.5)
print("train afterwards:", dz.Config.train)

# %%
# With the package
# ----------------
# ``F.dropout`` draws its random numbers in another way. The zeros in its result tell
# which mask it drew; with that mask our function must give the same numbers and slopes.

z = dz.Variable(np.random.randn(50, 40).astype(np.float32))
theirs = F.dropout(z, 0.25)
weights = np.random.randn(50, 40).astype(np.float32)
F.sum(theirs * weights).backward()
slope_theirs = z.grad.data
z.cleargrad()
ours = dropout_by_hand(z, 0.25, mask=theirs.data != 0)
F.sum(ours * weights).backward()
print("largest difference:", abs(ours.data - theirs.data).max())

# %%
# What happens if the switch is forgotten
# ---------------------------------------
# 200 units learn 200 digits, half of the units dropped at each step. Then the network
# reads the 360 digits of the test part: five times with the switch still on, and twice
# in test mode. ``no_grad``, in which ``measures`` works, is no help: it stops the
# recording, not the dropping.

train, test = dz.datasets.Digits(), dz.datasets.Digits(train=False)
x_train, t_train = train.data[:200].reshape(200, 64), train.label[:200]
x_test, t_test = test.data.reshape(360, 64), test.label


class Reader(dz.Model):
    def __init__(self, ratio):
        self.ratio = ratio
        self.hidden = L.Linear(200)
        self.out = L.Linear(10)

    def forward(self, x):
        return self.out(F.dropout(F.relu(self.hidden(x)), self.ratio))


def trained(ratio):
    dz.seed(0)
    model = Reader(ratio)
    optimizer = dz.optimizers.Adam(lr=0.003).setup(model)
    for _ in range(300):
        loss = F.softmax_cross_entropy(model(x_train), t_train)
        model.cleargrads()
        loss.backward()
        optimizer.update()
    return model


def measures(model):
    with dz.no_grad():
        y = model(x_test)
        loss = F.softmax_cross_entropy(y, t_test)
        return F.accuracy(y, t_test).item(), loss.item()


plain, dropped = trained(0.0), trained(0.5)
still_on = [measures(dropped) for _ in range(5)]
with dz.test_mode():
    off = [measures(dropped) for _ in range(2)]
    without = measures(plain)
for accuracy, loss in still_on:
    print(f"switch forgotten: accuracy {accuracy:.3f}, loss {loss:.3f}")
for accuracy, loss in off:
    print(f"test mode:        accuracy {accuracy:.3f}, loss {loss:.3f}")
print(f"never dropped:    accuracy {without[0]:.3f}, loss {without[1]:.3f}")

# %%
# Forgotten, the answers change from call to call and are worse. In test mode they are
# the same each time. Whether dropout gains anything depends on the task and on the size
# of the network; here the one that never dropped a unit is as good.

assert all(abs(shares[r] - r) < 0.01 for r in shares)
assert all(abs(means[r] - 3) < 0.1 for r in means)
assert np.array_equal(x.grad.data, y.data / x.data)
assert unchanged is x and dz.Config.train
assert np.array_equal(ours.data, theirs.data)
assert np.array_equal(z.grad.data, slope_theirs)
with dz.test_mode():
    assert F.dropout(x, 0.5) is x
assert len(set(still_on)) > 1 and off[0] == off[1]
mean_accuracy, mean_loss = np.mean(still_on, axis=0)
assert mean_accuracy < off[0][0] and mean_loss > off[0][1]
assert off[0][0] > 0.82 and without[0] > off[0][0] - 0.02

# %%
# Exercises
# ---------
# 1. Some write ``y = x * m`` in training and ``y = x * (1 - r)`` in testing instead.
#    Write that and show, with 100,000 units of value 3 and r = 0.8, that the mean of
#    a layer is the same in training and in testing.
# 2. How large is the variance of what dropout with ``r = 0.5`` makes of a unit of value
#    3? Work it out from the two values that it can have, then measure it.
# 3. Which of these differ between two calls in test mode: ``dropout_by_hand(x, 0.5)``,
#    ``x * (np.random.random_sample(x.shape) > 0.5)``, ``F.dropout(x, 0.5)``? Run them.
