r"""
Step 31: a backward that can be differentiated
==============================================

The list of the last step, carried out: gradients are Variables, and ``backward`` of
each Function is written with the operators of Variable. Then ``backward`` records what
it does, because it does it with Functions.

.. math:: x \;\to\; f(x) \;\to\; f'(x) \;\to\; f''(x) \;\to\; \dots

New since the step before: ``gy`` and ``x.grad`` are Variables. Nothing else is new, and
hardly a line gets longer.
"""

# %%
# The framework
# -------------
# Some eighty lines. In the loop of the last step, one line has changed. ``+`` in
# ``accumulate`` looks as before, and now means the ``__add__`` of Variable. Compare
# ``Mul.backward`` with the one there: ``.data`` is gone, and the rest is the same.

import heapq

import numpy as np

import dezero as dz
import dezero.functions as F


class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None
        self.creator = None
        self.generation = 0

    def accumulate(self, gx):
        self.grad = gx if self.grad is None else self.grad + gx  # on Variables

    def backward(self):
        # New in this step: the gradient to start with is a Variable, so all are
        self.grad = Variable(np.ones_like(self.data))
        queue, met = [], set()

        def meet(f):
            if f is not None and f not in met:
                met.add(f)
                heapq.heappush(queue, (-f.generation, len(met), f))

        meet(self.creator)
        while queue:
            _, _, f = heapq.heappop(queue)
            gxs = f.backward(f.output.grad)  # operators on Variables: recorded
            f.output.grad = None
            for x, gx in zip(f.inputs, gxs, strict=True):
                x.accumulate(gx)
                meet(x.creator)

    def __add__(self, other):
        return Add()(self, other)

    def __mul__(self, other):
        return Mul()(self, other)

    def __neg__(self):
        return Mul()(self, Variable(np.array(-1.0)))


class Function:
    def __call__(self, *inputs):
        y = Variable(self.forward(*[x.data for x in inputs]))
        self.inputs, self.output = inputs, y
        self.generation = max([x.generation for x in inputs])
        y.creator, y.generation = self, self.generation + 1
        return y


class Add(Function):
    def forward(self, x0, x1):
        return x0 + x1

    def backward(self, gy):
        return gy, gy


class Mul(Function):
    def forward(self, x0, x1):
        return x0 * x1

    def backward(self, gy):
        x0, x1 = self.inputs
        return gy * x1, gy * x0


class Sin(Function):
    def forward(self, x):
        return np.sin(x)

    def backward(self, gy):
        return (gy * Cos()(self.inputs[0]),)


class Cos(Function):
    def forward(self, x):
        return np.cos(x)

    def backward(self, gy):
        return (-(gy * Sin()(self.inputs[0])),)


# %%
# ``Sin`` and ``Cos`` need each other. That is the reason to write ``Cos()(x)`` in
# ``backward``, where NumPy's ``cos`` would give the same number, but no graph.
#
# Three derivatives of one function
# ---------------------------------
# After each pass we take the gradient away from ``x``, so that the next pass does not
# add to it, and call ``backward`` on what we took.


def derivatives(x, y, order):
    values = []
    for _ in range(order):
        y.backward()
        y, x.grad = x.grad, None
        values.append(float(y.data))
    return values


x = Variable(np.array(1.5))
y = x * Sin()(x)
ours = derivatives(x, y, 3)
s, c = np.sin(1.5), np.cos(1.5)
on_paper = [s + 1.5 * c, 2 * c - 1.5 * s, -3 * s - 1.5 * c]
print("y = x sin x at 1.5")
print("by program:", np.round(ours, 10))
print("on paper:  ", np.round(on_paper, 10))

# %%
# What the passes left behind
# ---------------------------
# The first derivative is the result of Functions. Walking back from it shows them: the
# sine is from the forward pass, and its value is still needed. The others were recorded
# while ``backward`` ran.


def functions_behind(y):
    found, todo = [], [y.creator]
    while todo:
        f = todo.pop()
        if f is not None and f not in found:
            found.append(f)
            todo += [x.creator for x in f.inputs]
    return [type(f).__name__ for f in found]


x = Variable(np.array(1.5))
y = x * Sin()(x)
print("\nbehind y: ", sorted(functions_behind(y)))
y.backward()
first = x.grad
print("behind y':", sorted(functions_behind(first)))

# %%
# In the package
# --------------
# ``dezero`` works in the same way: ``backward`` of each of its Functions is written
# with operators and functions of Variables. Since recording costs time and memory, and
# most programs want first derivatives only, it records a pass only if asked to, with
# ``create_graph=True``. The next step looks at that.

x = dz.Variable(np.array(1.5))
y = x * F.sin(x)
package = []
for _ in range(3):
    y.backward(create_graph=True)
    y, x.grad = x.grad, None
    package.append(float(y))
print("\nours:   ", np.round(ours, 10))
print("package:", np.round(package, 10))

assert np.allclose(ours, on_paper, rtol=1e-12)
assert np.allclose(ours, package, rtol=1e-12)
assert sorted(functions_behind(first)) == ["Add", "Cos", "Mul", "Mul", "Mul", "Sin"]

# %%
# Exercises
# ---------
# 1. Add a class ``Exp`` whose ``backward`` can be differentiated. Check it with the
#    first three derivatives of :math:`e^{2x}` at 0, which are 2, 4 and 8.
# 2. In ``Sin.backward``, write ``Variable(np.cos(self.inputs[0].data))`` in place of
#    ``Cos()(self.inputs[0])``. Which of the three derivatives of :math:`x \sin x` is
#    the first to be wrong?
# 3. How many Functions are there behind the second derivative of :math:`x \sin x`?
#    Count with ``functions_behind``.
