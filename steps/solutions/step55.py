"""
Solutions to step 55: dropout, training and testing
===================================================
"""

# %%
# 1. ``y = x * m`` in training, ``y = x * (1 - r)`` in testing: the mean of a layer is
# the same in both.

import numpy as np

import dezero as dz
import dezero.functions as F


def dropout_scaled_later(x, r):
    if dz.Config.train:
        return x * (np.random.random_sample(x.shape) >= r).astype(x.dtype)
    return x * (1 - r)


np.random.seed(0)
x = dz.Variable(np.full(100_000, 3.0))
training = dropout_scaled_later(x, 0.8).data.mean()
with dz.test_mode():
    testing = dropout_scaled_later(x, 0.8).data.mean()
print(f"mean in training {training:.3f}, in testing {testing:.3f}")
assert abs(training - testing) < 0.02 and abs(testing - 0.6) < 1e-9

# %%
# 2. The variance of what dropout with r = 0.5 makes of a unit of value 3.
#
# It is 0 or 6, with probability 1/2 each. The mean is 3, and both are 3 away from it:
# the variance is 9.

variance = F.dropout(x, 0.5).data.var()
print(f"variance {variance:.3f}, worked out 9")
assert abs(variance - 9) < 0.05

# %%
# 3. Which differ between two calls in test mode?
#
# Only the second one: it does not ask ``Config.train``.


def masked(x, r):
    return x * (np.random.random_sample(x.shape) > r)


def dropout_by_hand(x, r):
    if not dz.Config.train:
        return x
    return x * ((np.random.random_sample(x.shape) >= r) / (1 - r))


differ = {}
with dz.test_mode():
    for f in (dropout_by_hand, masked, F.dropout):
        differ[f.__name__] = not np.array_equal(f(x, 0.5).data, f(x, 0.5).data)
print("differ:", differ)
assert differ == {"dropout_by_hand": False, "masked": True, "dropout": False}
