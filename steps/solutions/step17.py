"""
Solutions to step 17: memory
============================
"""

# %%
# The mini-framework of step 17, as far as it is needed here.
import gc
import heapq
import weakref

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
        self.generation = 0

    def set_creator(self, func):
        self.creator = func
        self.generation = func.generation + 1

    def cleargrad(self):
        self.grad = None

    def accumulate(self, gx):
        total = gx if self.grad is None else self.grad + gx
        self.grad = as_array(total)

    def backward(self):
        if self.grad is None:
            self.grad = np.ones_like(self.data)
        queue = []
        met = set()

        def meet(f):
            if f is not None and f not in met:
                met.add(f)
                heapq.heappush(queue, (-f.generation, len(met), f))

        meet(self.creator)
        while queue:
            _, _, f = heapq.heappop(queue)
            gxs = f.backward(*f.output_grads())
            if not isinstance(gxs, tuple):
                gxs = (gxs,)
            for x, gx in zip(f.inputs, gxs, strict=True):
                x.accumulate(gx)
                meet(x.creator)


class Function:
    def __call__(self, *inputs):
        xs = [x.data for x in inputs]
        ys = self.forward(*xs)
        if not isinstance(ys, tuple):
            ys = (ys,)
        outputs = tuple([Variable(as_array(y)) for y in ys])
        self.inputs = inputs
        self.outputs = tuple([weakref.ref(y) for y in outputs])
        self.shapes = tuple([y.data.shape for y in outputs])
        self.generation = max([x.generation for x in inputs])
        for y in outputs:
            y.set_creator(self)
        return outputs if len(ys) > 1 else outputs[0]

    def output_grads(self):
        gys = []
        for ref, shape in zip(self.outputs, self.shapes, strict=True):
            y = ref()
            unused = y is None or y.grad is None
            gys.append(np.zeros(shape) if unused else y.grad)
        return gys


class Square(Function):
    def forward(self, x):
        return x**2

    def backward(self, gy):
        x = self.inputs[0].data
        return 2 * x * gy


def square(x):
    return Square()(x)


gc.disable()  # so that only the counting of references frees anything

# %%
# 1. After ``y = square(x)`` the name x is deleted. Is the Variable freed? When is it?
#
# It is not freed at once, since the function keeps its inputs: ``backward`` needs them.
# It goes together with y: y is freed, then the function, which only y referred to, and
# then x.
x = Variable(np.array(3.0))
y = square(x)
watcher = weakref.ref(x)
del x
alive_with_y = watcher() is not None
del y
alive_without_y = watcher() is not None
print("x alive:", alive_with_y, " and without y:", alive_without_y)
assert alive_with_y and not alive_without_y

# %%
# 2. With a weak ``creator`` and strong ``outputs``, what would ``square(x).backward()``
# find?
#
# Nothing to go back to. The function has no name; only its result refers to it. With a
# weak reference it is freed as soon as the call has ended, and the graph with it.
x = Variable(np.array(3.0))
y = square(x)
watcher = weakref.ref(y.creator)
alive_when_strong = watcher() is not None
y.creator = watcher  # weak from here on
alive_when_weak = y.creator() is not None
print("function alive:", alive_when_strong, " with a weak creator:", alive_when_weak)
assert alive_when_strong and not alive_when_weak

# %%
# 3. A tree: which reference should be weak?
#
# That to the parent. The user holds the root, the root holds its children, and so on
# down. The way up is only needed while those above are alive.


class Node:
    def __init__(self, parent=None):
        self.children = []
        self.parent = None if parent is None else weakref.ref(parent)
        if parent is not None:
            parent.children.append(self)


root = Node()
leaf = weakref.ref(Node(parent=root))
held = leaf() is not None and leaf().parent() is root
del root
freed = leaf() is None
print("held by the root:", held, " freed with it:", freed)
assert held and freed
gc.enable()
