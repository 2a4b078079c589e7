"""
Solutions to step 16: generations and the priority queue
========================================================
"""

# %%
# The mini-framework of step 16, as far as it is needed here.
import heapq

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
        self.generation = 0

    def set_creator(self, func):
        self.creator = func
        self.generation = func.generation + 1

    def cleargrad(self):
        self.grad = None

    def accumulate(self, gx):
        total = gx if self.grad is None else self.grad + gx
        self.grad = as_array(total)

    def backward(self):
        if self.grad is None:
            self.grad = np.ones_like(self.data)
        queue = []
        met = set()

        def meet(f):
            if f is not None and f not in met:
                met.add(f)
                heapq.heappush(queue, (-f.generation, len(met), f))

        meet(self.creator)
        while queue:
            _, _, f = heapq.heappop(queue)
            gys = []
            for y in f.outputs:
                gys.append(np.zeros_like(y.data) if y.grad is None else y.grad)
            gxs = f.backward(*gys)
            if not isinstance(gxs, tuple):
                gxs = (gxs,)
            for x, gx in zip(f.inputs, gxs, strict=True):
                x.accumulate(gx)
                meet(x.creator)


class Function:
    def __call__(self, *inputs):
        xs = [x.data for x in inputs]
        ys = self.forward(*xs)
        if not isinstance(ys, tuple):
            ys = (ys,)
        self.inputs = inputs
        self.outputs = tuple([Variable(as_array(y)) for y in ys])
        self.generation = max([x.generation for x in inputs])
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


order = []


def watch(cls):
    backward = cls.backward

    def noted(self, *gys):
        order.append(f"{cls.__name__} {self.generation}")
        return backward(self, *gys)

    cls.backward = noted


watch(Square)
watch(Add)

# %%
# 1. The generations in ``add(square(square(x)), add(x, square(x)))``, and the orders in
# which the loop may take them.
#
# The two squares of x have generation 0. The square of the square has 1, and so has the
# inner sum, whose inputs have 0 and 1. The outer sum has 2. So the order is: the outer
# sum; then the square and the sum of generation 1, in either order; then the two
# squares of generation 0, in either order. The slope at x = 2 is 4x³ + 1 + 2x = 37.
x = Variable(np.array(2.0))
add(square(square(x)), add(x, square(x))).backward()
print(" -> ".join(order), " gives", x.grad)
assert order[0] == "Add 2"
assert sorted(order[1:3]) == ["Add 1", "Square 1"]
assert order[3:] == ["Square 0", "Square 0"]
assert x.grad == 37.0

# %%
# 2. Where does ``backward`` deal with a creator that is None?
#
# In ``meet``: ``if f is not None`` leaves it out of the queue. So ``Add`` runs, and
# nothing after it.
order.clear()
x = Variable(np.array(2.0))
add(x, x).backward()
print(order, x.grad)
assert order == ["Add 0"] and x.grad == 2.0

# %%
# 3. Without ``len(met)`` in the tuple, which graph raises an error?
#
# Two functions are compared only when two tuples with the same generation meet in the
# queue. That happens in both graphs of step 15, where ``Cube`` and the first ``Double``
# wait together with generation 1. In a chain there is never more than one function in
# the queue. The chain of 60 sums is such a case.
first, second = Square(), Square()
queue = []
heapq.heappush(queue, (-1, first))
heapq.heappush(queue, (-2, second))
print("generations 1 and 2: no error")
assert heapq.heappop(queue) == (-2, second)

try:
    heapq.heappush(queue, (-1, second))
    message = None
except TypeError as error:
    message = str(error)
print("generation 1 twice: ", message)
assert "not supported" in message
