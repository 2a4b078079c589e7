"""
Step 66: a small GPT
====================

A GPT is attention in layers. Each *block* does two things to the vectors of all places:
attention moves information between places, and two linear layers with a bend work on
each place alone. Both are added to what came in, so that gradients have a straight way
back::

    x = x + attention(norm(x))
    x = x + mlp(norm(x))

The queries, keys and values are three linear layers of the same vectors. ``norm`` is
``L.LayerNorm``: where step 60 normalised a channel over the batch, it normalises each
place by itself, over its features. Before the blocks, a place is a vector for its
character plus a vector for its position; after them, scores for the next character.

New since the step before: ``models.GPT``, a language model without recurrence, and
``L.LayerNorm``.
"""

# %%
# The text, and what counting pairs achieves
# ------------------------------------------
# *Hamlet* again, with the bigram table of step 63. Its loss on the test text, the mean
# of -log(p) of what came, is the mark to beat.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.datasets import Shakespeare
from dezero.models import GPT, Model
from dezero.optimizers import Adam, CosineLR

dz.seed(0)
text, test_text = Shakespeare(), Shakespeare(train=False)
ids, size = text.indices, text.vocab_size  # all characters as numbers; their kinds
C = 32  # characters that the model looks back on
N = 200  # pieces of the test text
test_ids = test_text.indices[: N * C + 1]
test_x, test_t = test_ids[:-1].reshape(N, C), test_ids[1:].reshape(N, C)

counts = np.full((size, size), 0.1)
np.add.at(counts, (ids[:-1], ids[1:]), 1)
pairs = counts / counts.sum(axis=1, keepdims=True)
bigram = -np.log(pairs[test_x, test_t]).mean()
print(f"{len(ids):,} characters, {size} different ones")
print(f"loss: {np.log(size):.3f} for guessing, {bigram:.3f} for counting pairs")

# %%
# The model
# ---------
# One attention makes one mean per place. To look at several places for several reasons,
# the D features are split into H *heads*, each of which attends by itself. The heads
# are an axis: (N, T, D) becomes (N, H, T, D/H) and back. ``F.gelu`` is a smooth
# relative of relu. The layers whose results are added start small, so that at first a
# block hardly changes what passes.


# New in this step
class Block(L.Layer):
    def __init__(self, D, H):
        self.H = H
        self.norm1 = L.LayerNorm(in_size=D)
        self.query, self.key, self.value = [L.Linear(D, in_size=D) for _ in range(3)]
        self.out = L.Linear(D, in_size=D)
        self.norm2 = L.LayerNorm(in_size=D)
        self.fc1, self.fc2 = L.Linear(4 * D, in_size=D), L.Linear(D, in_size=4 * D)
        for added in (self.out, self.fc2):
            added.W.data *= np.float32(0.2)

    def heads(self, x):
        N, T, D = x.shape
        return F.swapaxes(x.reshape(N, T, self.H, D // self.H), 1, 2)

    def forward(self, x):
        a = self.norm1(x)
        q, k, v = [self.heads(f(a)) for f in (self.query, self.key, self.value)]
        y = F.scaled_dot_product_attention(q, k, v, causal=True)
        x = x + self.out(F.swapaxes(y, 1, 2).reshape(x.shape))
        return x + self.fc2(F.gelu(self.fc1(self.norm2(x)), approximate=True))


class SmallGPT(Model):
    def __init__(self, size, context, D=64, H=4, blocks=2):
        self.token = L.Embedding(size, D)
        self.position = L.Embedding(context, D)
        self.blocks = [Block(D, H) for _ in range(blocks)]
        self.norm = L.LayerNorm(in_size=D)
        self.head = L.Linear(size, nobias=True, in_size=D)
        for W in (self.token.W, self.position.W, self.head.W):
            W.data = 0.02 * np.random.randn(*W.shape).astype(np.float32)

    def forward(self, ids):
        x = self.token(ids) + self.position.W[: ids.shape[1]]  # (N, T, D) + (T, D)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))  # (N, T, size)


# %%
# Training
# --------
# Every place of a piece is an example: what follows it? All of them are computed at
# once, where the LSTM went from one to the next. Against that, nothing tells this
# network that the last character counts most. It has to learn it, and needs some 1500
# batches to come to 1.8, where the LSTM of step 63 was after 200. Here it gets 300.

model = SmallGPT(size, C)
steps = 300
optimizer = Adam(4e-3, beta2=0.98).setup(model)
schedule = CosineLR(optimizer, steps, warmup=30)
losses = []
for step in range(steps + 1):
    if step % 50 == 0:
        with dz.no_grad():
            y = F.softmax_cross_entropy(model(test_x), test_t, axis=-1)
        losses.append(y.item())
        print(f"after {step:3} batches: loss on unseen text {losses[-1]:.3f}")
    starts = np.random.randint(0, len(ids) - C, 32)
    piece = ids[starts[:, None] + np.arange(C + 1)]  # (32, C + 1)
    loss = F.softmax_cross_entropy(model(piece[:, :-1]), piece[:, 1:], axis=-1)
    model.cleargrads()
    loss.backward(retain_graph=False)
    optimizer.update()
    schedule.step()

# %%
# The package's own, and a line of its own
# ----------------------------------------
# With our weights ``dezero.models.GPT`` gives our scores, and its ``generate`` draws
# one character after the other, with a temperature of 0.7 as in step 63.

own = GPT(size, context=C, width=64, layers=2, heads=4)
for theirs, ours in zip(own.params(), model.params(), strict=True):
    theirs.data[...] = ours.data
with dz.no_grad():
    distance = np.abs(own(test_x[:8]).data - model(test_x[:8]).data).max()
print(f"largest difference to the scores of models.GPT: {distance:.1e}")
line = text.decode(own.generate(text.encode("Ham.\n"), 120, temperature=0.7, seed=1))
print("----\n" + line + "\n----")

assert abs(losses[0] - np.log(size)) < 0.3  # it starts by guessing
assert losses[-1] < bigram - 0.1
assert distance < 1e-4
assert line.startswith("Ham.\n") and len(line) == 125

# %%
# Exercises
# ---------
# 1. Change the last character of a piece. Which scores change? Why must it be so?
# 2. Set all position vectors to zero and reorder all characters but the last. Do the
#    scores of the last place change with one block? With two? Remember the causal mask.
# 3. How many numbers does a block of width D learn? (A ``LayerNorm`` has a scale and a
#    shift per feature.) Check your formula with ``params()``.
