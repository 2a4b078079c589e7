r"""
Step 29: Newton's method by hand
================================

Gradient descent knows how steep a function is, and nothing else. How far to go is a
guess, the learning rate. The second derivative, the *curvature*, tells how soon the
slope will be gone: if the slope is :math:`f'` and changes by :math:`f''` per unit, it
is zero at a distance of :math:`f' / f''`. Newton's method goes there:

.. math:: x \leftarrow x - \frac{f'(x)}{f''(x)}

New since the step before: a second derivative. We cannot compute one by program yet, so
this one is worked out on paper.
"""

# %%
# A valley in one dimension
# -------------------------
# .. math:: f(x) = x^4 + x^2 - 6x, \qquad f'(x) = 4x^3 + 2x - 6,
#    \qquad f''(x) = 12x^2 + 2
#
# The minimum is at :math:`x = 1`, since :math:`f'(1) = 0` and :math:`f''` is positive
# everywhere. The first derivative comes from ``backward``, the second from the line
# above.

import numpy as np

import dezero as dz


def f(x):
    return x**4 + x**2 - 6 * x


def slope(value):
    x = dz.Variable(np.array(value))
    f(x).backward()
    return float(x.grad)


def curvature(value):
    return 12 * value**2 + 2


# New in this step
def newton(value, curvature, limit=100):
    path = [value]
    while abs(slope(value)) > 1e-12 and len(path) <= limit:
        value = value - slope(value) / curvature(value)
        path.append(value)
    return path


path = newton(3.0, curvature)
print("step  x                    error")
for i, value in enumerate(path):
    print(f"{i:4d}  {value:.16f}  {abs(value - 1):.1e}")

# %%
# Far away the error halves at each step, or a little better. Close to the minimum it is
# about squared at each step: the number of right digits doubles. Gradient descent only
# divides the error by the same factor again and again, and takes longer.


def descend(value, lr, limit=1000):
    path = [value]
    while abs(slope(value)) > 1e-12 and len(path) <= limit:
        value = value - lr * slope(value)
        path.append(value)
    return path


descent = descend(3.0, lr=0.02)
print("\nsteps by Newton's method:", len(path) - 1)
print("steps by descent:        ", len(descent) - 1)

# %%
# What a step does
# ----------------
# At each point, Newton's method replaces the function by the parabola that has the same
# value, slope and curvature there, and jumps to the bottom of that parabola. In the
# picture, a dotted line leads from there to the function, where the next point is. (The
# second line is short.)

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    xs = np.linspace(-0.5, 3.2, 200)
    figure, axes = plt.subplots(figsize=(7, 5))
    axes.plot(xs, f(xs), color="black", label="f")
    for i, colour in enumerate(["tab:blue", "tab:orange"]):
        a, b = path[i], path[i + 1]
        parabola = f(a) + slope(a) * (xs - a) + curvature(a) / 2 * (xs - a) ** 2
        label = f"parabola at {a:.2f}, bottom at {b:.2f}"
        axes.plot(xs, parabola, color=colour, label=label)
        bottom = f(a) - slope(a) ** 2 / curvature(a) / 2
        axes.vlines(b, f(b), bottom, color=colour, linestyle=":")
        axes.plot([a, b], [f(a), f(b)], "o", color="black", markersize=5)
    axes.set(xlabel="x", ylim=(-10, 90), title="Two steps of Newton's method")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncol=3)
    figure.tight_layout()
    plt.savefig("step29.png", dpi=120)
    print("step29.png shows the parabolas of the first two steps")

# %%
# The trouble with doing it by hand
# ---------------------------------
# Suppose we forget the derivative of :math:`2x`, and write :math:`12x^2`.


def wrong_curvature(value):
    return 12 * value**2


wrong = newton(3.0, wrong_curvature)
print("\nsteps with a wrong second derivative:", len(wrong) - 1)
print("where it ends:", wrong[-1])

# %%
# No error is raised, and the result is even right: the method stops where the slope is
# zero, whatever we divide by. It is only slow, and nobody can see why. A difference of
# two slopes would have told us.

h = 1e-5
difference = (slope(1 + h) - slope(1 - h)) / (2 * h)
print(f"\nf''(1) by differences: {difference:.6f}")
print(
    "f''(1) on paper:      ", curvature(1), "and with the mistake", wrong_curvature(1)
)

# %%
# A program that finds :math:`f'` for us should find :math:`f''` too. The next steps see
# what is in the way.

errors = np.abs(np.array(path) - 1)
assert errors[-1] < 1e-12 and len(path) - 1 == 7
assert all(b < 1.1 * a**2 for a, b in zip(errors[2:-1], errors[3:], strict=True))
assert len(descent) - 1 > 10 * (len(path) - 1)
assert len(wrong) - 1 > 2 * (len(path) - 1) and abs(wrong[-1] - 1) < 1e-12
assert abs(difference - curvature(1)) < 1e-6

# %%
# Exercises
# ---------
# 1. How many steps does Newton's method need on :math:`f(x) = 5x^2 - 3x + 1`, from any
#    start? Say why before you run it.
# 2. Run it on :math:`f(x) = x^3 - 3x` from 0.1 and from −0.1. One of the two results is
#    no minimum. What does Newton's method look for?
# 3. Near the minimum, Newton's step is descent with the learning rate :math:`1/14`.
#    What becomes of a descent from 3 with that learning rate all along?
