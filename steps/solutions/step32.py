r"""
Solutions to step 32: double backprop
=====================================
"""

# %%
# 1. The first four derivatives of :math:`1/x` at 1, with ``dz.grad`` in a loop.
import textwrap

import numpy as np

import dezero as dz

x = dz.Variable(np.array(1.0))
y = 1 / x
found = []
for _ in range(4):
    y = dz.grad(y, x, create_graph=True)
    found.append(float(y))
print(found)
assert found == [-1.0, 2.0, -6.0, 24.0]

# %%
# 2. The same with ``backward`` only. ``cleargrad`` has to stand in one place, before
# each pass (or after it, once the gradient has been taken off ``x``). The Variable
# ``gx`` keeps the gradient when ``x`` forgets it.
x = dz.Variable(np.array(1.0))
gx = 1 / x
found = []
for _ in range(4):
    x.cleargrad()
    gx.backward(create_graph=True)
    gx = x.grad
    found.append(float(gx))
x.cleargrad()  # and once at the end, to open the circle of x and its gradient
print(found)
assert found == [-1.0, 2.0, -6.0, 24.0]

# %%
# 3. Why may ``create_graph=True`` be left out in the last call? Its result is not
# differentiated again, so nobody needs the record. Left out in the first one, the first
# derivative is a constant, and the second call raises the error of the step.
x = dz.Variable(np.array(1.0))
first = dz.grad(1 / x, x, create_graph=True)
second = dz.grad(first, x)
print("second derivative:", second, "made by", second.creator)
try:
    dz.grad(dz.grad(1 / x, x), x)
    message = ""
except RuntimeError as error:
    message = str(error)
print(textwrap.fill("RuntimeError: " + message, 80))
assert float(second) == 2.0 and second.creator is None
assert "require no gradient" in message
