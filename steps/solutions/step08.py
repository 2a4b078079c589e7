"""
Solutions to step 08: a loop, not recursion
===========================================
"""

# %%
# The classes of the step.
import numpy as np


class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None
        self.creator = None

    def set_creator(self, func):
        self.creator = func

    def backward(self):
        todo = [] if self.creator is None else [self.creator]
        while todo:
            f = todo.pop()
            x, y = f.input, f.output
            x.grad = f.backward(y.grad)
            if x.creator is not None:
                todo.append(x.creator)


class Function:
    def __call__(self, x):
        y = Variable(self.forward(x.data))
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


# %%
# Exercise 1. The loop without a list: the next Function, if there is one, is the
# creator of the input.
def backward_without_list(y):
    f = y.creator
    while f is not None:
        f.input.grad = f.backward(f.output.grad)
        f = f.input.creator


x = Variable(np.array(0.8))
y = Exp()(Square()(Square()(x)))
y.grad = np.array(1.0)
backward_without_list(y)
print("gradient of x:", x.grad)
assert np.isclose(x.grad, 4 * 0.8**3 * np.exp(0.8**4))


# %%
# Exercise 2. ``gradients(y)``: the gradients of all Variables behind ``y``, ``y``
# first.
def gradients(y):
    found = [y.grad]
    while y.creator is not None:
        y = y.creator.input
        found.append(y.grad)
    return found


y.backward()
print("gradients:", [round(float(g), 4) for g in gradients(y)])
b = 0.8**4
assert np.allclose(gradients(y), [1.0, np.exp(b), 1.28 * np.exp(b), 2.048 * np.exp(b)])

# %%
# Exercise 3. ``backward`` of a Variable that no Function made does nothing: the list
# starts empty, and the loop never runs.
x = Variable(np.array(0.8))
x.grad = np.array(1.0)
x.backward()
print("gradient as it was set:", x.grad)
assert x.grad == 1.0
