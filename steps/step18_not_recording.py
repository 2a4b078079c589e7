r"""
Step 18: not recording
======================

Every call so far is recorded: the function keeps its inputs, for ``backward`` to read.
Whoever only wants the value pays for a graph that is never used. And ``backward``
leaves a gradient on every intermediate result, where only those of the inputs are
wanted as a rule. This step makes both a choice.

* ``with no_grad():`` switches recording off for a block of code.
* ``backward`` drops the gradients of results as soon as they have been passed on,
  unless it is called with ``retain_grad=True``.

New since the step before: ``Config``, ``using_config`` and ``no_grad``, which come
first; then, marked ``# new``, the ``if`` in ``Function.__call__``,
``Function.clear_output_grads`` and ``retain_grad``.
"""

# %%
# A switch that goes back by itself
# ---------------------------------
# ``Config`` holds the switch, ``enable_backprop``, named for the backpropagation of
# step 05. ``contextmanager`` turns a function with one ``yield`` into something for a
# ``with`` statement: what stands before ``yield`` runs at the beginning of the block,
# what stands after it at the end. ``finally`` makes sure of the end, also when the
# block is left by an error.
import contextlib
import heapq
import tracemalloc
import weakref

import numpy as np


def as_array(x):
    return np.asarray(x)


# New in this step
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
        if Config.enable_backprop:  # new
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

    def clear_output_grads(self):  # new
        for ref in self.outputs:
            y = ref()
            if y is not None:
                y.cleargrad()


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

    def backward(self, retain_grad=False):  # new
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
            if not retain_grad:  # new
                f.clear_output_grads()


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


# %%
# Which gradients stay
# --------------------
# In ``y = square(a)`` with ``a = square(x)`` at x = 2 the slope is 4x³ = 32.
x = Variable(np.array(2.0))
a = square(x)
y = square(a)
y.backward()
plain = x.grad, a.grad, y.grad
print("x, a, y:                  ", *plain)

x.cleargrad()
y.backward(retain_grad=True)
retained = x.grad, a.grad, y.grad
print("x, a, y with retain_grad: ", *retained)

# %%
# Dropping them does more than save memory. Gradients accumulate (step 14), and an old
# gradient left on a would be counted again in the next pass over the same graph. Two
# passes should give 2 · 32 = 64. With ``retain_grad=True`` in the first, a starts the
# second pass with the 8 that it had.
sums = []
for retain in (False, True):
    x = Variable(np.array(2.0))
    y = square(square(x))
    y.backward(retain_grad=retain)
    y.backward()
    sums.append(float(x.grad))
print("two passes:                    ", sums[0])
print("two passes, first one retained:", sums[1], " wrong")

# %%
# Values only
# -----------
# Under ``no_grad`` a result has no creator, and nothing holds what went into it.
with no_grad():
    unrecorded = square(Variable(np.array(2.0)))
print("recorded?", unrecorded.creator is not None, " value:", unrecorded.data)

# %%
# In a chain of 50 functions on arrays of 0.1 MB, recording holds all 51 arrays until
# the last result goes. Without it, each array is freed when the next one is there.


def peak_megabytes():
    tracemalloc.start()
    x = Variable(np.ones(12_500))
    for _ in range(50):
        x = square(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


recorded_peak = peak_megabytes()
with no_grad():
    unrecorded_peak = peak_megabytes()
print(f"most memory at a time, recorded: {recorded_peak:.1f} MB")
print(f"most memory at a time, no_grad:  {unrecorded_peak:.1f} MB")

# %%
# An error inside the block does not leave the switch off.
try:
    with no_grad():
        inside = Config.enable_backprop
        raise ValueError("something went wrong")
except ValueError:
    pass
print("recording inside:", inside, " after the error:", Config.enable_backprop)

# %%
# The claims of this step, as assertions.
assert plain == (32.0, None, None)
assert retained == (32.0, 8.0, 1.0)
assert sums == [64.0, 96.0]
assert unrecorded.creator is None and unrecorded.data == 4.0
assert recorded_peak > 5.0 and unrecorded_peak < 0.5
assert not inside and Config.enable_backprop

# %%
# Exercises
# ---------
# 1. What is in ``x.grad`` after ``backward`` of a result computed under ``no_grad``?
#    Follow the loop, then try it.
# 2. Write ``no_grad`` once more, as a class with the methods ``__enter__`` and
#    ``__exit__``. Test that two nested blocks and an error leave the switch as it was.
# 3. Two passes with the first retained give 96. Find this number by hand: what do y, a
#    and x hold after the first pass, and what does each of them receive in the second?
#    Which number would a third pass give, called without ``retain_grad`` like the
#    second?
