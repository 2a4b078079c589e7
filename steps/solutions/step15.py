"""
Solutions to step 15: why order matters
=======================================
"""

# %%
# The mini-framework of step 15, and the functions of its graphs.
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

    def cleargrad(self):
        self.grad = None

    def accumulate(self, gx):
        total = gx if self.grad is None else self.grad + gx
        self.grad = as_array(total)

    def backward(self):
        if self.grad is None:
            self.grad = np.ones_like(self.data)
        todo = [] if self.creator is None else [self.creator]
        while todo:
            f = todo.pop()
            gys = []
            for y in f.outputs:
                gys.append(np.zeros_like(y.data) if y.grad is None else y.grad)
            gxs = f.backward(*gys)
            if not isinstance(gxs, tuple):
                gxs = (gxs,)
            for x, gx in zip(f.inputs, gxs, strict=True):
                x.accumulate(gx)
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


def square(x):
    return Square()(x)


class Add(Function):
    def forward(self, x0, x1):
        return x0 + x1

    def backward(self, gy):
        return gy, gy


def add(x0, x1):
    return Add()(x0, x1)


class Double(Function):
    def forward(self, x):
        return 2 * x

    def backward(self, gy):
        return 2 * gy


class Cube(Function):
    def forward(self, x):
        return x**3

    def backward(self, gy):
        x = self.inputs[0].data
        return 3 * x**2 * gy


def double(x):
    return Double()(x)


def cube(x):
    return Cube()(x)


def walk(y, newest_first, once):
    y.grad = np.ones_like(y.data)
    todo = [y.creator]
    seen = {y.creator}
    order = []
    while todo:
        f = todo.pop() if newest_first else todo.pop(0)
        order.append(type(f).__name__)
        gxs = f.backward(f.outputs[0].grad)
        if not isinstance(gxs, tuple):
            gxs = (gxs,)
        for x, gx in zip(f.inputs, gxs, strict=True):
            x.accumulate(gx)
            if x.creator is not None and not (once and x.creator in seen):
                seen.add(x.creator)
                todo.append(x.creator)
    return order


# %%
# 1. The order in the lopsided graph, oldest first and once each: where is the fault?
#
# ``Add`` puts ``Cube`` and the outer ``Double`` on the list. ``Cube`` runs and puts
# ``Square`` behind the ``Double``. After that ``Double`` it is the turn of ``Square``,
# although two more ``Double`` have not brought their part of the gradient of a. It runs
# with 3 instead of 11, gives x 3 · 2 = 6, and never runs again.
x = Variable(np.array(1.0))
a = square(x)
order = walk(add(cube(a), double(double(double(a)))), newest_first=False, once=True)
print(" -> ".join(order), " gives", x.grad)
assert order == ["Add", "Cube", "Double", "Square", "Double", "Double"]
assert x.grad == 6.0

# %%
# 2. Which rules differentiate ``square(add(x, x))`` rightly?
#
# All four: x has no creator, so although it is met twice, nothing runs because of it.
# The rest is a chain in which each result is used once. The slope of 4x² at 1 is 8.
for newest_first in (True, False):
    for once in (True, False):
        x = Variable(np.array(1.0))
        order = walk(square(add(x, x)), newest_first, once)
        print(newest_first, once, order, x.grad)
        assert x.grad == 8.0

# %%
# 3. The arguments of ``add`` swapped: is the gradient the same?
#
# No. ``Cube`` is the newest now. ``Square`` runs with its 3 first (3 · 2 = 6), and then
# with the complete 5: 6 + 10 = 16. A wrong answer that depends on the order of a sum is
# one more sign that the order of the loop is at fault.
x = Variable(np.array(1.0))
a = square(x)
add(double(a), cube(a)).backward()
print("swapped:", x.grad)
assert x.grad == 16.0
