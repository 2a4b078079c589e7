"""
Step 09: comfort
================

The library works. Now it becomes pleasant to use, with three small changes.

- Functions to call: ``square(x)`` in place of ``Square()(x)``.
- A seed by itself. ``backward`` sets the gradient of the result to 1 when nobody has
  set it. This first gradient is called the *seed*.
- An error at once. ``Variable(3.0)`` is refused with a message, where it would go wrong
  much later, far from the mistake.

New since the step before: the functions ``square``, ``exp`` and ``as_array``; the check
in ``Variable``; the seed in ``backward``.
"""

# %%
# The check has a catch. NumPy turns results without axes into scalars, objects of
# another type:
import numpy as np

number = np.array(3.0)
print(type(number).__name__, "squared is", type(number**2).__name__)

# %%
# A ``float64`` is no ``ndarray``. With the check alone, ``Square`` of an array without
# axes would fail, because no Variable would take the result. So ``as_array`` turns
# results into arrays again; what is an array already, ``np.asarray`` returns as it is.
# It is needed in two places: where ``Function`` packs its output, and where
# ``backward`` stores a gradient.
#
# The seed is ``np.ones_like(self.data)``: an array of the shape and type of the data,
# filled with ones. So it fits results with axes too, where each element gets a 1.


# New in this step
def as_array(x):  # new
    return np.asarray(x)


class Variable:
    def __init__(self, data):
        if not isinstance(data, np.ndarray):  # new
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
        if self.grad is None:  # new
            self.grad = np.ones_like(self.data)
        todo = [] if self.creator is None else [self.creator]
        while todo:
            f = todo.pop()
            x, y = f.input, f.output
            x.grad = as_array(f.backward(y.grad))  # new
            if x.creator is not None:
                todo.append(x.creator)


class Function:
    def __call__(self, x):
        y = Variable(as_array(self.forward(x.data)))  # new
        y.set_creator(self)
        self.input = x
        self.output = y
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


def square(x):  # new
    return Square()(x)


def exp(x):  # new
    return Exp()(x)


# %%
# Each call of ``square`` makes a fresh object of class ``Square``, so that no two calls
# share a memory. The chain and its gradient are now two lines.
x = Variable(np.array(0.8))
y = exp(square(square(x)))
y.backward()
print("gradient of x:", x.grad)

# %%
# A vector, with no line added. Each element is computed by itself, and each starts its
# way back with a seed of 1 of its own. So each element of the gradient is the slope at
# its own point.
row = Variable(np.array([0.0, 0.4, 0.8]))
exp(square(square(row))).backward()
print("gradient of the row:", row.grad)

# %%
# And the errors. The last one is what ``Square`` would meet without ``as_array``.
messages = []
for mistake in [3.0, [1.0, 2.0], None, number**2]:
    try:
        Variable(mistake)
    except TypeError as error:
        messages.append(str(error))
        print(error)

# %%
# What the text claims, checked:
assert isinstance(number, np.ndarray) and not isinstance(number**2, np.ndarray)
assert isinstance(y.data, np.ndarray) and isinstance(x.grad, np.ndarray)
assert np.isclose(x.grad, 4 * 0.8**3 * np.exp(0.8**4))
assert np.allclose(row.grad, 4 * row.data**3 * np.exp(row.data**4))
refused = ["float", "list", "NoneType", "float64"]
for name, message in zip(refused, messages, strict=True):
    assert f"got {name};" in message

# %%
# Exercises
# ---------
#
# 1. Write the class ``Sine`` and the function ``sine``. What is the gradient of
#    :math:`\sin(e^x)` at x = 0? Compare with the chain rule on paper.
# 2. Let ``x`` be a vector of three elements and ``y = square(x)``. Set ``y.grad`` to
#    ``np.array([1.0, 0.0, 0.0])`` before ``y.backward()``. Which elements of ``x.grad``
#    are zero, and why?
# 3. Call ``y.backward()`` twice on the chain at 0.8. Is ``x.grad`` the same after the
#    second call? Then multiply ``y.grad`` by 2 and call it a third time. What is
#    ``x.grad`` now? In which of the three calls does ``backward`` set the seed?
