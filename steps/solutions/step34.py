r"""
Solutions to step 34: sin to the n-th derivative
================================================
"""

# %%
# The function of the step.
import math

import numpy as np

import dezero as dz
import dezero.functions as F


def derivatives(f, values, order):
    x = dz.Variable(values)
    y = f(x)
    found = [y.data]
    for _ in range(order):
        y = dz.grad(y, x, create_graph=True)
        found.append(y.data)
    return found


# %%
# 1. Is the n-th derivative of :math:`e^{-x}` equal to :math:`(-1)^n e^{-x}`?
values = np.linspace(-2, 2, 50)
found = derivatives(lambda x: F.exp(-x), values, 10)
errors = [np.max(np.abs(y - (-1) ** n * np.exp(-values))) for n, y in enumerate(found)]
print("largest error up to order 10:", max(errors))
assert max(errors) < 1e-12

# %%
# 2. The first eight coefficients of the Taylor series of :math:`\sin(x) e^x` at 0, and
# the polynomial at 0.5.


def f(x):
    return F.sin(x) * F.exp(x)


at_zero = derivatives(f, np.array(0.0), 7)
coefficients = [float(y) / math.factorial(n) for n, y in enumerate(at_zero)]
print("coefficients:", np.round(coefficients, 6))
polynomial = sum(c * 0.5**n for n, c in enumerate(coefficients))
exact = math.sin(0.5) * math.exp(0.5)
print(f"at 0.5: polynomial {polynomial:.7f}, function {exact:.7f}")
assert np.allclose(coefficients[:4], [0, 1, 1, 1 / 3])
assert abs(polynomial - exact) < 1e-5

# %%
# 3. Which way of writing :math:`x^3` raises an error, at which order, and why? As a
# power, the derivatives after the third are zeros. As a product, the third derivative
# is made of constants, to which no path leads from ``x``. Order 4 would be a derivative
# of that, and ``dz.grad`` says that there is no such path.
power = derivatives(lambda x: x**3, np.array(2.0), 5)
print("\nas a power:", [float(y) for y in power])
third = derivatives(lambda x: x * x * x, np.array(2.0), 3)
print("as a product, up to order 3:", [float(y) for y in third])
try:
    derivatives(lambda x: x * x * x, np.array(2.0), 4)
    message = ""
except RuntimeError as error:
    message = str(error)
print("order 4:", message.split(": it was")[0], "...")
assert [float(y) for y in third] == [8, 12, 12, 6]
assert [float(y) for y in power] == [8, 12, 12, 6, 0, 0]
assert "do not depend" in message
