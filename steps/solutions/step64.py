"""
Solutions to step 64: schedules, clipping, weight decay
=======================================================
"""

# %%
# 1. ``one_cycle``: from 0.01 up to 0.2 in 30 updates and down to 0 in 90.
#
# Two pieces of straight lines: 30 * (0.01 + 0.2) / 2 + 90 * 0.2 / 2 = 12.15. A constant
# 0.2 over 120 updates has 24, so the area is about half.

import numpy as np

import dezero as dz


def one_cycle(t):
    if t < 30:
        return 0.01 + (0.2 - 0.01) * t / 30
    return 0.2 * (120 - t) / 90


rates = np.array([one_cycle(t) for t in range(121)])
area = float(((rates[:-1] + rates[1:]) / 2).sum())
print(f"area {area:.3f}, constant {0.2 * 120:.1f}, share {area / 24:.3f}")
assert np.isclose(area, 12.15) and rates.max() == 0.2 and rates[-1] == 0

# %%
# 2. The angle between (3, 0, 4, 0, 12) and what ``ClipGradValue(1.0)`` makes of it.
#
# Each element above 1 becomes 1: (1, 0, 1, 0, 1). The cosine is 19 / (13 * sqrt(3)).

before = np.array([3.0, 0.0, 4.0, 0.0, 12.0])
p = dz.Parameter(np.zeros(5))
p.grad = before
dz.optimizers.ClipGradValue(1.0)([p])
after = p.grad.data
cosine = before @ after / (np.linalg.norm(before) * np.linalg.norm(after))
angle = float(np.degrees(np.arccos(cosine)))
print(after, f"angle {angle:.1f} degrees")
assert after.tolist() == [1, 0, 1, 0, 1]
assert np.isclose(cosine, 19 / (13 * np.sqrt(3))) and 32 < angle < 33

# %%
# 3. Weight decay alone: by which factor does a weight shrink in 100 updates with
# lr = 0.5 and rate = 0.01?
#
# The gradient is 0.01 p, so each update multiplies by 1 - 0.5 * 0.01 = 0.995.

w = dz.Parameter(np.array([2.0]))
optimizer = dz.optimizers.SGD(lr=0.5).setup([w])
optimizer.add_hook(dz.optimizers.WeightDecay(0.01))
for _ in range(100):
    w.grad = np.zeros(1)
    optimizer.update()
factor = float(w.data[0]) / 2
print(f"factor {factor:.6f}, worked out {0.995**100:.6f}")
assert np.isclose(factor, 0.995**100)
