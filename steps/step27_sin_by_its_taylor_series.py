r"""
Step 27: sin by its Taylor series
=================================

Suppose the package had no sine. A loop over additions and multiplications can stand in
for it:

.. math:: \sin x = x - \frac{x^3}{3!} + \frac{x^5}{5!} - \frac{x^7}{7!} + \dots

The loop ends when the terms become small, so how often it runs depends on ``x``. For
automatic differentiation that is no obstacle: the graph holds what was in fact
computed, and ``backward`` walks through that.

New since the step before: a function whose graph depends on the number it is given.
"""

# %%
# A loop that stops when it may
# -----------------------------
# Each term is made from the one before, times :math:`-x^2` and divided by the next two
# numbers of the factorial. ``term`` and ``total`` are Variables. The comparison in the
# ``while`` looks at numbers only (``term.data``): it decides what is computed, and is
# not itself part of the computation.

import math

import numpy as np

import dezero as dz
import dezero.functions as F


# New in this step
def taylor_sin(x, accuracy):
    term = total = x
    n = 1
    while abs(term.data) > accuracy:
        term = term * (-x * x / ((n + 1) * (n + 2)))
        total = total + term
        n += 2
    return total


def count_functions(y):
    # fold=False: a drawing folds equal blocks in a row into one, unless told not to.
    return dz.utils.get_dot_graph(y, fold=False).count('shape="box"')


# %%
# Value and derivative
# --------------------
# We compare with ``math.sin`` and ``math.cos`` at :math:`x = 2`. No derivative of our
# sine was ever written down.

rows = []
print("accuracy  functions   error of sin   error of its derivative")
for accuracy in (1e-1, 1e-2, 1e-4, 1e-8, 1e-12):
    x = dz.Variable(np.array(2.0))
    y = taylor_sin(x, accuracy)
    y.backward()
    error = abs(y.data - math.sin(2.0))
    slope_error = abs(x.grad.data - math.cos(2.0))
    rows.append((count_functions(y), error, slope_error))
    print(f"{accuracy:8.0e} {rows[-1][0]:10d} {error:14.1e} {slope_error:25.1e}")

# %%
# More accuracy means more turns of the loop and a larger graph. The error of the value
# stays below the accuracy that we asked for. The error of the derivative is several
# times larger. ``backward`` made no mistake: it gave the exact derivative of the
# polynomial that was computed. What is missing from that polynomial is the rest of the
# series, and differentiating makes the first term of the rest larger:
#
# .. math:: \left(\frac{x^{n}}{n!}\right)' = \frac{x^{n-1}}{(n-1)!}
#    = \frac{n}{x} \cdot \frac{x^{n}}{n!}
#
# In the first row the loop stopped after :math:`n = 7`. The rest begins with
# :math:`n = 9`, so we expect a factor of about 9/2, and find one between 4 and 5.
#
# So a loop that stops as soon as the value is good may stop too early for the slope.
# That holds for every loop that approximates something.
#
# The graph follows the argument
# ------------------------------

sizes = []
for value in (0.1, 1.0, 3.0, 6.0):
    x = dz.Variable(np.array(value))
    y = taylor_sin(x, 1e-8)
    y.backward()
    sizes.append(count_functions(y))
    print(f"x = {value}: {sizes[-1]:3d} functions, derivative {x.grad.data:+.8f}")
    assert abs(x.grad.data - math.cos(value)) < 1e-6

# %%
# The package's own sine is a single Function. It calls NumPy's sine in ``forward`` and
# knows its derivative. It agrees with our loop, with one box instead of dozens.

x = dz.Variable(np.array(2.0))
y = F.sin(x)
y.backward()
ours = dz.Variable(np.array(2.0))
total = taylor_sin(ours, 1e-15)
total.backward()
print("\n               value            slope   functions")
print(f"F.sin {y.data:.12f}  {x.grad.data:.12f}  {count_functions(y):8d}")
print(f"ours  {total.data:.12f}  {ours.grad.data:.12f}  {count_functions(total):8d}")

assert all(error < slope_error for _, error, slope_error in rows[:-1])
assert 4 < rows[0][2] / rows[0][1] < 5
assert [size for size, _, _ in rows] == sorted(size for size, _, _ in rows)
assert sizes == sorted(sizes) and sizes[-1] > 3 * sizes[0]
assert abs(total.data - y.data) < 1e-14 and abs(ours.grad.data - x.grad.data) < 1e-14

# %%
# Exercises
# ---------
# 1. Write ``taylor_exp`` in the same way, for :math:`e^x = 1 + x + x^2/2! + \dots`
#    The exact function is its own derivative. By how much do value and derivative of
#    yours differ, and why by exactly that?
# 2. Ask ``taylor_sin`` for the sine of 30 with an accuracy of 1e-8. How wrong is it,
#    and why? Mend it by subtracting a multiple of :math:`2\pi` first. What does that do
#    to the derivative?
