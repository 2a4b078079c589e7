"""
Step 38: changing the shape
===========================

Reshaping and transposing compute nothing. They only give each number another place. So
their backward computes nothing either: it sends each gradient to the place its number
came from.

::

    y = reshape(x, shape)         gx = reshape(gy, shape of x)
    y = transpose(x, axes)        gx = transpose(gy, the inverse of axes)

New since the step before: two functions that move numbers, and an error in such a
backward that the shapes cannot reveal.
"""

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero.testing import check_gradients

# %%
# Neither class needs its input in ``backward``. The first remembers the old shape, the
# second the order of the axes: place ``i`` of the result holds axis ``axes[i]`` of the
# input. The inverse order puts axis ``i`` of the result back to place ``axes[i]``. That
# is what ``np.argsort`` finds: of each number 0, 1, 2, ..., the place where it stands
# in ``axes``.

# New in this step


class Reshape(dz.Function):
    def __init__(self, shape):
        self.shape = shape

    def forward(self, x):
        self.old_shape = x.shape
        return x.reshape(self.shape)

    def backward(self, gy):
        return Reshape(self.old_shape)(gy)


class Transpose(dz.Function):
    def __init__(self, axes):
        self.axes = axes

    def forward(self, x):
        return x.transpose(self.axes)

    def backward(self, gy):
        return Transpose(np.argsort(self.axes))(gy)


# %%
# To see where each gradient goes, the seed counts 0, 1, 2, ... through the output, row
# by row. Both results have the shape (3, 2), but they are different arrays, and their
# gradients arrive in different places.

table = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
count = np.arange(6.0).reshape(3, 2)
found = {}
for name, move in [("reshape", Reshape((3, 2))), ("transpose", Transpose((1, 0)))]:
    x = dz.Variable(table)
    y = move(x)
    y.backward(grad=count)
    found[name] = y.data, x.grad.data
    print(f"{name}\n{y.data}\ngradient of x\n{x.grad.data}\n")

# %%
# A gradient must have the shape of its input. The engine checks that after each
# ``backward``. Here is a reshape that forgets to go back:


class Forgetful(Reshape):
    def backward(self, gy):
        return gy


message = ""
try:
    Forgetful((3, 2))(dz.Variable(table)).backward()
except ValueError as error:
    message = str(error)
print(message)

# %%
# The check of shapes is no proof. This transpose applies the same order again where it
# should apply the inverse. For two axes that is the same thing. For three it is not,
# and when all sizes are equal, every shape is right and every gradient is in the wrong
# place.


class Again(Transpose):
    def backward(self, gy):
        return Transpose(self.axes)(gy)


axes = (1, 2, 0)
cube = np.arange(27.0).reshape(3, 3, 3)
gradients = {}
print("order:", axes, " inverse:", np.argsort(axes).tolist())
for kind in Transpose, Again:
    x = dz.Variable(np.zeros((3, 3, 3)))
    kind(axes)(x).backward(grad=cube)
    gradients[kind] = x.grad.data
wrong_places = int((gradients[Again] != gradients[Transpose]).sum())
print("gradients in the wrong place:", wrong_places, "of", cube.size)

# %%
# The three that are right stand on the diagonal, where the order of the axes does not
# matter. The comparison with differences finds the error: ``check_gradients`` of step
# 24, which multiplies the outputs by random factors. With a seed of ones all 27
# gradients would be 1, and nobody could see where each went.

verdicts = {}
for kind in Transpose, Again:
    report = check_gradients(kind(axes), np.zeros((3, 3, 3)), order=1)
    verdicts[kind] = report.verdict
    print(f"{kind.__name__:9} error {report.error:.0e}: {report.verdict}")

# %%
# The package has both functions, also as methods: ``x.reshape(3, 2)`` and
# ``x.transpose(1, 0)``. ``x.T`` reverses all axes.

same = {}
for name in found:
    x = dz.Variable(table)
    y = F.reshape(x, (3, 2)) if name == "reshape" else x.T
    y.backward(grad=count)
    same[name] = np.array_equal(x.grad.data, found[name][1])
    print(f"same {name} and gradient from the package: {same[name]}")

assert "expected a gradient of shape (2, 3)" in message
assert np.array_equal(gradients[Transpose].transpose(axes), cube)
assert wrong_places == 24
assert verdicts == {Transpose: "right", Again: "wrong"}
assert not np.array_equal(found["reshape"][0], found["transpose"][0])
assert all(same.values())

# %%
# Exercises
# ---------
#
# 1. A batch of images has the shape (8, 3, 4, 4). What shape has it after
#    ``reshape(8, -1)``, and what shape has the gradient that comes back to the images?
# 2. What is the inverse of the order (3, 0, 2, 1)? Find it by hand, then compare with
#    ``np.argsort``.
# 3. There are six orders of three axes. For which of them is the backward of ``Again``
#    right? What do they have in common?
