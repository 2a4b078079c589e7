r"""
Step 16: generations and the priority queue
===========================================

Step 15 ended with a rule: a function runs after every function that used its output.
One number per function is enough to keep it. Inputs have **generation** 0. A function
has the highest generation among its inputs, and its outputs have one more:

.. math::

   \mathrm{gen}(f) = \max_i \mathrm{gen}(x_i), \qquad
   \mathrm{gen}(y) = \mathrm{gen}(f) + 1

So every function that uses y has a higher generation than the one that made y. Let the
loop always take the highest generation that is waiting. Then all users of y run before
the maker of y. Those that wait are higher, so they go first. A user that is not waiting
yet will be put there by a function that is higher still, and that one goes first as
well. A *priority queue* hands the functions out in this order.

New since the step before: ``generation`` in ``Variable`` and ``Function``, and the
queue in ``Variable.backward``. The new lines are marked ``# new``.
"""

# %%
# The queue
# ---------
# Python's ``heapq`` keeps a list so that ``heappop`` always returns the smallest
# element, in a time that grows only with the logarithm of the length. We want the
# largest generation, hence the minus sign. Tuples are compared by their first elements;
# where these are equal, by the second. ``len(met)`` is different for each function, so
# that two functions themselves, which have no order, are never compared.
#
# ``met`` holds the functions that have been put into the queue, each of them once. (A
# function of two outputs, such as ``Polar``, is met once for each of them.)
import heapq

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
        self.generation = 0  # new

    def set_creator(self, func):
        self.creator = func
        self.generation = func.generation + 1  # new

    def cleargrad(self):
        self.grad = None

    def accumulate(self, gx):
        total = gx if self.grad is None else self.grad + gx
        self.grad = as_array(total)

    def backward(self):
        if self.grad is None:
            self.grad = np.ones_like(self.data)
        queue = []  # new
        met = set()  # new

        def meet(f):  # new
            if f is not None and f not in met:
                met.add(f)
                heapq.heappush(queue, (-f.generation, len(met), f))

        meet(self.creator)  # new
        while queue:  # new
            _, _, f = heapq.heappop(queue)  # new
            gys = []
            for y in f.outputs:
                gys.append(np.zeros_like(y.data) if y.grad is None else y.grad)
            gxs = f.backward(*gys)
            if not isinstance(gxs, tuple):
                gxs = (gxs,)
            for x, gx in zip(f.inputs, gxs, strict=True):
                x.accumulate(gx)
                meet(x.creator)  # new


class Function:
    def __call__(self, *inputs):
        xs = [x.data for x in inputs]
        ys = self.forward(*xs)
        if not isinstance(ys, tuple):
            ys = (ys,)
        self.inputs = inputs
        self.outputs = tuple([Variable(as_array(y)) for y in ys])
        self.generation = max([x.generation for x in inputs])  # new
        for y in self.outputs:
            y.set_creator(self)
        return self.outputs if len(ys) > 1 else self.outputs[0]


# %%
# From the steps before
# ---------------------
# ``Double`` and ``Cube`` are those of step 15, and so are the two graphs.


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


def lopsided(x):
    a = square(x)
    return add(cube(a), double(double(double(a))))


# %%
# Both graphs of step 15
# ----------------------
# To see the order, ``watch`` replaces the ``backward`` of a class by one that first
# notes the name and the generation.
order = []


def watch(cls):
    backward = cls.backward

    def noted(self, *gys):
        order.append(f"{cls.__name__} {self.generation}")
        return backward(self, *gys)

    cls.backward = noted


for cls in (Square, Add, Double, Cube):
    watch(cls)

x = Variable(np.array(1.0))
diamond(x).backward()
diamond_grad, diamond_order = x.grad, list(order)
print("diamond: ", " -> ".join(diamond_order), " gives", diamond_grad)

order.clear()
x = Variable(np.array(1.0))
lopsided(x).backward()
lopsided_grad, lopsided_order = x.grad, list(order)
print("lopsided:", " -> ".join(lopsided_order), " gives", lopsided_grad)

# %%
# The slopes are 10 and 22, as they should be. In the lopsided graph ``Cube`` and the
# first ``Double`` are of one generation: both use the output of ``Square``. Which of
# the two goes first makes no difference. ``Square`` waits for both.
#
# Many ways, few functions
# ------------------------
# In a chain of sums ``y = add(y, y)`` the number of ways from the end to the beginning
# doubles at each link. With 60 links there are :math:`2^{60}`, more than
# :math:`10^{18}`. The loop does not walk them one by one: gradients meet at each link,
# are added up, and go on as one.
order.clear()
x = Variable(np.array(1.0))
y = x
for _ in range(60):
    y = add(y, y)
y.backward()
print("ways back:    ", 2**60)
print("gradient:     ", int(x.grad))
print("functions run:", len(order))

# %%
# The claims of this step, as assertions.
assert diamond_grad == 10.0 and lopsided_grad == 22.0
assert diamond_order == ["Add 2", "Cube 1", "Double 1", "Square 0"]
assert lopsided_order[:3] == ["Add 4", "Double 3", "Double 2"]
assert sorted(lopsided_order[3:5]) == ["Cube 1", "Double 1"]
assert lopsided_order[5:] == ["Square 0"]
assert x.grad == 2**60 and len(order) == 60

# %%
# Exercises
# ---------
# 1. Which generation has each function in
#    ``add(square(square(x)), add(x, square(x)))``? In which orders may the loop take
#    them? Write each as a name with its generation, such as ``Cube 1``; then let
#    ``watch`` tell.
# 2. A program that runs ``y.backward()`` for ``y = add(x, x)`` meets ``x.creator``,
#    which is None, twice. Find the place in ``backward`` that deals with it.
# 3. In ``meet``, leave ``len(met)`` out of the tuple. Which of the graphs above raises
#    an error, and why not every graph?
