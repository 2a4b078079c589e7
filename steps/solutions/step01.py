"""
Solutions to step 01: a box for data
====================================
"""

# %%
# The class of the step.
import numpy as np


class Variable:
    def __init__(self, data):
        self.data = data


# %%
# Exercise 1. The numbers 1 to 6 as a matrix of two rows and three columns: its shape,
# and the sum of its second row.
numbers = Variable(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
print("shape:", numbers.data.shape, " sum of the second row:", numbers.data[1].sum())
assert numbers.data.shape == (2, 3)
assert numbers.data[1].sum() == 15.0

# %%
# Exercise 2. One array in two Variables: what do they hold after a change in place, and
# after ``first.data = first.data + 1``? Both boxes hold the same array, so both see the
# change in place. The sum is a new array, and only the first box gets it.
array = np.array([1.0, 2.0])
first, second = Variable(array), Variable(array)
array[0] = 9.0
print("after the change in place:", first.data, second.data)
assert first.data is second.data
assert np.array_equal(second.data, [9.0, 2.0])

first.data = first.data + 1
print("after the sum:", first.data, second.data)
assert np.array_equal(first.data, [10.0, 3.0])
assert np.array_equal(second.data, [9.0, 2.0])


# %%
# Exercise 3. A class with a second argument ``name``.
class NamedVariable:
    def __init__(self, data, name):
        self.data = data
        self.name = name


width = NamedVariable(np.array(2.5), "width")
print(width.name, "=", width.data)
assert width.name == "width" and width.data == 2.5
