r"""
Step 20: operators
==================

``add(mul(a, b), c)`` says the same as ``a * b + c``, but nobody would write it that way
by choice. When Python meets ``a * b`` it calls ``type(a).__mul__(a, b)``. If Variable
has methods of these names, formulas can be written as formulas. The methods need no
code of their own: they *are* the functions ``add`` and ``mul``.

This step also completes the product. Its slope by each factor is the other factor:

.. math:: y = x_0 x_1, \qquad
   \frac{dy}{dx_0} = x_1, \qquad \frac{dy}{dx_1} = x_0

New since the step before: ``Mul``, ``mul``, and the operators ``+`` and ``*`` between
Variables, all in the cell "The product, and two operators".
"""

# %%
# From the steps before
# ---------------------
# The new code derives from ``Function``, so the known code comes first. Nothing in it
# has changed; go on to the next cell.
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


# %%
# The product, and two operators
# ------------------------------
# A class can get a method after its definition. The function then receives the Variable
# on the left as its first argument, the one on the right as its second.


# New in this step
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
# The same formula twice
# ----------------------
# :math:`y = ab + c` at a = 3, b = 2, c = 1. The slopes are b, a and 1.
a = Variable(np.array(3.0))
b = Variable(np.array(2.0))
c = Variable(np.array(1.0))

nested = add(mul(a, b), c)
y = a * b + c
y.backward()
print("add(mul(a, b), c):", nested)
print("a * b + c:        ", y)
print("slopes:           ", a.grad, b.grad, c.grad)

# %%
# Python knows the precedence
# ---------------------------
# ``*`` before ``+``, brackets first: Python's parser sorts that out, and calls our
# functions in the right order. The outermost operation is the creator of the result.
without_brackets = a * b + c
with_brackets = a * (b + c)
print("a * b + c   is made by", type(without_brackets.creator).__name__)
print("a * (b + c) is made by", type(with_brackets.creator).__name__)

# %%
# A polynomial
# ------------
# Operators build the graphs of the last steps, diamonds included:
# :math:`p = x^3 + x^2 + x`, with slope :math:`3x^2 + 2x + 1`, which is 17 at x = 2.
x = Variable(np.array(2.0))
p = x * x * x + x * x + x
p.backward()
print("p =", p, " slope =", x.grad)

# %%
# Between Variables only, for now. A plain number has no ``data``:
try:
    x * 2.0
except AttributeError as error:
    message = str(error)
print("x * 2.0:", message)

# %%
# The claims of this step, as assertions.
assert nested.data == y.data == 7.0
assert (a.grad, b.grad, c.grad) == (2.0, 3.0, 1.0)
assert isinstance(without_brackets.creator, Add)
assert isinstance(with_brackets.creator, Mul)
assert p.data == 14.0 and x.grad == 17.0
assert "data" in message

# %%
# Exercises
# ---------
# 1. Differentiate :math:`(a + b)(a + c)` at a = 1, b = 2, c = 3, on paper and with
#    operators.
# 2. After ``start = x`` somebody writes ``x += b`` for two Variables. Our class has no
#    ``__iadd__``. What does Python do, and is ``start`` changed?
# 3. How many ``Mul`` does ``x * x * x * x`` make? Write x⁴ with two of them, and check
#    that both give the same slope.
