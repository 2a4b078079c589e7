"""
Solutions to step 06: backward by hand
======================================
"""

# %%
# The classes of the step.
import numpy as np


class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None


class Function:
    def __call__(self, x):
        y = self.forward(x.data)
        self.input = x
        return Variable(y)


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


# %%
# Exercise 1. ``Cube`` with its ``backward``, and the gradient of (x cubed) squared at
# 2. The function is x to the 6, its slope 6 times x to the 5, which is 192.
class Cube(Function):
    def forward(self, x):
        return x**3

    def backward(self, gy):
        x = self.input.data
        return 3 * x**2 * gy


f1, f2 = Cube(), Square()
x = Variable(np.array(2.0))
a = f1(x)
y = f2(a)
y.grad = np.array(1.0)
a.grad = f2.backward(y.grad)
x.grad = f1.backward(a.grad)
print("y =", y.data, " gradient of x:", x.grad)
assert y.data == 64.0 and x.grad == 192.0

# %%
# Exercise 2. One object for both squares. The value is right, since ``forward`` needs
# only what it is given. The gradient is wrong: the object remembers its last input,
# which is a, so the slope of the first square is taken as 2a where it should be 2x.
f, f3 = Square(), Exp()
x = Variable(np.array(0.8))
a = f(x)
b = f(a)
y = f3(b)
y.grad = np.array(1.0)
b.grad = f3.backward(y.grad)
a.grad = f.backward(b.grad)
x.grad = f.backward(a.grad)
right = 4 * 0.8**3 * np.exp(0.8**4)
print("value", y.data, " gradient", x.grad, " where it should be", right)
assert np.isclose(y.data, np.exp(0.8**4))
assert not np.isclose(x.grad, right)
assert np.isclose(x.grad, np.exp(b.data) * 2 * a.data * 2 * a.data)

# %%
# Exercise 3. Start with 10. Every step back only multiplies, so ``x.grad`` is ten times
# as large. It is the gradient of 10 y.
f1, f2, f3 = Square(), Square(), Exp()
x = Variable(np.array(0.8))
y = f3(f2(f1(x)))
x.grad = f1.backward(f2.backward(f3.backward(np.array(10.0))))
print("gradient of x:", x.grad, "= 10 *", right)
assert np.isclose(x.grad, 10 * right)
