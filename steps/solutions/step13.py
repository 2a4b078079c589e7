"""
Solutions to step 13: gradients to many inputs
==============================================
"""

# %%
# The mini-framework of step 13, as far as it is needed here.
import numpy as np


def as_array(x):
    return np.asarray(x)


class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None
        self.creator = None

    def backward(self):
        if self.grad is None:
            self.grad = np.ones_like(self.data)
        todo = [] if self.creator is None else [self.creator]
        while todo:
            f = todo.pop()
            gys = []
            for y in f.outputs:
                gys.append(np.zeros_like(y.data) if y.grad is None else y.grad)
            gxs = f.backward(*gys)
            if not isinstance(gxs, tuple):
                gxs = (gxs,)
            for x, gx in zip(f.inputs, gxs, strict=True):
                x.grad = as_array(gx)
                if x.creator is not None:
                    todo.append(x.creator)


class Function:
    def __call__(self, *inputs):
        ys = self.forward(*[x.data for x in inputs])
        if not isinstance(ys, tuple):
            ys = (ys,)
        self.inputs = inputs
        self.outputs = tuple([Variable(as_array(y)) for y in ys])
        for y in self.outputs:
            y.creator = self
        return self.outputs if len(ys) > 1 else self.outputs[0]


# %%
# 1. A class ``Cylinder``: the volume pi r^2 h and its two slopes at r = 1, h = 2.


class Cylinder(Function):
    def forward(self, r, h):
        return np.pi * r**2 * h

    def backward(self, gy):
        r, h = [x.data for x in self.inputs]
        return 2 * np.pi * r * h * gy, np.pi * r**2 * gy


r = Variable(np.array(1.0))
h = Variable(np.array(2.0))
Cylinder()(r, h).backward()
print("by r:", r.grad, "= 4 pi,  by h:", h.grad, "= pi")
assert np.allclose([r.grad, h.grad], [4 * np.pi, np.pi])

# %%
# 2. A class ``Ends``: the smaller and the larger input. Which gradients do (5, 2) get
# from the larger one alone?


class Ends(Function):
    def forward(self, x0, x1):
        return np.minimum(x0, x1), np.maximum(x0, x1)

    def backward(self, glow, ghigh):
        x0, x1 = [x.data for x in self.inputs]
        first_is_low = x0 < x1
        gx0 = np.where(first_is_low, glow, ghigh)
        gx1 = np.where(first_is_low, ghigh, glow)
        return gx0, gx1


a = Variable(np.array(5.0))
b = Variable(np.array(2.0))
low, high = Ends()(a, b)
high.backward()
print("the larger one:", high.data, " gradients:", a.grad, b.grad)
assert (a.grad, b.grad) == (1.0, 0.0)

# %%
# 3. ``return gy`` in ``Add.backward``: what happens?
#
# It returns one gradient for two inputs. The strict ``zip`` refuses that. Without
# ``strict=True`` the second input would keep no gradient at all, and nothing would say
# so.


class ForgetfulAdd(Function):
    def forward(self, x0, x1):
        return x0 + x1

    def backward(self, gy):
        return gy


try:
    ForgetfulAdd()(a, b).backward()
except ValueError as error:
    message = str(error)
print("ValueError:", message)
assert "shorter" in message
