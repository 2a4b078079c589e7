"""
Solutions to step 18: not recording
===================================
"""

# %%
# The mini-framework of step 18, as far as it is needed here.
import contextlib
import heapq
import weakref

import numpy as np


def as_array(x):
    return np.asarray(x)


class Config:
    enable_backprop = True


@contextlib.contextmanager
def using_config(name, value):
    old = getattr(Config, name)
    setattr(Config, name, value)
    try:
        yield
    finally:
        setattr(Config, name, old)


def no_grad():
    return using_config("enable_backprop", False)


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

    def backward(self, retain_grad=False):
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
            if not retain_grad:
                f.clear_output_grads()


class Function:
    def __call__(self, *inputs):
        xs = [x.data for x in inputs]
        ys = self.forward(*xs)
        if not isinstance(ys, tuple):
            ys = (ys,)
        outputs = tuple([Variable(as_array(y)) for y in ys])
        if Config.enable_backprop:
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

    def clear_output_grads(self):
        for ref in self.outputs:
            y = ref()
            if y is not None:
                y.cleargrad()


class Square(Function):
    def forward(self, x):
        return x**2

    def backward(self, gy):
        x = self.inputs[0].data
        return 2 * x * gy


def square(x):
    return Square()(x)


# %%
# 1. What is in ``x.grad`` after ``backward`` of a result computed under ``no_grad``?
#
# None. The result has no creator, so the queue starts empty and the loop ends at once.
# Nothing says that this was a mistake; an error would be kinder.
x = Variable(np.array(3.0))
with no_grad():
    y = square(x)
y.backward()
print("x.grad:", x.grad)
assert x.grad is None

# %%
# 2. ``no_grad`` as a class with ``__enter__`` and ``__exit__``.


class NoGrad:
    def __enter__(self):
        self.old = Config.enable_backprop
        Config.enable_backprop = False

    def __exit__(self, *error):
        Config.enable_backprop = self.old


states = []
with NoGrad():
    with NoGrad():
        states.append(Config.enable_backprop)
    states.append(Config.enable_backprop)
states.append(Config.enable_backprop)
try:
    with NoGrad():
        raise ValueError
except ValueError:
    states.append(Config.enable_backprop)
print(states)
assert states == [False, False, True, True]

# %%
# 3. Two passes with the first retained give 96: why? And a third?
#
# First pass: y has 1, a receives 2 · 4 · 1 = 8, x receives 2 · 2 · 8 = 32. Second pass:
# y still has 1 and sends 8 again, so a has 16. It sends 2 · 2 · 16 = 64, and x has
# 32 + 64 = 96. The second pass was not retained, so y and a are empty again. The third
# is right by itself and adds 32: x has 128.
x = Variable(np.array(2.0))
y = square(square(x))
history = []
for retain in (True, False, False):
    y.backward(retain_grad=retain)
    history.append(float(x.grad))
print(history)
assert history == [32.0, 96.0, 128.0]
