"""
Step 56: initialisation and dead units
======================================

A deep network is a long product. If every layer makes its signal a little smaller,
nothing arrives at the end; if a little larger, it overflows. Which of the two happens
is decided before training, by the scale of the first weights. Let them be drawn around
0 with standard deviation ``s``. A sum of ``D`` products of such a weight and an input
then has the variance ``D * s**2`` times the mean square of the inputs, and relu keeps
half of it. So the mean square stays from layer to layer if ``D * s**2 / 2 = 1``:

    ``s = sqrt(2 / D)``  (He et al. 2015).

New since the step before: ``L.initializers``, ``dz.diagnostics.activations``.
"""

# %%
# Through 20 layers
# -----------------
# ``depth_profile`` sends 200 samples through 20 layers of 128 units with relu and
# measures the standard deviation behind each layer. Three scales ``s``: 0.01, 1, and
# He's.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

D, LAYERS = 128, 20


# New in this step
def depth_profile(scale):
    rng = np.random.default_rng(0)
    h = rng.standard_normal((200, D))
    spreads = []
    for _ in range(LAYERS):
        W = scale * rng.standard_normal((D, D))
        h = np.maximum(h @ W, 0)
        spreads.append(float(h.std()))
    return spreads


he = np.sqrt(2 / D)
scales = {"0.01": 0.01, "1": 1.0, f"He, {he:.3f}": he}
profiles = {name: depth_profile(scale) for name, scale in scales.items()}
print("scale        layer 1   layer 10   layer 20   factor per layer")
factors = {}
for name, s in profiles.items():
    factors[name] = (s[-1] / s[0]) ** (1 / (LAYERS - 1))
    print(f"{name:10} {s[0]:9.2g}  {s[9]:9.2g}  {s[-1]:9.2g}   {factors[name]:.3f}")

# %%
# By the rule above the size should change by the factor ``scale * sqrt(D / 2)`` per
# layer: 0.08, 8 and 1. It does. On a logarithmic axis that makes straight lines.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None
if plt is not None:
    figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
    for name, spreads in profiles.items():
        axes.semilogy(range(1, LAYERS + 1), spreads, "o-", markersize=4)
        axes.text(LAYERS + 0.6, spreads[-1], f"scale {name}", va="center")
    axes.set(xlabel="layer", ylabel="standard deviation of its outputs")
    axes.set(xlim=(0, 26), xticks=range(0, 21, 5))
    axes.grid(alpha=0.3)
    plt.savefig("step56.png", dpi=110)
    print("the three lines are drawn in step56.png")

# %%
# With the package
# ----------------
# Layers take the scale as ``initial_W``; ``L.initializers.HeNormal()`` is the rule
# above. (Without it, layers start with ``sqrt(1 / D)``.)

dz.seed(0)
layer = L.Linear(2000, in_size=500, initial_W=L.initializers.HeNormal())
spread = float(layer.W.data.std())
print(f"HeNormal: std {spread:.5f}, rule {np.sqrt(2 / 500):.5f}")

# %%
# Dead units
# ----------
# A unit with relu is dead when it gives 0 for every sample. Its slope is then 0 for
# every sample as well: its weights get no gradient, and no step of theirs brings it
# back. One step that is far too long kills many at once. Here a network takes such a
# step, and the dead units of its two hidden layers are counted before and after.

digits = dz.datasets.Digits()
x, t = digits.data.reshape(-1, 64), digits.label
model = dz.models.MLP((100, 100, 10), activation=F.relu)


def dead_by_hand(model, x):
    h, counts = x, []
    for hidden in (model.l0, model.l1):
        h = F.relu(hidden(h))
        counts.append(int((h.data == 0).all(axis=0).sum()))
    return counts


before = dead_by_hand(model, x)
optimizer = dz.optimizers.SGD(lr=20.0).setup(model)
loss = F.softmax_cross_entropy(model(x), t)
model.cleargrads()
loss.backward()
optimizer.update()
after = dead_by_hand(model, x)
print(f"dead units of 100 + 100: {before} before, {after} after a step with lr = 20")

# %%
# ``dz.diagnostics.activations`` runs a copy of a model and prints one row per layer,
# with a verdict. Its counts are ours. ("satur." is for bends such as tanh, which can
# get stuck at both ends. The verdict is "fine" until three quarters of a layer are
# dead: a network can spare some units.)

report = dz.diagnostics.activations(model, x)
print(report)
rows = {row.name: row for row in report.rows}

# %%
# A dead unit gets no gradient
# ----------------------------
# Column ``j`` of the weights of the first layer belongs to unit ``j``. For a dead unit
# the whole column has slope 0.

dead = (F.relu(model.l0(x)).data == 0).all(axis=0)
loss = F.softmax_cross_entropy(model(x), t)
model.cleargrads()
loss.backward()
columns = abs(model.l0.W.grad.data).sum(axis=0)
print(f"columns with slope 0: {(columns == 0).sum()} of {columns.size}")

for name, scale in scales.items():
    assert abs(factors[name] / (scale * np.sqrt(D / 2)) - 1) < 0.1
assert profiles["0.01"][-1] < 1e-15 and profiles["1"][-1] > 1e15
assert 0.3 < profiles[f"He, {he:.3f}"][-1] < 3
assert abs(spread / np.sqrt(2 / 500) - 1) < 0.01
assert after[0] > before[0] + 10 and after[1] > before[1] + 10
assert [rows["l0 > F.relu"].dead, rows["l1 > F.relu"].dead] == after
assert (columns[dead] == 0).all()

# %%
# Exercises
# ---------
# 1. Without relu nothing is cut off. Which scale keeps the standard deviation over 20
#    layers ``h @ W`` of 128 units? Work it out, then check it.
# 2. Send the slopes back by hand: keep each ``W`` and each ``h > 0`` of the 20 layers
#    with He's scale, start with a matrix of random numbers at the end, and go back as
#    ``backward`` would. Does the size of the slopes stay as well?
# 3. ``F.leaky_relu`` multiplies numbers below 0 by 0.2, where relu makes them 0. Let
#    the network with it take the long step. How many units are 0 for every sample now?
