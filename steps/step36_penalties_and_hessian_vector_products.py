r"""
Step 36: gradient penalties and Hessian-vector products
=======================================================

A gradient made with ``create_graph=True`` is a Variable like any other. It can be the
result that we want, as in Newton's method. It can also be a *part* of a larger formula,
which is then differentiated as a whole. Two uses of that are common:

* a gradient penalty: a slope is one term of what shall become small;
* a Hessian-vector product, :math:`H v`, without the matrix :math:`H`:

.. math:: H v = \nabla \left( \nabla f(x) \cdot v \right)
   \qquad\text{for a fixed vector } v

New since the step before: formulas that contain gradients, and ``dz.hvp``.
"""

# %%
# A price for steepness
# ---------------------
# Six points, three at −1 and three at 1, and a curve :math:`m(x) = a \tanh(b x)` that
# shall pass near them. We change ``a`` and ``b`` by descent, so that the sum of the
# squared errors falls. The best curve is a cliff: the larger ``b``, the better.
#
# Suppose that we do not want a cliff. To the error we add a price for steepness, the
# square of the slope of the curve at 0, and let the total fall. The slope is a gradient
# by ``x``, and ``backward`` goes through it, to ``a`` and ``b``.

import numpy as np

import dezero as dz
import dezero.functions as F

points = [(-1.5, -1), (-1.0, -1), (-0.5, -1), (0.5, 1), (1.0, 1), (1.5, 1)]


# New in this step
def fit(price):
    a, b = dz.Variable(np.array(0.5)), dz.Variable(np.array(0.5))
    for _ in range(500):
        error = sum((a * F.tanh(b * x) - t) ** 2 for x, t in points)
        x = dz.Variable(np.array(0.0))
        slope = dz.grad(a * F.tanh(b * x), x, create_graph=True)
        total = error + price * slope**2
        a.cleargrad()
        b.cleargrad()
        total.backward()
        a.data = a.data - 0.05 * a.grad.data
        b.data = b.data - 0.05 * b.grad.data
    return float(error), float(slope)


print("price  error  slope at 0")
fits = {price: fit(price) for price in (0.0, 0.03, 0.1, 0.3)}
for price, (error, slope) in fits.items():
    print(f"{price:5.2f} {error:6.3f} {slope:8.2f}")

# %%
# The higher the price, the gentler the curve, and the larger the error that is left.
# The slope of :math:`m` at 0 is :math:`ab`, so here we could have written
# ``a * b`` in the total. For a larger program nobody could, and the lines that find the
# slope would be the same.
#
# A product with the Hessian
# --------------------------
# Now a function of 10 numbers, a chain of Rosenbrock's valleys. Its Hessian has 100
# entries. Let ``v`` be a fixed vector, and multiply the gradient with it, element by
# element. ``backward`` from there starts with ones, so it differentiates the sum of
# these products, :math:`\nabla f \cdot v`, and the result is :math:`H v`.


def chain(x):
    xs = list(x)
    pairs = zip(xs[:-1], xs[1:], strict=True)
    return sum((1 - a) ** 2 + 100 * (b - a**2) ** 2 for a, b in pairs)


def product(f, point, v):
    x = dz.Variable(point)
    gx = dz.grad(f(x), x, create_graph=True)
    return dz.grad(gx * v, x).data  # v is an array: a constant


random = np.random.default_rng(0)
point, v = random.normal(size=10), random.normal(size=10)
ours = product(chain, point, v)
package = dz.hvp(chain, point, v).data
H = dz.hessian(chain, point).data
difference = np.max(np.abs(ours - package)) / np.max(np.abs(ours))
print(f"\nour H v and dz.hvp, relative difference:        {difference:.0e}")
relative = np.max(np.abs(ours - H @ v)) / np.max(np.abs(ours))
print(f"our H v and the full Hessian times v, relative: {relative:.0e}")

# %%
# Two passes gave the product, whatever the number of variables. The full matrix took
# one pass for the gradient and 10 more, one for each row. With a million variables it
# would be a million passes and 8 terabytes.
#
# Learning about the matrix without having it
# -------------------------------------------
# Multiply a vector by :math:`H` again and again, with its length set back to 1 each
# time. It turns into the direction in which the function is most curved, and the factor
# by which it is stretched is that curvature: the largest *eigenvalue* of :math:`H`,
# which NumPy's ``eigvalsh`` finds from the matrix. At the minimum, where all numbers
# are 1:

minimum = np.ones(10)
v = random.normal(size=10)
for _ in range(100):
    v = dz.hvp(chain, minimum, v / np.linalg.norm(v)).data
curvature = np.linalg.norm(v)
largest = np.max(np.linalg.eigvalsh(dz.hessian(chain, minimum).data))
print(f"\nlargest curvature by products:   {curvature:.3f}")
print(f"largest eigenvalue of the matrix: {largest:.3f}")
print(f"so descent needs a learning rate below 2 / {curvature:.0f}")

# %%
# Along a direction of curvature ``c``, a step of ``lr`` times the slope jumps over the
# minimum when ``lr * c`` is more than 1, and lands further away than it was when that
# is more than 2. So the direction of largest curvature sets the limit for all. That was
# the trouble in the valley of step 28. Here it has a number, found without the matrix.
#
# With this the part on derivatives of derivatives ends. The next part goes back to
# first derivatives, and to functions of many numbers: networks.

errors = [error for error, _ in fits.values()]
slopes = [slope for _, slope in fits.values()]
assert errors == sorted(errors) and slopes == sorted(slopes, reverse=True)
assert slopes[0] > 2 * slopes[-1]
assert difference < 1e-12 and relative < 1e-12
assert abs(curvature / largest - 1) < 1e-4

# %%
# Exercises
# ---------
# 1. Check the derivative of the penalty: for :math:`a = 1, b = 2`, differentiate the
#    squared slope :math:`(ab)^2` by ``a`` and ``b`` as ``fit`` does, and compare with
#    the result on paper.
# 2. The penalty :math:`\frac12 |\nabla f|^2` has the gradient :math:`H \nabla f`. Why?
#    Check it for ``chain`` at ``point`` with ``dz.hvp``.
# 3. A product :math:`Hv` can be estimated from two gradients,
#    :math:`(\nabla f(x + hv) - \nabla f(x - hv)) / 2h`. How close does that come, for
#    the best ``h`` among powers of ten?
