"""
Solutions to step 65: attention
===============================
"""

# %%
# 1. All queries are zero: what does causal attention compute at place i?
#
# All scores are zero, so each place gives equal weights to all that it may see: the
# mean of the values up to itself.

import numpy as np

import dezero.functions as F

np.random.seed(0)
T, d = 5, 8
K, V = np.random.randn(2, T, d)
y = F.scaled_dot_product_attention(np.zeros((T, d)), K, V, causal=True).data
means = np.cumsum(V, axis=0) / np.arange(1, T + 1)[:, None]
print("zero queries: distance to running means", np.abs(y - means).max())
assert np.allclose(y, means)

# %%
# 2. Reorder keys and values in the same way: what happens to the answers?
#
# Nothing: a weighted sum has no order. A model with attention alone does not know where
# a place is, so that step 66 adds a vector for each position.

Q = np.random.randn(T, d)
order = np.random.permutation(T)
y = F.scaled_dot_product_attention(Q, K, V).data
reordered = F.scaled_dot_product_attention(Q, K[order], V[order]).data
print("order", order, "changes the answers by", np.abs(y - reordered).max())
assert np.allclose(y, reordered)

# %%
# 3. Two heads of 4 features, side by side: is it the same as one head of 8?
#
# No: each head has weights of its own, and can look somewhere else.

halves = [slice(0, 4), slice(4, 8)]
heads = [F.scaled_dot_product_attention(Q[:, h], K[:, h], V[:, h]) for h in halves]
two = F.concatenate(heads, axis=1)  # (T, 8)
print(f"one head of 8 against two of 4: {np.abs(two.data - y).max():.2f} apart")
assert two.shape == y.shape and not np.allclose(two.data, y)

# As one call, with the heads on an axis in front: (T, 8) -> (2, T, 4).
Q2, K2, V2 = [x.reshape(T, 2, 4).swapaxes(0, 1) for x in (Q, K, V)]
stacked = F.scaled_dot_product_attention(Q2, K2, V2)
assert np.allclose(F.swapaxes(stacked, 0, 1).reshape(T, 8).data, two.data)
