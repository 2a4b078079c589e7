r"""
Step 15: why order matters
==========================

The loop of step 14 gives wrong gradients for a harmless calculation: two functions use
the same value, and their results meet again. Drawn, it is a diamond::

             double
           /        \
    x -- a            y         a = x²   y = a³ + 2a
           \        /
              cube

At x = 1 the slope is found by hand: :math:`y = x^6 + 2x^2`, so
:math:`6x^5 + 4x = 10`. The program says 14. No rule of differentiation is broken. The
functions only run in the wrong order.

New since the step before: nothing in the library. This step looks for the fault; the
next one mends it.
"""

# %%
# From the steps before
# ---------------------
import numpy as np


def as_array(x):
    return np.asarray(x)


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

    def cleargrad(self):
        self.grad = None

    def accumulate(self, gx):
        total = gx if self.grad is None else self.grad + gx
        self.grad = as_array(total)

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
                x.accumulate(gx)
                if x.creator is not None:
                    todo.append(x.creator)


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


def square(x):
    return Square()(x)


class Add(Function):
    def forward(self, x0, x1):
        return x0 + x1

    def backward(self, gy):
        return gy, gy


def add(x0, x1):
    return Add()(x0, x1)


# %%
# The diamond goes wrong
# ----------------------
# Two more functions make the two sides easy to tell apart.


class Double(Function):
    def forward(self, x):
        return 2 * x

    def backward(self, gy):
        return 2 * gy


class Cube(Function):
    def forward(self, x):
        return x**3

    def backward(self, gy):
        x = self.inputs[0].data
        return 3 * x**2 * gy


def double(x):
    return Double()(x)


def cube(x):
    return Cube()(x)


def diamond(x):
    a = square(x)
    return add(cube(a), double(a))


def by_differences(f, h=1e-5):
    high = f(Variable(np.array(1.0 + h))).data
    low = f(Variable(np.array(1.0 - h))).data
    return (high - low) / (2 * h)


x = Variable(np.array(1.0))
diamond(x).backward()
print("backward:   ", x.grad, " wrong")
print(f"differences: {by_differences(diamond):.6f}")

# %%
# Watching the loop
# -----------------
# ``walk`` is the loop of ``Variable.backward`` with three changes. It returns the names
# of the functions in the order in which they ran. ``newest_first`` chooses between the
# end of the list, as so far, and its beginning. ``once`` puts no function on the list
# that has been there already. (All functions here have one output; so it is shorter.)


# New in this step
def walk(y, newest_first, once):
    y.grad = np.ones_like(y.data)
    todo = [y.creator]
    seen = {y.creator}
    order = []
    while todo:
        f = todo.pop() if newest_first else todo.pop(0)
        order.append(type(f).__name__)
        gxs = f.backward(f.outputs[0].grad)
        if not isinstance(gxs, tuple):
            gxs = (gxs,)
        for x, gx in zip(f.inputs, gxs, strict=True):
            x.accumulate(gx)
            if x.creator is not None and not (once and x.creator in seen):
                seen.add(x.creator)
                todo.append(x.creator)
    return order


x = Variable(np.array(1.0))
order = walk(diamond(x), newest_first=True, once=False)
print(" -> ".join(order), " gives", x.grad)

# %%
# ``Square`` runs twice. The first time the gradient of a is only 2, the part that came
# through ``Double``, and x receives 2 · 2 = 4. Then ``Cube`` adds 3, the gradient of a
# is complete, and ``Square`` runs again with all of it: 5 · 2 = 10. The first part has
# been counted twice, 4 + 10 = 14.
#
# Four rules, two graphs
# ----------------------
# Running each function once is part of the remedy, but once *when*? The table tries
# all four rules, on the diamond and on a lopsided one, whose one side is longer.
# There :math:`y = a^3 + 8a`, and the slope at x = 1 is (3 + 8) · 2 = 22.


def lopsided(x):
    a = square(x)
    return add(cube(a), double(double(double(a))))


found = {}
for newest_first in (True, False):
    for once in (False, True):
        grads = []
        for f in (diamond, lopsided):
            x = Variable(np.array(1.0))
            walk(f(x), newest_first, once)
            grads.append(float(x.grad))
        found[newest_first, once] = grads

print("take    each function   diamond   lopsided")
for (newest_first, once), (even, long) in found.items():
    take = "newest" if newest_first else "oldest"
    often = "once" if once else "as often as met"
    print(f"{take}  {often:15} {even:8.0f} {long:9.0f}")
print(f"differences            {by_differences(diamond):8.0f}", end=" ")
print(f"{by_differences(lopsided):9.0f}")

# %%
# One of the four rules is right for the diamond, and none for the lopsided graph. Each
# goes by the order in which functions were *met*. What counts is something else: **a
# function may run only when its output has all its gradients**, that is, after every
# function that used the output. ``Square`` must wait for ``Cube`` and for the last of
# the three ``Double``.
assert order == ["Add", "Double", "Square", "Cube", "Square"]
assert np.isclose(by_differences(diamond), 10.0)
assert np.isclose(by_differences(lopsided), 22.0)
assert found[True, False] == [14.0, 38.0]
assert found[True, True] == [4.0, 16.0]
assert found[False, False] == [20.0, 28.0]
assert found[False, True] == [10.0, 6.0]

# %%
# Exercises
# ---------
# 1. With ``newest_first=False, once=True`` the lopsided graph gives 6. Write down the
#    order in which its functions run, and find the moment at which it goes wrong. Check
#    your list with ``walk``.
# 2. Which of the four rules differentiates ``square(add(x, x))`` rightly? Why is this
#    graph no trouble?
# 3. Swap the two arguments of ``add`` in ``diamond``. The sum is the same. Is the
#    gradient that ``backward`` finds?
