"""
Step 65: attention
==================

A recurrent network carries all that it has read in one state. Attention keeps every
place of the sequence and looks back directly. Each place asks with a *query*, each
place answers to a *key* and hands over a *value*. The answer is a mean of the values,
weighted by how well the keys fit the query::

    attention(Q, K, V) = softmax(Q K^T / sqrt(d)) V

Q and K have d columns, one row per place. It is a dictionary in which every key fits a
little, so that the choice has a slope.

New since the step before: ``F.scaled_dot_product_attention``, which mixes the places of
a sequence.
"""

# %%
# One query
# ---------
# Three places with keys, and values that are easy to recognise. The query has about the
# direction of the second key. ``q @ K.T`` measures the fit, ``softmax`` makes positive
# weights that add up to 1. (The division by sqrt(d) comes in the next cell.)

import numpy as np

import dezero as dz
import dezero.functions as F

np.random.seed(0)
np.set_printoptions(precision=3, suppress=True)

K = np.array([[4.0, 0.0], [0.0, 4.0], [-4.0, 0.0]])
V = np.array([[10.0], [20.0], [30.0]])
q = np.array([[0.1, 1.0]])

scores = q @ K.T
weights = F.softmax(scores, axis=1)
print("scores ", scores[0])
print("weights", weights.data[0])
answer = (weights @ V).item()
print(f"answer  {answer:.3f}, near 20: the value of the second place")

# %%
# Why divide by sqrt(d)
# ---------------------
# A product of two vectors with d random entries of size 1 is a sum of d terms: its size
# is about sqrt(d). Large scores make softmax choose one place only, and where softmax
# is flat its gradient is near zero. Divided by sqrt(d), the scores keep the size 1.

spread = {}
for d in (4, 64, 1024):
    queries, keys = np.random.randn(2, 500, d)
    products = queries @ keys.T
    spread[d] = products.std(), (products / np.sqrt(d)).std()
    print(f"d = {d:4}: size of q.k {spread[d][0]:6.2f}, divided {spread[d][1]:.2f}")

# %%
# All places at once, and no look ahead
# -------------------------------------
# A model that foretells the next character must not see it. A causal mask puts -1e9 on
# the scores of later places; ``exp`` makes weights of zero out of them. ``np.tri(T)``
# has ones at and below the diagonal: row i says what place i may see. ``F.where(mask,
# a, b)`` takes a where the mask is true and b elsewhere. ``F.swapaxes`` transposes the
# last two axes, whatever stands in front of them: there may be axes that count the
# sequences of a batch.


# New in this step
def attention(Q, K, V, causal=False):
    scores = Q @ F.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])  # (..., T, T)
    if causal:
        may_look = np.tri(scores.shape[-1], dtype=bool)
        scores = F.where(may_look, scores, -1e9)
    return F.softmax(scores, axis=-1) @ V  # (..., T, d)


T, d = 5, 8
Q, K, V = [dz.Variable(x) for x in np.random.randn(3, T, d)]
unit = np.eye(T)  # values that show the weights themselves
print("causal weights, one row per place:")
print(attention(Q, K, unit, causal=True).data)

# %%
# The gradient says who sees whom
# -------------------------------
# The derivative of the output at place i by the value at place j is the weight of j for
# i. For later places it is zero.

seen = np.zeros((T, T), dtype=int)
for i in range(T):
    V.cleargrad()
    attention(Q, K, V, causal=True)[i].sum().backward()
    seen[i] = np.abs(V.grad.data).max(axis=1) > 0
print("place i (row) has a gradient by place j (column):")
print(seen)

# %%
# The package's own
# -----------------
# ``F.scaled_dot_product_attention`` computes the same in one Function, which keeps the
# weights for its backward and no other array between the inputs and the result.

t = np.random.randn(T, d)
results = []
for f in (attention, F.scaled_dot_product_attention):
    for x in (Q, K, V):
        x.cleargrad()
    y = f(Q, K, V, causal=True)
    (y * t).sum().backward()
    results.append([y.data, *[x.grad.data for x in (Q, K, V)]])
distance = max(np.abs(a - b).max() for a, b in zip(*results, strict=True))
print(f"largest difference to the package, y and three gradients: {distance:.1e}")

assert np.isclose(weights.data.sum(), 1) and weights.data.argmax() == 1
assert abs(answer - 20) < 1
for d, (raw, divided) in spread.items():
    assert abs(raw / np.sqrt(d) - 1) < 0.1 and abs(divided - 1) < 0.1
assert np.array_equal(seen, np.tri(T))
assert distance < 1e-12

# %%
# Exercises
# ---------
# 1. All queries are zero. What does causal attention compute at place i? Check it with
#    ``np.cumsum``.
# 2. Reorder keys and values in the same way, without a mask. What happens to the
#    answers, and what does a model with attention alone therefore not know?
# 3. Split the 8 features of Q, K and V into two *heads* of 4 that attend by themselves,
#    and put their results side by side. Is it the same as one head of 8?
