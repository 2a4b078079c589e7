r"""
Step 41: matrix products, read off the shapes
=============================================

One line turns N rows of D numbers into N rows of M numbers: ``y = x @ W``. Each output
mixes all inputs of its row. Written out, and with the chain rule applied to each entry:

.. math:: y_{ij} = \sum_k x_{ik} W_{kj}, \qquad
          gx_{ik} = \sum_j gy_{ij} W_{kj}, \qquad
          gW_{kj} = \sum_i x_{ik} \, gy_{ij}

Both gradients are matrix products again. Nobody has to remember which: the shapes allow
one arrangement only.

New since the step before: ``MatMul``, and a way to find its backward by its shapes.
"""

import numpy as np

import dezero as dz
import dezero.functions as F

# %%
# Take N = 2, D = 3, M = 4. The gradient ``gx`` is made of ``gy`` (2, 4) and ``W``
# (3, 4), and must have the shape of ``x``, (2, 3). There are eight ways to multiply the
# two matrices: in both orders, each with or without a transpose.


def arrangements(a, b):
    result = {}
    for left, right in [(a, b), (b, a)]:
        for first in left, left + ".T":
            for second in right, right + ".T":
                result[f"{first} @ {second}"] = first, second
    return result


def value(name, arrays):
    matrix = arrays[name.removesuffix(".T")]
    return matrix.T if name.endswith(".T") else matrix


def fitting(a, b, arrays, shape):
    found = []
    for text, (first, second) in arrangements(a, b).items():
        left, right = value(first, arrays), value(second, arrays)
        if left.shape[1] == right.shape[0] and (left @ right).shape == shape:
            found.append(text)
    return found


rng = np.random.default_rng(0)
arrays = {name: rng.normal(size=s) for name, s in [("x", (2, 3)), ("W", (3, 4))]}
arrays["gy"] = rng.normal(size=(2, 4))
for_x = fitting("gy", "W", arrays, (2, 3))
for_W = fitting("x", "gy", arrays, (3, 4))
print("gx can only be", for_x)
print("gW can only be", for_W)

# %%
# That is the whole backward. It is written with matrix products of Variables, so it can
# be differentiated again.

# New in this step


class MatMul(dz.Function):
    def forward(self, x, W):
        return x @ W

    def backward(self, gy):
        x, W = self.inputs
        return MatMul()(gy, W.T), MatMul()(x.T, gy)


x = dz.Variable(arrays["x"])
W = dz.Variable(arrays["W"])
MatMul()(x, W).backward(grad=arrays["gy"])
expected = np.einsum("ij,kj->ik", arrays["gy"], arrays["W"])
print("gx is the sum of the formula:", np.allclose(x.grad.data, expected))

# %%
# The shapes are a good guide only while the sizes differ. With square matrices
# everything fits, right or wrong, and the shapes tell nothing. So choose different
# sizes when you test such a function. Differences are the judge in both cases.

square = {name: rng.normal(size=(3, 3)) for name in ("x", "W", "gy")}
all_fit = fitting("gy", "W", square, (3, 3))
slopes = dz.utils.numerical_grad(
    lambda x: MatMul()(x, square["W"]) * square["gy"], square["x"]
)
correct = []
for text, (first, second) in arrangements("gy", "W").items():
    if np.allclose(value(first, square) @ value(second, square), slopes):
        correct.append(text)
print("square matrices: arrangements that fit:", len(all_fit))
print("square matrices: arrangements that are right:", correct)

# %%
# The package has ``F.matmul``, which is what ``@`` calls. A row of ``W`` belongs to one
# input, a column to one output. The rows of ``x`` never mix: row ``i`` of the result
# depends on row ``i`` of ``x`` alone. So a batch of N examples goes through a network
# in one product, and ``gW`` is the sum of what the examples say, each for itself.

x2, W2 = dz.Variable(arrays["x"]), dz.Variable(arrays["W"])
(x2 @ W2).backward(grad=arrays["gy"])
one_by_one = np.zeros((3, 4))
for row, grow in zip(arrays["x"], arrays["gy"], strict=True):
    one_by_one += np.outer(row, grow)
print("same as the package: ", np.array_equal(W.grad.data, W2.grad.data))
print("gW is a sum over rows:", np.allclose(W.grad.data, one_by_one))

assert for_x == ["gy @ W.T"] and for_W == ["x.T @ gy"]
assert np.allclose(x.grad.data, expected)
assert len(all_fit) == 8 and correct == ["gy @ W.T"]
assert np.array_equal(x.grad.data, x2.grad.data)
assert np.array_equal(W.grad.data, W2.grad.data)
assert np.allclose(W.grad.data, one_by_one)
assert F.matmul(x2, W2).shape == (2, 4)

# %%
# Exercises
# ---------
#
# 1. ``x`` has the shape (32, 784) and ``W`` the shape (784, 10). What are the shapes of
#    ``y``, ``gy``, ``gx`` and ``gW``? How many multiplications does ``y`` take?
# 2. Two factors: ``y = x @ A @ B``. Write the gradient of ``A`` as a product of
#    matrices, from the shapes alone. Then check it on small arrays.
# 3. The dot product of two vectors is ``sum(a * b)``. What is the gradient of ``a``?
#    How does it follow from the rule above, with ``a`` as (1, D) and ``b`` as (D, 1)?
