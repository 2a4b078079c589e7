"""
Step 08: a loop, not recursion
==============================

In step 07, ``backward`` called itself. This is recursion: each call waits until the one
behind it is done. Python lets about a thousand calls wait and then gives up, and a
computation with a loop in it is soon longer than that. So we keep a list of the
Functions that still have to run, and a loop that takes one from the list, runs it, and
adds the next::

    todo = [last Function]
    while todo:   take one, run it, add the creator of its input

Each turn of the loop is finished before the next begins, and nothing waits.

New since the step before: ``Variable.backward`` is a loop, and a Function also keeps
its ``output``, where the loop finds the gradient ``gy`` to hand to it.
"""

# %%
# Only ``backward`` and one line of ``Function`` change.
import numpy as np


# New in this step
class Variable:
    def __init__(self, data):
        self.data = data
        self.grad = None
        self.creator = None

    def set_creator(self, func):
        self.creator = func

    def backward(self):  # new
        todo = [] if self.creator is None else [self.creator]
        while todo:
            f = todo.pop()
            x, y = f.input, f.output
            x.grad = f.backward(y.grad)
            if x.creator is not None:
                todo.append(x.creator)


class Function:
    def __call__(self, x):
        y = Variable(self.forward(x.data))
        y.set_creator(self)
        self.input = x
        self.output = y  # new
        return y


class Square(Function):
    def forward(self, x):
        return x**2

    def backward(self, gy):
        x = self.input.data
        return 2 * x * gy


class Exp(Function):
    def forward(self, x):
        return np.exp(x)

    def backward(self, gy):
        x = self.input.data
        return np.exp(x) * gy


# %%
# The chain gives what it gave before.
x = Variable(np.array(0.8))
y = Exp()(Square()(Square()(x)))
y.grad = np.array(1.0)
y.backward()
print("gradient of x:", x.grad)

# %%
# Now a long chain, of 5000 functions that each add one. So the whole is
# :math:`x + 5000`. Each slope is 1, and the gradient, the product of 5000 ones, is
# exactly 1.


class AddOne(Function):
    def forward(self, x):
        return x + 1

    def backward(self, gy):
        return gy


def long_chain(x):
    for _ in range(5000):
        x = AddOne()(x)
    return x


start = Variable(np.array(0.0))
end = long_chain(start)
end.grad = np.array(1.0)
end.backward()
print("5000 functions: value", end.data, "gradient", start.grad)

# %%
# The ``backward`` of step 07, written as a function, fails on the same chain.


def backward_by_recursion(y):
    f = y.creator
    if f is not None:
        f.input.grad = f.backward(y.grad)
        backward_by_recursion(f.input)


failed = False
try:
    backward_by_recursion(end)
except RecursionError as error:
    failed = True
    print("by recursion:", error)

# %%
# In a chain, the list never holds more than one Function, and a plain variable would
# do. We keep the list for what is coming: when functions have many inputs, each input
# may have a creator of its own.

# %%
# What the text claims, checked:
assert np.isclose(x.grad, 4 * 0.8**3 * np.exp(0.8**4))
assert end.data == 5000.0 and start.grad == 1.0
assert failed

# %%
# Exercises
# ---------
#
# 1. Write the loop as a function ``backward_without_list(y)`` that uses no list. It may
#    rely on every Function having one input.
# 2. Write ``gradients(y)``. It returns a list of the gradients of all Variables behind
#    ``y``, ``y`` first. Try it on the chain after ``backward``; for ``x`` = 0.8 the
#    first is 1 and the last about 3.08.
# 3. ``backward`` of a Variable that no Function made: what does it do? Answer from the
#    code, then try it.
