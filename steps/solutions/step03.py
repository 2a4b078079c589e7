"""
Solutions to step 03: composing
===============================
"""

# %%
# The classes of the step.
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


class Exp(Function):
    def forward(self, x):
        return np.exp(x)


# %%
# Exercise 1. :math:`x^8` at x = 2 with ``Square`` alone: 8 is two times two times two,
# so three squares do it.
y = Square()(Square()(Square()(Variable(np.array(2.0)))))
print("2 to the 8:", y.data)
assert y.data == 256.0


# %%
# Exercise 2. ``Negate``, and the bell curve from three functions.
class Negate(Function):
    def forward(self, x):
        return -x


bell = Exp()(Negate()(Square()(Variable(np.array([-1.0, 0.0, 1.0])))))
print("bell curve at -1, 0, 1:", bell.data)
assert np.allclose(bell.data, [np.exp(-1), 1.0, np.exp(-1)])


# %%
# Exercise 3. ``compose(functions)``: one function that applies a list of them in order.
def compose(functions):
    def composed(x):
        for f in functions:
            x = f(x)
        return x

    return composed


chain = compose([Square(), Square(), Exp()])
y = chain(Variable(np.array(0.8)))
print("the chain at 0.8:", y.data)
assert np.isclose(y.data, np.exp(0.8**4))
