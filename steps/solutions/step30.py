r"""
Solutions to step 30: what backward would have to record
========================================================
"""

# %%
# The framework of the step, without the log.
import heapq

import numpy as np


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


class Mul(Function):
    def forward(self, x0, x1):
        return x0 * x1

    def backward(self, gy):
        x0, x1 = self.inputs
        return gy * x1.data, gy * x0.data


def add(x0, x1):
    return Add()(x0, x1)


def mul(x0, x1):
    return Mul()(x0, x1)


# %%
# 1. The gradient of :math:`x_0 x_1 + x_0` by :math:`x_0`, by hand, and then
# differentiated. The gradient is :math:`x_1 + 1`. Its derivative by :math:`x_1` is 1.
# It does not contain :math:`x_0`, so no gradient arrives there.
x0, x1 = Variable(np.array(3.0)), Variable(np.array(5.0))
gy = Variable(np.array(1.0))
gx0 = add(mul(gy, x1), gy)  # from the product, and from the sum
print("gradient by x0:", gx0.data)
gx0.backward()
print("its derivatives by x0 and x1:", x0.grad, x1.grad)
assert gx0.data == 6.0 and x0.grad is None and x1.grad == 1.0

# %%
# 2. What is ``gy.grad`` after ``gx.backward()``, and what does it mean? The gradient
# that was computed is :math:`3x^2 \cdot g` for a start with :math:`g`, so its
# derivative by :math:`g` is :math:`3x^2 = 27`, the first derivative once more.
x = Variable(np.array(3.0))
a = mul(x, x)
gy = Variable(np.array(1.0))
ga, gx = mul(gy, x), mul(gy, a)
gx = add(gx, add(mul(ga, x), mul(ga, x)))
gx.backward()
print("\ngx:", gx.data, " x.grad:", x.grad, " gy.grad:", gy.grad)
assert gy.grad == gx.data == 27.0

# %%
# 3. Which two lines of ``Variable`` compute with gradients? The one with the ones that
# a pass starts with: they have to be in a Variable. And the sum in ``accumulate``,
# which ``add`` has to make. With ``mul`` in ``Mul.backward``, ``backward`` finds 27 and
# then 18. In between, the first derivative is taken off ``x``, or the second would be
# added to it.


def recording_accumulate(self, gx):
    self.grad = gx if self.grad is None else add(self.grad, gx)


def recording_backward(self):
    self.grad = Variable(np.ones_like(self.data))
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


def recording_products(self, gy):
    x0, x1 = self.inputs
    return mul(gy, x1), mul(gy, x0)


Variable.accumulate = recording_accumulate
Variable.backward = recording_backward
Mul.backward = recording_products

x = Variable(np.array(3.0))
y = mul(mul(x, x), x)
y.backward()
gx, x.grad = x.grad, None
gx.backward()
print("\nfirst and second derivative:", gx.data, x.grad.data)
assert gx.data == 27.0 and x.grad.data == 18.0
