r"""
Step 14: the same variable twice
================================

In :math:`y = x + x` the variable takes two ways to the result, and each way brings a
gradient back. The chain rule says what to do with them: add them up.

.. math:: \frac{dy}{dx} = 1 + 1 = 2

So far the loop *stores* what it brings, and the second gradient overwrites the first.
From now on a Variable *accumulates*: it adds what comes to what it has. This step also
shows why the sum must be a new array, and why gradients must be cleared between two
passes, that is, two walks back.

New since the step before: ``Variable.accumulate`` and its call in the loop,
``Variable.cleargrad``. The new lines are marked ``# new``.
"""

# %%
# A sum, not a replacement
# ------------------------
# ``self.grad + gx`` makes a new array. ``self.grad += gx`` would be shorter and would
# change an array that others may hold; below is what comes of that.
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

    def cleargrad(self):  # new
        self.grad = None

    def accumulate(self, gx):  # new
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
                x.accumulate(gx)  # new
                if x.creator is not None:
                    todo.append(x.creator)


# %%
# From the steps before
# ---------------------
# ``Exp`` and ``Polar`` are left out. They are not needed here.


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
# Overwritten, or added up
# ------------------------
# ``Overwriting`` is the rule of step 13. It loses one of the two ways.


class Overwriting(Variable):
    def accumulate(self, gx):
        self.grad = as_array(gx)


old = Overwriting(np.array(3.0))
add(old, old).backward()
print("x + x, overwritten:", old.grad, " wrong")

x = Variable(np.array(3.0))
add(x, x).backward()
print("x + x, added up:   ", x.grad)

# %%
# The trap in ``+=``
# ------------------
# ``Add.backward`` returns ``gy`` twice: the same array, not two copies. ``InPlace``
# keeps the first as its gradient and adds the second to it with ``+=``. It adds the
# array to itself, and changes what the other owners of that array see.
#
# In ``(x + x) + x`` one array ``g``, holding 1, reaches x three times: it is the seed
# in ``y.grad``, and ``Add`` hands it on as it is. The right gradient of x is 3. In
# place it becomes g = 1, then g + g = 2, and then, since ``g`` itself is 2 by now,
# 2 + 2 = 4. And ``y.grad``, the same array, is 4 too.


class InPlace(Variable):
    def accumulate(self, gx):
        if self.grad is None:
            self.grad = as_array(gx)
        else:
            self.grad += gx


trap = InPlace(np.array([3.0, 5.0]))
y_trap = add(add(trap, trap), trap)
y_trap.backward()
print("x + x + x in place: ", trap.grad, " wrong")
print("    gradient of y:  ", y_trap.grad, " wrong too: dy/dy is 1")

z = Variable(np.array([3.0, 5.0]))
y = add(add(z, z), z)
y.backward()
print("x + x + x, new sums:", z.grad)
print("    gradient of y:  ", y.grad)

# %%
# Gradients outlive a pass
# ------------------------
# Accumulating has a consequence: a Variable used in a second calculation adds the new
# gradient to the old one. Sometimes that is wanted (exercise 2). Where it is not, call
# ``cleargrad`` first.
w = Variable(np.array(3.0))
square(w).backward()
first = w.grad
square(w).backward()
second = w.grad
print("slope of w² at 3:            ", first)
print("second pass, not cleared:    ", second)

w.cleargrad()
square(w).backward()
print("another pass, after clearing:", w.grad)

# %%
# The claims of this step, as assertions.
assert old.grad == 1.0 and x.grad == 2.0
assert trap.grad.tolist() == [4.0, 4.0] and y_trap.grad.tolist() == [4.0, 4.0]
assert z.grad.tolist() == [3.0, 3.0] and y.grad.tolist() == [1.0, 1.0]
assert (first, second, w.grad) == (6.0, 12.0, 6.0)

# %%
# Exercises
# ---------
# 1. What is the slope of :math:`x^2 + x` at x = 4? Work it out on paper, then let
#    ``backward`` find it. Which number would ``Overwriting`` have left?
# 2. Two calculations with the same x are :math:`x^2` and :math:`x + x`, at x = 3. Call
#    ``backward`` on both without clearing in between. The gradient of which single
#    expression is now in ``x.grad``?
# 3. Let ``InPlace`` variables a and b hold ``np.array([1.0])`` each, and
#    ``y = (a + a) + b``. Which gradient does b get, and which should it get?
