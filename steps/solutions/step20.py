"""
Solutions to step 20: operators
===============================
"""

# %%
# The mini-framework of step 20, as far as it is needed here.
import contextlib
import heapq
import weakref

import numpy as np


def as_array(x):
    return np.asarray(x)


class Config:
    enable_backprop = True


@contextlib.contextmanager
def using_config(name, value):
    old = getattr(Config, name)
    setattr(Config, name, value)
    try:
        yield
    finally:
        setattr(Config, name, old)


def no_grad():
    return using_config("enable_backprop", False)


class Variable:
    def __init__(self, data, name=None):
        if not isinstance(data, np.ndarray):
            raise TypeError(
                f"Variable: expected a NumPy array, got {type(data).__name__}; "
                "wrap it in np.array(...)"
            )
        self.data = data
        self.name = name
        self.grad = None
        self.creator = None
        self.generation = 0

    @property
    def shape(self):
        return self.data.shape

    @property
    def ndim(self):
        return self.data.ndim

    @property
    def size(self):
        return self.data.size

    @property
    def dtype(self):
        return self.data.dtype

    def __len__(self):
        return len(self.data)

    def __repr__(self):
        indent = "\n" + " " * len("variable(")
        text = str(self.data).replace("\n", indent)
        return f"variable({text})"

    def set_creator(self, func):
        self.creator = func
        self.generation = func.generation + 1

    def cleargrad(self):
        self.grad = None

    def accumulate(self, gx):
        total = gx if self.grad is None else self.grad + gx
        self.grad = as_array(total)

    def backward(self, retain_grad=False):
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
            gxs = f.backward(*f.output_grads())
            if not isinstance(gxs, tuple):
                gxs = (gxs,)
            for x, gx in zip(f.inputs, gxs, strict=True):
                x.accumulate(gx)
                meet(x.creator)
            if not retain_grad:
                f.clear_output_grads()


class Function:
    def __call__(self, *inputs):
        xs = [x.data for x in inputs]
        ys = self.forward(*xs)
        if not isinstance(ys, tuple):
            ys = (ys,)
        outputs = tuple([Variable(as_array(y)) for y in ys])
        if Config.enable_backprop:
            self.inputs = inputs
            self.outputs = tuple([weakref.ref(y) for y in outputs])
            self.shapes = tuple([y.data.shape for y in outputs])
            self.generation = max([x.generation for x in inputs])
            for y in outputs:
                y.set_creator(self)
        return outputs if len(ys) > 1 else outputs[0]

    def output_grads(self):
        gys = []
        for ref, shape in zip(self.outputs, self.shapes, strict=True):
            y = ref()
            unused = y is None or y.grad is None
            gys.append(np.zeros(shape) if unused else y.grad)
        return gys

    def clear_output_grads(self):
        for ref in self.outputs:
            y = ref()
            if y is not None:
                y.cleargrad()


class Add(Function):
    def forward(self, x0, x1):
        return x0 + x1

    def backward(self, gy):
        return gy, gy


def add(x0, x1):
    return Add()(x0, x1)


class Mul(Function):
    def forward(self, x0, x1):
        return x0 * x1

    def backward(self, gy):
        x0, x1 = [x.data for x in self.inputs]
        return gy * x1, gy * x0


def mul(x0, x1):
    return Mul()(x0, x1)


Variable.__add__ = add
Variable.__mul__ = mul

# %%
# 1. The slopes of (a + b)(a + c) at a = 1, b = 2, c = 3.
#
# On paper: by a it is (a + c) + (a + b) = 7, by b it is a + c = 4, by c it is
# a + b = 3.
a = Variable(np.array(1.0))
b = Variable(np.array(2.0))
c = Variable(np.array(3.0))
y = (a + b) * (a + c)
y.backward()
print(y, a.grad, b.grad, c.grad)
assert y.data == 12.0
assert (a.grad, b.grad, c.grad) == (7.0, 4.0, 3.0)

# %%
# 2. ``x += b`` without ``__iadd__``: what does Python do?
#
# It computes ``x + b`` and lets the name x stand for the result. The Variable that was
# called x before is unchanged, and an input of the new one.
x = Variable(np.array(10.0))
start = x
x += b
print("x:", x, " start:", start, " same object:", x is start)
assert x is not start
assert start.data == 10.0 and x.data == 12.0
assert x.creator.inputs[0] is start

# %%
# 3. How many ``Mul`` does ``x * x * x * x`` make? Write x⁴ with two.
#
# Three, one for each operator. With a name for the square, two are enough. The slope at
# 2 is 4 · 8 = 32 in both.
x = Variable(np.array(2.0))
long = x * x * x * x
long.backward()
slope_long = x.grad

x.cleargrad()
s = x * x
short = s * s
short.backward()
print(long, short, slope_long, x.grad)
assert long.creator.generation == 2 and short.creator.generation == 1
assert slope_long == x.grad == 32.0
