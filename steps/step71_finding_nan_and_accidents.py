"""
Step 71: finding NaN and in-place accidents
===========================================

NaN means "no number". Every sum and product with it is NaN, so soon all weights are,
and the place where it began is far away. Two accidents make no noise at all: an array
that is changed between forward and backward gives a wrong gradient, and a value that
leaves the graph gives none. For each there is a question to ask::

    with dz.detect_anomaly(): ...      where did the first NaN arise? what was changed?
    print(dz.explain_grad(W, loss))    does a gradient get from loss to W?

New since the step before: ``dz.detect_anomaly`` and ``dz.explain_grad``, which answer
with the line of your code.
"""

# %%
# A NaN that is born in backward
# ------------------------------
# The length of a vector is the root of a sum of squares. The slope of the root at zero
# is infinite, the slope of the square there is zero, and infinity times zero is NaN. So
# the length of a zero vector is fine, and its gradient is not. (NumPy would warn. It is
# kept quiet here, for in a long log nobody sees its line.)

import numpy as np

import dezero as dz
import dezero.functions as F


def length(v):
    return F.sqrt(F.sum(v * v))


W = dz.Variable(np.zeros(3), name="W")
with np.errstate(all="ignore"):
    loss = length(W)
    loss.backward()
gradient = W.grad.data
print(f"length {loss.item():.1f}, gradient {gradient}")

# %%
# Where did it begin?
# -------------------
# Inside ``dz.detect_anomaly()`` every result and every gradient is looked at, and the
# first one that is not finite raises an error. It names the Function, what went in and
# came out, and the line of ours that called it. All arrays are read several times, so
# it is slow: for a search, not for training.

# New in this step
reports = {}
try:
    with dz.detect_anomaly():
        length(W).backward()
except FloatingPointError as error:
    reports["nan"] = str(error)
print(reports["nan"])

# %%
# The repair is in the formula, not in the gradient: move the root away from zero. Where
# the length is far from zero, the difference is far below what counts.


def safe_length(v):
    return F.sqrt(F.sum(v * v) + 1e-12)


W.cleargrad()
with dz.detect_anomaly():
    safe_length(W).backward()
print(f"safe gradient at zero {W.grad.data}")
v = np.array([3.0, 4.0, 0.0])
print(f"length of (3, 4, 0): {length(v).item()} and {safe_length(v).item()}")

# %%
# Changed in place
# ----------------
# y = w^2 at w = 3: the slope is 6. ``Mul`` keeps the Variable for its ``backward``, not
# a copy of the array. If the numbers in it are changed before that, the slope belongs
# to the new ones, silently. ``dz.detect_anomaly()`` compares what a ``backward`` is
# about to read with what was there before.

w = dz.Variable(np.array([3.0]), name="w")
y = w * w
w.data += 1  # an update that came too early
y.backward()
wrong = w.grad.item()
print(f"slope of w^2 at 3: {wrong}, but it should be 6")

w = dz.Variable(np.array([3.0]), name="w")
try:
    with dz.detect_anomaly():
        y = w * w
        w.data += 1
        y.backward()
except RuntimeError as error:
    reports["in place"] = str(error)
print(reports["in place"])

# %%
# A gradient that never comes
# ---------------------------
# ``.data`` is an array, and an array is a constant. One ``.data`` too many in the
# middle of a model, and everything before it learns nothing. ``dz.explain_grad`` takes
# the parameter and a function that computes the loss, runs it once, and says where the
# way ends.

np.random.seed(0)
W = dz.Variable(np.random.randn(3, 2), name="W")
b = dz.Variable(np.zeros(2), name="b")
x, t = np.random.randn(4, 3), np.random.randn(4, 2)


def broken_loss():
    h = F.matmul(x, W)
    h = h.data - h.data.mean()  # meant to centre h
    return F.mean_squared_error(F.tanh(h + b), t)


broken_loss().backward()
print("gradient of W:", W.grad, " gradient of b:", b.grad.data.round(3))
report = dz.explain_grad(W, broken_loss)
print(report)


def mended_loss():
    h = F.matmul(x, W)
    return F.mean_squared_error(F.tanh(h - F.mean(h) + b), t)


mended = dz.explain_grad(W, mended_loss)
print(mended)

assert np.isnan(gradient).all()
assert "Sqrt.backward" in reports["nan"] and "step71" in reports["nan"]
assert wrong == 8.0
assert "'w'" in reports["in place"] and "changed since then" in reports["in place"]
assert not report.reaches and mended.reaches
assert length(v).item() == 5.0 and np.isclose(safe_length(v).item(), 5.0)

# %%
# Exercises
# ---------
# 1. At x = (1000, 0), ``F.exp(x) / F.sum(F.exp(x))`` has a NaN. Is it the division that
#    is to blame? Let ``dz.detect_anomaly`` say where it began, and mend it.
# 2. ``y = F.exp(x)`` keeps its output for backward. Change ``y.data`` in place. Does
#    ``dz.detect_anomaly`` see that? And does it see a change of ``x.data``?
# 3. Ask ``dz.explain_grad`` about a weight whose relu is never above zero. Does a
#    gradient reach it?
