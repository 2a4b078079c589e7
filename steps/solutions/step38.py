"""
Solutions to step 38: changing the shape
========================================
"""

# %%
# Exercise 1
# ----------
# A batch of shape (8, 3, 4, 4), after ``reshape(8, -1)``: (8, 48). The gradient that
# comes back to the images has their own shape.
import itertools

import numpy as np

import dezero as dz

images = dz.Variable(np.zeros((8, 3, 4, 4)))
rows = images.reshape(8, -1)
rows.backward()
print("rows:", rows.shape, " gradient of the images:", images.grad.shape)
assert rows.shape == (8, 48) and images.grad.shape == (8, 3, 4, 4)

# %%
# Exercise 2
# ----------
# The inverse of the order (3, 0, 2, 1). Old axis 3 went to place 0, so place 0 goes
# back to axis 3: the inverse has a 0 at place 3. Old axis 0 went to place 1: a 1 at
# place 0. Old axis 2 stayed, and old axis 1 went to place 3. Together (1, 3, 2, 0).
by_hand = [1, 3, 2, 0]
print("inverse:", np.argsort((3, 0, 2, 1)).tolist())
assert np.argsort((3, 0, 2, 1)).tolist() == by_hand

# %%
# Exercise 3
# ----------
# For which of the six orders is the backward of ``Again`` right? For those that are
# their own inverse: the order that changes nothing, and the three that exchange two
# axes. The two that move all three axes in a circle are not.
right = []
for order in itertools.permutations(range(3)):
    if tuple(np.argsort(order)) == order:
        right.append(order)
print("their own inverse:", right)
assert right == [(0, 1, 2), (0, 2, 1), (1, 0, 2), (2, 1, 0)]
