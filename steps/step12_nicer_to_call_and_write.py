"""
Step 12: nicer to call, nicer to write
======================================

Step 11 made many inputs and outputs possible, and paid with brackets: lists in, lists
out, at every call and in every ``forward``. This step gives the work to ``Function``.
It takes its inputs one after the other and hands their arrays to ``forward`` in the
same way. One array that comes back becomes one Variable, a tuple of arrays becomes a
tuple of Variables:

==================  =========================  =============================
who                 step 11                    step 12
==================  =========================  =============================
calls a function    ``Add()([a, b])[0]``       ``add(a, b)``
writes a function   ``def forward(self, xs)``  ``def forward(self, x0, x1)``
returns one result  ``return [x0 + x1]``       ``return x0 + x1``
==================  =========================  =============================

New since the step before: ``Function.__call__`` takes ``*inputs`` and returns one
Variable or a tuple; each ``forward`` names its arrays; the functions ``add`` and
``polar``.
"""

# %%
# From the step before: ``Variable`` has not changed. Its ``backward`` is still the one
# for functions of one input and one output. The two lines with ``(x,)`` and ``(y,)``
# unpack exactly one element, and so refuse anything else.
import numpy as np


def as_array(x):
    return np.asarray(x)


class Variable:
    def __init__(self, data):
        if not isinstance(data, np.ndarray):
            raise TypeError(
                f"Variable: expected a NumPy array, got {type(data).__name__}; "
                "wrap it in np.array(...)"
            )
        self.data = data
        self.grad = None
        self.creator = None

    def set_creator(self, func):
        self.creator = func

    def backward(self):
        if self.grad is None:
            self.grad = np.ones_like(self.data)
        todo = [] if self.creator is None else [self.creator]
        while todo:
            f = todo.pop()
            (x,) = f.inputs
            (y,) = f.outputs
            x.grad = as_array(f.backward(y.grad))
            if x.creator is not None:
                todo.append(x.creator)


# %%
# A star in a definition, ``def __call__(self, *inputs)``, collects the arguments of a
# call in a tuple. A star in a call, ``self.forward(*xs)``, does the opposite: each
# element becomes an argument of its own. So ``forward`` names its arrays, as a plain
# function of arrays would.
#
# A single result is put in a tuple of one first, so that the lines after it have one
# case to deal with. The last line takes it out again.


# New in this step
class Function:
    def __call__(self, *inputs):  # new
        xs = [x.data for x in inputs]  # new
        ys = self.forward(*xs)  # new
        if not isinstance(ys, tuple):  # new
            ys = (ys,)
        self.inputs = inputs
        self.outputs = tuple([Variable(as_array(y)) for y in ys])  # new
        for y in self.outputs:
            y.set_creator(self)
        return self.outputs if len(ys) > 1 else self.outputs[0]  # new


class Square(Function):
    def forward(self, x):  # new
        return x**2

    def backward(self, gy):
        x = self.inputs[0].data
        return 2 * x * gy


class Exp(Function):
    def forward(self, x):  # new
        return np.exp(x)

    def backward(self, gy):
        x = self.inputs[0].data
        return np.exp(x) * gy


class Add(Function):
    def forward(self, x0, x1):  # new
        return x0 + x1


class Polar(Function):
    def forward(self, x0, x1):  # new
        return np.hypot(x0, x1), np.arctan2(x1, x0)


def square(x):  # new
    return Square()(x)


def exp(x):  # new
    return Exp()(x)


def add(x0, x1):  # new
    return Add()(x0, x1)


def polar(x0, x1):  # new
    return Polar()(x0, x1)


# %%
# A formula of two variables now reads from the inside out, with no brackets but those
# of the calls. Here is :math:`z = a^2 + e^b`.
a = Variable(np.array(3.0))
b = Variable(np.array(0.5))
z = add(square(a), exp(b))
print("a**2 + exp(b) =", z.data)

# %%
# A function of two outputs returns a tuple, which Python unpacks. ``polar`` turns the
# coordinates of a point into its distance from the origin and its angle. Both Variables
# have the same creator.
r, angle = polar(Variable(np.array(3.0)), Variable(np.array(4.0)))
print("distance", r.data, "angle", angle.data)
print("one creator for both:", r.creator is angle.creator)

# %%
# A chain of functions with one input each is differentiated as before.
x = Variable(np.array(0.8))
y = exp(square(square(x)))
y.backward()
print("y =", y.data, "dy/dx =", x.grad)

# %%
# Through ``add`` there is no way back yet. ``Add`` has no ``backward``, and the loop
# would not know what to do with two gradients. It stops with an error, which is better
# than a wrong number.
try:
    z.backward()
except ValueError as error:
    message = str(error)
print("z.backward():", message)

# %%
# What the text claims, checked:
assert np.isclose(z.data, 3.0**2 + np.exp(0.5))
assert np.isclose(r.data, 5.0) and np.isclose(angle.data, np.arctan2(4.0, 3.0))
assert r.creator is angle.creator
assert np.isclose(y.data, np.exp(0.8**4))
assert np.isclose(x.grad, 4 * 0.8**3 * np.exp(0.8**4))
assert "too many values to unpack" in message
assert a.grad is None and b.grad is None

# %%
# Exercises
# ---------
#
# 1. Write ``Mul``, the product of two variables, and ``mul``. Compute
#    :math:`(a + b) \cdot a` for a = 2 and b = 5.
# 2. Write ``Mean3``, the mean of three variables, and check it on 1, 2 and 6. What has
#    to change in ``Function``?
# 3. ``forward`` may return a tuple of one element, ``return (x0 + x1,)``, instead of
#    ``return x0 + x1``. What does the call return then? Find the answer in
#    ``Function.__call__`` first, then try it.
