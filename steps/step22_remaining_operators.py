r"""
Step 22: the remaining operators
================================

Four more make the arithmetic complete: the negative, the difference, the quotient and
the power with a fixed exponent.

===================  =========================  ==========================
function             slope by :math:`x_0`       slope by :math:`x_1`
===================  =========================  ==========================
:math:`-x_0`         :math:`-1`
:math:`x_0 - x_1`    :math:`1`                  :math:`-1`
:math:`x_0 / x_1`    :math:`1 / x_1`            :math:`-x_0 / x_1^2`
:math:`x_0^c`        :math:`c\, x_0^{c-1}`
===================  =========================  ==========================

The file holds the whole mini-framework of these 22 steps. It is less than 200 lines of
code, and it differentiates every formula that you can write with it, as long as the
Variables in the formula have one shape.

New since the step before: ``Neg``, ``Sub``, ``Div``, ``Pow``, their functions, and six
operators, all in the cell "Four functions".
"""

# %%
# From the steps before
# ---------------------
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


class Square(Function):
    def forward(self, x):
        return x**2

    def backward(self, gy):
        x = self.inputs[0].data
        return 2 * x * gy


def square(x):
    return Square()(x)


class Exp(Function):
    def forward(self, x):
        return np.exp(x)

    def backward(self, gy):
        x = self.inputs[0].data
        return np.exp(x) * gy


def exp(x):
    return Exp()(x)


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


# %%
# Four functions
# --------------
# For ``5.0 - x`` Python calls ``x.__rsub__(5.0)``, with the Variable first. The order
# matters here, so ``rsub`` and ``rdiv`` swap their arguments. All operators stand
# together at the end of the cell, the new ones marked ``# new``. (The attribute
# ``__array_priority__`` of step 21 has moved into the class. And our ``pow`` hides
# Python's own ``pow`` in this file.)


# New in this step
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


class Div(Function):
    def forward(self, x0, x1):
        return x0 / x1

    def backward(self, gy):
        x0, x1 = [x.data for x in self.inputs]
        return gy / x1, -gy * x0 / x1**2


def div(x0, x1):
    return Div()(x0, x1)


def rdiv(x0, x1):
    return Div()(x1, x0)


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


Variable.__add__ = add
Variable.__radd__ = add
Variable.__mul__ = mul
Variable.__rmul__ = mul
Variable.__neg__ = neg  # new
Variable.__sub__ = sub  # new
Variable.__rsub__ = rsub  # new
Variable.__truediv__ = div  # new
Variable.__rtruediv__ = rdiv  # new
Variable.__pow__ = pow  # new

# %%
# Every operator against central differences
# ------------------------------------------
formulas = {
    "-x": lambda x: -x,
    "x - 3": lambda x: x - 3.0,
    "3 - x": lambda x: 3.0 - x,
    "x / 4": lambda x: x / 4.0,
    "4 / x": lambda x: 4.0 / x,
    "x ** 3": lambda x: x**3,
    "1 / (1 + exp(-x))": lambda x: 1.0 / (1.0 + exp(-x)),
}


def by_differences(f, x, h=1e-6):
    high = f(Variable(np.array(x + h))).data
    low = f(Variable(np.array(x - h))).data
    return (high - low) / (2 * h)


worst = 0.0
for text, f in formulas.items():
    x = Variable(np.array(1.7))
    f(x).backward()
    expected = by_differences(f, 1.7)
    worst = max(worst, abs(x.grad - expected))
    print(f"{text:18} backward {x.grad:9.6f}   differences {expected:9.6f}")

# %%
# All of it at once
# -----------------
# A formula with two variables, numbers on both sides, and all six kinds of operator.
# The next step computes it once more, with the package, and compares all digits.


def formula(x, y):
    return (2 * x - y) ** 2 / (1 + exp(-x * y)) + x / 4 - 3 / y


x = Variable(np.array(1.5), name="x")
y = Variable(np.array(0.5), name="y")
z = formula(x, y)
z.backward()
expected_x = by_differences(lambda x: formula(x, y), 1.5)
expected_y = by_differences(lambda y: formula(x, y), 0.5)
print("z    ", z)
print("dz/dx", x.grad, f" differences {expected_x:.6f}")
print("dz/dy", y.grad, f" differences {expected_y:.6f}")

# %%
# The claims of this step, as assertions.
assert worst < 1e-8
assert abs(x.grad - expected_x) < 1e-7
assert abs(y.grad - expected_y) < 1e-7
# Step 23 compares the package with these numbers.
printed = [-1.3801331301537942, 7.722708847259598, 10.646872070640041]
assert np.allclose([z.data, x.grad, y.grad], printed, rtol=1e-12)

# %%
# Exercises
# ---------
# 1. ``2.0**x`` fails: there is no ``__rpow__``. Its slope is :math:`2^x \ln 2`. Write a
#    class ``Base`` that holds the base as ``Pow`` holds the exponent, and the operator.
# 2. ``neg`` and ``sub`` could do without classes of their own, by using ``mul`` and
#    ``add``. Write them so. What is the price?
# 3. ``x**0.5`` at x = 0: which value, and which slope? Why does NumPy warn during
#    ``backward``?
