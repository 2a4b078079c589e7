"""
Solutions to step 21: mixing with numbers and arrays
====================================================
"""

# %%
# The mini-framework of step 21, as far as it is needed here.
import contextlib
import heapq
import weakref

import numpy as np


def as_array(x):
    return np.asarray(x)


def as_variable(x):
    return x if isinstance(x, Variable) else Variable(as_array(x))


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
        inputs = [as_variable(x) for x in inputs]
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


class Mul(Function):
    def forward(self, x0, x1):
        return x0 * x1

    def backward(self, gy):
        x0, x1 = [x.data for x in self.inputs]
        return gy * x1, gy * x0


def mul(x0, x1):
    return Mul()(x0, x1)


Variable.__add__ = add
Variable.__radd__ = add
Variable.__mul__ = mul
Variable.__rmul__ = mul

# %%
# 1. Why does ``sum([a, b, c])`` work since this step?
#
# It computes ``((0 + a) + b) + c``. The first sum has a number on the left, so it needs
# ``a.__radd__(0)``, and ``add`` has to make a Variable of the 0.
a = Variable(np.array(1.0))
b = Variable(np.array(2.0))
c = Variable(np.array(3.0))
y = sum([a, b, c])
y.backward()
print(y, a.grad, b.grad, c.grad)
assert y.data == 6.0
assert (a.grad, b.grad, c.grad) == (1.0, 1.0, 1.0)

# %%
# 2. What does ``square(np.array(3.0))`` return, and can we get the gradient of its
# input?
#
# A Variable with the value 9. ``Function.__call__`` has made a Variable of the array,
# and it receives a gradient, but nobody has a name for it. We find it as the input of
# the creator. It is easier to make the Variable ourselves.
y = square(np.array(3.0))
y.backward()
hidden = y.creator.inputs[0]
print(y, hidden.grad)
assert y.data == 9.0 and hidden.grad == 6.0

# %%
# 3. For which operator does the order of the operands matter?
#
# For the difference, the quotient and the power, among others. ``5.0 - x`` calls
# ``x.__rsub__(5.0)``: the Variable comes first, although it stands on the right. A
# class that only says what it was asked shows it.


class Listener:
    def __sub__(self, other):
        return "self - other"

    def __rsub__(self, other):
        return "other - self"


x = Listener()
print("x - 5.0:", x - 5.0)
print("5.0 - x:", 5.0 - x)
assert x - 5.0 == "self - other"
assert 5.0 - x == "other - self"
