"""
Solutions to step 10: testing a gradient
========================================
"""

# %%
# The classes and functions of the step.
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
# Exercise 1. ``reciprocal``, tested between 1 and 2, and then at 0.001. Why does it
# fail there? The error of the difference grows with the third derivative,
# :math:`-6/x^4`, which is huge near zero. The gradient is right; the difference is the
# bad judge.
class Reciprocal(Function):
    def forward(self, x):
        return 1 / x

    def backward(self, gy):
        x = self.input.data
        return -gy / x**2


def reciprocal(x):
    return Reciprocal()(x)


rng = np.random.default_rng(0)
passed = gradient_check(reciprocal, rng.uniform(1, 2, size=10))
near_zero = gradient_check(reciprocal, np.array(0.001))
print("reciprocal between 1 and 2:", passed, " at 0.001:", near_zero)
assert passed and not near_zero


# %%
# Exercise 2. ``Sine.backward`` without ``gy``: which tests find it? In a test of
# ``sine`` alone gy is the seed, 1, and so it is in ``sine(square(x))``, where the sine
# comes last. Both pass. In ``square(sine(x))`` the square hands its own slope to the
# sine, which ignores it, and the test fails. A good test puts the function inside
# another one.
class Sine(Function):
    def forward(self, x):
        return np.sin(x)

    def backward(self, gy):
        x = self.input.data
        return np.cos(x)


def sine(x):
    return Sine()(x)


points = np.random.default_rng(0).uniform(-1, 1, size=10)
alone = gradient_check(sine, points)
last = gradient_check(lambda x: sine(square(x)), points)
inside = gradient_check(lambda x: square(sine(x)), points)
print("alone:", alone, " sine(square(x)):", last, " square(sine(x)):", inside)
assert alone and last and not inside


# %%
# Exercise 3. The test of ``chain`` in float32. It fails, though the gradient is right:
# with h = 1e-5 rounding has taken over in float32. Step 04 found the best step near
# 1e-3 and an error of a few 1e-6 there, at one lucky point. So the step has to be
# larger, and the tolerance too, with some room.
def chain(x):
    return exp(square(square(x)))


points32 = points.astype(np.float32)
in_float32 = gradient_check(chain, points32)
x = Variable(points32)
chain(x).backward()
differences = central_difference(chain, x, h=4e-3)
larger = bool(np.allclose(x.grad, differences, rtol=1e-3, atol=1e-3))
print("in float32:", in_float32, " with larger step and tolerance:", larger)
assert not in_float32 and larger
