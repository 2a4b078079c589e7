"""
Solutions to step 07: backward by itself
========================================
"""

# %%
# The classes of the step.
import numpy as np


class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None
        self.creator = None

    def set_creator(self, func):
        self.creator = func

    def backward(self):
        f = self.creator
        if f is not None:
            x = f.input
            x.grad = f.backward(self.grad)
            x.backward()


class Function:
    def __call__(self, x):
        y = Variable(self.forward(x.data))
        y.set_creator(self)
        self.input = x
        return y


class Square(Function):
    def forward(self, x):
        return x**2

    def backward(self, gy):
        x = self.input.data
        return 2 * x * gy


class Exp(Function):
    def forward(self, x):
        return np.exp(x)

    def backward(self, gy):
        x = self.input.data
        return np.exp(x) * gy


# %%
# Exercise 1. ``names(y)``: the class names of all Functions behind ``y``, the last one
# first.
def names(y):
    found = []
    while y.creator is not None:
        found.append(type(y.creator).__name__)
        y = y.creator.input
    return found


x = Variable(np.array(0.8))
a = Square()(x)
b = Square()(a)
y = Exp()(b)
print(names(y))
assert names(y) == ["Exp", "Square", "Square"]

# %%
# Exercise 2. ``backward`` of ``b``: which Variables get a gradient? Those behind ``b``,
# which are ``a`` and ``x``; ``b`` has the one we set, and ``y`` is not behind ``b``.
# The gradient of ``x`` is that of x to the 4, which is 4 times x cubed.
b.grad = np.array(1.0)
b.backward()
print("x:", x.grad, " a:", a.grad, " b:", b.grad, " y:", y.grad)
assert np.isclose(x.grad, 4 * 0.8**3)
assert a.grad is not None and y.grad is None

# %%
# Exercise 3. What happens without ``y.grad``? It is None, ``y.backward()`` passes it
# on, and ``Exp.backward`` fails in its last line, where it multiplies with None.
x = Variable(np.array(0.8))
y = Exp()(Square()(Square()(x)))
try:
    y.backward()
except TypeError as error:
    message = str(error)
print(message)
assert "NoneType" in message
