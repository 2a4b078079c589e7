r"""
Step 11: many inputs and outputs
================================

Part 1 knew chains: one number in, one number out. Part 2, steps 11 to 24, wants code
that reads like mathematics, and mathematics has sums and products, which take two
numbers, and functions that return several. For them the classes must handle lists: a
Function takes a list of Variables, opens each, computes, and packs each result in a
Variable of its own:

.. math:: (x_0, x_1, \dots) \;\longrightarrow\; (y_0, y_1, \dots)

This step is about the values only. The way back through many inputs is the subject of
step 13. The calls of this step read badly, full of brackets, which step 12 removes.

New since the step before: ``Function`` has lists ``inputs`` and ``outputs``, and every
``forward`` takes and returns a list; the classes ``Add`` and ``Polar``.
"""

# %%
# In ``Variable.backward`` two lines change. It still follows a chain: ``(x,) = ...``
# unpacks a list of exactly one element, and is an error for any other. So a function of
# two inputs stops it with an error, and no gradient is silently wrong. ``Add`` and
# ``Polar`` have no ``backward`` yet.
import numpy as np


def as_array(x):
    return np.asarray(x)


# New in this step
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
            (x,) = f.inputs  # new
            (y,) = f.outputs  # new
            x.grad = as_array(f.backward(y.grad))
            if x.creator is not None:
                todo.append(x.creator)


class Function:
    def __call__(self, inputs):  # new
        ys = self.forward([x.data for x in inputs])  # new
        self.inputs = inputs  # new
        self.outputs = [Variable(as_array(y)) for y in ys]  # new
        for y in self.outputs:  # new
            y.set_creator(self)
        return self.outputs  # new


class Square(Function):
    def forward(self, xs):  # new
        (x,) = xs
        return [x**2]

    def backward(self, gy):
        x = self.inputs[0].data  # new
        return 2 * x * gy


class Exp(Function):
    def forward(self, xs):  # new
        (x,) = xs
        return [np.exp(x)]

    def backward(self, gy):
        x = self.inputs[0].data  # new
        return np.exp(x) * gy


class Add(Function):  # new
    def forward(self, xs):
        x0, x1 = xs
        return [x0 + x1]


class Polar(Function):  # new
    def forward(self, xs):
        x0, x1 = xs
        return [np.hypot(x0, x1), np.arctan2(x1, x0)]


def square(x):
    return Square()([x])[0]  # new


def exp(x):
    return Exp()([x])[0]  # new


# %%
# Two inputs, one output. The call returns a list of one element, so ``[0]`` takes it
# out.
a = Variable(np.array(3.0))
b = Variable(np.array(0.5))
total = Add()([a, b])[0]
print("3 + 0.5 =", total.data)

# %%
# Two inputs, two outputs. ``Polar`` turns the coordinates of a point into its distance
# from the origin, which ``np.hypot`` computes, and its angle, which ``np.arctan2``
# computes.
point = [Variable(np.array(3.0)), Variable(np.array(4.0))]
r, angle = Polar()(point)
print("distance", r.data, "angle", angle.data)

# %%
# The graph has branches now. The creator of ``z`` below has two inputs, and each has a
# creator of its own. Both outputs of ``Polar`` have the same creator.
z = Add()([square(a), exp(b)])[0]
print("a**2 + exp(b) =", z.data)
print("made by", [type(x.creator).__name__ for x in z.creator.inputs])
print("one creator for both:", r.creator is angle.creator)

# %%
# Chains are differentiated as before, and a branch is refused: ``Add``, the creator of
# ``z``, has two inputs.
x = Variable(np.array(0.8))
y = exp(square(square(x)))
y.backward()
print("gradient of x:", x.grad)

try:
    z.backward()
except ValueError as error:
    message = str(error)
print("z.backward():", message)

# %%
# What the text claims, checked:
assert total.data == 3.5
assert np.isclose(r.data, 5.0) and np.isclose(angle.data, np.arctan2(4.0, 3.0))
assert np.isclose(z.data, 3.0**2 + np.exp(0.5))
assert [type(x.creator) for x in z.creator.inputs] == [Square, Exp]
assert r.creator is angle.creator
assert np.isclose(x.grad, 4 * 0.8**3 * np.exp(0.8**4))
assert "too many values to unpack" in message

# %%
# Exercises
# ---------
#
# 1. Let ``AddAll`` add any number of variables, and try it on 1, 2, 3 and 4.
# 2. Write ``SumAndDifference`` with two inputs and two outputs. Apply it to 5 and 3,
#    and then to its own outputs. What comes out?
# 3. Write ``leaves(z)``: a list of all Variables behind ``z`` that no Function made. It
#    needs a list of things to do, as the loop of step 08 has. For ``z`` above it finds
#    ``a`` and ``b``. (A Variable that is used twice may be listed twice.)
