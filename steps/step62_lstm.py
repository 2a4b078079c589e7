r"""
Step 62: LSTM: a memory with gates
==================================

The state of step 61 is replaced at every step, and slopes fade on their way through
it. A long short-term memory (Hochreiter and Schmidhuber 1997) has a second state, the
cell ``c``, which is *added to* instead. Gates, numbers between 0 and 1 computed from
the input and the state, say how much of it stays, what is written and what is shown:

.. math::

   c_t &= f \, c_{t-1} + i \, u  \\
   h_t &= o \tanh(c_t)

with :math:`f, i, o = \sigma(x_t W_x + h_{t-1} W_h + b)` and
:math:`u = \tanh(x_t W_x + h_{t-1} W_h + b)`, each with weights of its own. Along the
cell a slope is multiplied by ``f`` per step. Where ``f`` is near 1, it lives on.

New since the step before: ``L.LSTM``.
"""

# %%
# By hand
# -------
# ``L.LSTM`` has two linear layers for each of the four: ``x2f`` and ``h2f``, and so on
# for ``i``, ``o`` and ``u``. Our step takes their weights from a dictionary.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L


# New in this step
def lstm_by_hand(x, h, c, weights):
    a = {}
    for gate, (Wx, b, Wh) in weights.items():
        a[gate] = F.matmul(x, Wx) + b
        if h is not None:
            a[gate] = a[gate] + F.matmul(h, Wh)
    f, i, o = (F.sigmoid(a[gate]) for gate in "fio")
    u = F.tanh(a["u"])
    c = i * u if c is None else f * c + i * u
    return o * F.tanh(c), c


def weights_of(lstm):
    layers = {g: (getattr(lstm, f"x2{g}"), getattr(lstm, f"h2{g}")) for g in "fiou"}
    return {g: (x2.W, x2.b, h2.W) for g, (x2, h2) in layers.items()}


# %%
# With the package
# ----------------
# Ten steps of a batch of 4. The layer computes all four products at once and has a
# backward of its own. States and slopes are the same, up to rounding.

dz.seed(0)
lstm = L.LSTM(8, in_size=3)
weights = weights_of(lstm)
h = c = None
for x in np.random.randn(10, 4, 3).astype(np.float32):
    h, c = lstm_by_hand(x, h, c, weights)
    theirs = lstm(x)
params = list(lstm.params())
slopes_ours, slopes_theirs = (dz.grad(F.sum(y**2), params) for y in (h, theirs))
gap_h = float(abs(h.data - theirs.data).max())
gap_c = float(abs(c.data - lstm.c.data).max())
pairs = zip(slopes_ours, slopes_theirs, strict=True)
gap_slopes = max(float(abs(p.data - q.data).max()) for p, q in pairs)
print(f"h differs by {gap_h:.0e}, c by {gap_c:.0e}, ", end="")
print(f"the slopes of {len(params)} parameters by {gap_slopes:.0e}")

# %%
# How long a slope lives
# ----------------------
# The slope of the state by the very first input, after more and more steps. Before
# training, a gate is near ``sigmoid(0) = 0.5``: half of the cell is forgotten at each
# step, and the slope fades as in the simple network. With a bias of 3 the forget gate
# starts near 0.95. That is why many set this bias before training.


def lives(layer, times):
    rng = np.random.default_rng(1)
    first = dz.Variable(rng.standard_normal((1, 2)).astype(np.float32))
    h, sizes = layer(first), {}
    for step in range(1, max(times) + 1):
        if step in times:
            (slope,) = dz.grad(F.sum(h), [first])
            sizes[step] = float(np.linalg.norm(slope.data))
        h = layer(rng.standard_normal((1, 2)).astype(np.float32))
    return sizes


def patient():
    layer = L.LSTM(24, in_size=2)
    layer.x2f.b.data[...] = 3
    return layer


kinds = {
    "RNN": lambda: L.RNN(24, in_size=2),
    "LSTM": lambda: L.LSTM(24, in_size=2),
    "LSTM, bias 3": patient,
}
times = (1, 10, 20, 40, 60)
print("slope after     " + "".join(f"{n:>9}" for n in times) + "  steps")
sizes = {}
for name, make in kinds.items():
    dz.seed(0)
    sizes[name] = lives(make(), times)
    print(f"{name:16}" + "".join(f"{v:9.0e}" for v in sizes[name].values()))

# %%
# Remember one bit for 60 steps
# -----------------------------
# Each element has two numbers. The first number carries a sign, plus or minus 1, in the
# first element and is 0 in the 59 others; the second is noise throughout. At the end
# the network is to say what the sign was; by guessing it is right half of the time.
# Both kinds of memory get the same 60 updates. (With more of them, and luck, the simple
# network may find it as well.)


def sequences(n):
    bits = np.random.randint(0, 2, n)
    x = np.random.randn(60, n, 2).astype(np.float32)  # (T, N, 2)
    x[:, :, 0] = 0
    x[0, :, 0] = 2 * bits - 1
    return x, bits


class Recall(dz.Model):
    def __init__(self, memory):
        self.memory = memory
        self.out = L.Linear(2)

    def forward(self, x):
        self.memory.reset_state()
        for element in x:
            h = self.memory(element)
        return self.out(h)


recalled = {}
for name in ("RNN", "LSTM, bias 3"):
    dz.seed(0)
    model = Recall(kinds[name]())
    optimizer = dz.optimizers.Adam(lr=0.01).setup(model)
    for _ in range(60):
        x, bits = sequences(32)
        loss = F.softmax_cross_entropy(model(x), bits)
        model.cleargrads()
        loss.backward()
        optimizer.update()
    x, bits = sequences(1000)
    with dz.no_grad():
        recalled[name] = F.accuracy(model(x), bits).item()
    print(f"{name:12} recalls the sign in {recalled[name]:.1%} of 1,000 sequences")

assert gap_h < 1e-6 and gap_c < 1e-6 and gap_slopes < 1e-4
assert sizes["RNN"][60] < 1e-4 and sizes["LSTM"][60] < 1e-4
assert sizes["LSTM, bias 3"][60] > 1e-3
assert recalled["RNN"] < 0.6 and recalled["LSTM, bias 3"] > 0.9

# %%
# Exercises
# ---------
# 1. Set the gates by hand so that a cell counts: ``f = i = o = 1`` and ``u = tanh(x)``.
#    Which weights and biases of ``lstm_by_hand`` with one unit do that, nearly? Feed it
#    ten inputs of 0.1 and compare the cell with ``10 * tanh(0.1)``.
# 2. With a forget gate of 0.5, which share of a cell is left after 10 steps? After how
#    many steps is half of it left with a forget gate of 0.95?
# 3. How many weights have ``L.RNN(100, in_size=50)`` and ``L.LSTM(100, in_size=50)``,
#    with biases? Work it out, then count.
