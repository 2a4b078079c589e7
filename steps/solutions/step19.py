"""
Solutions to step 19: a Variable that feels like an array
=========================================================
"""

# %%
# What is needed of ``Variable``. Methods can be added to a class later, and that is
# what the exercises do.
import numpy as np


class Variable:
    def __init__(self, data, name=None):
        self.data = data
        self.name = name

    def __len__(self):
        return len(self.data)


# %%
# 1. What does ``len(Variable(np.array(0.5)))`` do?
#
# It raises the TypeError that NumPy raises. A single number has no axis, so it has no
# length; 1 would be wrong, for ``x.data[0]`` does not exist.
try:
    len(Variable(np.array(0.5)))
    message = None
except TypeError as error:
    message = str(error)
print("TypeError:", message)
assert message is not None

# %%
# 2. A property ``nbytes``: how many bytes does a Variable of shape (100, 50) hold?


def nbytes(self):
    return self.data.nbytes


Variable.nbytes = property(nbytes)

double = Variable(np.zeros((100, 50)))
single = Variable(np.zeros((100, 50), dtype=np.float32))
print("float64:", double.nbytes, " float32:", single.nbytes)
assert (double.nbytes, single.nbytes) == (40_000, 20_000)

# %%
# 3. Make ``float(x)`` work.
#
# Python looks for ``__float__``.


def to_float(self):
    return float(self.data)


Variable.__float__ = to_float
number = float(Variable(np.array(2.5)))
print(type(number).__name__, number)
assert number == 2.5
