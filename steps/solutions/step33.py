r"""
Solutions to step 33: Newton's method by itself
===============================================
"""

# %%
# 1. Where has the sine a maximum, by ``newton`` from 1? At :math:`\pi/2`. The method
# looks for a slope of zero. At 1 the curvature, :math:`-\sin 1`, is negative, so the
# parabola opens downwards, and its turning point is a top.
import numpy as np

import dezero as dz
import dezero.functions as F


def newton(f, value, steps):
    path = [value]
    for _ in range(steps):
        x = dz.Variable(np.array(value))
        slope = dz.grad(f(x), x, create_graph=True)
        curvature = dz.grad(slope, x)
        value = value - float(slope) / float(curvature)
        path.append(value)
    return path


path = newton(F.sin, 1.0, 5)
print(path[-1], "pi / 2 =", np.pi / 2)
assert abs(path[-1] - np.pi / 2) < 1e-14


# %%
# 2. How many steps from (0, 0) and from (2, 2) until the value is below 1e-12? Two and
# five: where Newton's method works, the start matters little.
def rosenbrock(x):
    x0, x1 = x
    return (1 - x0) ** 2 + 100 * (x1 - x0**2) ** 2


def newton_step(f, point):
    x = dz.Variable(point)
    gradient = dz.grad(f(x), x).data
    return point - np.linalg.solve(dz.hessian(f, point).data, gradient)


steps = {}
for start in ((0.0, 0.0), (2.0, 2.0)):
    point = np.array(start)
    steps[start] = 0
    while rosenbrock(point) > 1e-12:
        point = newton_step(rosenbrock, point)
        steps[start] += 1
print(steps)
assert steps == {(0.0, 0.0): 2, (2.0, 2.0): 5}


# %%
# 3. The minimum of :math:`x_0^4 + x_1^4 + (x_0 - 2x_1 - 3)^2` from (1, −1).
def f(x):
    x0, x1 = x
    return x0**4 + x1**4 + (x0 - 2 * x1 - 3) ** 2


point = np.array([1.0, -1.0])
for _ in range(8):
    point = newton_step(f, point)
x = dz.Variable(point)
gradient = dz.grad(f(x), x).data
curvatures = np.linalg.eigvalsh(dz.hessian(f, point).data)
print("minimum at", point, "with value", float(f(x)))
print("gradient there:", gradient, " curvatures:", curvatures)
assert np.max(np.abs(gradient)) < 1e-12 and np.min(curvatures) > 0
