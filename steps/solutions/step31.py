r"""
Solutions to step 31: a backward that can be differentiated
===========================================================
"""

# %%
# The framework of the step, and its two helpers.
import heapq

import numpy as np


class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None
        self.creator = None
        self.generation = 0

    def accumulate(self, gx):
        self.grad = gx if self.grad is None else self.grad + gx

    def backward(self):
        self.grad = Variable(np.ones_like(self.data))
        queue, met = [], set()

        def meet(f):
            if f is not None and f not in met:
                met.add(f)
                heapq.heappush(queue, (-f.generation, len(met), f))

        meet(self.creator)
        while queue:
            _, _, f = heapq.heappop(queue)
            gxs = f.backward(f.output.grad)
            f.output.grad = None
            for x, gx in zip(f.inputs, gxs, strict=True):
                x.accumulate(gx)
                meet(x.creator)

    def __add__(self, other):
        return Add()(self, other)

    def __mul__(self, other):
        return Mul()(self, other)

    def __neg__(self):
        return Mul()(self, Variable(np.array(-1.0)))


class Function:
    def __call__(self, *inputs):
        y = Variable(self.forward(*[x.data for x in inputs]))
        self.inputs, self.output = inputs, y
        self.generation = max([x.generation for x in inputs])
        y.creator, y.generation = self, self.generation + 1
        return y


class Add(Function):
    def forward(self, x0, x1):
        return x0 + x1

    def backward(self, gy):
        return gy, gy


class Mul(Function):
    def forward(self, x0, x1):
        return x0 * x1

    def backward(self, gy):
        x0, x1 = self.inputs
        return gy * x1, gy * x0


class Sin(Function):
    def forward(self, x):
        return np.sin(x)

    def backward(self, gy):
        return (gy * Cos()(self.inputs[0]),)


class Cos(Function):
    def forward(self, x):
        return np.cos(x)

    def backward(self, gy):
        return (-(gy * Sin()(self.inputs[0])),)


def derivatives(x, y, order):
    values = []
    for _ in range(order):
        y.backward()
        y, x.grad = x.grad, None
        values.append(float(y.data))
    return values


def functions_behind(y):
    found, todo = [], [y.creator]
    while todo:
        f = todo.pop()
        if f is not None and f not in found:
            found.append(f)
            todo += [x.creator for x in f.inputs]
    return [type(f).__name__ for f in found]


# %%
# 1. Write ``Exp``. Its derivative is the function itself, so ``backward`` calls it once
# more, on the input with its past.


class Exp(Function):
    def forward(self, x):
        return np.exp(x)

    def backward(self, gy):
        return (gy * Exp()(self.inputs[0]),)


x = Variable(np.array(0.0))
found = derivatives(x, Exp()(Variable(np.array(2.0)) * x), 3)
print("derivatives of exp(2x) at 0:", found)
assert found == [2.0, 4.0, 8.0]

# %%
# 2. With NumPy's cosine in ``Sin.backward``, which derivative is the first to be wrong?
# The second. The first needs only the value of the cosine, and that is right. The
# second needs its derivative, and to the graph the cosine is now a fixed number.


class SinWithoutPast(Sin):
    def backward(self, gy):
        return (gy * Variable(np.cos(self.inputs[0].data)),)


x = Variable(np.array(1.5))
right = derivatives(x, x * Sin()(x), 3)
x = Variable(np.array(1.5))
wrong = derivatives(x, x * SinWithoutPast()(x), 2)
print("right:", np.round(right, 4))
print("wrong:", np.round(wrong, 4))
assert wrong[0] == right[0] and abs(wrong[1] - right[1]) > 0.1

# %%
# 3. How many Functions are behind the second derivative of :math:`x \sin x`? Thirteen,
# after two for the function itself and six for the first derivative.
x = Variable(np.array(1.5))
y = x * Sin()(x)
y.backward()
y, x.grad = x.grad, None
y.backward()
names = functions_behind(x.grad)
print(len(names), "functions:", sorted(names))
assert len(names) == 13
