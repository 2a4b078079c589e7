r"""
Solutions to step 33: Newton's method by itself
===============================================
"""

# %%
# 1. Halve a step while it does not make the value lower. How many steps does it take
# from (−1.2, 1), and how high does the path climb?
#
# 21 steps where the step script needed 6, and it does not climb at all: the highest
# value is the first, 24.2. The safe way is not always the short one, but nobody knows
# beforehand where the other ends.
import numpy as np

import dezero as dz


def rosenbrock(x):
    x0, x1 = x
    return (1 - x0) ** 2 + 100 * (x1 - x0**2) ** 2


def newton_step(f, point):
    x = dz.Variable(point)
    gradient = dz.grad(f(x), x).data
    return -np.linalg.solve(dz.hessian(f, point).data, gradient)


point = np.array([-1.2, 1.0])
values = [rosenbrock(point)]
while values[-1] > 1e-12:
    step = newton_step(rosenbrock, point)
    while rosenbrock(point + step) >= values[-1]:
        step = step / 2
    point = point + step
    values.append(rosenbrock(point))
print(len(values) - 1, "steps, highest value", max(values))
assert values == sorted(values, reverse=True) and 18 < len(values) - 1 < 24

# %%
# 2. How many steps from (0, 0) and from (2, 2) until the value is below 1e-12? Two and
# five: where Newton's method works, the start matters little.
steps = {}
for start in ((0.0, 0.0), (2.0, 2.0)):
    point = np.array(start)
    steps[start] = 0
    while rosenbrock(point) > 1e-12:
        point = point + newton_step(rosenbrock, point)
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
    point = point + newton_step(f, point)
x = dz.Variable(point)
gradient = dz.grad(f(x), x).data
curvatures = np.linalg.eigvalsh(dz.hessian(f, point).data)
print("minimum at", point, "with value", float(f(x)))
print("gradient there:", gradient, " curvatures:", curvatures)
assert np.max(np.abs(gradient)) < 1e-12 and np.min(curvatures) > 0
