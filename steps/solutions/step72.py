"""
Solutions to step 72: where time and memory go
==============================================
"""

# %%
# 1. Every two layers in ``F.checkpoint``: how much does the graph keep?
#
# One array for each part instead of one for each layer: half.

import gc
import tracemalloc
from collections import Counter

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

dz.seed(0)
depth, batch, width = 10, 512, 256
layers = [L.Linear(width, in_size=width) for _ in range(depth)]
head = L.Linear(10, in_size=width)
x = np.random.randn(batch, width).astype(np.float32)
t = np.random.randint(0, 10, batch)
one = batch * width * 4 / 1e6


def plain():
    y = x
    for layer in layers:
        y = F.tanh(layer(y))
    return F.softmax_cross_entropy(head(y), t)


def in_parts():
    y = x
    for a, b in zip(layers[::2], layers[1::2], strict=True):
        y = F.checkpoint(lambda y, a=a, b=b: F.tanh(b(F.tanh(a(y)))), y)
    return F.softmax_cross_entropy(head(y), t)


def held(f):
    gc.collect()
    tracemalloc.start()
    result = f()
    megabytes = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    del result
    return megabytes


kept = held(plain), held(in_parts)
print(f"kept {kept[0]:.2f} MB, in parts {kept[1]:.2f} MB; one array has {one:.2f} MB")
assert abs(kept[0] - depth * one) < 0.2 and abs(kept[1] - depth / 2 * one) < 0.2

gradients = []
for f in (plain, in_parts):
    head.cleargrads()
    f().backward(retain_graph=False)
    gradients.append(head.W.grad.data)
assert np.array_equal(*gradients)  # the price is time, not accuracy

# %%
# 2. Functions that ``dz.grad`` runs with ``create_graph=True`` and without: what else
#    differs?
#
# With it they are recorded, so the gradient holds on to the graph of the loss and to
# that of the backward; without, it is an array by itself. And where nothing is
# recorded, the backward of a product works on the arrays alone, which takes less
# time: that is why fewer Functions run.

counts = {}
call = dz.Function.__call__
for create_graph in (False, True):
    loss = plain()
    calls = counts[create_graph] = Counter()

    def counting(self, *inputs, calls=calls):
        calls[type(self).__name__] += 1
        return call(self, *inputs)

    dz.Function.__call__ = counting
    try:
        dz.grad(loss, [layers[0].W], create_graph=create_graph)
    finally:
        dz.Function.__call__ = call
    del loss
    print(f"create_graph={create_graph}: {calls.total()} Functions in backward")
assert counts[True].total() > counts[False].total()

without = held(lambda: dz.grad(plain(), [layers[0].W]))
recorded = held(lambda: dz.grad(plain(), [layers[0].W], create_graph=True))
print(f"the gradient holds {without:.2f} MB, the recorded one {recorded:.2f} MB")
assert without < 0.5 and recorded > 2 * depth * one

# %%
# 3. ``total = total + loss``: what does each round add, and what is the cure?
#
# The sum is a result, and its graph holds on to that of each loss: all arrays between
# the layers, at every round. A plain number, ``float(loss)``, holds nothing. Where no
# gradient is wanted at all, ``dz.no_grad()`` is the better cure, since nothing is kept
# meanwhile.


def rounds(n, as_number):
    total = 0.0
    for _ in range(n):
        loss = plain()
        total = total + (float(loss) if as_number else loss)
        del loss
    return total


each = [
    (held(lambda a=a: rounds(4, a)) - held(lambda a=a: rounds(1, a))) / 3
    for a in (0, 1)
]
print(f"each round adds {each[0]:.2f} MB; with float(loss) {each[1]:.2f} MB")
assert abs(each[0] - depth * one) < 0.2 and abs(each[1]) < 0.1
