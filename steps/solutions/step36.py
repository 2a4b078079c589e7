r"""
Solutions to step 36: gradient penalties and Hessian-vector products
====================================================================
"""

# %%
# 1. The derivative of the penalty :math:`(ab)^2`, for a = 1 and b = 2. On paper it is
# :math:`2ab^2 = 8` by a, and :math:`2a^2b = 4` by b.
import numpy as np

import dezero as dz
import dezero.functions as F

a, b = dz.Variable(np.array(1.0)), dz.Variable(np.array(2.0))
x = dz.Variable(np.array(0.0))
slope = dz.grad(a * F.tanh(b * x), x, create_graph=True)
penalty = slope**2
penalty.backward()
print("by a and b:", a.grad, b.grad)
assert (float(a.grad), float(b.grad)) == (8.0, 4.0)

# %%
# 2. Why has :math:`\frac12 |\nabla f|^2` the gradient :math:`H \nabla f`? With
# :math:`g = \nabla f`, the penalty is half the sum of all :math:`g_i^2`. Its derivative
# by :math:`x_j` is the sum of :math:`g_i \, \partial g_i / \partial x_j`, and
# :math:`\partial g_i / \partial x_j = H_{ij}`. So it is a Hessian-vector product whose
# vector is the gradient.


def chain(x):
    xs = list(x)
    pairs = zip(xs[:-1], xs[1:], strict=True)
    return sum((1 - a) ** 2 + 100 * (b - a**2) ** 2 for a, b in pairs)


random = np.random.default_rng(0)
point, v = random.normal(size=10), random.normal(size=10)
x = dz.Variable(point)
g = dz.grad(chain(x), x, create_graph=True)
penalty = g**2 / 2  # element by element: the pass from here adds them up
ours = dz.grad(penalty, x).data
product = dz.hvp(chain, point, g.data).data
print(
    "\nlargest relative difference:", np.max(np.abs(ours - product) / np.abs(product))
)
assert np.allclose(ours, product)

# %%
# 3. How close does a difference of two gradients come to :math:`Hv`?


def gradient(point):
    x = dz.Variable(point)
    return dz.grad(chain(x), x).data


exact = dz.hvp(chain, point, v).data
errors = {}
for h in 10.0 ** np.arange(-8, 0):
    estimate = (gradient(point + h * v) - gradient(point - h * v)) / (2 * h)
    errors[h] = np.max(np.abs(estimate - exact)) / np.max(np.abs(exact))
    print(f"h = {h:.0e}: relative error {errors[h]:.1e}")
print(f"best: {min(errors.values()):.1e}, of the product by two passes: about 1e-16")
assert 1e-13 < min(errors.values()) < 1e-8
