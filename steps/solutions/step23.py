"""
Solutions to step 23: a package
===============================
"""

# %%
# 1. The slope of ``x0 / x1`` by ``x1`` in float32, at x0 = x1 = 1e30: both formulas.
#
# The right answer is -1e-30. The square of 1e30 is 1e60, and float32 ends near 3.4e38:
# it overflows to inf, and a division by inf gives 0. Dividing twice never leaves the
# range.
import numpy as np

import dezero as dz
import dezero.functions as F

x0 = dz.Variable(np.array(1e30, dtype=np.float32))
x1 = dz.Variable(np.array(1e30, dtype=np.float32))
(x0 / x1).backward()

with np.errstate(over="ignore"):
    by_step_22 = -x0.data / x1.data**2
print("dezero:", x1.grad, " step 22:", by_step_22)
assert np.isclose(float(x1.grad) * 1e30, -1.0)
assert by_step_22 == 0.0

# %%
# 2. ``dz.Variable(small) * np.array([2.0, 2.0])``: which dtype, and why?
#
# float64. Whoever writes 2.0 says nothing about a precision, because Python has only
# one kind of float. Whoever makes an array has chosen a dtype, or could have, and
# NumPy's rule for two arrays holds: the more precise one decides.
small = np.array([1.0, 2.0], dtype=np.float32)
product = dz.Variable(small) * np.array([2.0, 2.0])
print(product.dtype)
assert product.dtype == np.float64

# %%
# 3. ``Cylinder`` for the package: what changes in ``backward``?
#
# Only that it computes with Variables. ``self.inputs`` are Variables, and so is ``gy``;
# ``.data`` is left out.


class Cylinder(dz.Function):
    def forward(self, r, h):
        return np.pi * r**2 * h

    def backward(self, gy):
        r, h = self.inputs
        return 2 * np.pi * r * h * gy, np.pi * r**2 * gy


r = dz.Variable(np.array(1.0))
h = dz.Variable(np.array(2.0))
volume = Cylinder()(r, h)
volume.backward()
print(volume, r.grad, h.grad)
assert np.isclose(float(F.square(r.grad)), (4 * np.pi) ** 2)
assert np.isclose(float(r.grad), 4 * np.pi) and np.isclose(float(h.grad), np.pi)
