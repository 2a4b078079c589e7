"""
Solutions to step 66: a small GPT
=================================

No training is needed to see what a GPT can know: fresh ones with larger weights will
do.
"""

# %%
# 1. Change the last character of a piece: which scores change?
#
# Those of the last place alone. The scores of a place say what follows it, so they must
# not know what does.

import numpy as np

import dezero as dz
from dezero.models import GPT

dz.seed(0)


def fresh(blocks):
    model = GPT(10, context=6, width=16, layers=blocks, heads=2)
    for W in model.params():
        if W.ndim == 2:
            W.data *= 20  # so that differences are large enough to see
    return model


model = fresh(2)
ids = np.array([[3, 1, 4, 1, 5, 9]])
other = np.array([[3, 1, 4, 1, 5, 2]])
with dz.no_grad():
    changed = np.abs(model(ids).data - model(other).data).max(axis=2)[0] > 0
print("scores that change with the last character:", changed)
assert changed.tolist() == [False] * 5 + [True]

# %%
# 2. No positions, other order: do the scores of the last place change?
#
# With one block they do not: the last place takes a weighted mean of all, which has no
# order. With two they do: the mask lets each place see those before it only, so what
# the second block reads at a place depends on which characters stood before it.

reordered = ids[:, [2, 0, 4, 1, 3, 5]]
moved = {}
for blocks in (1, 2):
    model = fresh(blocks)
    model.position.W.data[...] = 0
    with dz.no_grad():
        moved[blocks] = np.abs(model(ids)[0, -1] - model(reordered)[0, -1]).data.max()
    print(f"{blocks} block(s): the last scores move by {moved[blocks]:.6f}")
assert moved[1] < 1e-3 < 1e-1 < moved[2]

# %%
# 3. How many numbers does a block of width D learn?
#
# Query, key, value and out: 4 (D^2 + D). The two layers after them: (4 D^2 + 4 D) and
# (4 D^2 + D). Two norms with scale and shift: 4 D. Together 12 D^2 + 13 D.

D = 16
count = sum(p.size for p in fresh(1).blocks[0].params())
print(f"a block of width {D}: {count} parameters, by the formula {12 * D**2 + 13 * D}")
assert count == 12 * D**2 + 13 * D
