"""
Solutions to step 37: one node for many numbers
===============================================
"""

# %%
# Exercise 1
# ----------
# Which elements of ``x.grad`` are not zero for the seed ``[0, 0, 1, 0]``? Only the
# third: the seed picks row 2 of the table, and that row has one entry. It is the slope
# of the bell at 1, ``-2 exp(-1)``.
import numpy as np

import dezero as dz
import dezero.functions as F

few = np.array([-1.0, 0.5, 1.0, 2.0])
x = dz.Variable(few)
F.exp(-x * x).backward(grad=np.array([0.0, 0.0, 1.0, 0.0]))
print("gradient:", x.grad.data.round(4))
assert np.flatnonzero(x.grad.data).tolist() == [2]
assert np.isclose(x.grad.data[2], -2 * np.exp(-1))

# %%
# Exercise 2
# ----------
# A Function ``Cube``, and its gradient for a seed of ones against the diagonal of the
# table.


class Cube(dz.Function):
    def forward(self, x):
        return x**3

    def backward(self, gy):
        return gy * 3 * self.inputs[0] ** 2


def jacobian_by_differences(f, x, h=1e-6):
    columns = []
    for j in range(len(x)):
        step = np.zeros(len(x))
        step[j] = h
        columns.append((f(x + step).data - f(x - step).data) / (2 * h))
    return np.stack(columns, axis=1)


x = dz.Variable(few)
Cube()(x).backward()
diagonal = np.diag(jacobian_by_differences(Cube(), few))
print("gradient:", x.grad.data, " diagonal:", diagonal.round(6))
assert np.allclose(x.grad.data, diagonal)

# %%
# Exercise 3
# ----------
# The gradients for ``y = x * w`` with arrays of one shape. Element by element it is the
# product of two numbers: for a seed of ones the gradient of ``x`` is ``w`` and the
# gradient of ``w`` is ``x``. For the seed ``s`` they are ``s * w`` and ``s * x``.
x = dz.Variable(np.array([1.0, 2.0, 3.0]))
w = dz.Variable(np.array([10.0, 20.0, 30.0]))
for s in np.ones(3), np.array([1.0, 0.0, -1.0]):
    x.cleargrad()
    w.cleargrad()
    (x * w).backward(grad=s)
    print("seed:", s, " gradient of x:", x.grad.data, " of w:", w.grad.data)
    assert np.array_equal(x.grad.data, s * w.data)
    assert np.array_equal(w.grad.data, s * x.data)
