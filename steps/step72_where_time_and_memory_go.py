"""
Step 72: where time and memory go
=================================

A training step that is too slow or too large has one cause that matters and many that
do not. Three instruments find it. A *counter* says how many Functions run.
``tracemalloc`` says how many bytes are kept, and how many there were at the worst
moment. ``cProfile`` says in which functions of Python the time was spent. What the
graph keeps can be foretold::

    bytes = batch x features x 4 x (arrays that some backward reads)

New since the step before: nothing in the library; a look at it from outside, while it
runs.
"""

# %%
# A deep network
# --------------
# Ten layers with tanh. One array between two layers has 512 x 256 floats of 4 bytes.

import cProfile
import gc
import os
import pstats
import tracemalloc
from collections import Counter
from contextlib import contextmanager

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero.models import MLP

dz.seed(0)
depth, batch, width = 10, 512, 256
model = MLP([width] * depth + [10], activation=F.tanh)
x = np.random.randn(batch, width).astype(np.float32)
t = np.random.randint(0, 10, batch)
model(x[:1])  # makes the weights
one = batch * width * 4
print(f"one array between two layers: {one / 1e6:.2f} MB")

# %%
# Counting Functions
# ------------------
# Every operation of forward goes through ``Function.__call__``, so for the time of a
# ``with`` block a method that counts is put in its place. (Backward needs fewer calls:
# where nothing is recorded, some gradients are computed on the arrays alone.) The
# losses differ: ``F.softmax_cross_entropy`` is one Function, written out for speed,
# ``F.softmax_cross_entropy_simple`` is composed of smaller ones.


# New in this step
@contextmanager
def counted():
    calls, call = Counter(), dz.Function.__call__

    def counting(self, *inputs):
        calls[type(self).__name__] += 1
        return call(self, *inputs)

    dz.Function.__call__ = counting
    try:
        yield calls
    finally:
        dz.Function.__call__ = call


counts = {}
for loss_function in (F.softmax_cross_entropy, F.softmax_cross_entropy_simple):
    name = loss_function.__name__
    with counted() as calls:
        loss = loss_function(model(x), t)
    with counted() as backward:
        loss.backward()
    counts[name] = calls.total()
    print(f"{name}: {calls.total()} forward, {backward.total()} in backward")
    print("   ", dict(calls))

# %%
# Bytes that the graph keeps
# --------------------------
# ``Tanh`` keeps its output for its slope, and ``Linear`` keeps its input for the
# gradient of its weights. Both are the same array. So one array per layer should be
# kept, and without a graph none. ``memory`` measures in megabytes what is held while
# the result of ``f`` is, and the worst moment. ``retain_graph=False`` frees the graph
# on the way back: it is gone afterwards, and the worst moment is lower too.


def memory(f):
    model.cleargrads()
    gc.collect()
    tracemalloc.start()
    result = f()  # as long as it is there, so is its graph
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return held / 1e6, peak / 1e6


def forward():
    return F.softmax_cross_entropy(model(x), t)


def train(retain_graph):
    loss = forward()
    loss.backward(retain_graph=retain_graph)
    return loss


with dz.no_grad():
    measured = {"forward, no graph": memory(forward)}
measured["forward"] = memory(forward)
measured["backward, retain_graph=True"] = memory(lambda: train(True))
measured["backward, retain_graph=False"] = memory(lambda: train(False))
expected = depth * one / 1e6
weights = sum(p.data.nbytes for p in model.params()) / 1e6
print(f"foretold: {expected:.2f} MB for the graph, {weights:.2f} MB for the gradients")
for name, (held, peak) in measured.items():
    print(f"{name:28}  holds {held:5.2f} MB, at most {peak:5.2f} MB")

# %%
# Where the time goes
# -------------------
# ``cProfile`` counts each call of a Python function and adds up the time inside it.
# NumPy's own work counts for the function that called it. Here most of it should be
# matrix products (in ``linalg.py``) and tanh (in ``hyperbolic.py``): then the Python
# around them is not worth a thought. With small arrays it is the other way round. The
# numbers differ from run to run and from machine to machine.

profile = cProfile.Profile()
profile.enable()
for _ in range(5):
    train(retain_graph=False)
    model.cleargrads()
profile.disable()
stats = pstats.Stats(profile).stats  # (file, line, name): (_, calls, own time, ...)
rows = sorted(stats.items(), key=lambda row: -row[1][2])
total = sum(row[2] for row in stats.values())
for (file, line, name), (_, calls, own, *_) in rows[:6]:
    place = f"{os.path.basename(file)}:{line} {name}"
    print(f"{own / total:5.0%} of the time, {calls:4} calls: {place}")

code = F.Tanh.forward.__code__
assert stats[code.co_filename, code.co_firstlineno, "forward"][1] == 5 * depth
assert counts["softmax_cross_entropy"] == 2 * depth + 2
assert counts["softmax_cross_entropy_simple"] > 2 * depth + 4
held = {name: values[0] for name, values in measured.items()}
assert held["forward, no graph"] < 0.1
assert abs(held["forward"] - expected) < 0.2
assert abs(held["backward, retain_graph=True"] - expected - weights) < 0.4
assert abs(held["backward, retain_graph=False"] - weights) < 0.2
peaks = [peak for _, peak in measured.values()]
assert peaks[3] < peaks[2]

# %%
# Exercises
# ---------
# 1. ``F.checkpoint(f, y)`` is ``f(y)``, but the graph keeps its input alone, and
#    backward computes the inside again. Put every two layers with their tanh into one.
#    Foretell how much the graph keeps, and measure it.
# 2. Count the Functions that ``dz.grad`` runs with ``create_graph=True`` and without.
#    What differs beside their number?
# 3. A loop that measures a loss in each round does ``total = total + loss``. How many
#    bytes does each round add, and what is the cure?
