r"""
Step 05: the chain rule as a walk back
======================================

The slope of a chain is the product of the slopes of its parts. For
:math:`a = x^2,\; b = a^2,\; y = e^b`:

.. math::

   \frac{dy}{dx} = \frac{dy}{db} \cdot \frac{db}{da} \cdot \frac{da}{dx}
   = e^b \cdot 2a \cdot 2x

This step turns the formula into a walk. On the way there we compute the values and note
them down. On the way back we multiply the slopes, starting from the end. And it asks
why anybody should start from the end.

New since the step before: the function ``walk``. The classes rest until step 06; lists
and plain functions show the idea better.
"""

# %%
# A part of the chain is a pair: a function, and its slope at a given input. Both are
# known by heart.
import numpy as np


def square(x):
    return x**2


def square_slope(x):
    return 2 * x


def exp(x):
    return np.exp(x)


def exp_slope(x):
    return np.exp(x)


chain = [(square, square_slope), (square, square_slope), (exp, exp_slope)]

# %%
# Each slope has to be taken at the input of its part: :math:`2a` needs the value of
# :math:`a`, :math:`2x` that of :math:`x`. So the walk there keeps the inputs in a list,
# and the walk back reads that list from its end. The product starts with
# :math:`dy/dy = 1`.


# New in this step
def walk(chain, x):
    inputs = []
    for function, _ in chain:
        inputs.append(x)
        x = function(x)

    product = 1.0
    products = [product]
    for (_, slope), at in zip(reversed(chain), reversed(inputs), strict=True):
        product = product * slope(at)
        products.append(product)
    return x, products


# %%
# Every product on the way back has a meaning of its own. It is the slope of :math:`y`
# with respect to the place that the walk has reached.
y, products = walk(chain, 0.8)
print("y =", y)
for name, product in zip(["dy/dy", "dy/db", "dy/da", "dy/dx"], products, strict=True):
    print(name, "=", product)
print("on paper, dy/dx =", 4 * 0.8**3 * np.exp(0.8**4))

# %%
# Is the end a good place to start? For single numbers it makes no difference: a product
# may be taken in any order. But let :math:`x`, :math:`a` and :math:`b` hold ``n``
# numbers each, and :math:`y` one. Learning is like this: many numbers that may be
# adjusted, and one that says how bad the result is. Then the slope of a part is a
# matrix, called the Jacobian: row i, column j tells how output i changes with input j.
# Write :math:`D_1` for the slope of :math:`a` with respect to :math:`x`, :math:`D_2`
# for the next part and :math:`D_3` for the last. The chain rule is a product of
# matrices:
#
# .. math::
#
#    \underbrace{D_3}_{1 \times n} \cdot \underbrace{D_2}_{n \times n} \cdot
#    \underbrace{D_1}_{n \times n}
#
# The result is the same from either side. The work is not. We count it: a product of a
# p×q matrix with a q×r matrix takes p·q·r multiplications of numbers. Only the shapes
# matter for that, so random matrices stand in for the slopes.


def multiply(left, right):
    global count
    count += left.shape[0] * left.shape[1] * right.shape[1]
    return left @ right


n = 100
rng = np.random.default_rng(0)
D1 = rng.standard_normal((n, n))
D2 = rng.standard_normal((n, n))
D3 = rng.standard_normal((1, n))

count = 0
from_the_end = multiply(multiply(D3, D2), D1)
count_from_the_end = count

count = 0
from_the_start = multiply(D3, multiply(D2, D1))
count_from_the_start = count

print("same result:", np.allclose(from_the_end, from_the_start))
print("multiplications from the end:", count_from_the_end)
print("multiplications from the start:", count_from_the_start)

# %%
# From the end, a row of ``n`` numbers is carried through, and no matrix is ever
# multiplied with a matrix. So one walk back gives the slopes for all inputs at once,
# where differences need two runs for each. This is called *backpropagation*, and the
# rest of part 1 makes a program of it.

# %%
# What the text claims, checked:
assert np.isclose(y, np.exp(0.8**4))
b = 0.8**4
assert np.allclose(
    products,
    [1.0, np.exp(b), np.exp(b) * 2 * 0.8**2, 4 * 0.8**3 * np.exp(b)],
)
assert np.allclose(from_the_end, from_the_start)
assert count_from_the_end == 2 * n**2
assert count_from_the_start == n**3 + n**2

# %%
# Exercises
# ---------
#
# 1. Append the sine to the chain: :math:`y = \sin(e^{x^4})`. Compare the slope at 0.8
#    with a central difference.
# 2. Walk the chain from the start: multiply while computing the values, beginning with
#    :math:`dx/dx = 1`. What do the products on the way mean now? Does the last one
#    agree?
# 3. Now let the chain have one input and ``n`` outputs, so that :math:`D_3` and
#    :math:`D_2` are n×n and :math:`D_1` is n×1. Count again. Is it better to start from
#    the end or from the start?
