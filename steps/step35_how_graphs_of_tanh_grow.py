r"""
Step 35: how graphs of tanh grow
================================

The hyperbolic tangent is a smooth step from −1 to 1. Its derivative is written with its
own value:

.. math:: y = \tanh x, \qquad y' = 1 - y^2

The second derivative is a product of two such things, and the third a sum of products.
Here we count how many Functions stand behind each derivative, and look for the reason.

New since the step before: what a high derivative costs.
"""

# %%
# Counting
# --------
# The boxes in the DOT text of step 25 are the Functions behind a result. ``limit``
# allows for large graphs.

import numpy as np

import dezero as dz
import dezero.functions as F


def count_functions(y):
    dot = dz.utils.get_dot_graph(y, fold=False, limit=100_000)
    return dot.count('shape="box"')


# New in this step
def derivatives(f, value, order):
    x = dz.Variable(np.array(value))
    y = f(x)
    values, sizes = [float(y)], [count_functions(y)]
    for _ in range(order):
        y = dz.grad(y, x, create_graph=True)
        values.append(float(y))
        sizes.append(count_functions(y))
    return values, sizes


order = 8
values, sizes = derivatives(F.tanh, 0.5, order)
_, sizes_of_sin = derivatives(F.sin, 0.5, order)
print("order   tanh   sin   growth")
print(f"    0 {sizes[0]:6d} {sizes_of_sin[0]:5d}")
for n in range(1, order + 1):
    growth = sizes[n] / sizes[n - 1]
    print(f"    {n} {sizes[n]:6d} {sizes_of_sin[n]:5d} {growth:8.2f}")

# %%
# From order 2 on, each order of tanh has about two and a half times as many Functions
# as the one before. Twenty orders would make some hundred million. The sine stays at
# two or three.
#
# Where they come from
# --------------------
# The first derivatives can be read. ``TanhGrad`` is the Function of the package for
# ``gy * (1 - y * y)``. The product rule turns each product into two products and a sum,
# at every order. ``backward`` applies it to what it finds, which is a list of
# operations. It does not know that they are a formula, and collects no equal terms.

for n in (1, 2, 3):
    x = dz.Variable(np.array(0.5), name="x")
    y = F.tanh(x)
    for _ in range(n):
        y = dz.grad(y, x, create_graph=True)
    dot = dz.utils.get_dot_graph(y, verbose=False, fold=False)
    boxes = [line for line in dot.splitlines() if 'shape="box"' in line]
    kinds = [line.split('label="')[1].split('"')[0] for line in boxes]
    print(f"order {n}:", " ".join(sorted(kinds)))

# %%
# The formula stays short
# -----------------------
# With :math:`t = \tanh x`, every derivative is a polynomial in :math:`t`. If the n-th
# is :math:`p_n(t)`, then by the chain rule
#
# .. math:: p_0(t) = t, \qquad p_{n+1}(t) = p_n'(t) \, (1 - t^2)
#
# The polynomial of order n has the degree n + 1, so n + 2 coefficients are enough,
# where the graph has hundreds of Functions. They must give the same numbers.

polynomial = np.array([1.0, 0.0])  # t, the highest power first
terms, checks = [], []
for _ in range(order + 1):
    terms.append(len(polynomial))
    checks.append(np.polyval(polynomial, np.tanh(0.5)))
    polynomial = np.polymul(np.polyder(polynomial), [-1.0, 0.0, 1.0])
print("\ncoefficients:        ", terms)
print("order 8 by polynomial:", round(checks[order], 6))
print("order 8 by dz.grad:   ", round(values[order], 6))

# %%
# The picture has a logarithmic axis: a straight line is a growth by the same factor at
# each order.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    figure, axes = plt.subplots(figsize=(7, 4.5))
    orders = range(order + 1)
    axes.semilogy(orders, sizes, "o-", label="Functions behind the derivative of tanh")
    axes.semilogy(orders, terms, "s--", label="coefficients of its polynomial")
    axes.semilogy(orders, sizes_of_sin, "^:", label="Functions, for sin")
    axes.set(xlabel="order of the derivative", ylabel="count")
    axes.set_title("What high derivatives cost")
    axes.legend()
    plt.savefig("step35.png", dpi=120)
    print("step35.png shows how the counts grow")

# %%
# For first and second derivatives, which is what training and Newton's method need,
# the growth is no trouble: 2 Functions, then 5. Backpropagation as such costs a small
# factor; it is the repetition that multiplies it.

assert sizes[0] == 1 and sizes == sorted(sizes)
assert all(sizes[n] > 2 * sizes[n - 1] for n in range(2, order + 1))
assert max(sizes_of_sin) <= 5
assert np.allclose(values, checks, rtol=1e-9)

# %%
# Exercises
# ---------
# 1. Count the Functions behind the derivatives of :math:`x e^x` up to order 8. The
#    n-th derivative is :math:`(x + n) e^x`. Does the graph grow by a factor per order,
#    as that of tanh does, or not at all, as that of the sine, or in a third way?
# 2. Write a function of :math:`x` and n that gives the n-th derivative of tanh from the
#    polynomial, as a Variable, so that one more derivative can be taken of it. Count
#    the Functions behind it for n = 8.
# 3. The backward of ``TanhGrad`` finds the slope of ``gy * (1 - y * y)`` by ``y`` as
#    ``-2 * y * gy * ggy``. Here ``gy`` and ``ggy`` are the ones that the first and the
#    second pass start with. Give each of the five Functions of order 2 its place in
#    :math:`y'' = -2y(1 - y^2)`. Why is only one of them a ``TanhGrad``?
