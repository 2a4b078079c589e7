"""
Solutions to step 41: matrix products, read off the shapes
==========================================================
"""

# %%
# Exercise 1
# ----------
# ``x`` is (32, 784) and ``W`` (784, 10). Then ``y`` and ``gy`` are (32, 10), ``gx`` is
# (32, 784) and ``gW`` is (784, 10). Each of the 320 outputs takes 784 multiplications:
# 250,880 in all.
import numpy as np

import dezero as dz
import dezero.functions as F

x, W = dz.Variable(np.zeros((32, 784))), dz.Variable(np.zeros((784, 10)))
y = F.matmul(x, W)
y.backward()
print("shapes:", y.shape, x.grad.shape, W.grad.shape, " products:", y.size * 784)
assert y.shape == (32, 10) and x.grad.shape == x.shape and W.grad.shape == W.shape
assert y.size * 784 == 250_880

# %%
# Exercise 2
# ----------
# The gradient of ``A`` in ``y = x @ A @ B``. With ``x`` (N, D), ``A`` (D, K) and ``B``
# (K, M), the result must be (D, K). From ``gy`` (N, M), ``gy @ B.T`` is (N, K), and
# ``x.T @ gy @ B.T`` is (D, K).
rng = np.random.default_rng(0)
x, B, gy = rng.normal(size=(2, 3)), rng.normal(size=(5, 4)), rng.normal(size=(2, 4))
A = dz.Variable(rng.normal(size=(3, 5)))
(x @ A @ B).backward(grad=gy)
agrees = np.allclose(A.grad.data, x.T @ gy @ B.T)
print("x.T @ gy @ B.T is the gradient of A:", agrees)
assert agrees

# %%
# Exercise 3
# ----------
# The gradient of ``a`` in ``sum(a * b)`` is ``b``, times the gradient of the result. As
# matrices: ``a`` (1, D) times ``b`` (D, 1) is (1, 1), and the rule gives ``gy @ b.T``,
# which is ``b`` as a row.
a = dz.Variable(np.array([[1.0, 2.0, 3.0]]))
b = np.array([[4.0], [5.0], [6.0]])
(a @ b).backward()
print("gradient of a:", a.grad.data)
assert np.array_equal(a.grad.data, b.T)
