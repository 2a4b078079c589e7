r"""
Step 41: matrix products, read off the shapes
=============================================

One line turns N rows of D numbers into N rows of M numbers: ``y = x @ W``. Each output
mixes all inputs of its row. Written out, and with the chain rule applied to each entry
(``gx`` again stands for the gradient of ``x``):

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
from dezero.testing import numerical_gradient

# %%
# Take N = 2, D = 3, M = 4. The gradient ``gx`` is made of ``gy`` (2, 4) and ``W``
# (3, 4), and must have the shape of ``x``, (2, 3). There are eight ways to multiply two
# matrices: in both orders, each with or without a transpose. ``products`` tries them
# all, and returns by name those whose inner sizes agree.


def products(**matrices):
    (a, A), (b, B) = matrices.items()
    variants_of_a = [(a, A), (f"{a}.T", A.T)]
    variants_of_b = [(b, B), (f"{b}.T", B.T)]
    found = {}
    for a, A in variants_of_a:
        for b, B in variants_of_b:
            if A.shape[1] == B.shape[0]:
                found[f"{a} @ {b}"] = A @ B
            if B.shape[1] == A.shape[0]:
                found[f"{b} @ {a}"] = B @ A
    return found


rng = np.random.default_rng(0)
x_data, W_data = rng.normal(size=(2, 3)), rng.normal(size=(3, 4))
seed = rng.normal(size=(2, 4))  # gy
for_x = [k for k, m in products(gy=seed, W=W_data).items() if m.shape == (2, 3)]
for_W = [k for k, m in products(x=x_data, gy=seed).items() if m.shape == (3, 4)]
print("gx can only be", *for_x)
print("gW can only be", *for_W)

# %%
# That is the whole backward. It is written with matrix products of Variables, so it can
# be differentiated again. For comparison, the formula for ``gx`` is computed entry by
# entry.

# New in this step


class MatMul(dz.Function):
    def forward(self, x, W):
        return x @ W

    def backward(self, gy):
        x, W = self.inputs
        return MatMul()(gy, W.T), MatMul()(x.T, gy)


x, W = dz.Variable(x_data), dz.Variable(W_data)
MatMul()(x, W).backward(grad=seed)
expected = np.zeros((2, 3))
for i, k in np.ndindex(2, 3):
    expected[i, k] = np.sum(seed[i] * W_data[k])
print("gx is the sum of the formula:", np.allclose(x.grad.data, expected))

# %%
# The shapes are a good guide only while the sizes differ. With square matrices
# everything fits, right or wrong, and the shapes tell nothing. So choose different
# sizes when you test such a function. Differences are the judge in both cases.

square_x, square_W, square_seed = rng.normal(size=(3, 3, 3))
slopes = numerical_gradient(lambda x: (x @ square_W) * square_seed, square_x)
all_fit = products(gy=square_seed, W=square_W)
correct = [name for name, m in all_fit.items() if np.allclose(m, slopes)]
print("square matrices, products that fit:", len(all_fit))
print("square matrices, products that are right:", *correct)

# %%
# The package has ``F.matmul``, which is what ``@`` calls. A row of ``W`` belongs to one
# input, a column to one output. The rows of ``x`` never mix: row ``i`` of the result
# depends on row ``i`` of ``x`` alone. So each row may be an example of its own. N
# examples, a *batch*, go through in one product, and ``gW`` is the sum of what each of
# them says by itself.

x2, W2 = dz.Variable(x_data), dz.Variable(W_data)
(x2 @ W2).backward(grad=seed)
one_by_one = np.zeros((3, 4))
for i in range(2):
    alone = dz.Variable(W_data)
    (x_data[i : i + 1] @ alone).backward(grad=seed[i : i + 1])
    one_by_one = one_by_one + alone.grad.data
print("same as the package:      ", np.array_equal(W.grad.data, W2.grad.data))
print("gW is a sum over examples:", np.allclose(W.grad.data, one_by_one))

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
