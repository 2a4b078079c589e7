"""
Solutions to step 24: famous test functions
===========================================
"""

# %%
# 1. The minimum of Booth's function.
#
# x + 2y = 7 and 2x + y = 5 have the solution x = 1, y = 3.
import numpy as np

import dezero as dz
from dezero.testing import check_gradients


def booth(x, y):
    return (x + 2 * y - 7) ** 2 + (2 * x + y - 5) ** 2


x = dz.Variable(np.array(1.0))
y = dz.Variable(np.array(3.0))
z = booth(x, y)
z.backward()
print("booth:", z, x.grad, y.grad)
assert float(z) == float(x.grad) == float(y.grad) == 0.0

# %%
# 2. How large are the slopes of Himmelblau's function at (-2.81, 3.13)?
#
# The larger one is 0.3 in size: little beside the slopes elsewhere, which reach
# hundreds. The true minimum is at (-2.805118..., 3.131313...), half a hundredth away.
# There the slope by x changes by about 65 per unit of x, and 65 · 0.005 is that 0.3.


def himmelblau(x, y):
    return (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2


slopes = []
for at_x, at_y in ((-2.81, 3.13), (-2.805118, 3.131313)):
    x = dz.Variable(np.array(at_x))
    y = dz.Variable(np.array(at_y))
    himmelblau(x, y).backward()
    slopes.append(max(abs(float(x.grad)), abs(float(y.grad))))
    print(at_x, at_y, "slopes:", x.grad, y.grad)
assert slopes[0] > 0.1
assert slopes[1] < 1e-3

# %%
# 3. ``0.48 * x.data * y`` in ``matyas``: what does ``check_gradients`` report?
#
# ``x.data`` is an array, and an array is a constant. The product still has the right
# value, but no way leads from it back to x: that part of the slope by x is missing. The
# slope by y is right.


def broken_matyas(x, y):
    return 0.26 * (x**2 + y**2) - 0.48 * x.data * y


report = check_gradients(broken_matyas, np.array(1.0), np.array(-2.0), order=1)
print(report)
by_x, by_y = report.checks
assert by_x.verdict == "wrong" and by_y.verdict == "right"
