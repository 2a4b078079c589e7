r"""
Step 63: a character language model
===================================

A language model says what comes next: given the characters so far, a probability for
each of ``V`` possible ones. It is classification (step 47) at every place of a text,
and the label is the text itself, one place further on. Its measure is the mean
cross-entropy per character,

.. math:: -\frac{1}{T} \sum_t \log p(x_{t+1} \mid x_1, \ldots, x_t)

A network with an LSTM is compared with the best that can be done from one character
alone: a table that counts which character follows which, a *bigram* model.

New since the step before: ``L.Embedding``, ``L.SequenceLSTM``, the text in
``dz.datasets.Shakespeare``.
"""

# %%
# The text
# --------
# *Hamlet* comes with the package; the last tenth of it is for testing. Each character
# has a number. ``text.data`` are the numbers of the text, and ``text.label`` are the
# same, one place further on.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

text, test = dz.datasets.Shakespeare(), dz.datasets.Shakespeare(train=False)
V = text.vocab_size
print(f"{len(text):,} characters to learn from, {len(test):,} to test on, {V} kinds")
print(repr(text.decode(text.data[2000:2060])), "->", text.data[2000:2006], "...")

# %%
# Counting pairs
# --------------
# How often does character ``j`` follow character ``i``? ``np.add.at`` counts a pair as
# often as it occurs, where ``counts[i, j] += 1`` on arrays would count it once. A tenth
# of a count stands everywhere at first, so that a pair that was never seen has a small
# probability, not 0.

counts = np.full((V, V), 0.1)
np.add.at(counts, (text.data, text.label), 1)
bigram = counts / counts.sum(axis=1, keepdims=True)
loss_uniform = np.log(V)
loss_bigram = float(-np.log(bigram[test.data, test.label]).mean())
print(f"cross-entropy of guessing {loss_uniform:.3f}, of the bigram {loss_bigram:.3f}")

# %%
# Rows for characters
# -------------------
# The network needs a vector for each character. ``L.Embedding(V, E)`` holds one row of
# ``E`` weights per character and looks up the rows of the numbers. That is what a
# product with one-hot rows gives, without the product.

dz.seed(0)
embedding = L.Embedding(V, 4)
ids = text.data[:5]
one_hot = np.eye(V, dtype=np.float32)[ids]  # (5, V), a single 1 in each row
looked_up, multiplied = embedding(ids), F.matmul(one_hot, embedding.W)
print("look-up = one-hot product:", np.allclose(looked_up.data, multiplied.data))

# %%
# The network
# -----------
# ``L.SequenceLSTM`` runs the LSTM of step 62 over a whole sequence ``(T, N, E)`` in one
# call. It returns the state after every step, and ``h`` and ``c`` after the last, to go
# on from there. The state after step ``t`` has seen the characters up to ``t``, so a
# linear layer can score what follows.


# New in this step
class CharModel(dz.Model):
    def __init__(self):
        self.embedding = L.Embedding(V, 32)
        self.lstm = L.SequenceLSTM(128)
        self.out = L.Linear(V)

    def forward(self, ids, h=None, c=None):  # ids (T, N)
        y, h, c = self.lstm(self.embedding(ids), h, c)  # (T, N, 128)
        return self.out(y), h, c  # scores (T, N, V)


def cross_entropy(scores, labels):
    return F.softmax_cross_entropy(F.reshape(scores, (-1, V)), labels.ravel())


# %%
# Training
# --------
# At each update 32 windows of 40 characters from anywhere in the text. Slopes go back
# 40 steps, no further: each window starts with an empty state. No second backward will
# follow, so ``retain_graph=False`` frees the graph on the way, which saves memory.
# Afterwards the test part is read, in windows too. The exponential of a mean
# cross-entropy says it more plainly: an even choice among that many characters would be
# as hard to guess.

T, N, UPDATES = 40, 32, 200
dz.seed(0)
model = CharModel()
optimizer = dz.optimizers.Adam(lr=0.01).setup(model)
total = 0.0
for update in range(1, UPDATES + 1):
    starts = np.random.randint(0, len(text) - T, N)
    window = np.arange(T)[:, np.newaxis] + starts  # (T, N), one column per window
    scores, _, _ = model(text.data[window])
    loss = cross_entropy(scores, text.label[window])
    model.cleargrads()
    loss.backward(retain_graph=False)
    optimizer.update()
    total += loss.item()
    if update % 50 == 0:
        print(f"update {update}: mean loss {total / 50:.3f}")
        total = 0.0

columns = test.data[: len(test) // T * T].reshape(-1, T).T  # (T, windows)
labels = test.label[: columns.size].reshape(-1, T).T
with dz.no_grad():
    loss_network = cross_entropy(model(columns)[0], labels).item()
print(f"on the test part: network {loss_network:.3f}, bigram {loss_bigram:.3f}")
print(f"as hard as {np.exp(loss_network):.1f} and {np.exp(loss_bigram):.1f} choices")

# %%
# Writing
# -------
# Draw a character from the probabilities, feed it back, go on with the state. Dividing
# the scores by a *temperature* below 1 makes the likely ones likelier. The bigram draws
# from its table as it is.


def write(start, length, temperature=0.7):
    rng = np.random.default_rng(3)
    ids, h, c = list(text.encode(start)), None, None
    unread = np.array(ids)[:, np.newaxis]  # (T, 1)
    with dz.no_grad():
        for _ in range(length):
            scores, h, c = model(unread, h, c)
            p = F.softmax(scores[-1] / temperature).data[0].astype(np.float64)
            ids.append(rng.choice(V, p=p / p.sum()))
            unread = np.array([[ids[-1]]])
    return text.decode(ids)


def write_by_pairs(start, length):
    rng = np.random.default_rng(3)
    ids = list(text.encode(start))
    for _ in range(length):
        ids.append(rng.choice(V, p=bigram[ids[-1]]))
    return text.decode(ids)


line, line_pairs = write("The king ", 60), write_by_pairs("The king ", 60)
print("network:", repr(line))
print("bigram: ", repr(line_pairs))

assert np.allclose(looked_up.data, multiplied.data)
assert loss_bigram < 2.5 < loss_uniform
assert loss_network < loss_bigram - 0.4
assert len(line) == len(line_pairs) == 69 and line.startswith("The king ")
assert write("The king ", 60) == line

# %%
# Exercises
# ---------
# 1. Count triples: which character follows which *two*? With 0.1 added to each count,
#    what is the cross-entropy of this table on the training part and on the test part?
#    Is it better than the pairs? Than the network? (Two numbers below V make one below
#    V * V.)
# 2. What does a temperature do? Take the scores 2, 1 and 0 and print
#    ``softmax(scores / temperature)`` for temperatures 2, 1, 0.5 and 0.1.
# 3. Read a text of 80 characters with a ``L.SequenceLSTM`` in one call, and in two
#    calls of 40, the second one with ``h`` and ``c`` of the first. Show that the states
#    at the end are the same.
