"""
Solutions to step 11: many inputs and outputs
=============================================
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
    def __call__(self, inputs):
        ys = self.forward([x.data for x in inputs])
        self.inputs = inputs
        self.outputs = [Variable(as_array(y)) for y in ys]
        for y in self.outputs:
            y.set_creator(self)
        return self.outputs


class Square(Function):
    def forward(self, xs):
        (x,) = xs
        return [x**2]

    def backward(self, gy):
        x = self.inputs[0].data
        return 2 * x * gy


class Exp(Function):
    def forward(self, xs):
        (x,) = xs
        return [np.exp(x)]

    def backward(self, gy):
        x = self.inputs[0].data
        return np.exp(x) * gy


class Add(Function):
    def forward(self, xs):
        x0, x1 = xs
        return [x0 + x1]


def square(x):
    return Square()([x])[0]


def exp(x):
    return Exp()([x])[0]


# %%
# Exercise 1. ``AddAll`` adds any number of variables, here 1, 2, 3 and 4.
class AddAll(Function):
    def forward(self, xs):
        total = 0.0
        for x in xs:
            total = total + x
        return [total]


numbers = [Variable(np.array(float(i))) for i in (1, 2, 3, 4)]
total = AddAll()(numbers)[0]
print("1 + 2 + 3 + 4 =", total.data)
assert total.data == 10.0


# %%
# Exercise 2. ``SumAndDifference`` of 5 and 3, and then of its own outputs. First 8 and
# 2, then 10 and 6: twice the numbers at the beginning.
class SumAndDifference(Function):
    def forward(self, xs):
        x0, x1 = xs
        return [x0 + x1, x0 - x1]


once = SumAndDifference()([Variable(np.array(5.0)), Variable(np.array(3.0))])
twice = SumAndDifference()(once)
print("once:", [y.data.item() for y in once], " twice:", [y.data.item() for y in twice])
assert [y.data.item() for y in once] == [8.0, 2.0]
assert [y.data.item() for y in twice] == [10.0, 6.0]


# %%
# Exercise 3. ``leaves(z)``: all Variables behind ``z`` that no Function made.
def leaves(z):
    found = []
    todo = [z]
    while todo:
        x = todo.pop()
        if x.creator is None:
            found.append(x)
        else:
            todo.extend(x.creator.inputs)
    return found


a = Variable(np.array(3.0))
b = Variable(np.array(0.5))
z = Add()([square(a), exp(b)])[0]
print("leaves:", sorted(x.data.item() for x in leaves(z)))
assert len(leaves(z)) == 2
assert any(x is a for x in leaves(z)) and any(x is b for x in leaves(z))
