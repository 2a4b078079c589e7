"""
Solutions to step 02: functions that make variables
===================================================
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


# %%
# Exercise 1. ``Cube``, and the cube of 2.
class Cube(Function):
    def forward(self, x):
        return x**3


y = Cube()(Variable(np.array(2.0)))
print("2 cubed:", y.data)
assert y.data == 8.0


# %%
# Exercise 2. ``Scale(10.0)``, a function with a setting.
class Scale(Function):
    def __init__(self, factor):
        self.factor = factor

    def forward(self, x):
        return self.factor * x


y = Scale(10.0)(Variable(np.array([1.0, 2.5])))
print("times ten:", y.data)
assert np.array_equal(y.data, [10.0, 25.0])


# %%
# Exercise 3. Which type has ``y.data`` if ``forward`` returns a Variable? It is a
# Variable, a box in a box: ``Function`` packs what ``forward`` returns. The rule is
# that ``forward`` gets an array and returns an array.
class BoxedSquare(Function):
    def forward(self, x):
        return Variable(x**2)


y = BoxedSquare()(Variable(np.array(3.0)))
print("y.data is a", type(y.data).__name__, " y.data.data:", y.data.data)
assert type(y.data) is Variable and y.data.data == 9.0
