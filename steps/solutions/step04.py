"""
Solutions to step 04: slopes by differences
===========================================
"""

# %%
# The classes and functions of the step.
import numpy as np


class Variable:
    def __init__(self, data):
        self.data = data


class Function:
    def __call__(self, x):
        y = self.forward(x.data)
        return Variable(y)


class Square(Function):
    def forward(self, x):
        return x**2


class Exp(Function):
    def forward(self, x):
        return np.exp(x)


def chain(x):
    return Exp()(Square()(Square()(x)))


def forward_difference(f, x, h):
    y0 = f(x)
    y1 = f(Variable(x.data + h))
    return (y1.data - y0.data) / h


def central_difference(f, x, h):
    y0 = f(Variable(x.data - h))
    y1 = f(Variable(x.data + h))
    return (y1.data - y0.data) / (2 * h)


# %%
# Exercise 1. Predict the errors for ``Exp`` at x = 1 and h = 0.001, then measure them
# as estimate minus slope. All derivatives are e, so the formulas give h * e / 2 and
# h * h * e / 6.
x, h = Variable(np.array(1.0)), 1e-3
predicted = h * np.e / 2, h**2 * np.e / 6
measured = (
    forward_difference(Exp(), x, h) - np.e,
    central_difference(Exp(), x, h) - np.e,
)
print("forward: predicted", predicted[0], "measured", measured[0])
print("central: predicted", predicted[1], "measured", measured[1])
assert np.allclose(predicted, measured, rtol=1e-3, atol=0)

# %%
# Exercise 2. The central difference of ``Square`` at x = 3 with h = 1: how large is the
# error? There is none. The error is about h * h / 6 times the third derivative, and
# that of a square is zero: (16 - 4) / 2 = 6.
slope = central_difference(Square(), Variable(np.array(3.0)), 1.0)
print("slope of the square at 3:", slope)
assert slope == 6.0


# %%
# Exercise 3. A second derivative by differences, at h = 1e-4 and h = 1e-9. With the
# smaller step, rounding of 1e-16 is divided by 1e-18: nothing of the result is left.
def second_difference(f, x, h):
    y0, y1, y2 = [f(Variable(x.data + shift)).data for shift in (-h, 0.0, h)]
    return (y2 - 2 * y1 + y0) / h**2


x = Variable(np.array(0.8))
exact = (12 * 0.8**2 + 16 * 0.8**6) * np.exp(0.8**4)
errors = [abs(second_difference(chain, x, h) - exact) / exact for h in (1e-4, 1e-9)]
print(f"relative errors: {errors[0]:.0e} at h = 1e-4, {errors[1]:.0e} at h = 1e-9")
assert errors[0] < 1e-5
assert errors[1] > 0.5
