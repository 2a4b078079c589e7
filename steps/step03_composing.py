r"""
Step 03: composing
==================

A Function takes a Variable and returns a Variable. So the result of one is a valid
input of the next, and small functions make large ones:

.. math:: a = x^2, \qquad b = a^2, \qquad y = e^b

Together they are :math:`y = e^{x^4}`, and this chain stays with us for the rest of
part 1. Its parts are so small that each derivative is known by heart. That is the plan:
know the small ones, and let the computer put them together.

New since the step before: the class ``Exp``.
"""

# %%
# From the step before:
import numpy as np


class Variable:
    def __init__(self, data):
        self.data = data


class Function:
    def __call__(self, x):
        y = self.forward(x.data)
        return Variable(y)


class Square(Function):
    def forward(self, x):
        return x**2


# %%
# A second function. Only the formula has to be written.


# New in this step
class Exp(Function):
    def forward(self, x):
        return np.exp(x)


# %%
# The chain, one line for each function. Every call gets a Function object of its own,
# so there are two of class ``Square``. For the values alone, one would do. But from
# step 06 on a Function remembers its input, and one object called twice would remember
# only the last.
x = Variable(np.array(0.8))
a = Square()(x)
b = Square()(a)
y = Exp()(b)
for name, variable in [("x", x), ("a", a), ("b", b), ("y", y)]:
    print(name, "=", variable.data)
print("exp(x**4) =", np.exp(0.8**4))


# %%
# A chain in a ``def`` is a function as well. It has the same form as its parts:
# Variable in, Variable out.
def chain(x):
    return Exp()(Square()(Square()(x)))


print("the chain in one call:", chain(x).data)

# %%
# The order counts. :math:`e^{x^2}` is one number and :math:`(e^x)^2` another.
exp_of_square = Exp()(Square()(x))
square_of_exp = Square()(Exp()(x))
print("exp of the square:", exp_of_square.data)
print("square of the exp:", square_of_exp.data)

# %%
# A whole row of points goes through the chain at once.
points = np.array([0.0, 0.4, 0.8, 1.0])
row = chain(Variable(points))
print("at", points, "the chain is", row.data)

# %%
# What the text claims, checked. ``np.isclose`` and ``np.allclose`` compare up to the
# rounding of floating-point numbers.
assert np.isclose(y.data, np.exp(0.8**4))
assert chain(x).data == y.data
assert np.isclose(exp_of_square.data, np.exp(0.8**2))
assert np.isclose(square_of_exp.data, np.exp(2 * 0.8))
assert np.allclose(row.data, np.exp(points**4))

# %%
# Exercises
# ---------
#
# 1. Compute :math:`x^8` at x = 2 with ``Square`` alone.
# 2. Write ``Negate`` (minus its input) and build the bell curve :math:`e^{-x^2}` from
#    three functions. Print it at -1, 0 and 1.
# 3. Write ``compose(functions)``. It takes a list and returns one function that applies
#    them in order: ``compose([Square(), Square(), Exp()])(x)`` is our chain.
