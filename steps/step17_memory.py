r"""
Step 17: memory
===============

Python frees an object at the moment when the last reference to it goes. It counts
references, and a count that falls to zero frees the object. Our graph defeats this: a
result refers to its creator, and the creator to its outputs::

    y  -- creator -->  f  -- outputs -->  y

Each keeps the other's count above zero, also when nobody else wants either. Such a
*cycle* waits for Python's garbage collector, which searches for cycles now and then. It
decides by the number of objects, not by their size, and a few large arrays are few
objects: memory can fill up long before it starts.

The remedy is to have one of the two references not count. A **weak reference** leads to
an object without keeping it alive.

New since the step before: ``Function.outputs`` are weak references;
``Function.output_grads``. The new lines are marked ``# new``.
"""

# %%
# Weak references
# ---------------
# ``weakref.ref(y)`` makes one. Calling it gives y, or None if y has been freed. The
# creator may refer weakly to its outputs, because whoever needs y has a reference to it
# already: the user, or the next function, which keeps its inputs. An output that is
# gone was used by nobody, and then its gradient is zero; all we must remember of it is
# the shape. (The zeros are float64 then, whatever the output was.)
import gc
import heapq
import tracemalloc
import weakref

import numpy as np


def as_array(x):
    return np.asarray(x)


# New in this step
class Function:
    def __call__(self, *inputs):
        xs = [x.data for x in inputs]
        ys = self.forward(*xs)
        if not isinstance(ys, tuple):
            ys = (ys,)
        outputs = tuple([Variable(as_array(y)) for y in ys])  # new
        self.inputs = inputs
        self.outputs = tuple([weakref.ref(y) for y in outputs])  # new
        self.shapes = tuple([y.data.shape for y in outputs])  # new
        self.generation = max([x.generation for x in inputs])
        for y in outputs:  # new
            y.set_creator(self)
        return outputs if len(ys) > 1 else outputs[0]  # new

    def output_grads(self):  # new
        gys = []
        for ref, shape in zip(self.outputs, self.shapes, strict=True):
            y = ref()
            unused = y is None or y.grad is None
            gys.append(np.zeros(shape) if unused else y.grad)
        return gys


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
            gxs = f.backward(*f.output_grads())  # new
            if not isinstance(gxs, tuple):
                gxs = (gxs,)
            for x, gx in zip(f.inputs, gxs, strict=True):
                x.accumulate(gx)
                meet(x.creator)


# %%
# From the steps before
# ---------------------


class Square(Function):
    def forward(self, x):
        return x**2

    def backward(self, gy):
        x = self.inputs[0].data
        return 2 * x * gy


def square(x):
    return Square()(x)


class Polar(Function):
    def forward(self, x0, x1):
        return np.hypot(x0, x1), np.arctan2(x1, x0)

    def backward(self, glength, gangle):
        x0, x1 = [x.data for x in self.inputs]
        r = np.hypot(x0, x1)
        gx0 = glength * x0 / r - gangle * x1 / r**2
        gx1 = glength * x1 / r + gangle * x0 / r**2
        return gx0, gx1


def polar(x0, x1):
    return Polar()(x0, x1)


# %%
# Freed at once, or not at all
# ----------------------------
# The collector is switched off, so that we see what counting alone does. ``calculate``
# makes an input and a result of one megabyte each. With ``cycle=True`` it adds what
# step 16 had: a strong reference from the creator to its output.
gc.disable()


def calculate(cycle):
    x = Variable(np.ones(125_000))
    y = square(x)
    if cycle:
        y.creator.strong = y
    return y


y = calculate(cycle=True)
watcher = weakref.ref(y)
del y
with_cycle = watcher() is not None
print("with a cycle, y is still there:        ", with_cycle)
gc.collect()
after_collection = watcher() is not None
print("after the collector has been called:   ", after_collection)

y = calculate(cycle=False)
watcher = weakref.ref(y)
del y
without_cycle = watcher() is not None
print("with weak references, y is still there:", without_cycle)

# %%
# Megabytes
# ---------
# ``tracemalloc`` counts the memory that Python and NumPy have asked for and not given
# back. Thirty calculations, one after the other, and each result is dropped at once:


def megabytes_after(rounds, cycle):
    tracemalloc.start()
    for _ in range(rounds):
        calculate(cycle)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    gc.collect()
    return held / 1e6


leaked = megabytes_after(30, cycle=True)
flat = megabytes_after(30, cycle=False)
print(f"still held after 30 rounds with cycles:  {leaked:5.1f} MB")
print(f"still held after 30 rounds without:      {flat:5.1f} MB")
gc.enable()

# %%
# An output that nobody kept
# --------------------------
# ``polar(a, b)[0]`` takes the length and drops the angle. The angle is freed, and
# ``backward`` works all the same: its gradient counts as zero.
a = Variable(np.array(3.0))
b = Variable(np.array(4.0))
length = polar(a, b)[0]
alive = [ref() is not None for ref in length.creator.outputs]
length.backward()
print("outputs alive:", alive, " gradients:", a.grad, b.grad)

# %%
# The claims of this step, as assertions.
assert with_cycle and not after_collection and not without_cycle
assert leaked > 59 and flat < 1
assert alive == [True, False]
assert np.allclose([a.grad, b.grad], [0.6, 0.8])

# %%
# Exercises
# ---------
# 1. After ``y = square(x)`` the name x is deleted. Is the Variable freed? When is it?
# 2. Suppose we had made ``creator`` the weak reference and left ``outputs`` strong.
#    There would be no cycle either. What would ``square(x).backward()`` find?
# 3. In a tree, each node has a list of children and a reference to its parent. Which of
#    the two should be weak, if the user holds the root? Write such a class and show
#    that dropping the root frees a child.
