"""
Step 07: backward by itself
===========================

In step 06 we called every ``backward`` by hand, and had to keep each Function and the
right order in our heads. But the order is already there: it is the way there, reversed.
Somebody only has to note it. So each Variable now remembers the Function that created
it, its ``creator``, and each Function knows its ``input``. From the result, the whole
computation can be walked back::

    x  <-input-  Square  <-creator-  a  <-input-  Square  <-creator-  b  ...  y

These links are called the *graph*. Nobody draws it up beforehand. It comes into being
while the program runs.

New since the step before: ``Variable.creator``, ``Variable.set_creator`` and
``Variable.backward``; ``Function.__call__`` sets the creator.
"""

# %%
# There are two methods ``backward`` now. That of a Function is the one of step 06 and
# computes a gradient. That of a Variable does one link of the walk and hands over: it
# asks the creator for the gradient of the input, stores it there, and calls
# ``backward`` of the input. A Variable that no Function made has no creator. There the
# walk ends.
#
# ``set_creator`` is a method, though it has one line: in step 16 it will have more to
# note.
import numpy as np


# New in this step
class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None
        self.creator = None  # new

    def set_creator(self, func):  # new
        self.creator = func

    def backward(self):  # new
        f = self.creator
        if f is not None:
            x = f.input
            x.grad = f.backward(self.grad)
            x.backward()


class Function:
    def __call__(self, x):
        y = Variable(self.forward(x.data))  # new
        y.set_creator(self)  # new
        self.input = x
        return y  # new


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
# The Functions need no names any more. The graph holds on to them.
x = Variable(np.array(0.8))
a = Square()(x)
b = Square()(a)
y = Exp()(b)

# %%
# The links lead from ``y`` back to ``x``, and ``x`` has no creator.
print(f"y was made by {type(y.creator).__name__} from b: {y.creator.input is b}")
print(f"b was made by {type(b.creator).__name__} from a: {b.creator.input is a}")
print(f"a was made by {type(a.creator).__name__} from x: {a.creator.input is x}")
print("x was made by", x.creator)

# %%
# Set the gradient of the result, and one call does the rest.
y.grad = np.array(1.0)
y.backward()
print("gradient of x:", x.grad)

# %%
# The graph is what the program did, not what it says. Below, a loop decides while it
# runs how many squares there are. ``backward`` needs to know nothing of loops or
# conditions: it follows the links that are there.
start = Variable(np.array(1.1))
end = start
squares = 0
while end.data < 10:
    end = Square()(end)
    squares += 1
end.grad = np.array(1.0)
end.backward()
print(squares, "squares, gradient of the start:", start.grad)

# %%
# What the text claims, checked. Five squares are the power 32.
assert y.creator.input is b and b.creator.input is a and a.creator.input is x
assert x.creator is None
assert np.isclose(x.grad, 4 * 0.8**3 * np.exp(0.8**4))
assert squares == 5
assert np.isclose(start.grad, 32 * 1.1**31)

# %%
# Exercises
# ---------
#
# 1. Write ``names(y)``: a list with the class names of all Functions behind ``y``, the
#    last one first. For our chain it is ``["Exp", "Square", "Square"]``.
# 2. Build the chain anew and call ``backward`` of ``b``, with ``b.grad`` set to 1.
#    Which Variables get a gradient? What is that of ``x``?
# 3. Build the chain anew and forget to set ``y.grad``. What happens at
#    ``y.backward()``, and in which line of the classes?
