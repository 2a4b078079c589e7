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

    def backward(self):
        gradients = {self.creator: np.ones_like(self.data)}
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
# derivative by :math:`g` is :math:`3x^2 = 12`, the first derivative once more.
x = Variable(np.array(2.0))
a = mul(x, x)
gy = Variable(np.array(1.0))
ga, gx = mul(gy, x), mul(gy, a)
gx = add(gx, add(mul(ga, x), mul(ga, x)))
gx.backward()
print("\ngx:", gx.data, " x.grad:", x.grad, " gy.grad:", gy.grad)
assert gy.grad == gx.data == 12.0

# %%
# 3. Which lines of ``Variable.backward`` compute with gradients? Three: the ones that
# it starts with have to be a Variable, and the two sums (in ``gradients``, and in
# ``x.grad``) have to be made by ``add``. With ``mul`` in ``Mul.backward`` the second
# derivative then comes out right.


def recording_loop(self):
    gradients = {self.creator: Variable(np.ones_like(self.data))}
    queue = [(-self.creator.generation, id(self.creator), self.creator)]
    while queue:
        f = heapq.heappop(queue)[2]
        for x, gx in zip(f.inputs, f.backward(gradients.pop(f)), strict=True):
            place = x.creator or x
            if place in gradients:
                gradients[place] = add(gradients[place], gx)
                continue
            gradients[place] = gx
            if x.creator:
                heapq.heappush(queue, (-place.generation, id(place), place))
    for x, gx in gradients.items():
        x.grad = gx if x.grad is None else add(x.grad, gx)


def recorded_products(self, gy):
    x0, x1 = self.inputs
    return mul(gy, x1), mul(gy, x0)


Mul.backward = recorded_products
Variable.backward = recording_loop

x = Variable(np.array(2.0))
y = mul(mul(x, x), x)
y.backward()
gx, x.grad = x.grad, None
gx.backward()
print("\nfirst and second derivative:", gx.data, x.grad.data)
assert gx.data == 12.0 and x.grad.data == 12.0
