r"""
Step 61: recurrence and truncated backpropagation
=================================================

A network for sequences reads one element at a time and keeps a *state* ``h``, its
memory of what it has read:

.. math:: h_t = \tanh(x_t W_x + h_{t-1} W_h + b)

The same weights are used at every step, and the graph of the loss reaches back to the
first. It grows as long as the sequence goes on. *Truncated* backpropagation keeps the
numbers of the state and cuts its graph every few steps: slopes flow back that far only,
and memory is bounded.

New since the step before: ``L.RNN``, ``detach``, ``unchain_backward``.
"""

# %%
# One step by hand
# ----------------
# ``L.RNN`` has the weights in two linear layers: ``x2h`` for the input, with the bias,
# and ``h2h`` for the state. It keeps the state itself, in ``.h``. With the same weights
# our cell gives the same states, and the same slopes through five steps.

import tracemalloc

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L


# New in this step
def rnn_by_hand(x, h, Wx, Wh, b):
    a = F.matmul(x, Wx) + b
    if h is not None:
        a = a + F.matmul(h, Wh)
    return F.tanh(a)


dz.seed(0)
rnn = L.RNN(20, in_size=3)
Wx, Wh, b = rnn.x2h.W, rnn.h2h.W, rnn.x2h.b
xs = np.random.randn(100, 1, 3).astype(np.float32)  # 100 steps of a batch of 1

h = None
for x in xs[:5]:
    h = rnn_by_hand(x, h, Wx, Wh, b)
    theirs = rnn(x)
gap = float(abs(h.data - theirs.data).max())
slope_ours, slope_theirs = (dz.grad(F.sum(y), [Wh])[0].data for y in (h, theirs))
gap_slopes = float(abs(slope_ours - slope_theirs).max())
print(f"after 5 steps: states differ by {gap:.0e}, slopes by {gap_slopes:.0e}")

# %%
# The graph grows, and memory with it
# -----------------------------------
# The generation of a Variable (step 16) is the length of the longest path behind it,
# counted in Functions. ``detach()`` returns a constant with the same data: the chain
# ends there. We run 1,000 steps, once without a cut and once with a cut every 30 steps,
# and note the longest path and the memory held at the end.


def long_run(cut):
    tracemalloc.start()
    h, longest = None, 0
    for i in range(1000):
        if cut and i % cut == 0 and h is not None:
            h = h.detach()
        h = rnn_by_hand(xs[i % 100], h, Wx, Wh, b)
        longest = max(longest, h.generation)
    held = tracemalloc.get_traced_memory()[0] / 1024
    tracemalloc.stop()
    return h.data, longest, held


state_whole, longest_whole, held_whole = long_run(None)
state_cut, longest_cut, held_cut = long_run(30)
print(f"no cut:          longest path {longest_whole:5}, memory {held_whole:6.0f} kB")
print(f"cut every 30:    longest path {longest_cut:5}, memory {held_cut:6.0f} kB")
print("the same state:", np.array_equal(state_whole, state_cut))

# %%
# What the cut costs
# ------------------
# The state is the same, the slope is not: what happened before the cut counts as a
# constant. Here the last state after 100 steps is differentiated by ``Wh``, with a cut
# ``k`` steps before the end, and compared with the slope through all 100.


def slope_with_cut(k):
    h = None
    for i, x in enumerate(xs):
        if i == len(xs) - k and h is not None:
            h = h.detach()
        h = rnn_by_hand(x, h, Wx, Wh, b)
    return dz.grad(F.sum(h), [Wh])[0].data


exact = slope_with_cut(100)
errors = {}
for k in (1, 3, 10, 30):
    errors[k] = float(np.linalg.norm(slope_with_cut(k) - exact) / np.linalg.norm(exact))
    print(f"slope through the last {k:2} steps: relative error {errors[k]:.1e}")

# %%
# Each step back multiplies by ``Wh`` and by the slope of tanh, which is at most 1. With
# these weights the far past hardly counts, so cutting it off costs little. It also
# means that such a network hardly learns from the far past: see the next step.
#
# A curve, foretold step by step
# ------------------------------
# The data: a sine, with noise drawn evenly from −0.05 to 0.05. At each element the
# network is to foretell the next one. ``backward`` runs every 30 steps over the losses
# of these. Then ``unchain_backward()`` of the loss cuts everything behind it, the state
# of the layer included.
#
# It is tested on a smooth cosine, which it has not seen. ``reset_state()`` makes the
# layer forget. The mean square of the curve itself is 0.5.

train, test = dz.datasets.SinCurve(), dz.datasets.SinCurve(train=False)


class Foretell(dz.Model):
    def __init__(self):
        self.rnn = L.RNN(20)
        self.out = L.Linear(1)

    def forward(self, x):
        return self.out(self.rnn(x))


def foretold(model):
    model.rnn.reset_state()
    with dz.no_grad():
        return np.array([model(x[np.newaxis]).item() for x in test.data])


model = Foretell()
optimizer = dz.optimizers.Adam(lr=0.002).setup(model)
for _ in range(6):
    model.rnn.reset_state()
    loss = 0.0
    for i in range(len(train)):
        y = model(train.data[i : i + 1])
        loss = loss + F.mean_squared_error(y, train.label[i : i + 1])
        if i % 30 == 29 or i == len(train) - 1:
            model.cleargrads()
            loss.backward()
            loss.unchain_backward()
            optimizer.update()
            loss = 0.0
curve = foretold(model)
error = float(np.mean((curve - test.label[:, 0]) ** 2))
print(f"mean square error on the cosine: {error:.4f}")

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None
if plt is not None:
    figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
    axes.plot(train.label[:, 0], ".", ms=2, color="0.7", label="training data")
    axes.plot(test.label[:, 0], lw=3, color="tab:orange", label="test: the next value")
    axes.plot(curve, "--", color="tab:blue", label="test: foretold")
    axes.set(xlabel="step", ylabel="value")
    axes.legend(loc="lower left")
    plt.savefig("step61.png", dpi=110)
    print("Data and forecast are in step61.png.")

assert gap < 1e-6 and gap_slopes < 1e-5
assert longest_whole > 2000 and longest_cut < 100
assert held_whole > 10 * held_cut
assert np.array_equal(state_whole, state_cut)
assert errors[1] > errors[3] > errors[10] > errors[30] and errors[30] < 0.01
assert error < 0.01 and abs(np.mean(test.label**2) - 0.5) < 0.01

# %%
# Exercises
# ---------
# 1. Multiply the data of ``Wh`` by 3 and measure the errors of ``slope_with_cut`` anew.
#    Are 30 steps still enough? How large is ``np.linalg.norm(exact)``, before and
#    after?
# 2. How few cuts keep the longest path below 100 in 1,000 steps of the cell by hand?
#    Work it out: which generation has the state one step behind a cut, and by how much
#    does it grow with each step? Then try.
# 3. How good is the forecast "the next value is this one" on the noisy training curve,
#    and on the smooth test curve? Compare with the network and explain.
