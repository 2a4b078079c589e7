"""
Solutions to step 14: the same variable twice
=============================================
"""

# %%
# The mini-framework of step 14, as far as it is needed here.
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
# 1. The slope of x² + x at x = 4, and what ``Overwriting`` would have left.
#
# On paper: 2x + 1 = 9. ``Add`` runs first. It stores its 1 in x, and ``Square`` comes
# after it. So the slope of the square, 8, comes last, and that is what an overwriting
# Variable keeps.
x = Variable(np.array(4.0))
add(square(x), x).backward()
print("x² + x at 4:", x.grad)
assert x.grad == 9.0


class Overwriting(Variable):
    def accumulate(self, gx):
        self.grad = as_array(gx)


old = Overwriting(np.array(4.0))
add(square(old), old).backward()
print("overwritten:", old.grad)
assert old.grad == 8.0

# %%
# 2. ``backward`` on x² and on x + x, without clearing: the gradient of which single
# expression is in ``x.grad``?
#
# That of the sum, x² + (x + x): its slope at 3 is 6 + 2 = 8.
x = Variable(np.array(3.0))
square(x).backward()
add(x, x).backward()
print("two passes:", x.grad)

x_once = Variable(np.array(3.0))
add(square(x_once), add(x_once, x_once)).backward()
print("one pass:  ", x_once.grad)
assert x.grad == x_once.grad == 8.0

# %%
# 3. ``InPlace`` variables in y = (a + a) + b: which gradient does b get?
#
# The outer sum gives one array to b and to a + a. The inner sum gives it to a twice,
# and a adds it to itself. b holds that array too: it reads 2 where 1 is right. The
# gradient of a, 2, is right, so a test of a alone would pass.


class InPlace(Variable):
    def accumulate(self, gx):
        if self.grad is None:
            self.grad = as_array(gx)
        else:
            self.grad += gx


a = InPlace(np.array([1.0]))
b = InPlace(np.array([1.0]))
add(add(a, a), b).backward()
print("a:", a.grad, " b:", b.grad, " (b should be [1.])")
assert a.grad == 2.0 and b.grad == 2.0

a = Variable(np.array([1.0]))
b = Variable(np.array([1.0]))
add(add(a, a), b).backward()
assert a.grad == 2.0 and b.grad == 1.0
