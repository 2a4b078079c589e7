"""
Step 02: functions that make variables
======================================

A box that nobody computes with is of little use. This step adds the other half of the
library, the ``Function``. It takes a Variable, opens it, computes with the array
inside, and puts the result in a new Variable::

    Variable  ->  Function  ->  Variable
    x.data        forward       y.data

New since the step before: the classes ``Function`` and ``Square``.
"""

# %%
# From the step before:
import numpy as np


class Variable:
    def __init__(self, data):
        self.data = data


# %%
# A Function is a class and not a plain ``def``. The reason comes in step 06: an object
# can keep what it saw and can have a second method, the one for its derivative. A plain
# function forgets everything when it returns.
#
# There are two layers. The class ``Function`` has what all functions share: unpack,
# call ``forward``, pack. Python runs ``__call__`` when an object is called like a
# function. A class derived from it, such as ``Square``, has what is its own: the
# formula. Its ``forward`` gets an array and returns an array, and never sees a
# Variable. (NumPy makes a bare number, a ``float64``, of ``x**2`` if the array has no
# axes. We let it pass for an array until step 09.)


# New in this step
class Function:
    def __call__(self, x):
        y = self.forward(x.data)
        return Variable(y)


class Square(Function):
    def forward(self, x):
        return x**2


# %%
# First make the function, then call it.
square = Square()
x = Variable(np.array(3.0))
y = square(x)
print("y.data:", y.data)
print("y is a", type(y).__name__)

# %%
# The result is a new box. The input keeps its box and its number.
print("x.data is still", x.data, " x is y:", x is y)

# %%
# NumPy computes element by element, so ``Square`` works on vectors and matrices too,
# with no line added.
row = square(Variable(np.array([1.0, 2.0, 3.0])))
print("squares:", row.data)

# %%
# ``Function`` itself has no formula. It can be made but not used: its ``__call__``
# looks for a ``forward`` that only derived classes have.
try:
    Function()(x)
except AttributeError as error:
    message = str(error)
print(message)

# %%
# What the text claims, checked:
assert type(y) is Variable and y.data == 9.0
assert y is not x and x.data == 3.0
assert np.array_equal(row.data, [1.0, 4.0, 9.0])
assert "forward" in message

# %%
# Exercises
# ---------
#
# 1. Write ``Cube`` and compute the cube of 2.
# 2. Some functions have settings. Write ``Scale`` so that ``Scale(10.0)`` is a function
#    that multiplies its input by ten: its ``__init__`` keeps the factor, its
#    ``forward`` uses it.
# 3. Someone writes ``forward`` as ``return Variable(x**2)``. Which type has ``y.data``
#    then? Say which rule of the text this breaks.
