r"""
Step 19: a Variable that feels like an array
============================================

A Variable holds an array, and to ask for its shape we have to write ``x.data.shape``.
Printed, it shows an address in memory, ``<__main__.Variable object at 0x...>``. Neither
helps a reader. In this step a Variable answers the common questions itself, and prints
as what it holds. It also gets a ``name``, which the drawings of step 25 will show.

Nothing is stored twice: each answer is read off ``data`` at the moment of the question,
so the two can never disagree.

New since the step before, all in ``Variable`` and marked ``# new``: ``name``,
``shape``, ``ndim``, ``size``, ``dtype``, ``__len__`` and ``__repr__``.
"""

# %%
# Questions and answers
# ---------------------
# ``@property`` lets a method be read like an attribute: ``x.shape``, without brackets.
# Python calls ``__len__`` for ``len(x)``, and ``__repr__`` for ``print(x)``. An array
# with several rows prints on several lines; ``__repr__`` indents the later ones so that
# the columns stand under one another.
import contextlib
import heapq
import weakref

import numpy as np


def as_array(x):
    return np.asarray(x)


# New in this step
class Variable:
    def __init__(self, data, name=None):  # new
        if not isinstance(data, np.ndarray):
            raise TypeError(
                f"Variable: expected a NumPy array, got {type(data).__name__}; "
                "wrap it in np.array(...)"
            )
        self.data = data
        self.name = name  # new
        self.grad = None
        self.creator = None
        self.generation = 0

    @property  # new
    def shape(self):  # new
        return self.data.shape

    @property  # new
    def ndim(self):  # new
        return self.data.ndim

    @property  # new
    def size(self):  # new
        return self.data.size

    @property  # new
    def dtype(self):  # new
        return self.data.dtype

    def __len__(self):  # new
        return len(self.data)

    def __repr__(self):  # new
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


# %%
# Asking
# ------
x = Variable(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), name="x")
print("name ", x.name)
print("shape", x.shape)
print("ndim ", x.ndim)
print("size ", x.size)
print("dtype", x.dtype)
print("len  ", len(x))

# %%
# Printing
# --------
print(x)
print(Variable(np.array(0.5)))

# %%
# Results answer as well, because they are Variables too. A result has no name until
# somebody gives it one.
y = square(x)
print(y, y.shape, y.name)
y.name = "x squared"
print(y.name)

# %%
# Changing the data changes the answers.
z = Variable(np.zeros(3))
before = z.shape
z.data = np.zeros((2, 2), dtype=np.float32)
print(before, "->", z.shape, z.dtype)

# %%
# The claims of this step, as assertions.
assert (x.shape, x.ndim, x.size, len(x)) == ((2, 3), 2, 6, 2)
assert x.dtype == np.float64 and x.name == "x"
assert repr(x) == "variable([[1. 2. 3.]\n          [4. 5. 6.]])"
assert repr(Variable(np.array(0.5))) == "variable(0.5)"
assert y.shape == (2, 3) and y.name == "x squared"
assert before == (3,) and z.shape == (2, 2) and z.dtype == np.float32

# %%
# Exercises
# ---------
# 1. What does ``len(Variable(np.array(0.5)))`` do, and why is that the right answer?
# 2. Add a property ``nbytes``, the memory that the data take. How many bytes does a
#    Variable of shape (100, 50) hold as float64, how many as float32?
# 3. ``float(np.array(2.5))`` works. Make ``float(x)`` work for a Variable. Which method
#    does Python look for?
