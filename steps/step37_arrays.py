r"""
Step 37: one node for many numbers
==================================

Part 4, steps 37 to 52, comes to neural networks: formulas with hundreds of adjustable
numbers, which descent changes until the results fit given examples. So many numbers
live in arrays. The first steps of this part do for arrays what part 2 did for numbers.

A ``Variable`` may hold an array of any shape. A function that works element by element
is then one node of the graph that stands for a thousand small ones (we met this in
step 24), and its backward is the same formula as before:

.. math:: y_i = f(x_i) \quad\Rightarrow\quad
          \frac{\partial y_i}{\partial x_i} = f'(x_i), \qquad
          \frac{\partial y_i}{\partial x_j} = 0 \quad (j \ne i)

New since the step before: a function on arrays, its table of slopes, and what the seed
of a backward pass means when there are many outputs.
"""

import numpy as np

import dezero as dz
import dezero.functions as F

# %%
# The class below computes the bell curve ``exp(-x**2)``. Nothing in it speaks of
# arrays: NumPy and the operators of ``Variable`` apply the formula to each element. The
# counter ``calls`` shows how often ``forward`` runs.

# New in this step


class Bell(dz.Function):
    calls = 0

    def forward(self, x):
        Bell.calls += 1
        return np.exp(-x * x)

    def backward(self, gy):
        x = self.inputs[0]
        return gy * (-2 * x) * F.exp(-x * x)


def bell(x):
    return Bell()(x)


numbers = np.linspace(-2, 2, 1000)
x = dz.Variable(numbers)
y = bell(x)
print("numbers:", x.size, " calls of forward:", Bell.calls)

# %%
# ``backward`` without arguments starts from ones, one for each output. The gradient of
# ``x`` has the shape of ``x``, and its element ``i`` is the slope of the curve at
# ``x[i]``, which is known on paper: :math:`-2x e^{-x^2}`.

y.backward()
slopes = -2 * numbers * np.exp(-(numbers**2))
print("shape of the gradient:", x.grad.shape)
error = np.abs(x.grad.data - slopes).max()
print("largest difference from the slope on paper:", error)

# %%
# All slopes of all outputs make a table, the *Jacobian*: row ``i`` is output ``i``,
# column ``j`` is input ``j``. Moving one input at a time by a small step gives it
# column by column. For a function that works element by element, only the diagonal is
# not zero.


def jacobian_by_differences(f, x, h=1e-6):
    columns = []
    for j in range(len(x)):
        step = np.zeros(len(x))
        step[j] = h
        columns.append((f(x + step).data - f(x - step).data) / (2 * h))
    return np.stack(columns, axis=1)


few = np.array([-1.0, 0.5, 1.0, 2.0])
J = jacobian_by_differences(bell, few)
print(J.round(3))

# %%
# Backward never builds this table. It starts from one number per output, the *seed*,
# which the argument ``grad=`` sets. What arrives at ``x`` is the sum of the rows, each
# row multiplied by the seed of its output: ``seed @ J``. With ones, that is the
# gradient of the sum of all outputs. With another seed, each output counts with its own
# weight.

seed = np.array([1.0, 10.0, 100.0, 1000.0])
x = dz.Variable(few)
bell(x).backward(grad=seed)
print("seed @ J: ", (seed @ J).round(3))
print("backward: ", x.grad.data.round(3))

# %%
# A table for 1000 inputs and 1000 outputs has a million entries, and all but 1000 are
# zero. The product ``gy * slope`` in ``Bell.backward`` uses the 1000 that matter.
#
# In the package the curve can be put together from ``F.exp`` and the operators, and
# ``dz.jacobian`` computes the table. Both agree with ours.

pieces = dz.Variable(few)
F.exp(-pieces * pieces).backward(grad=seed)
table = dz.jacobian(lambda x: F.exp(-x * x), few)
print("same gradient from the pieces:", np.allclose(pieces.grad.data, x.grad.data))
print("same table from dz.jacobian:  ", np.allclose(table.data, J))

assert Bell.calls == 1 + 2 * len(few) + 1
assert error < 1e-12
assert np.allclose(J, np.diag(np.diag(J)))
assert np.allclose(x.grad.data, seed @ J)
assert np.allclose(pieces.grad.data, x.grad.data)
assert np.allclose(table.data, J)

# %%
# Exercises
# ---------
#
# 1. Which elements of ``x.grad`` are not zero if the seed for ``few`` is
#    ``[0, 0, 1, 0]``? Say it before you run it.
# 2. Write a Function ``Cube`` for ``x**3``. Check on the array ``few`` that its
#    gradient for a seed of ones is the diagonal of ``jacobian_by_differences``.
# 3. For ``y = x * w`` with two arrays of the same shape, what are the gradients of
#    ``x`` and of ``w`` for a seed of ones? And for the seed ``s``?
