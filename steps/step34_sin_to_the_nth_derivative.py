r"""
Step 34: sin to the n-th derivative
===================================

Each pass with ``create_graph=True`` gives a result that can be differentiated again. So
a loop of a few lines gives derivatives of any order. The sine is a good test: its
derivatives return to it after four, each a quarter of a period further on.

.. math:: \frac{d^n}{dx^n} \sin x = \sin\left(x + n \, \frac{\pi}{2}\right)

New since the step before: derivatives of any order, at many points at once.
"""

# %%
# Many points at once
# -------------------
# ``x`` holds 200 numbers, and ``F.sin`` works on each. ``dz.grad`` starts from ones,
# one for each result, so what it returns is the gradient of the sum of all results.
# Since each result depends on its own number only, that is the derivative at each
# point.

import numpy as np

import dezero as dz
import dezero.functions as F


# New in this step
def derivatives(f, values, order):
    x = dz.Variable(values)
    y = f(x)
    found = [y.data]
    for _ in range(order):
        y = dz.grad(y, x, create_graph=True)
        found.append(y.data)
    return found


values = np.linspace(-7, 7, 200)
found = derivatives(F.sin, values, 4)
for n, y in enumerate(found):
    error = np.max(np.abs(y - np.sin(values + n * np.pi / 2)))
    print(f"derivative {n}: largest error {error:.1e}")

# %%
# The errors are those of rounding. The values of ``sin(x + n*pi/2)``, with which we
# compare, are rounded as well.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    labels = ["sin x", "first derivative", "second", "third"]
    figure, axes = plt.subplots(figsize=(8, 4))
    for n, label in enumerate(labels):
        axes.plot(values, found[n], label=label, linewidth=2.5 - 0.5 * n)
    axes.set(xlabel="x", xlim=(-7, 7), title="sin and its derivatives")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncol=4)
    figure.tight_layout()
    plt.savefig("step34.png", dpi=120)
    print("step34.png shows the sine and three derivatives")

# %%
# How far does it go?
# -------------------
# Forty derivatives later we are back at the sine, for the tenth time.

many = derivatives(F.sin, values, 40)
error = np.max(np.abs(many[40] - np.sin(values)))
print(f"\nderivative 40 minus sin: {error:.1e}")

# %%
# Compare that with differences, as in step 04. A difference of two values has an error
# of rounding, and each further difference divides that error by ``2*h`` once more. To
# see it, take differences of differences, for the first four derivatives at 1. Even
# with the best of several steps ``h`` for each order, digits melt away.


def by_differences(f, x, h, order):
    if order == 0:
        return f(x)
    high = by_differences(f, x + h, h, order - 1)
    low = by_differences(f, x - h, h, order - 1)
    return (high - low) / (2 * h)


at_one = [float(y[0]) for y in derivatives(F.sin, np.array([1.0]), 4)]
lost = []
for n in (1, 2, 3, 4):
    exact = np.sin(1 + n * np.pi / 2)
    steps = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
    best = min(abs(by_differences(np.sin, 1.0, h, n) - exact) for h in steps)
    lost.append(best)
    print(f"order {n}: error {best:.0e} by differences", end=", ")
    print(f"{abs(at_one[n] - exact):.0e} by dz.grad")

# %%
# Each derivative of the sine is one Function applied to ``x``, a sine or a cosine, and
# a sign: its graph stays small. The next step counts, and looks at a function that is
# not so well behaved.

for n, y in enumerate(many):
    assert np.allclose(y, np.sin(values + n * np.pi / 2), rtol=0, atol=1e-12)
assert lost[0] < 1e-9 and lost[3] > 1e-7 and lost == sorted(lost)

# %%
# Exercises
# ---------
# 1. Check in the same way that the n-th derivative of :math:`e^{-x}` is
#    :math:`(-1)^n e^{-x}`, for n up to 10.
# 2. A Taylor series needs derivatives at one point. Find the first eight coefficients
#    :math:`f^{(n)}(0)/n!` of :math:`\sin(x) \, e^x` with ``derivatives``, and compare
#    the polynomial with the function at 0.5.
# 3. In step 27 the sine was a polynomial. Use ``derivatives`` on the polynomial
#    :math:`x^3`, up to order 5, once written ``x**3`` and once ``x * x * x``. One of
#    the two raises an error of step 32. Which, at which order, and why?
