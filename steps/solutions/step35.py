r"""
Solutions to step 35: how graphs of tanh grow
=============================================
"""

# %%
# The counting of the step.
import numpy as np

import dezero as dz
import dezero.functions as F


def count_functions(y):
    dot = dz.utils.get_dot_graph(y, fold=False, limit=100_000)
    return dot.count('shape="box"')


# %%
# 1. How does the graph of the derivatives of :math:`x e^x` grow? In a third way: each
# order adds three Functions. The product rule finds a new term, :math:`e^x`, but that
# one stays as it is.
x = dz.Variable(np.array(0.5))
y = x * F.exp(x)
sizes, values = [count_functions(y)], []
for _ in range(8):
    y = dz.grad(y, x, create_graph=True)
    sizes.append(count_functions(y))
    values.append(float(y))
print("functions:", sizes)
on_paper = [(0.5 + n) * np.exp(0.5) for n in range(1, 9)]
assert np.allclose(values, on_paper)
assert [b - a for a, b in zip(sizes[:-1], sizes[1:], strict=True)] == [3] * 8

# %%
# 2. A function for the n-th derivative of tanh from the polynomial, as a Variable.
# Horner's rule needs one product and one sum for each coefficient.


def nth_derivative_of_tanh(x, n):
    polynomial = np.array([1.0, 0.0])
    for _ in range(n):
        polynomial = np.polymul(np.polyder(polynomial), [-1.0, 0.0, 1.0])
    t = F.tanh(x)
    y = polynomial[0] * t + polynomial[1]
    for c in polynomial[2:]:
        y = y * t + c
    return y


x = dz.Variable(np.array(0.5))
y = nth_derivative_of_tanh(x, 8)
ninth = dz.grad(y, x)
print("\nfunctions for n = 8:", count_functions(y))
print("order 9, as its derivative:", float(ninth))
print("order 9, by the polynomial:", float(nth_derivative_of_tanh(x, 9)))
assert count_functions(y) < 25
assert np.isclose(float(ninth), float(nth_derivative_of_tanh(x, 9)))

# %%
# 3. Where does each of the five Functions of order 2 stand in :math:`-2y(1 - y^2)`?
# ``Tanh`` computes :math:`y`. The three products make ``-2 * y * gy * ggy``, with two
# factors of 1. That is the gradient that reaches :math:`y`, and ``TanhGrad`` multiplies
# it by :math:`1 - y^2`, to go on from :math:`y` to :math:`x`. The ``TanhGrad`` of the
# first pass is not there: its inputs are needed, ``y`` and ``gy``, but not its result.
x = dz.Variable(np.array(0.5))
y = F.tanh(x)
second = dz.grad(dz.grad(y, x, create_graph=True), x, create_graph=True)
t = np.tanh(0.5)
print("\nlast of the five:", type(second.creator).__name__, " value:", float(second))
assert type(second.creator).__name__ == "TanhGrad" and count_functions(second) == 5
assert np.isclose(float(second), -2 * t * (1 - t**2))
