r"""
Step 30: what backward would have to record
===========================================

The derivative of a derivative should not need a new idea. ``backward`` computes
:math:`f'(x)` by multiplying and adding. If those multiplications left a graph behind,
as the ones of ``forward`` do, then a second ``backward`` could walk through that graph.

Here we look at what is left behind in the framework of steps 1 to 22, where gradients
are plain arrays, and write down what is missing:

.. math:: y = x \cdot x \cdot x, \qquad y' = 3x^2, \qquad y'' = 6x

New since the step before: nothing in the library. This step finds out what to change.
"""

# %%
# Where we stand
# --------------
# A short form of our own framework: two operations, and the loop of step 18, which
# takes the gradient off each result when it has been passed on. To be short, each
# Function has one output, to which it holds a plain reference (step 17 says what that
# costs), and each ``backward`` returns a tuple. One thing is added: ``Mul.backward``
# notes in ``log`` what it multiplies.

import heapq

import numpy as np

import dezero as dz


class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None
        self.creator = None
        self.generation = 0

    def accumulate(self, gx):
        self.grad = gx if self.grad is None else self.grad + gx

    def backward(self):
        self.grad = np.ones_like(self.data)
        queue, met = [], set()

        def meet(f):
            if f is not None and f not in met:
                met.add(f)
                heapq.heappush(queue, (-f.generation, len(met), f))

        meet(self.creator)
        while queue:
            _, _, f = heapq.heappop(queue)
            gxs = f.backward(f.output.grad)
            f.output.grad = None
            for x, gx in zip(f.inputs, gxs, strict=True):
                x.accumulate(gx)
                meet(x.creator)


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


log = []


class Mul(Function):
    def forward(self, x0, x1):
        return x0 * x1

    def backward(self, gy):
        x0, x1 = self.inputs
        log.append(f"{gy} * {x1.data}")
        log.append(f"{gy} * {x0.data}")
        return gy * x1.data, gy * x0.data


def add(x0, x1):
    return Add()(x0, x1)


def mul(x0, x1):
    return Mul()(x0, x1)


# %%
# A number without a past
# -----------------------

x = Variable(np.array(3.0))
y = mul(mul(x, x), x)
y.backward()
print("x.grad is", x.grad, "and its type is", type(x.grad).__name__)
print("has a creator:", hasattr(x.grad, "creator"))
print("backward multiplied:", ", ".join(log))

# %%
# The gradient is right, :math:`3 \cdot 3^2 = 27`, and it ends there: a plain number has
# no creator, and nothing leads from 27 back to ``x``. But it did come from ``x``. All
# four products in the log contain the number 3 or 9, that is :math:`x` or :math:`x^2`.
# They would change if ``x`` did. Written as ``gy * x1.data`` they are arithmetic on
# arrays, of which nobody keeps a record.
#
# Backward once more, recorded
# ----------------------------
# Let us do the same four products and the sums by hand, but with ``mul`` and ``add`` on
# Variables. The gradient to start with is a Variable that holds 1.

# New in this step
x = Variable(np.array(3.0))
a = mul(x, x)
y = mul(a, x)

gy = Variable(np.array(1.0))
ga, gx = mul(gy, x), mul(gy, a)  # Mul.backward for y = a * x
gx0, gx1 = mul(ga, x), mul(ga, x)  # Mul.backward for a = x * x
gx = add(gx, add(gx0, gx1))  # x is used three times
print("\nfirst derivative: ", gx.data, "made by", type(gx.creator).__name__)

gx.backward()
first, second = gx.data, x.grad
print("second derivative:", second)

# %%
# :math:`6x = 18`, without any new rule. ``gx`` is a result like any other, and the loop
# that we have differentiates it.
#
# A past that is cut off
# ----------------------
# One detail decides. In ``mul(gy, a)`` the factor is ``a`` itself, a Variable that
# knows it came from ``x``. With a copy of the number in its place, the first derivative
# stays right and the second goes wrong:

x = Variable(np.array(3.0))
a = mul(x, x)
number = Variable(a.data)  # the same value, without a past
gy = Variable(np.array(1.0))
ga, gx = mul(gy, x), mul(gy, number)
gx = add(gx, add(mul(ga, x), mul(ga, x)))
gx.backward()
print("\nwith a number in place of a:", gx.data, "and then", x.grad)

# %%
# 12 and not 18: for this graph, the gradient is :math:`9 + 2x^2` with a fixed 9. No
# error is raised. So three things have to change in the framework:
#
# 1. The gradients that travel back are Variables, and so is ``x.grad``.
# 2. ``backward`` of a Function computes with Functions, not with arrays.
# 3. It takes its inputs as Variables (``x1``), with their past, and not as ``x1.data``.
#
# The price: going back records a graph of its own, here of six Functions against two.
# The package is made like that, and it avoids the price as long as nobody asks for it.
# Its gradient is a Variable, but as a rule one without a past:

u = dz.Variable(np.array(3.0))
(u * u * u).backward()
print("\nin the package:", u.grad, "made by", u.grad.creator)

assert log[:4] == ["1.0 * 3.0", "1.0 * 9.0", "3.0 * 3.0", "3.0 * 3.0"]
assert not hasattr(x.grad, "creator")
assert first == 27.0 and second == 18.0
assert gx.data == 27.0 and x.grad == 12.0
assert u.grad.data == 27.0 and u.grad.creator is None

# %%
# Exercises
# ---------
# 1. Do the same by hand for :math:`y = x_0 x_1 + x_0`: compute the gradient by
#    :math:`x_0` with ``mul`` and ``add``, and differentiate it by both variables. What
#    do you expect?
# 2. The 1 in ``gy`` is in a Variable too, and the first ``gx.backward()`` above leaves
#    a gradient on it. What is ``gy.grad`` there, and what does it mean?
# 3. The second and third point of the list are about Functions. Which two lines of
#    ``Variable`` compute with gradients? Change them and ``Mul.backward``, and let
#    ``backward`` find 27 and then 18.
