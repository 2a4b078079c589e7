r"""
Step 33: Newton's method by itself
==================================

In step 29 the second derivative came from paper, and a mistake in it went unnoticed.
Now the program finds it. In one dimension that is a second ``dz.grad``. For a function
of several variables, the place of :math:`f''` is taken by the Hessian, the matrix of
all second derivatives:

.. math:: x \leftarrow x - H^{-1} \nabla f(x), \qquad
   H_{ij} = \frac{\partial^2 f}{\partial x_i \, \partial x_j}

New since the step before: ``dz.hessian``, and the end of the trouble in Rosenbrock's
valley.
"""

# %%
# One dimension
# -------------
# The function of step 29. No derivative of it appears in the program.

import numpy as np

import dezero as dz


def f(x):
    return x**4 + x**2 - 6 * x


# New in this step
def newton(f, value, steps):
    path = [value]
    for _ in range(steps):
        x = dz.Variable(np.array(value))
        slope = dz.grad(f(x), x, create_graph=True)
        curvature = dz.grad(slope, x)
        value = value - float(slope) / float(curvature)
        path.append(value)
    return path


path = newton(f, 3.0, steps=7)
for i, value in enumerate(path):
    print(f"{i}  {value:.16f}  error {abs(value - 1):.1e}")

# %%
# These are the numbers of step 29, to the last digit or so. And any other function can
# be put in. Here is one whose second derivative nobody wants to work out on paper: the
# minimum of :math:`x^x` lies at :math:`1/e`. (In the package, an exponent may be a
# Variable too.)

lowest = newton(lambda x: x**x, 1.0, steps=6)[-1]
print(f"\nx to the power of x is smallest at {lowest:.12f}")
print(f"1/e is                             {1 / np.e:.12f}")

# %%
# Two dimensions
# --------------
# Rosenbrock's function has four second derivatives. Each entry of the gradient is
# differentiated by both variables: one row of the Hessian. For the step, we do not
# invert the matrix but solve :math:`H d = \nabla f` for the step :math:`d`, which NumPy
# does.


def rosenbrock(x0, x1):
    return (1 - x0) ** 2 + 100 * (x1 - x0**2) ** 2


def gradient_and_hessian(point):
    x0, x1 = dz.Variable(np.array(point[0])), dz.Variable(np.array(point[1]))
    g0, g1 = dz.grad(rosenbrock(x0, x1), [x0, x1], create_graph=True)
    rows = [dz.grad(g0, [x0, x1]), dz.grad(g1, [x0, x1])]
    gradient = np.array([float(g0), float(g1)])
    hessian = np.array([[float(h) for h in row] for row in rows])
    return gradient, hessian


point = np.array([-1.2, 1.0])
valley = [point]
print("\nstep       x0       x1           f")
for i in range(7):
    print(f"{i:4d} {point[0]:8.4f} {point[1]:8.4f} {rosenbrock(*point):11.2e}")
    gradient, hessian = gradient_and_hessian(point)
    point = point - np.linalg.solve(hessian, gradient)
    valley.append(point)

# %%
# Five steps to a value below 1e-6; gradient descent needed 15,000. The Hessian knows
# that the valley is steep across and flat along, and the step is scaled to suit both.
# It is not a descent: the second step climbs out of the valley to a height of 1411
# before the third lands near the floor. Newton's method follows the curvature of the
# point where it stands, and far from the minimum that can mislead. Programs that use it
# in earnest shorten a step that makes things worse.
#
# A Hessian has a price, too. It has :math:`n^2` entries for :math:`n` variables, one
# pass for each row. For a network with a million numbers to learn, that is a million
# times a million. Step 36 shows what can be had of it all the same.
#
# From the package
# ----------------
# ``dz.hessian(f, x)`` does what ``gradient_and_hessian`` does, for a function of one
# Variable that holds all the numbers. Unpacking a Variable, or a loop over it, gives
# its elements as Variables, and gradients find their way back through that.


def rosenbrock_of_array(x):
    x0, x1 = x
    return rosenbrock(x0, x1)


start = np.array([-1.2, 1.0])
ours = gradient_and_hessian(start)[1]
package = dz.hessian(rosenbrock_of_array, start)
print("\nHessian at the start, ours and the package's:")
print(ours)
print(package.data)

assert abs(path[-1] - 1) < 1e-14 and abs(lowest - 1 / np.e) < 1e-14
assert np.allclose(ours, package.data, rtol=1e-12)
assert np.allclose(ours, [[1330, 480], [480, 200]])
assert rosenbrock(*valley[4]) > 1e-6 > rosenbrock(*valley[5])
assert np.allclose(valley[7], 1)
assert 1400 < rosenbrock(*valley[2]) < 1420

# %%
# Exercises
# ---------
# 1. Shorten the steps that make things worse: while the value at the end of a step is
#    not lower than at its beginning, halve the step. How many steps does it take now
#    from (−1.2, 1) to a value below 1e-12, and how high does the path climb?
# 2. Start in the valley at (0, 0) and at (2, 2). How many steps does it take until the
#    value is below 1e-12?
# 3. Find the minimum of :math:`x_0^4 + x_1^4 + (x_0 - 2x_1 - 3)^2` with the help of
#    ``dz.hessian`` and ``dz.grad``, starting at (1, −1).
