"""
Solutions to step 71: finding NaN and in-place accidents
========================================================
"""

# %%
# 1. Softmax by its formula at (1000, 0): where does the NaN begin?
#
# In exp: exp(1000) is infinite, and infinity / infinity is NaN. Subtracting the largest
# number changes no quotient, and exp has only numbers up to 0 to work on.

import numpy as np

import dezero as dz
import dezero.functions as F

x = dz.Variable(np.array([1000.0, 0.0]), name="x")
message = ""
try:
    with dz.detect_anomaly():
        e = F.exp(x)
        y = e / F.sum(e)
except FloatingPointError as error:
    message = str(error)
print(message)
assert message.startswith("Exp.forward")

with dz.detect_anomaly():
    e = F.exp(x - x.data.max())
    y = e / F.sum(e)
print("mended:", y.data, " F.softmax:", F.softmax(x, axis=0).data)
assert np.allclose(y.data, F.softmax(x, axis=0).data)

# %%
# 2. Exp keeps its output: is a change of ``y.data`` seen? And one of ``x.data``?
#
# The first is, for backward would read the changed numbers. The second is not: the
# backward of exp does not read x, so no gradient is wrong.

seen = {}
for changed in ("y", "x"):
    x = dz.Variable(np.array([0.0, 1.0]))
    try:
        with dz.detect_anomaly():
            y = F.exp(x)
            array = y.data if changed == "y" else x.data
            array += 1
            y.backward()
        seen[changed] = False
    except RuntimeError as error:
        seen[changed] = True
        print(error)
    print(f"change of {changed}.data seen: {seen[changed]}")
assert seen == {"y": True, "x": False}
assert np.allclose(x.grad.data, np.exp([0.0, 1.0]))  # the slope where x was

# %%
# 3. A weight whose relu is never above zero: does a gradient reach it?
#
# It does, and is zero: the report names relu as the place.

W = dz.Variable(np.array([-1.0]), name="W")
report = dz.explain_grad(W, lambda: F.sum(F.relu(W * np.ones(4))))
print(report)
assert report.reason == "zero" and "ReLU" in str(report)
