"""
Solutions to step 22: the remaining operators
=============================================
"""

# %%
# The mini-framework of step 22, as far as it is needed here.
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
    __array_priority__ = 200

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


class Neg(Function):
    def forward(self, x):
        return -x

    def backward(self, gy):
        return -gy


def neg(x):
    return Neg()(x)


class Sub(Function):
    def forward(self, x0, x1):
        return x0 - x1

    def backward(self, gy):
        return gy, -gy


def sub(x0, x1):
    return Sub()(x0, x1)


def rsub(x0, x1):
    return Sub()(x1, x0)


class Pow(Function):
    def __init__(self, c):
        self.c = c

    def forward(self, x):
        return x**self.c

    def backward(self, gy):
        x = self.inputs[0].data
        return self.c * x ** (self.c - 1) * gy


def pow(x, c):
    return Pow(c)(x)


# %%
# 1. ``2.0**x``: a class ``Base`` and the operator.
#
# ``x.__rpow__(2.0)`` receives the exponent first, the base second.


class Base(Function):
    def __init__(self, base):
        self.base = base

    def forward(self, x):
        return self.base**x

    def backward(self, gy):
        x = self.inputs[0].data
        return self.base**x * np.log(self.base) * gy


def rpow(x, base):
    return Base(base)(x)


Variable.__rpow__ = rpow

x = Variable(np.array(3.0))
y = 2.0**x
y.backward()
print("2 ** 3 =", y, " slope:", x.grad, " 8 ln 2 =", 8 * np.log(2))
assert y.data == 8.0
assert np.isclose(x.grad, 8 * np.log(2))

# %%
# 2. ``neg`` and ``sub`` by ``mul`` and ``add``: what is the price?
#
# The values and slopes are the same. The difference now takes two functions instead of
# one, and a Variable for the factor -1, with a gradient that nobody wants.


def neg_by_mul(x):
    return mul(x, -1.0)


def sub_by_add(x0, x1):
    return add(x0, neg_by_mul(x1))


grads = []
generations = []
for difference in (sub, sub_by_add):
    a = Variable(np.array(5.0))
    b = Variable(np.array(3.0))
    y = difference(a, b)
    y.backward()
    grads.append((y.data, a.grad, b.grad))
    generations.append(y.generation)
    print(difference.__name__, y, a.grad, b.grad, "generation", y.generation)
assert grads[0] == grads[1] == (2.0, 1.0, -1.0)
assert generations == [1, 2]

# %%
# 3. ``x**0.5`` at x = 0: value, slope, and the warning.
#
# The value is 0. The slope is 0.5 · 0 to the power -0.5, which is 0.5 divided by zero:
# the curve of the square root starts vertically. NumPy returns inf and warns of the
# division; ``errstate`` keeps the warning quiet here.
x = Variable(np.array(0.0))
y = pow(x, 0.5)
with np.errstate(divide="ignore"):
    y.backward()
print("value", y.data, " slope", x.grad)
assert y.data == 0.0 and np.isinf(x.grad)
