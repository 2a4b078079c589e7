"""
Solutions to step 54: saving and resuming
=========================================
"""

# %%
# 1. What is the memory of Adam worth? Resume with the weights and the right random
# state, but a fresh Adam.
#
# The first loss is the same: it is computed before the fresh Adam has done anything,
# from the same weights and the same batch. From the second one on they differ.

import os
import tempfile

import numpy as np

import dezero as dz
import dezero.functions as F


def make(optimizer):
    model = dz.models.MLP((20, 3), activation=F.relu)
    loader = dz.DataLoader(dz.datasets.Spiral(), batch_size=30)
    return model, optimizer().setup(model), loader


def epochs(n, model, optimizer, loader):
    losses = []
    for _ in range(n):
        for x, t in loader:
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            losses.append(float(loss))
    return losses


def whole_and_resumed(optimizer):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "weights.npz")
        dz.seed(1)
        run = make(optimizer)
        epochs(3, *run)
        run[0].save_weights(file)
        random_state = np.random.get_state()
        whole = epochs(3, *run)

        other = make(optimizer)
        other[0].load_weights(file)
        np.random.set_state(random_state)
        return whole, epochs(3, *other)


whole, resumed = whole_and_resumed(lambda: dz.optimizers.Adam(lr=0.01))
print("Adam, never stopped:", [f"{loss:.6f}" for loss in whole[:3]])
print("Adam, fresh:        ", [f"{loss:.6f}" for loss in resumed[:3]])
assert resumed[0] == whole[0] and resumed[1] != whole[1]

# %%
# 2. The same with SGD, which remembers nothing.
#
# Now nothing is missing: weights and random state are the whole run.

whole, resumed = whole_and_resumed(lambda: dz.optimizers.SGD(lr=0.1))
print("SGD:", len(whole), "losses, all the same:", whole == resumed)
assert whole == resumed

# %%
# 3. ``save_safely``: at every moment the old file or the new one is there, whole.
#
# Write under another name in the same folder, then rename. Renaming happens at one go;
# a process that dies before it leaves the old file as it was.


def save_safely(model, file):
    half_done = file + ".part.npz"
    model.save_weights(half_done)
    os.replace(half_done, file)


with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "weights.npz")
    model, _, _ = make(dz.optimizers.SGD)
    model(np.zeros((1, 2), dtype=np.float32))
    save_safely(model, file)
    model.l0.b.data[...] = 7
    save_safely(model, file)  # takes the place of the first one
    other, _, _ = make(dz.optimizers.SGD)
    other.load_weights(file)
    print("files:", os.listdir(folder))
    assert os.listdir(folder) == ["weights.npz"]
assert np.array_equal(other.l0.b.data, np.full(20, 7))
