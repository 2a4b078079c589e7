"""
Solutions to step 61: recurrence and truncated backpropagation
==============================================================
"""

# %%
# 1. ``Wh`` three times as large: are 30 steps still enough, and how large is the slope?
#
# No. Each step back now multiplies by about three times as much, and slopes grow on
# their way: the far past counts most, and the slope of all 100 steps is enormous. Such
# slopes are said to explode.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

dz.seed(0)
rnn = L.RNN(20, in_size=3)
Wx, Wh, b = rnn.x2h.W, rnn.h2h.W, rnn.x2h.b
xs = np.random.randn(100, 1, 3).astype(np.float32)


def rnn_by_hand(x, h):
    a = F.matmul(x, Wx) + b
    if h is not None:
        a = a + F.matmul(h, Wh)
    return F.tanh(a)


def slope_with_cut(k):
    h = None
    for i, x in enumerate(xs):
        if i == len(xs) - k and h is not None:
            h = h.detach()
        h = rnn_by_hand(x, h)
    return dz.grad(F.sum(h), [Wh])[0].data


def error_and_length():
    exact = slope_with_cut(100)
    length = float(np.linalg.norm(exact))
    return float(np.linalg.norm(slope_with_cut(30) - exact)) / length, length


for factor in (1, 3):
    Wh.data *= factor
    error, length = error_and_length()
    print(f"Wh times {factor}: relative error {error:.1e}, length {length:.1e}")
    if factor == 1:
        assert error < 1e-3 and length < 100
assert error > 0.5 and length > 1e4

# %%
# 2. How few cuts keep the longest path below 100 in 1,000 steps?
#
# One step behind a cut the longest path is product with ``Wx``, bias, sum, tanh: 4. The
# input comes from nowhere at each further step, so the path through the state counts:
# product with ``Wh``, sum, tanh, 3 more. After k steps it is 3 k + 1, below 100 for
# k = 32. That makes 32 pieces (the last one shorter) and 31 cuts.


def run(cut):
    h, longest, cuts = None, 0, 0
    for i in range(1000):
        if i > 0 and i % cut == 0:
            h = h.detach()
            cuts += 1
        h = rnn_by_hand(xs[i % 100], h)
        longest = max(longest, h.generation)
    return longest, cuts


for cut in (32, 33):
    longest, cuts = run(cut)
    print(f"a cut every {cut} steps: {cuts} cuts, longest path {longest}")
assert run(32) == (97, 31) and run(33) == (100, 30)

# %%
# 3. "The next value is this one", on the noisy training curve and on the test curve.
#
# On the smooth test curve neighbours differ by at most 2 pi / 1,000, so this forecast
# is very good: nothing that learned from noisy data comes near it. On the training
# curve it repeats the noise of one value and misses that of the next, so it has twice
# the mean square of the noise, 2 * 0.05 ** 2 / 3. A network that averages over several
# values may come down towards once the noise, which nothing can foretell.

train, test = dz.datasets.SinCurve(), dz.datasets.SinCurve(train=False)
on_train = float(np.mean((train.data - train.label) ** 2))
on_test = float(np.mean((test.data - test.label) ** 2))
noise = 0.05**2 / 3
print(f"mean square error on the test curve {on_test:.6f}")
print(f"on the training curve {on_train:.6f}, twice the noise {2 * noise:.6f}")
assert on_test < 1e-4 and abs(on_train / (2 * noise) - 1) < 0.1
