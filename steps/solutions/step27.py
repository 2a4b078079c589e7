r"""
Solutions to step 27: sin by its Taylor series
==============================================
"""

# %%
# The function of the step.
import math

import numpy as np

import dezero as dz


def taylor_sin(x, accuracy):
    term = total = x
    n = 1
    while abs(term.data) > accuracy:
        term = term * (-x * x / ((n + 1) * (n + 2)))
        total = total + term
        n += 2
    return total


# %%
# 1. Write ``taylor_exp``. By how much do value and derivative differ? By the last term
# that was added: the derivative of each term is the term before it, so the derivative
# has all terms but the last.


def taylor_exp(x, accuracy):
    term = x
    total = 1 + x
    n = 1
    while abs(term.data) > accuracy:
        term = term * x / (n + 1)
        total = total + term
        n += 1
    return total, term


x = dz.Variable(np.array(2.0))
y, last = taylor_exp(x, 1e-3)
y.backward()
print(f"value {y.data:.8f}, derivative {x.grad.data:.8f}, exact {math.exp(2):.8f}")
print(f"difference {y.data - x.grad.data:.3e}, last term {last.data:.3e}")
assert abs((y.data - x.grad.data) - last.data) < 1e-14
assert abs(y.data - math.exp(2)) < 1e-3

# %%
# 2. The sine of 30 with an accuracy of 1e-8. The terms grow up to
# :math:`30^{29}/29!`, nearly 1e12, before they fall. A float64 has 16 digits, so each
# of the large terms is rounded at about 1e-4, and the sum keeps an error of that kind.
# After subtracting :math:`10\pi` the terms stay small. A constant is subtracted, so the
# derivative is the cosine of the difference, which is the cosine of 30.
x = dz.Variable(np.array(30.0))
y = taylor_sin(x, 1e-8)
error = abs(y.data - math.sin(30))
print(f"\nsin 30 by the series: {y.data:.10f}, error {error:.1e}")

small = x - 2 * math.pi * round(30 / (2 * math.pi))
y = taylor_sin(small, 1e-8)
y.backward()
print(f"after 2 pi * 5:       {y.data:.10f}, error {abs(y.data - math.sin(30)):.1e}")
print(f"derivative {x.grad.data:.10f}, cosine {math.cos(30):.10f}")
assert error > 1e-6
assert abs(y.data - math.sin(30)) < 1e-8 and abs(x.grad.data - math.cos(30)) < 1e-7
