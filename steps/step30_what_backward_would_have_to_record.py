r"""
Step 30: what backward would have to record
===========================================

The derivative of a derivative should not need a new idea. ``backward`` computes
:math:`f'(x)` by multiplying and adding. If those multiplications left a graph behind,
as the ones of ``forward`` do, then a second ``backward`` could walk through that graph.

Here we look at what is left behind in the framework of the first steps, where gradients
are plain arrays, and write down what is missing:

.. math:: y = x \cdot x \cdot x, \qquad y' = 3x^2, \qquad y'' = 6x

New since the step before: nothing in the library. This step finds out what to change.
"""

# %%
# Where we stand
# --------------
# A short form of our own framework: two operations, a loop with generations, gradients
# as arrays. To be short, the loop keeps the gradients of a pass in one dict, under the
# Function that made the Variable, or under the Variable itself if nothing made it. At
# the end only those of the inputs are left there. One thing is added: ``Mul.backward``
# notes in ``log`` what it multiplies.

import heapq

import numpy as np

import dezero as dz


class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None
        self.creator = None

    def backward(self):
        gradients = {self.creator: np.ones_like(self.data)}  # by Function, or by leaf
        queue = [(-self.creator.generation, id(self.creator), self.creator)]
        while queue:
            f = heapq.heappop(queue)[2]
            for x, gx in zip(f.inputs, f.backward(gradients.pop(f)), strict=True):
                place = x.creator or x
                if place not in gradients and x.creator:
                    heapq.heappush(queue, (-place.generation, id(place), place))
                gradients[place] = gradients.get(place, 0) + gx
        for x, gx in gradients.items():
            x.grad = gx if x.grad is None else x.grad + gx


class Function:
    def __call__(self, *inputs):
        y = Variable(self.forward(*[x.data for x in inputs]))
        y.creator = self
        self.inputs = inputs
        self.generation = max(
            x.creator.generation + 1 if x.creator else 0 for x in inputs
        )
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

x = Variable(np.array(2.0))
y = mul(mul(x, x), x)
y.backward()
print("x.grad is", x.grad, "and its type is", type(x.grad).__name__)
print("has a creator:", hasattr(x.grad, "creator"))
print("backward multiplied:", ", ".join(log))

# %%
# The gradient is right, 12, and it ends there: a plain number has no creator, and
# nothing leads from 12 back to ``x``. But it did come from ``x``. All four products in
# the log contain the number 2 or 4, that is :math:`x` or :math:`x^2`. They would change
# if ``x`` did. Written as ``gy * x1.data`` they are arithmetic on arrays, of which
# nobody keeps a record.
#
# Backward once more, recorded
# ----------------------------
# Let us do the same four products and the sums by hand, but with ``mul`` and ``add`` on
# Variables. The gradient to start with is a Variable that holds 1.

# New in this step
x = Variable(np.array(2.0))
a = mul(x, x)
y = mul(a, x)

gy = Variable(np.array(1.0))
ga, gx = mul(gy, x), mul(gy, a)  # Mul.backward for y = a * x
gx0, gx1 = mul(ga, x), mul(ga, x)  # Mul.backward for a = x * x
gx = add(gx, add(gx0, gx1))  # x is used three times
print("\nfirst derivative: ", gx.data, "made by", type(gx.creator).__name__)

gx.backward()
second = x.grad
print("second derivative:", second)

# %%
# :math:`6x = 12`, without any new rule. ``gx`` is a result like any other, and the loop
# that we have differentiates it.
#
# A past that is cut off
# ----------------------
# One detail decides. In ``mul(gy, a)`` the factor is ``a`` itself, a Variable that
# knows it came from ``x``. With a copy of the number in its place, the first derivative
# stays right and the second goes wrong:

x = Variable(np.array(2.0))
a = mul(x, x)
number = Variable(a.data)  # the same value, without a past
gy = Variable(np.array(1.0))
ga, gx = mul(gy, x), mul(gy, number)
gx = add(gx, add(mul(ga, x), mul(ga, x)))
gx.backward()
print("\nwith a number in place of a:", gx.data, "and then", x.grad)

# %%
# 8 and not 12: for this graph, the gradient is :math:`4 + 2x^2` with a fixed 4. No
# error is raised. So three things have to change in the framework:
#
# 1. The gradients that travel back are Variables, and so is ``x.grad``.
# 2. ``backward`` of a Function computes with Functions, not with arrays.
# 3. It takes its inputs as Variables (``x1``), with their past, and not as ``x1.data``.
#
# The price: going back records a graph of its own, here of six Functions against two.
# The package is made like that, and it avoids the price as long as nobody asks for it.
# Its gradient is a Variable, but as a rule one without a past:

u = dz.Variable(np.array(2.0))
(u * u * u).backward()
print("\nin the package:", u.grad, "made by", u.grad.creator)

assert log[:4] == ["1.0 * 2.0", "1.0 * 4.0", "2.0 * 2.0", "2.0 * 2.0"]
assert not hasattr(x.grad, "creator")
assert second == 12.0
assert gx.data == 12.0 and x.grad == 8.0
assert u.grad.data == 12.0 and u.grad.creator is None

# %%
# Exercises
# ---------
# 1. Do the same by hand for :math:`y = x_0 x_1 + x_0`: compute the gradient by
#    :math:`x_0` with ``mul`` and ``add``, and differentiate it by both variables. What
#    do you expect?
# 2. The 1 in ``gy`` is in a Variable too, and the first ``gx.backward()`` above leaves
#    a gradient on it. What is ``gy.grad`` there, and what does it mean?
# 3. The list names the Functions. Which lines of ``Variable.backward`` compute with
#    gradients, and have to change as well?
