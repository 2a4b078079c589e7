r"""
Step 32: double backprop
========================

To go back through the result of going back is called double backprop. In the package
it takes one switch, ``create_graph=True``, and one precaution, clearing the gradient in
between. There is also a function that needs no precaution, ``dz.grad``.

.. math:: y = x^4, \qquad y' = 4x^3 = 32, \qquad y'' = 12x^2 = 48
   \quad\text{at}\quad x = 2

New since the step before: ``create_graph=True`` and ``dz.grad``.
"""

# %%
# The switch
# ----------
# Without it, a pass records nothing. Its gradients are constants, and differentiating a
# constant is an error, not a zero: it is nearly always a mistake.

import textwrap

import numpy as np

import dezero as dz

x = dz.Variable(np.array(2.0))
y = x**4
y.backward()
print("without the switch:", x.grad, "made by", x.grad.creator)
try:
    x.grad.backward()
    message = ""
except RuntimeError as error:
    message = str(error)
print(textwrap.fill("RuntimeError: " + message, 80))

# %%
# New in this step
x.cleargrad()
y.backward(create_graph=True)
gx = x.grad
print("\nwith the switch:   ", gx, "made by", type(gx.creator).__name__)

# %%
# ``PowGrad`` is the Function that the backward of ``Pow`` calls. It has a backward of
# its own.
#
# The precaution
# --------------
# ``backward`` adds to gradients that are there already. Now one is there, the first
# derivative. Without clearing it, the second is added to the first.

gx.backward()
print("not cleared:", x.grad, "= 32 + 48")
not_cleared = float(x.grad)

x = dz.Variable(np.array(2.0))
y = x**4
y.backward(create_graph=True)
gx = x.grad  # keep it: clearing takes it off x, it does not destroy it
x.cleargrad()
gx.backward()
print("cleared:    ", x.grad)
cleared = float(x.grad)

# %%
# ``cleargrad`` has a second use here. With ``create_graph=True``, ``x.grad`` holds the
# graph that leads to ``x``, and ``x`` holds ``x.grad``: a circle, which keeps all of it
# in memory until it is cleared.
#
# Without a trace
# ---------------
# ``dz.grad(y, x)`` returns the gradient of ``y`` by ``x`` and leaves every ``.grad`` as
# it is. So nothing has to be cleared, no circle arises, and calls can follow one
# another.

x = dz.Variable(np.array(2.0))
y = x**4
first = dz.grad(y, x, create_graph=True)
second = dz.grad(first, x, create_graph=True)
third = dz.grad(second, x)
print("\ndz.grad:", first, second, third, "and x.grad is", x.grad)

# %%
# Given a list of inputs, it returns a tuple of gradients. That gives us mixed
# derivatives. Which variable comes first makes no difference to the result, although
# the two graphs are not the same:
#
# .. math:: z = u^2 v^3, \qquad
#    \frac{\partial^2 z}{\partial u\, \partial v} = 6 u v^2 = 6 \cdot 3 \cdot 4 = 72

u = dz.Variable(np.array(3.0))
v = dz.Variable(np.array(2.0))
z = u**2 * v**3
gu, gv = dz.grad(z, [u, v], create_graph=True)
print("first:", gu, gv)
print("mixed:", dz.grad(gu, v), dz.grad(gv, u))

# %%
# An input that the result does not depend on is an error, as a constant is. The product
# :math:`p = uv` has the derivative :math:`v` by :math:`u`, and no ``u`` is left in it.
# ``allow_unused=True`` says that this is meant; None then stands for a slope of zero.

p = u * v
gp = dz.grad(p, u, create_graph=True)
try:
    dz.grad(gp, u)
    complaint = ""
except RuntimeError as error:
    complaint = str(error)
print("\n" + textwrap.fill("RuntimeError: " + complaint, 80))
print("with allow_unused=True:", dz.grad(gp, u, allow_unused=True))

assert "create_graph" in message
assert (not_cleared, cleared) == (80.0, 48.0)
assert (float(first), float(second), float(third)) == (32.0, 48.0, 48.0)
assert x.grad is None
assert float(dz.grad(gu, v)) == float(dz.grad(gv, u)) == 72.0
assert "do not depend" in complaint

# %%
# Exercises
# ---------
# 1. Compute the first four derivatives of :math:`1/x` at 1 with ``dz.grad`` in a loop.
#    They should be −1, 2, −6 and 24.
# 2. The same with ``backward`` only. In which places of the loop does ``cleargrad``
#    have to stand?
# 3. In the last call of a chain of derivatives, ``create_graph=True`` may be left out.
#    Why? And what happens if it is left out in the first one?
