r"""
Step 23: a package
==================

Our mini-framework has been one file, copied from step to step. From here on we import
it: ``import dezero as dz``. The package is built on the same two classes and the same
loop. This step computes the formula of step 22 once more, shows where the pieces have
gone, and names what is different.

New since the step before: the imports. Nothing from the earlier files is needed any
more.
"""

# %%
# The same formula
# ----------------
# ``F`` is the usual short name for the functions. The formula itself has not changed by
# a letter, except that ``exp`` is ``F.exp``. Step 22 printed the three numbers in
# ``mini``. ``float(z)`` takes the number out of a Variable, as in exercise 3 of step
# 19.
import inspect

import numpy as np

# New in this step
import dezero as dz
import dezero.functions as F


def formula(x, y):
    return (2 * x - y) ** 2 / (1 + F.exp(-x * y)) + x / 4 - 3 / y


x = dz.Variable(np.array(1.5), name="x")
y = dz.Variable(np.array(0.5), name="y")
z = formula(x, y)
z.backward()

mini = [-1.3801331301537942, 7.722708847259598, 10.646872070640041]
package = [float(z), float(x.grad), float(y.grad)]
for name, ours, theirs in zip(["z", "dz/dx", "dz/dy"], mini, package, strict=True):
    print(f"{name:6} step 22: {ours:.12f}   dezero: {theirs:.12f}")

# %%
# Where the pieces are
# --------------------
# The engine, which knows no operation by name, is one file, ``dezero/core.py``. The
# operations stand in ``dezero/functions/``, one file per subject.
pieces = {
    "Variable": dz.Variable,
    "Function": dz.Function,
    "the loop with the queue": dz.core.run_backward,
    "as_variable": dz.as_variable,
    "using_config, no_grad": dz.no_grad,
    "Add, Sub, Mul, Div, Neg": F.Add,
    "Pow, square": F.Pow,
    "Exp": F.Exp,
    "the list of operators": dz.setup_variable,
}
for name, piece in pieces.items():
    print(f"{name:24} {piece.__module__}")

# %%
# The operators are attached as we attached them: the method *is* the function.
print("Variable.__mul__ is F.mul:", dz.Variable.__mul__ is F.mul)

# %%
# A function of the package looks like ours: ``forward`` on arrays, ``backward`` with
# the slopes. ``Elementwise`` is a kind of ``Function``, the base of those that work
# element by element. ``needs_grad[1]`` says whether anybody wants the second gradient;
# if not, None stands in its place. The two attributes at the top let the engine save
# memory and copies.
print(inspect.getsource(F.Div))

# %%
# What is different: gradients are Variables
# ------------------------------------------
# Our ``backward`` computed with arrays. In the package it computes with Variables: in
# ``Div`` above, ``self.inputs`` is read without ``.data``. So ``x.grad`` is a Variable
# too. Part 3 makes use of that: gradients can be differentiated again.
print("x.grad:", x.grad, " its type:", type(x.grad).__name__)

# %%
# What is different: numbers are weak
# -----------------------------------
# Arrays of float32 take half the memory of float64 and compute faster. ``as_variable``
# of step 21 makes a float64 array of the number 2.0, and NumPy turns a product of the
# two kinds into float64. One number in a formula, and the saving is gone. In the
# package a number takes the type of the arrays beside it.
small = np.array([1.0, 2.0], dtype=np.float32)
as_in_step_21 = small * np.asarray(2.0)
weak = dz.Variable(small) * 2.0
print("as in step 21:", as_in_step_21.dtype)
print("dezero:       ", weak.dtype)

# %%
# What is different: constants, and an error instead of silence
# -------------------------------------------------------------
# Ours made a Variable of every number and computed a gradient for it that nobody could
# see. In the package a number or a raw array is a *constant*: it has no gradient, and a
# result of constants alone is not recorded. If ``backward`` has nothing to
# differentiate, it says so. Ours did nothing, silently (exercise 1 of step 18).
constant = F.exp(np.array(0.0)) + 1.0
print("recorded?", constant.creator is not None)
try:
    constant.backward()
except RuntimeError as error:
    message = str(error)
print("RuntimeError:", message.split(": it was")[0], "...")

# %%
# The claims of this step, as assertions.
assert np.allclose(mini, package, rtol=1e-12)
assert dz.Variable.__module__ == dz.Function.__module__ == "dezero.core"
assert F.Add.__module__ == F.Div.__module__ == "dezero.functions.arithmetic"
assert dz.Variable.__mul__ is F.mul
assert isinstance(x.grad, dz.Variable)
assert as_in_step_21.dtype == np.float64 and weak.dtype == np.float32
assert constant.creator is None and "requires no gradient" in message

# %%
# Exercises
# ---------
# 1. ``Div.backward`` above divides twice, where step 22 wrote ``-gy * x0 / x1**2``. The
#    two are equal on paper. Try both in float32, whose largest number is about 3e38,
#    with ``x0 = x1 = 1e30`` and ``gy = 1``.
# 2. ``dz.Variable(small) * np.array([2.0, 2.0])``: which dtype has the result, and why
#    is the array on the right not treated as the number 2.0 is?
# 3. Write the class ``Cylinder`` of step 13 for the package. What changes in
#    ``backward``?
