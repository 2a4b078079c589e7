"""
Step 01: a box for data
=======================

These steps build, from nothing, a library that finds derivatives of programs. You write
an ordinary computation in Python; the library watches it and then tells how the result
changes when an input changes. The learning of neural networks rests on this. Part 1,
steps 01 to 10, does it for functions of one variable.

A plain array cannot take part in this. It holds numbers, and there is no place on it to
note where they came from. So the first thing to build is a box: an object that holds an
array now, and has room for notes later. We call it a ``Variable``.

New in this step: the class ``Variable``.
"""

# %%
# The class is three lines long. A Variable has one attribute, ``data``, and ``data`` is
# the array that was put in.
import numpy as np


# New in this step
class Variable:
    def __init__(self, data):
        self.data = data


# %%
# Put a number in, and take it out again. We write numbers as arrays without axes,
# ``np.array(3.0)``. They behave like numbers, and what works for them will work for
# vectors and matrices too.
x = Variable(np.array(3.0))
print("x.data:", x.data)
print("axes of x.data:", x.data.ndim)

# %%
# The box and its content are two things. ``x`` is no number, and NumPy knows nothing of
# it; arithmetic is done with ``x.data``. The sum below is a new value, and the box
# still holds 3.
print("type of x:", type(x).__name__)
print("type of x.data:", type(x.data).__name__)
print("x.data + 1:", x.data + 1, " x.data:", x.data)

# %%
# A box can get new content and stays the same box. Whoever holds the box sees the
# change. Below, ``same`` and ``x`` are two names for one Variable.
same = x
x.data = np.array(5.0)
print("through the other name:", same.data)

# %%
# Two boxes are two objects, even if their contents are equal. This will matter: in the
# steps to come each Variable carries notes about itself, and its notes are about that
# one box, not about the number inside.
first = Variable(np.array(2.0))
second = Variable(np.array(2.0))
print("equal contents:", first.data == second.data, " same box:", first is second)

# %%
# Any array fits: a vector, a matrix, or an array with more axes.
vector = Variable(np.array([1.0, 2.0, 3.0]))
matrix = Variable(np.array([[1.0, 2.0], [3.0, 4.0]]))
print("axes of vector and matrix:", vector.data.ndim, matrix.data.ndim)

# %%
# What the text claims, checked. (The box ``x`` holds 5 by now.)
assert x.data.ndim == 0 and x.data + 1 == 6.0
assert type(x) is Variable and type(x.data) is np.ndarray
assert same is x and same.data == 5.0
assert first.data == second.data and first is not second
assert (vector.data.ndim, matrix.data.ndim) == (1, 2)

# %%
# Exercises
# ---------
#
# 1. Put the numbers 1 to 6 in a Variable, as a matrix of two rows and three columns.
#    Print the shape of its data and the sum of its second row.
# 2. Put one vector, ``array``, in two Variables, ``first`` and ``second``. Then change
#    an element of the vector in place, ``array[0] = 9.0``. What do the two boxes hold
#    now? And after ``first.data = first.data + 1``?
# 3. A box has room for notes. Write a class ``NamedVariable`` that takes a second
#    argument ``name`` and keeps it, and print the name and the data of one.
