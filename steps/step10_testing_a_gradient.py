r"""
Step 10: testing a gradient
===========================

A wrong ``backward`` raises no error. It returns a number that is not the slope, and
whatever learns from it learns badly. Nobody sees why. So each ``backward`` gets a test,
and the judge is the central difference of step 04, which knows nothing of our formulas:

.. math:: gx \approx \frac{f(x + h) - f(x - h)}{2h}

This step plants a bug and lets the test find it. At some points the bug hides. That is
the lesson: choose the points at random.

New since the step before: the functions ``gradient_check`` and ``central_difference``,
which is the one of step 06 with ``as_array`` added. Without it, the check of step 09
would refuse the scalar that NumPy makes of ``x.data + h``.
"""

# %%
# From the step before, without a change:
import numpy as np


def as_array(x):
    return np.asarray(x)


class Variable:
    def __init__(self, data):
        if not isinstance(data, np.ndarray):
            raise TypeError(
                f"Variable: expected a NumPy array, got {type(data).__name__}; "
                "wrap it in np.array(...)"
            )
        self.data = data
        self.grad = None
        self.creator = None

    def set_creator(self, func):
        self.creator = func

    def backward(self):
        if self.grad is None:
            self.grad = np.ones_like(self.data)
        todo = [] if self.creator is None else [self.creator]
        while todo:
            f = todo.pop()
            x, y = f.input, f.output
            x.grad = as_array(f.backward(y.grad))
            if x.creator is not None:
                todo.append(x.creator)


class Function:
    def __call__(self, x):
        y = Variable(as_array(self.forward(x.data)))
        y.set_creator(self)
        self.input = x
        self.output = y
        return y


class Square(Function):
    def forward(self, x):
        return x**2

    def backward(self, gy):
        x = self.input.data
        return 2 * x * gy


class Exp(Function):
    def forward(self, x):
        return np.exp(x)

    def backward(self, gy):
        x = self.input.data
        return np.exp(x) * gy


def square(x):
    return Square()(x)


def exp(x):
    return Exp()(x)


# %%
# The test takes a function and an array of points. It computes the gradient in both
# ways and compares. All our functions work element by element, so each point is a test
# of its own, and one pair of runs gives the differences for all points.
#
# They agree only nearly, because of the errors that step 04 measured. In its picture
# the central difference with :math:`h = 10^{-5}` in float64 has a relative error of
# about 1e-9, so a tolerance of 1e-6 is safe. Mistakes in a formula are far larger.
# ``np.allclose`` asks whether two numbers differ by no more than ``rtol`` times the
# second plus ``atol``; the latter is there for slopes near zero.


# New in this step
def central_difference(f, x, h=1e-5):
    y0 = f(Variable(as_array(x.data - h)))
    y1 = f(Variable(as_array(x.data + h)))
    return (y1.data - y0.data) / (2 * h)


def gradient_check(f, points, tolerance=1e-6):
    x = Variable(points)
    y = f(x)
    y.backward()
    expected = central_difference(f, x)
    return bool(np.allclose(x.grad, expected, rtol=tolerance, atol=tolerance))


# %%
# Our functions, and the chain, at ten random points between -1 and 1.
points = np.random.default_rng(0).uniform(-1, 1, size=10)


def chain(x):
    return exp(square(square(x)))


print("square:", gradient_check(square, points))
print("exp:", gradient_check(exp, points))
print("chain:", gradient_check(chain, points))

# %%
# Now a new function, the cube, with a mistake in its ``backward``: the slope of
# :math:`x^3` is :math:`3x^2`, and somebody wrote :math:`3x`.


class BuggyCube(Function):
    def forward(self, x):
        return x**3

    def backward(self, gy):
        x = self.input.data
        return 3 * x * gy


def buggy_cube(x):
    return BuggyCube()(x)


# %%
# Whoever tries it at 1 sees nothing, for there :math:`3x` and :math:`3x^2` are equal.
# Zero hides the bug as well. At random points it has no place to hide.
at_one = gradient_check(buggy_cube, np.array(1.0))
at_zero = gradient_check(buggy_cube, np.array(0.0))
at_random = gradient_check(buggy_cube, points)
print("buggy cube at 1:", at_one, " at 0:", at_zero, " at random points:", at_random)

# %%
# The numbers side by side show more than yes or no. Here the quotient of the two is
# :math:`1/x`: a factor ``x`` is missing.
x = Variable(points[:3])
buggy_cube(x).backward()
differences = central_difference(buggy_cube, x)
print("backward:   ", x.grad)
print("differences:", differences)
print("quotient:   ", x.grad / differences)
print("1 / x:      ", 1 / x.data)


# %%
# With the mistake mended, the test passes.
class Cube(Function):
    def forward(self, x):
        return x**3

    def backward(self, gy):
        x = self.input.data
        return 3 * x**2 * gy


def cube(x):
    return Cube()(x)


mended = gradient_check(cube, points)
print("cube:", mended)

# %%
# What the text claims, checked:
assert gradient_check(square, points)
assert gradient_check(exp, points)
assert gradient_check(chain, points)
assert at_one and at_zero and not at_random
assert np.allclose(x.grad / differences, 1 / x.data)
assert mended

# %%
# Exercises
# ---------
#
# 1. Write ``reciprocal``, :math:`1/x`, with its gradient, and test it at random points
#    between 1 and 2. Then test it at 0.001. The gradient is right, and the test fails.
#    Why? (Step 04 says what the error of the difference grows with.)
# 2. Another common bug: ``Sine.backward`` returns ``np.cos(x)`` and forgets ``gy``.
#    Does the test of ``sine`` find it? That of ``sine(square(x))``? That of
#    ``square(sine(x))``? Explain, and say what a good test should contain.
# 3. Run the test of ``chain`` on the same points as float32,
#    ``points.astype(np.float32)``. Does it pass? What would have to change, according
#    to the best steps and errors that step 04 printed?
