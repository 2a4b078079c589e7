r"""
Step 21: mixing with numbers and arrays
=======================================

``2 * x + 1`` fails so far: the numbers are no Variables. Three things are missing.

* A function that receives a number or an array makes a Variable of it.
* In ``2 * x`` the number stands on the left. Python asks the number first. It does not
  know Variables, so Python asks the operand on the right: ``x.__rmul__(2)``.
* In ``array * x`` the array is asked first and *does* answer, in a way nobody wants.
  One attribute makes it step back.

New since the step before: ``as_variable`` and its call in ``Function.__call__``, marked
``# new``; ``__radd__``, ``__rmul__`` and ``__array_priority__`` in the cells after it.
"""

# %%
# Everything becomes a Variable
# -----------------------------
# ``as_variable`` stands at the one place through which all inputs pass.
import contextlib
import heapq
import weakref

import numpy as np


def as_array(x):
    return np.asarray(x)


# New in this step
def as_variable(x):
    return x if isinstance(x, Variable) else Variable(as_array(x))


class Function:
    def __call__(self, *inputs):
        inputs = [as_variable(x) for x in inputs]  # new
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


# %%
# From the steps before
# ---------------------


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
Variable.__mul__ = mul

# %%
# On the right, then on the left
# ------------------------------
# A number or an array on the right of the operator works now:
x = Variable(np.array([1.0, 2.0]))
print("x * 3.0 =", x * 3.0)
print("x + array =", x + np.array([10.0, 20.0]))

# %%
# On the left it needs the *reflected* methods. For ``2.0 * x`` Python calls
# ``x.__rmul__(2.0)``, the Variable first. Sums and products are the same both ways
# round, so the same two functions serve once more.
try:
    2.0 * x
except TypeError as error:
    message = str(error)
print("2.0 * x before:", message)

Variable.__radd__ = add
Variable.__rmul__ = mul

print("2.0 * x after: ", 2.0 * x)

# %%
# An array on the left
# --------------------
# An array believes that it can multiply by anything. It takes x for a single object and
# multiplies each of its elements by it, which calls ``__rmul__`` once per element. The
# result is an array of objects, one Variable in each place.
weights = np.array([10.0, 100.0])
unwanted = weights * x
print("type:", type(unwanted).__name__, " dtype:", unwanted.dtype)
print(unwanted)

# %%
# ``__array_priority__`` settles it. An array that meets an object with a higher number
# (its own is 0) and a reflected method leaves the operation to the object.
Variable.__array_priority__ = 200

wanted = weights * x
print("type:", type(wanted).__name__, " dtype:", wanted.dtype)
print(wanted)

# %%
# Gradients
# ---------
# :math:`y = 3x^2 + 2x + 1` has the slope :math:`6x + 2`, which is 14 at x = 2.
z = Variable(np.array(2.0))
y = 3.0 * z * z + 2.0 * z + 1.0
y.backward()
print("y =", y, " slope =", z.grad)

# %%
# With an array of factors, each element of x gets its own. One thing is still missing:
# where a Variable of another shape meets x, such as a single number that we want the
# gradient of, NumPy repeats it, and the gradient that comes back has the shape of x.
# Step 40 mends this. Until then, Variables in one formula have one shape; plain numbers
# do no harm, since nobody asks for their gradients.
x.cleargrad()
(weights * x).backward()
print("slopes of weights * x:", x.grad)

# %%
# The claims of this step, as assertions.
assert (x * 3.0).data.tolist() == (3.0 * x).data.tolist() == [3.0, 6.0]
assert (x + np.array([10.0, 20.0])).data.tolist() == [11.0, 22.0]
assert "unsupported operand" in message
assert unwanted.dtype == object and unwanted[1].data.tolist() == [100.0, 200.0]
assert isinstance(wanted, Variable) and wanted.data.tolist() == [10.0, 200.0]
assert y.data == 17.0 and z.grad == 14.0
assert x.grad.tolist() == [10.0, 100.0]

# %%
# Exercises
# ---------
# 1. Python's own ``sum([a, b, c])`` adds up a list. It begins with the number 0. Why
#    does it work for Variables since this step, but not before?
# 2. ``square(np.array(3.0))`` takes no Variable. What does it return? Is there a way to
#    get the gradient of its input?
# 3. ``__radd__`` is the same function as ``__add__``, because for a sum the order of
#    the operands does not matter. Name an operator for which it does. When it stands
#    between ``5.0`` and ``x``, which arguments does its reflected method receive, and
#    in which order?
