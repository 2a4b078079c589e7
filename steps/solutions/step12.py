"""
Solutions to step 12: nicer to call, nicer to write
===================================================
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
            (x,) = f.inputs
            (y,) = f.outputs
            x.grad = as_array(f.backward(y.grad))
            if x.creator is not None:
                todo.append(x.creator)


class Function:
    def __call__(self, *inputs):
        xs = [x.data for x in inputs]
        ys = self.forward(*xs)
        if not isinstance(ys, tuple):
            ys = (ys,)
        self.inputs = inputs
        self.outputs = tuple([Variable(as_array(y)) for y in ys])
        for y in self.outputs:
            y.set_creator(self)
        return self.outputs if len(ys) > 1 else self.outputs[0]


class Square(Function):
    def forward(self, x):
        return x**2

    def backward(self, gy):
        x = self.inputs[0].data
        return 2 * x * gy


class Exp(Function):
    def forward(self, x):
        return np.exp(x)

    def backward(self, gy):
        x = self.inputs[0].data
        return np.exp(x) * gy


class Add(Function):
    def forward(self, x0, x1):
        return x0 + x1


def square(x):
    return Square()(x)


def exp(x):
    return Exp()(x)


def add(x0, x1):
    return Add()(x0, x1)


# %%
# Exercise 1. ``Mul`` and ``mul``, and (a + b) a for a = 2 and b = 5.
class Mul(Function):
    def forward(self, x0, x1):
        return x0 * x1


def mul(x0, x1):
    return Mul()(x0, x1)


a = Variable(np.array(2.0))
b = Variable(np.array(5.0))
y = mul(add(a, b), a)
print("(2 + 5) * 2 =", y.data)
assert y.data == 14.0


# %%
# Exercise 2. ``Mean3`` on 1, 2 and 6. Nothing has to change in ``Function``: the star
# collects three inputs as it collects two.
class Mean3(Function):
    def forward(self, x0, x1, x2):
        return (x0 + x1 + x2) / 3


y = Mean3()(a, Variable(np.array(1.0)), Variable(np.array(6.0)))
print("mean of 1, 2 and 6:", y.data)
assert y.data == 3.0


# %%
# Exercise 3. A ``forward`` that returns a tuple of one element: what does the call
# return? A Variable. ``__call__`` makes a tuple of whatever is none, and at the end
# looks only at the number of elements.
class AddInTuple(Function):
    def forward(self, x0, x1):
        return (x0 + x1,)


y = AddInTuple()(a, b)
print("the call returns a", type(y).__name__, "of", y.data)
assert isinstance(y, Variable) and y.data == 7.0
