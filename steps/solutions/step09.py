"""
Solutions to step 09: comfort
=============================
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


# %%
# Exercise 1. ``Sine`` and ``sine``, and the gradient of sin(exp(x)) at 0. On paper it
# is cos(exp(x)) exp(x), at 0 the cosine of 1.
class Sine(Function):
    def forward(self, x):
        return np.sin(x)

    def backward(self, gy):
        x = self.input.data
        return np.cos(x) * gy


def sine(x):
    return Sine()(x)


x = Variable(np.array(0.0))
sine(exp(x)).backward()
print("gradient:", x.grad, " cos(1):", np.cos(1.0))
assert np.isclose(x.grad, np.cos(1.0))

# %%
# Exercise 2. The seed 1, 0, 0 on a vector: which elements of ``x.grad`` are zero? The
# last two. Each element of the result depends on its own element of ``x`` alone, and a
# gradient of zero says that the result's last two elements do not count.
x = Variable(np.array([1.0, 2.0, 3.0]))
y = square(x)
y.grad = np.array([1.0, 0.0, 0.0])
y.backward()
print("gradient with the seed 1, 0, 0:", x.grad)
assert np.array_equal(x.grad, [2.0, 0.0, 0.0])

# %%
# Exercise 3. ``backward`` twice, then with ``y.grad`` doubled. The second call stores
# the same gradient again, the third one twice as much. Only the first call sets the
# seed: after it ``y.grad`` is no longer None, and ``backward`` takes what is there.
x = Variable(np.array(0.8))
y = exp(square(square(x)))
y.backward()
first = x.grad
y.backward()
second = x.grad
y.grad = 2 * y.grad
y.backward()
third = x.grad
print("three calls:", first, second, third)
assert first == second
assert third == 2 * first
