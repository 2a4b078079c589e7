"""
Step 54: saving and resuming
============================

Training ends when the process does, unless its results are in a file. Two things are
worth a file. The *weights* are enough to use a model. To go on with a *run* more is
needed: what the optimizer remembers, how far the data has been read, and the state of
the random numbers. With all of it a run that was stopped and resumed gives the same
numbers as one that never stopped, not nearly but bit for bit.

New since the step before: ``save_weights``, ``load_weights``, ``dz.save_checkpoint``,
``dz.load_checkpoint``.
"""

# %%
# Weights: one array per name
# ---------------------------
# ``np.savez`` writes arrays by name into one file. A model gives its parameters by
# name, so one line saves it. ``model.save_weights`` does the same: both files hold the
# same arrays.

import os
import tempfile

import numpy as np

import dezero as dz
import dezero.functions as F

folder = tempfile.TemporaryDirectory()


def path(name):
    return os.path.join(folder.name, name)


# New in this step
def save_by_hand(model, file):
    np.savez(file, **{name: p.data for name, p in model.named_params()})


np.random.seed(0)
model = dz.models.MLP((20, 3), activation=F.relu)
model(np.zeros((1, 2), dtype=np.float32))  # the first call makes the weights
save_by_hand(model, path("by_hand.npz"))
model.save_weights(path("weights.npz"))
with np.load(path("by_hand.npz")) as ours, np.load(path("weights.npz")) as theirs:
    for name in theirs.files:
        print(f"{name:5} {theirs[name].shape}")
    same_files = set(ours.files) == set(theirs.files) and all(
        np.array_equal(ours[name], theirs[name]) for name in ours.files
    )
print("both files hold the same arrays:", same_files)

other = dz.models.MLP((20, 3), activation=F.relu)
other.load_weights(path("weights.npz"))  # takes the shapes from the file as well

# %%
# A run that never stops
# ----------------------
# ``Run`` holds all that changes while the network learns the spirals: the model, the
# optimizer with its memory, and the loader that shuffles. Six epochs at one go, of ten
# batches each.


class Run:
    def __init__(self):
        self.model = dz.models.MLP((20, 3), activation=F.relu)
        self.optimizer = dz.optimizers.Adam(lr=0.01).setup(self.model)
        self.loader = dz.DataLoader(dz.datasets.Spiral(), batch_size=30)

    def parts(self):
        return dict(model=self.model, optimizer=self.optimizer, loader=self.loader)

    def epochs(self, n):
        losses = []
        for _ in range(n):
            for x, t in self.loader:
                loss = F.softmax_cross_entropy(self.model(x), t)
                self.model.cleargrads()
                loss.backward()
                self.optimizer.update()
                losses.append(loss.item())
        return losses


dz.seed(1)
whole = Run()
losses_whole = whole.epochs(6)

# %%
# Stopped and resumed
# -------------------
# The same again, but after three epochs everything goes into a *checkpoint*, a file of
# all parts. The state of the random numbers goes with them without being asked, and
# plain data, such as the number of the epoch, may go too. Then comes what a new process
# would have: new objects, and random numbers in some other state. ``load_checkpoint``
# brings all of it to where it was and returns the plain data.

dz.seed(1)
first = Run()
losses_first = first.epochs(3)
dz.save_checkpoint(path("run.npz"), **first.parts(), epoch=3)

dz.seed(999)
second = Run()
saved = dz.load_checkpoint(path("run.npz"), **second.parts())
losses_second = second.epochs(6 - saved["epoch"])

# %%
# With the weights alone
# ----------------------
# Weights and nothing else: Adam starts again without memory (step 46) and the loader
# shuffles in another order. The run goes on, and it is another run.

first.model.save_weights(path("only.npz"))
dz.seed(999)
third = Run()
third.model.load_weights(path("only.npz"))
losses_third = third.epochs(3)

print("loss after   epoch 4    epoch 5    epoch 6")
for name, losses in [
    ("never stopped", losses_whole[30:]),
    ("checkpoint", losses_second),
    ("weights only", losses_third),
]:
    means = [f"{np.mean(losses[i : i + 10]):.6f}" for i in (0, 10, 20)]
    print(f"{name:14}", "   ".join(means))

# %%
# Bit for bit
# -----------
# Every loss and every weight is compared with ``==``, without a tolerance.

assert same_files
for p, q in zip(model.params(), other.params(), strict=True):
    assert np.array_equal(p.data, q.data)
assert saved == {"epoch": 3}
assert losses_first + losses_second == losses_whole
for p, q in zip(whole.model.params(), second.model.params(), strict=True):
    assert np.array_equal(p.data, q.data)
assert losses_third != losses_whole[30:]
folder.cleanup()
print("resumed and never stopped agree in all", len(losses_whole), "losses")

# %%
# Exercises
# ---------
# 1. What is the memory of Adam worth? Resume with the weights and the right random
#    state, but a fresh Adam: keep ``np.random.get_state()`` where the checkpoint is
#    saved, and give it to ``np.random.set_state`` before going on. Is the first loss
#    the same as in the run that never stopped? And the second?
# 2. Replace Adam by ``dz.optimizers.SGD(lr=0.1)``, which remembers nothing, and do
#    exercise 1 again. What do you expect?
# 3. A process may be killed while it writes the file. Write ``save_safely(model,
#    file)`` so that at every moment the old file or the new one is there, whole. (Hint:
#    ``os.replace`` renames a file in one go.)
