"""
Solutions to step 05: the chain rule as a walk back
===================================================
"""

# %%
# The functions of the step.
import numpy as np


def square(x):
    return x**2


def square_slope(x):
    return 2 * x


def exp(x):
    return np.exp(x)


def exp_slope(x):
    return np.exp(x)


def walk(chain, x):
    inputs = []
    for function, _ in chain:
        inputs.append(x)
        x = function(x)

    product = 1.0
    products = [product]
    for (_, slope), at in zip(reversed(chain), reversed(inputs), strict=True):
        product = product * slope(at)
        products.append(product)
    return x, products


chain = [(square, square_slope), (square, square_slope), (exp, exp_slope)]

# %%
# Exercise 1. The sine at the end of the chain, compared with a central difference.
longer = [*chain, (np.sin, np.cos)]
y, products = walk(longer, 0.8)
h = 1e-5
difference = (walk(longer, 0.8 + h)[0] - walk(longer, 0.8 - h)[0]) / (2 * h)
print("walk:", products[-1], " difference:", difference)
assert np.isclose(products[-1], difference, rtol=1e-6)

# %%
# Exercise 2. The walk from the start. The products mean dx/dx, da/dx, db/dx, dy/dx: the
# slopes of the place reached with respect to x. The last one agrees.
x, product = 0.8, 1.0
from_the_start = [product]
for function, slope in chain:
    product = slope(x) * product
    from_the_start.append(product)
    x = function(x)
for name, value in zip(
    ["dx/dx", "da/dx", "db/dx", "dy/dx"], from_the_start, strict=True
):
    print(name, "=", value)
assert np.allclose(from_the_start[:3], [1.0, 2 * 0.8, 4 * 0.8**3])
assert np.isclose(from_the_start[-1], walk(chain, 0.8)[1][-1])

# %%
# Exercise 3. One input and n outputs. From the end a matrix meets a matrix, n * n * n
# multiplications, and from the start a column is carried through. The start is the
# better end now: begin on the side that has fewer numbers.
n = 100
rng = np.random.default_rng(0)
D3, D2 = rng.standard_normal((n, n)), rng.standard_normal((n, n))
D1 = rng.standard_normal((n, 1))
count_from_the_end = n * n * n + n * n * 1  # (D3 D2) D1
count_from_the_start = n * n * 1 + n * n * 1  # D3 (D2 D1)
print("from the end:", count_from_the_end, " from the start:", count_from_the_start)
assert np.allclose((D3 @ D2) @ D1, D3 @ (D2 @ D1))
assert count_from_the_start < count_from_the_end
