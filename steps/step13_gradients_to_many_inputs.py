r"""
Step 13: gradients to many inputs
=================================

Since step 11 a function may have several inputs and outputs, but only ``forward`` knows
about it. Now ``backward`` learns it too. Let a function have the inputs :math:`x_i` and
the outputs :math:`y_j`, with one slope for each pair of an output and an input, and let
:math:`z` be the result of the whole computation. A change of :math:`x_i` reaches
:math:`z` through every output, and the chain rule adds these ways up:

.. math:: \frac{dz}{dx_i} = \sum_j \frac{dz}{dy_j} \frac{dy_j}{dx_i}

The sum over the outputs is the business of each function's ``backward``, because only
it knows the slopes. The loop hands over the gradients of all outputs and gives each
input its own.

New since the step before: the loop in ``Variable.backward`` takes any number of inputs
and outputs; ``Add.backward`` and ``Polar.backward``. The new lines are marked
``# new``.
"""

# %%
# The loop
# --------
# For each function it collects the gradients ``gys`` of all outputs, calls
# ``f.backward(*gys)``, and stores one gradient per input. An output that nobody used
# has no gradient. It had no influence on the result, so its gradient is zero.
import numpy as np


def as_array(x):
    return np.asarray(x)


# New in this step
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

    def set_creator(self, func):
        self.creator = func

    def backward(self):
        if self.grad is None:
            self.grad = np.ones_like(self.data)
        todo = [] if self.creator is None else [self.creator]
        while todo:
            f = todo.pop()
            gys = []  # new
            for y in f.outputs:  # new
                gys.append(np.zeros_like(y.data) if y.grad is None else y.grad)
            gxs = f.backward(*gys)  # new
            if not isinstance(gxs, tuple):  # new
                gxs = (gxs,)
            for x, gx in zip(f.inputs, gxs, strict=True):  # new
                x.grad = as_array(gx)
                if x.creator is not None:
                    todo.append(x.creator)


# %%
# ``zip(..., strict=True)`` raises an error when the two lengths differ, so a
# ``backward`` that forgets one of its inputs is found out at once.
#
# From the steps before
# ---------------------
# Nothing here has changed.


class Function:
    def __call__(self, *inputs):
        xs = [x.data for x in inputs]
        ys = self.forward(*xs)
        if not isinstance(ys, tuple):
            ys = (ys,)
        self.inputs = inputs
        self.outputs = tuple([Variable(as_array(y)) for y in ys])
        for y in self.outputs:
            y.set_creator(self)
        return self.outputs if len(ys) > 1 else self.outputs[0]


class Square(Function):
    def forward(self, x):
        return x**2

    def backward(self, gy):
        x = self.inputs[0].data
        return 2 * x * gy


class Exp(Function):
    def forward(self, x):
        return np.exp(x)

    def backward(self, gy):
        x = self.inputs[0].data
        return np.exp(x) * gy


def square(x):
    return Square()(x)


def exp(x):
    return Exp()(x)


# %%
# Two functions
# -------------
# When one term of a sum grows a little, the sum grows by the same amount. Both slopes
# are 1, and each input receives the gradient as it came in.


class Add(Function):
    def forward(self, x0, x1):
        return x0 + x1

    def backward(self, gy):  # new
        return gy, gy


def add(x0, x1):
    return Add()(x0, x1)


# %%
# ``Polar`` maps two coordinates to a length :math:`r = \sqrt{x_0^2 + x_1^2}` and an
# angle :math:`\varphi`. Two inputs and two outputs make four slopes:
#
# =============  ====================  ====================
# slope of       by :math:`x_0`        by :math:`x_1`
# =============  ====================  ====================
# the length     :math:`x_0 / r`       :math:`x_1 / r`
# the angle      :math:`-x_1 / r^2`    :math:`x_0 / r^2`
# =============  ====================  ====================
#
# Each line of ``backward`` below is one column of the table.


class Polar(Function):
    def forward(self, x0, x1):
        return np.hypot(x0, x1), np.arctan2(x1, x0)

    def backward(self, glength, gangle):  # new
        x0, x1 = [x.data for x in self.inputs]
        r = np.hypot(x0, x1)
        gx0 = glength * x0 / r - gangle * x1 / r**2
        gx1 = glength * x1 / r + gangle * x0 / r**2
        return gx0, gx1


def polar(x0, x1):
    return Polar()(x0, x1)


# %%
# A sum of two functions
# ----------------------
# :math:`z = a^2 + e^b` has the slopes :math:`2a` and :math:`e^b`. One call of
# ``backward`` finds both.
a = Variable(np.array(3.0))
b = Variable(np.array(0.5))
z = add(square(a), exp(b))
z.backward()

print("z     =", z.data)
print("dz/da =", a.grad, "  expected 2a     =", 2 * 3.0)
print("dz/db =", b.grad, "  expected exp(b) =", np.exp(0.5))

# %%
# One output, or both
# -------------------
# At the point (3, 4) the length is 5. Asked for the length alone, the angle gets a
# gradient of zero. Asked for the sum of length and angle, both rows take part.
# Central differences, as in step 04, give the numbers to compare with.
#
# (With both outputs in use, ``Polar`` gets on the list twice and runs twice. It stores
# the same gradients twice, which does no harm here. Steps 15 and 16 come back to it.)


def length(x0, x1):
    return polar(x0, x1)[0]


def length_plus_angle(x0, x1):
    return add(*polar(x0, x1))


def slopes(f, x0, x1, h=1e-6):
    def value(x0, x1):
        return f(Variable(np.array(x0)), Variable(np.array(x1))).data

    by_x0 = (value(x0 + h, x1) - value(x0 - h, x1)) / (2 * h)
    by_x1 = (value(x0, x1 + h) - value(x0, x1 - h)) / (2 * h)
    return by_x0, by_x1


found = {}
for f in (length, length_plus_angle):
    x0 = Variable(np.array(3.0))
    x1 = Variable(np.array(4.0))
    f(x0, x1).backward()
    expected = slopes(f, 3.0, 4.0)
    found[f.__name__] = [x0.grad, x1.grad], expected
    print(f"{f.__name__}: backward    {x0.grad:.6f} {x1.grad:.6f}")
    print(f"{f.__name__}: differences {expected[0]:.6f} {expected[1]:.6f}")

# %%
# The claims of this step, as assertions.
assert a.grad == 6.0 and b.grad == np.exp(0.5)
assert np.allclose(found["length"][0], [0.6, 0.8])
assert np.allclose(found["length_plus_angle"][0], [0.44, 0.92])
for grads, expected in found.values():
    assert np.allclose(grads, expected, atol=1e-8)

# %%
# Exercises
# ---------
# 1. Write a class ``Cylinder`` with ``forward(self, r, h)`` that returns
#    :math:`\pi r^2 h`, and its ``backward``. What are the two slopes at r = 1, h = 2?
# 2. Write a class ``Ends`` that returns two outputs, the smaller and the larger of its
#    two inputs (``np.minimum``, ``np.maximum``), and its ``backward``, for inputs that
#    differ. Which gradients do (5, 2) get from the larger one alone?
# 3. A beginner writes ``return gy`` in ``Add.backward``. What happens?
