r"""
Step 13: gradients to many inputs
=================================

Since step 11 a function may have several inputs and outputs, but only ``forward`` knows
about it. Now ``backward`` learns it too. A function of two inputs has two slopes, and
one incoming gradient per output; the chain rule adds up the ways from each output:

.. math:: \frac{dz}{dx_i} = \sum_j \frac{dz}{dy_j} \frac{dy_j}{dx_i}

The sum over the outputs is the business of each function's ``backward``, because only
it knows the slopes. The loop hands over all that came in and distributes what comes
out.

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
            gys = []
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
# A sum grows as fast as each of its terms. Both slopes are 1, and each input receives
# the gradient as it came in.


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
# :math:`z = x^2 + e^y` has the slopes :math:`2x` and :math:`e^y`. One call of
# ``backward`` finds both.
x = Variable(np.array(3.0))
y = Variable(np.array(0.5))
z = add(square(x), exp(y))
z.backward()

print("z     =", z.data)
print("dz/dx =", x.grad, "  expected 2x     =", 2 * 3.0)
print("dz/dy =", y.grad, "  expected exp(y) =", np.exp(0.5))
assert x.grad == 6.0
assert y.grad == np.exp(0.5)

# %%
# One output, or both
# -------------------
# At the point (3, 4) the length is 5. Asked for the length alone, the angle gets a
# gradient of zero. Asked for the sum of length and angle, both columns take part.
# Central differences, as in step 4, give the numbers to compare with.


def length(a, b):
    return polar(a, b)[0]


def length_plus_angle(a, b):
    return add(*polar(a, b))


def slopes(f, a, b, eps=1e-6):
    def value(a, b):
        return f(Variable(np.array(a)), Variable(np.array(b))).data

    by_a = (value(a + eps, b) - value(a - eps, b)) / (2 * eps)
    by_b = (value(a, b + eps) - value(a, b - eps)) / (2 * eps)
    return by_a, by_b


for f in (length, length_plus_angle):
    a = Variable(np.array(3.0))
    b = Variable(np.array(4.0))
    f(a, b).backward()
    expected = slopes(f, 3.0, 4.0)
    print(f"{f.__name__}: backward    {a.grad:.6f} {b.grad:.6f}")
    print(f"{f.__name__}: differences {expected[0]:.6f} {expected[1]:.6f}")
    assert np.allclose([a.grad, b.grad], expected, atol=1e-8)

# %%
# Exercises
# ---------
# 1. Write a class ``Cylinder`` with ``forward(self, r, h)`` that returns
#    :math:`\pi r^2 h`, and its ``backward``. What are the two slopes at r = 1, h = 2?
# 2. Write a class ``Ends`` that returns two outputs, the smaller and the larger of its
#    two inputs (``np.minimum``, ``np.maximum``), and its ``backward``, for inputs that
#    differ. Which gradients do (5, 2) get from the larger one alone?
# 3. A beginner writes ``return gy`` in ``Add.backward``. What happens?
