"""
Solutions to step 63: a character language model
================================================
"""

# %%
# 1. Count triples: the cross-entropy on the training part and on the test part.
#
# Better than the pairs on both, and not as good as the network. The training part is
# now foretold better than the test part: there are V times as many numbers, and many
# of them rest on a few sightings.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

text, test = dz.datasets.Shakespeare(), dz.datasets.Shakespeare(train=False)
V = text.vocab_size


def pairs(part):
    return part.data, part.label


def triples(part):
    return part.data[:-1] * V + part.data[1:], part.label[1:]


def table_loss(split, part, rows):
    counts = np.full((rows, V), 0.1)
    np.add.at(counts, split(text), 1)
    table = counts / counts.sum(axis=1, keepdims=True)
    return float(-np.log(table[split(part)]).mean())


losses = {}
for name, split, rows in [("pairs", pairs, V), ("triples", triples, V * V)]:
    losses[name] = [table_loss(split, part, rows) for part in (text, test)]
    print(f"{name:8} training {losses[name][0]:.3f}, test {losses[name][1]:.3f}")
gaps = {name: test - train for name, (train, test) in losses.items()}
assert losses["triples"][1] < losses["pairs"][1] - 0.2
assert gaps["triples"] > 0.03 > abs(gaps["pairs"])

# %%
# 2. ``softmax(scores / temperature)`` of 2, 1 and 0.
#
# A low temperature leaves the best score alone, a high one makes all alike.

scores = np.array([[2.0, 1.0, 0.0]])
best = []
for temperature in (2, 1, 0.5, 0.1):
    p = F.softmax(scores / temperature).data[0]
    best.append(float(p[0]))
    print(f"temperature {temperature}: {p.round(3)}")
assert best == sorted(best) and best[-1] > 0.9999
assert np.isclose(best[1], 1 / (1 + np.exp(-1) + np.exp(-2)))

# %%
# 3. A text of 80 characters in one call and in two.
#
# ``h`` and ``c`` are all that an LSTM remembers: with them the second call goes on as
# if there had been no break.

dz.seed(0)
embedding, lstm = L.Embedding(V, 8), L.SequenceLSTM(16)
x = embedding(text.data[:80, np.newaxis])  # (80, 1, 8)
y, h, c = lstm(x)
y1, h1, c1 = lstm(x[:40])
y2, h2, c2 = lstm(x[40:], h1, c1)
gap = max(float(abs(a.data - b.data).max()) for a, b in [(h, h2), (c, c2)])
print(f"states at the end differ by {gap:.0e}")
assert gap < 1e-6 and np.allclose(y.data[40:], y2.data, atol=1e-6)
