r"""
Step 24: famous test functions
==============================

People who write programs that search for minima test them on a handful of well-known
functions of two variables. They look harmless, are long when written out, and their
minima are known. They are just as good a test of a program that differentiates: at a
minimum both slopes must be zero, and elsewhere they must agree with differences.

===============  ==========================================================
name             formula
===============  ==========================================================
sphere           :math:`x^2 + y^2`
Matyas           :math:`0.26\,(x^2 + y^2) - 0.48\,xy`
Beale            three squares, see below
Himmelblau       :math:`(x^2 + y - 11)^2 + (x + y^2 - 7)^2`
Goldstein-Price  a product of two long polynomials, see below
===============  ==========================================================

New since the step before: nothing in the library; ``numerical_gradient`` and
``check_gradients`` from ``dezero.testing``, which do in general what step 10 did by
hand.
"""

# %%
# Formulas as they stand in books
# -------------------------------
# None of these functions knows of derivatives. They use the operators of steps 20 to 22
# and nothing else, so they take numbers, arrays and Variables alike.
import numpy as np

import dezero as dz

# New in this step
from dezero.testing import check_gradients, numerical_gradient


def sphere(x, y):
    return x**2 + y**2


def matyas(x, y):
    return 0.26 * (x**2 + y**2) - 0.48 * x * y


def beale(x, y):
    first = (1.5 - x + x * y) ** 2
    second = (2.25 - x + x * y**2) ** 2
    third = (2.625 - x + x * y**3) ** 2
    return first + second + third


def himmelblau(x, y):
    return (x**2 + y - 11) ** 2 + (x + y**2 - 7) ** 2


def goldstein_price(x, y):
    near = 19 - 14 * x + 3 * x**2 - 14 * y + 6 * x * y + 3 * y**2
    far = 18 - 32 * x + 12 * x**2 + 48 * y - 36 * x * y + 27 * y**2
    return (1 + (x + y + 1) ** 2 * near) * (30 + (2 * x - 3 * y) ** 2 * far)


# %%
# Zero slope at a minimum
# -----------------------
# The minima are known from the literature: where they are, and how low.
minima = {
    sphere: (0.0, 0.0, 0.0),
    matyas: (0.0, 0.0, 0.0),
    beale: (3.0, 0.5, 0.0),
    himmelblau: (3.0, 2.0, 0.0),
    goldstein_price: (0.0, -1.0, 3.0),
}
largest_slope = 0.0
print("function           at x      y   value  df/dx  df/dy")
for f, (at_x, at_y, lowest) in minima.items():
    x = dz.Variable(np.array(at_x))
    y = dz.Variable(np.array(at_y))
    z = f(x, y)
    z.backward()
    slopes = abs(float(x.grad)), abs(float(y.grad))
    largest_slope = max(largest_slope, *slopes)
    print(f"{f.__name__:16} {at_x:6.1f} {at_y:6.1f} {float(z):7.1f}", end=" ")
    print(f"{slopes[0]:6.1f} {slopes[1]:6.1f}")
    assert float(z) == lowest

# %%
# Elsewhere, against differences
# ------------------------------
# ``numerical_gradient(f, x, y, index=i)`` takes central differences by argument number
# ``i``, in three step sizes, which it combines for more digits than one step can give.
worst = 0.0
print("function            df/dx      df/dy   relative error")
for f in minima:
    x = dz.Variable(np.array(1.0))
    y = dz.Variable(np.array(-2.0))
    f(x, y).backward()
    found = np.array([float(x.grad), float(y.grad)])
    expected = [numerical_gradient(f, x.data, y.data, index=i) for i in (0, 1)]
    error = np.max(np.abs(found - expected) / np.abs(expected))
    worst = max(worst, error)
    print(f"{f.__name__:16} {found[0]:9.3f} {found[1]:10.3f}   {error:.0e}")

# %%
# ``check_gradients`` does all of this in one call and returns a table, a row for each
# argument. It multiplies the function and the step by random factors, so its numbers
# are not those above; what counts is that the two columns agree. ``order=1`` asks for
# first derivatives; part 3 comes to the second.
report = check_gradients(goldstein_price, np.array(1.0), np.array(-2.0), order=1)
print(report)

# %%
# Many points at once
# -------------------
# An operator on arrays works element by element. If x and y hold the 400 points of a
# grid, one ``backward`` gives the slopes at all of them. (It starts with a gradient of
# 1 for each element, and no point influences another.) The arrows in the figure point
# downhill, against the gradient, and are drawn with one length. They stand at right
# angles to the lines of equal height. The stars are the four minima of the function,
# all of height 0.
xs, ys = np.meshgrid(np.linspace(-5, 5, 20), np.linspace(-5, 5, 20))
x = dz.Variable(xs)
y = dz.Variable(ys)
himmelblau(x, y).backward()
gx, gy = x.grad.data, y.grad.data
print("slopes at", gx.size, "points from one pass")

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fine_x, fine_y = np.meshgrid(np.linspace(-5, 5, 200), np.linspace(-5, 5, 200))
    height = himmelblau(fine_x, fine_y)
    length = np.hypot(gx, gy)
    fig, ax = plt.subplots(figsize=(6, 5.5))
    ax.contour(fine_x, fine_y, np.log10(height + 1), levels=14, cmap="viridis")
    ax.quiver(xs, ys, -gx / length, -gy / length, scale=30, width=0.003, alpha=0.7)
    ax.plot([3, -2.81, -3.78, 3.58], [2, 3.13, -3.28, -1.85], "r*", markersize=12)
    ax.set(xlabel="x", ylabel="y", title="Himmelblau's function: four minima")
    ax.set_aspect("equal")
    fig.tight_layout()
    fig.savefig("step24.png", dpi=120)
    print("figure written to step24.png")

# %%
# The claims of this step, as assertions. One point of the grid, taken by itself, has
# the same slopes.
x_one = dz.Variable(np.array(xs[3, 7]))
y_one = dz.Variable(np.array(ys[3, 7]))
himmelblau(x_one, y_one).backward()

assert largest_slope < 1e-12
assert worst < 1e-8
report.assert_ok()
assert gx.shape == gy.shape == (20, 20)
assert np.isclose(gx[3, 7], float(x_one.grad))
assert np.isclose(gy[3, 7], float(y_one.grad))

# %%
# Exercises
# ---------
# 1. Booth's function is :math:`(x + 2y - 7)^2 + (2x + y - 5)^2`. Find its minimum on
#    paper (both brackets must be zero), and confirm that the slopes vanish there.
# 2. One of the stars in the figure is drawn at (-2.81, 3.13), rounded to two digits.
#    How large are the slopes there, and why are they not zero?
# 3. Somebody writes ``0.48 * x.data * y`` in ``matyas``. The value is right. What does
#    ``check_gradients`` report at (1, -2), and what has happened?
