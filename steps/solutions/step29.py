r"""
Solutions to step 29: Newton's method by hand
=============================================
"""

# %%
# The method of the step, for any function.
import numpy as np

import dezero as dz


def slope(f, value):
    x = dz.Variable(np.array(value))
    f(x).backward()
    return float(x.grad)


def newton(f, value, curvature, limit=100):
    path = [value]
    while abs(slope(f, value)) > 1e-12 and len(path) <= limit:
        value = value - slope(f, value) / curvature(value)
        path.append(value)
    return path


# %%
# 1. How many steps on :math:`5x^2 - 3x + 1`? One: the function is its own parabola, and
# a step goes to the bottom of the parabola. (Rounding may add one more.)
for start in (-40.0, 0.0, 7.0):
    path = newton(lambda x: 5 * x**2 - 3 * x + 1, start, lambda value: 10)
    print(path)
    assert abs(path[1] - 0.3) < 1e-14 and len(path) <= 3

# %%
# 2. On :math:`x^3 - 3x` from 0.1 and from −0.1. The first ends at the minimum, 1, the
# second at the maximum, −1. Newton's method looks for a place where the slope is zero.
# With a negative curvature its parabola opens downwards, and the "bottom" is a top.


def cubic(x):
    return x**3 - 3 * x


ends = [newton(cubic, start, lambda value: 6 * value)[-1] for start in (0.1, -0.1)]
print("\nfrom 0.1 to", ends[0], "and from -0.1 to", ends[1])
assert np.allclose(ends, [1, -1])

# %%
# 3. Descent from 3 with the learning rate 1/14. At 3 the slope is 108, so the first
# step goes to −4.7. There the slope is larger still, and each step goes further out.


def f(x):
    return x**4 + x**2 - 6 * x


value = 3.0
path = [value]
for _ in range(3):
    value = value - slope(f, value) / 14
    path.append(value)
print("\ndescent:", np.round(path, 1))
assert abs(path[1] + 4.714) < 1e-3
assert all(abs(b) > abs(a) for a, b in zip(path[:-1], path[1:], strict=True))
