"""
Solutions to step 47: softmax and cross-entropy without overflow
================================================================
"""

# %%
# Exercise 1
# ----------
# Equal scores give equal probabilities, whatever their size: (1/2, 1/2) three times.
# For (0, log 3) the powers are 1 and 3, so the probabilities are 1/4 and 3/4.
import numpy as np

import dezero.functions as F

scores = np.array([[0.0, 0.0], [1.0, 1.0], [1000.0, 1000.0], [0.0, np.log(3)]])
p = F.softmax(scores).data
print(p)
assert np.allclose(p, [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0.25, 0.75]])

# %%
# Exercise 2
# ----------
# Two classes and the scores (0, a): ``exp(a) / (1 + exp(a))``. Divided by ``exp(a)``
# above and below, that is ``1 / (1 + exp(-a))``, the sigmoid of step 43.
a = np.linspace(-5, 5, 11)
second = F.softmax(np.stack([np.zeros(11), a], axis=1)).data[:, 1]
same = np.allclose(second, F.sigmoid(a).data)
print("second probability is the sigmoid:", same)
assert same

# %%
# Exercise 3
# ----------
# The loss gets probabilities in place of scores. The best it can get is a 1 at the
# right class and 0 elsewhere. Softmax of that is ``e / (e + 9)`` at the right class, so
# the loss is at least ``log(e + 9) - 1 = 1.46``. A training that begins at 2.30 and
# never falls below 1.46 looks stuck, although every answer may be right.
perfect = np.eye(10)
least = F.softmax_cross_entropy(perfect, np.arange(10)).item()
print(f"smallest loss: {least:.4f}")
assert np.isclose(least, np.log(np.e + 9) - 1) and round(least, 2) == 1.46
