"""
Solutions to step 39: sums hand their gradient to everyone
==========================================================
"""

# %%
# Exercise 1
# ----------
# The gradient of ``Sum(0)(x) ** 2`` for ``x = [1, 2, 3]``. The sum is 6, the square has
# the slope ``2 * 6 = 12`` there, and the sum hands it to each element.
import numpy as np

import dezero as dz
import dezero.functions as F


class Sum(dz.Function):
    def __init__(self, axis):
        self.axis = axis

    def forward(self, x):
        self.n = x.shape[self.axis]
        return x.sum(axis=self.axis)

    def backward(self, gy):
        return Spread(self.axis, self.n)(gy)


class Spread(dz.Function):
    def __init__(self, axis, n):
        self.axis = axis
        self.n = n

    def forward(self, x):
        return np.stack([x] * self.n, axis=self.axis)

    def backward(self, gy):
        return Sum(self.axis)(gy)


x = dz.Variable(np.array([1.0, 2.0, 3.0]))
(Sum(0)(x) ** 2).backward()
print("gradient:", x.grad.data)
assert np.array_equal(x.grad.data, [12, 12, 12])

# %%
# Exercise 2
# ----------
# The loss is a sum over the examples, and there are ten times as many. Then the
# gradient is about ten times as large, and the learning rate has to be a tenth of what
# it was. Here ``w * x`` should be 1, and the same two examples are there ten times.
w = dz.Variable(np.array(0.5))
gradients = []
for x in np.array([1.0, 2.0]), np.array([1.0, 2.0] * 10):
    w.cleargrad()
    F.sum((w * x - 1) ** 2).backward()
    gradients.append(float(w.grad))
print("gradients:", gradients)
assert np.isclose(gradients[1], 10 * gradients[0])

# %%
# Exercise 3
# ----------
# The variance with ``Sum`` and ``Spread``. The gradient is ``2 (x - mean) / n``. That
# the mean depends on ``x`` too adds nothing: the distances from the mean sum to 0.


def variance(x):
    n = len(x)
    mean = Sum(0)(x) / n
    return Sum(0)((x - Spread(0, n)(mean)) ** 2) / n


x = dz.Variable(np.array([3.0, 1.0, 4.0, 1.0, 5.0]))
y = variance(x)
y.backward()
expected = 2 * (x.data - x.data.mean()) / 5
print("variance:", y.data, " gradient:", x.grad.data)
assert np.isclose(float(y), x.data.var())
assert np.allclose(x.grad.data, expected)
