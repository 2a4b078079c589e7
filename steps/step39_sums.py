r"""
Step 39: sums hand their gradient to everyone
=============================================

How badly a formula fits its examples is one number made of many. It is called the
*loss*, and somewhere it contains a sum: in step 36 it was the sum of six squared
errors. If one of the terms grows by a little, the sum grows by the same amount,
whichever term it was. So each term gets the gradient of the sum, unchanged:

.. math:: y = x_1 + x_2 + \cdots + x_n \quad\Rightarrow\quad
          \frac{\partial y}{\partial x_i} = 1

New since the step before: ``Sum`` over one axis and ``Spread``, which repeats numbers
along a new axis. Each is the backward of the other.
"""

import numpy as np

import dezero as dz
import dezero.functions as F

# %%
# ``Sum`` removes an axis; the gradient has to come back with that axis. ``Spread`` puts
# it there and copies the gradient along it. The backward of copying is a sum again: a
# number that was used ``n`` times receives ``n`` gradients, and they add up, as in
# step 14.

# New in this step


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


# %%
# Three shops and their sales on four days. A sum over axis 0 adds the shops and leaves
# one number per day. A sum over axis 1 adds the days and leaves one number per shop.

sales = np.array([[3.0, 1.0, 4.0, 1.0], [5.0, 9.0, 2.0, 6.0], [5.0, 3.0, 5.0, 8.0]])
x = dz.Variable(sales)
per_day = Sum(0)(x)
per_shop = Sum(1)(x)
print("per day: ", per_day.data)
print("per shop:", per_shop.data)

# %%
# The seed holds one gradient per shop. Each of the four days of a shop gets it.

per_shop.backward(grad=np.array([1.0, 2.0, 3.0]))
print(x.grad.data)
by_shop = x.grad.data

# %%
# A sum of everything is a sum over one axis after the other. Here the squares of all
# sales are added. The sum passes on a 1 to each square, and the square makes ``2 * x``
# of it.

x.cleargrad()
total = Sum(0)(Sum(0)(x * x))
total.backward()
print("sum of squares:", total.data)
print("gradient is 2 x:", np.array_equal(x.grad.data, 2 * sales))

# %%
# A mean is a sum divided by ``n``, so each term gets a share of ``1 / n``. The more
# terms, the smaller the gradient that each receives. That is why a loss is usually a
# mean over the examples: the gradients of all of them, added up, then do not grow with
# their number.

x.cleargrad()
mean = Sum(0)(Sum(0)(x)) / sales.size
mean.backward()
print("each of 12 terms of the mean gets", x.grad.data[0, 0].round(4))
share = x.grad.data

# %%
# The package has ``F.sum(x, axis=None, keepdims=False)``, also as the method ``x.sum``.
# The axis may be a number, several, or ``None`` for all of them. With
# ``keepdims=True`` a summed axis stays with the size 1, as in NumPy. First and second
# derivatives agree with ours. (The next step is about the copying.)


def by_package(x):
    return F.sum(F.sum(x**3, axis=0) ** 2)


def by_step(x):
    return Sum(0)(Sum(0)(x**3) ** 2)


results = []
for f in by_step, by_package:
    x = dz.Variable(sales)
    f(x).backward(create_graph=True)
    first = x.grad
    x.cleargrad()
    first.backward()  # the gradient of the sum of all first derivatives
    results.append((first.data, x.grad.data))
print("first derivatives agree: ", np.allclose(results[0][0], results[1][0]))
print("second derivatives agree:", np.allclose(results[0][1], results[1][1]))
print("shape with keepdims:", F.sum(sales, axis=1, keepdims=True).shape)

assert np.array_equal(per_day.data, F.sum(sales, axis=0).data)
assert np.array_equal(per_shop.data, F.sum(sales, axis=1).data)
assert np.array_equal(by_shop, np.array([[1.0] * 4, [2.0] * 4, [3.0] * 4]))
assert total.data == (sales**2).sum() == 296
assert np.allclose(share, 1 / 12)
assert np.allclose(results[0][0], results[1][0])
assert np.allclose(results[0][1], results[1][1])
assert F.sum(sales, axis=1, keepdims=True).shape == (3, 1)

# %%
# Exercises
# ---------
#
# 1. Let ``y = Sum(0)(x) ** 2`` for ``x = [1, 2, 3]``. What is the gradient of ``x``?
#    Find it by hand first.
# 2. A loss is the *sum* of the squared errors of all examples, and ten times as many
#    examples of the same sort come in. What happens to the gradient, and what would you
#    have to do with the learning rate of gradient descent?
# 3. Write a function ``variance(x)`` for an array with one axis, the mean of the
#    squared distances from the mean, with ``Sum`` and ``Spread``. Compare its gradient
#    with ``2 * (x - mean) / n``.
