r"""
Step 06: backward by hand
=========================

The walk of step 05 used lists. Now the classes learn it. Take any one function of the
chain, and call its own input :math:`x` and its own output :math:`y`, wherever it
stands. It gets a second method, ``backward``, which takes :math:`gy`, the slope of the
chain's result with respect to that output, and multiplies it with the function's own
slope. This gives :math:`gx`, the slope of the result with respect to that input:

.. math:: gx = f'(x) \cdot gy

We call :math:`gx` and :math:`gy` *gradients*: slopes of the result, with respect to
``x`` and to ``y``. In this step we call each ``backward`` ourselves.

New since the step before: ``Variable.grad``, ``Function.input``, and a ``backward`` in
``Square`` and ``Exp``.
"""

# %%
# The classes as step 03 left them, with room for the notes that step 01 promised. A
# Variable can hold its gradient, ``grad``, an array like ``data``. It is ``None`` until
# somebody computes it. A Function keeps its input, for its slope has to be taken there.
# This is the list of inputs from step 05; each Function has its own entry now.
#
# From here on, a line that is new or has changed ends with ``# new``. On a line that
# begins a block, such as ``def``, the mark stands for the whole block, unless lines
# inside have marks of their own.
import numpy as np


# New in this step
class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None  # new


class Function:
    def __call__(self, x):
        y = self.forward(x.data)
        self.input = x  # new
        return Variable(y)


class Square(Function):
    def forward(self, x):
        return x**2

    def backward(self, gy):  # new
        x = self.input.data
        return 2 * x * gy


class Exp(Function):
    def forward(self, x):
        return np.exp(x)

    def backward(self, gy):  # new
        x = self.input.data
        return np.exp(x) * gy


# %%
# The way there. The Function objects get names, since we need them again on the way
# back.
f1, f2, f3 = Square(), Square(), Exp()
x = Variable(np.array(0.8))
a = f1(x)
b = f2(a)
y = f3(b)
print("y =", y.data)

# %%
# The way back. It starts with :math:`dy/dy = 1`, and then each Function, the last one
# first, turns the gradient of its output into the gradient of its input. "The gradient
# of ``a``" is short for the gradient of the result with respect to ``a``. The numbers
# are the products of step 05.
y.grad = np.array(1.0)
b.grad = f3.backward(y.grad)
a.grad = f2.backward(b.grad)
x.grad = f1.backward(a.grad)
for name, variable in [("y", y), ("b", b), ("a", a), ("x", x)]:
    print(f"gradient of {name}:", variable.grad)

# %%
# Nothing but ``forward`` and ``backward`` was written for each function, and no formula
# for the whole chain. The central difference of step 04 agrees. (From here on its
# ``h`` has a default value.)


def central_difference(f, x, h=1e-5):
    y0 = f(Variable(x.data - h))
    y1 = f(Variable(x.data + h))
    return (y1.data - y0.data) / (2 * h)


def chain(x):
    return Exp()(Square()(Square()(x)))


print("by differences:", central_difference(chain, x))

# %%
# What the text claims, checked:
assert np.isclose(y.data, np.exp(0.8**4))
assert np.isclose(b.grad, np.exp(0.8**4))
assert np.isclose(x.grad, 4 * 0.8**3 * np.exp(0.8**4))
assert np.isclose(x.grad, central_difference(chain, x), rtol=1e-6)

# %%
# Exercises
# ---------
#
# 1. Write ``Cube`` with its ``backward``. Compute :math:`y = (x^3)^2` at x = 2 and the
#    gradient of ``x``, by hand as above. What should it be?
# 2. Use one object for both squares, ``f = Square()``. Is the value of the chain right?
#    Is the gradient? Explain the difference.
# 3. Start the way back with ``y.grad = np.array(10.0)``. What does ``x.grad`` become?
#    It is the gradient of another function than :math:`e^{x^4}`. Of which one?
