r"""
Step 60: batch normalisation
============================

Good first weights (step 56) set the scale of the signal once. Training moves it again.
*Batch normalisation* sets it anew at every call: each channel gets mean 0 and variance
1 over the batch, then a scale and a shift that are learned.

.. math:: y = \gamma \, \frac{x - m}{\sqrt{v + \epsilon}} + \beta

Here :math:`m` and :math:`v` are computed from the batch, so a sample's result depends
on its neighbours in the batch. In testing that is not wanted. So training keeps running
averages of :math:`m` and :math:`v`, and testing uses those.

New since the step before: ``F.batch_norm``, ``L.BatchNorm``.
"""

# %%
# By hand
# -------
# For rows of channels, ``x`` of shape ``(N, C)``. Mean and variance are functions of
# ``x``, so slopes flow through them as well; operators take care of that. The small
# number ``EPS`` keeps the divisor from 0. The running averages are plain arrays, no
# part of the graph: nine tenths of what they were and one tenth of the new. They get
# the variance with ``n - 1`` in place of ``n``, which is right on average for that of
# all data.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

EPS = 2e-5


# New in this step
class NormByHand:
    def __init__(self, channels, decay=0.9):
        self.gamma = dz.Parameter(np.ones(channels))
        self.beta = dz.Parameter(np.zeros(channels))
        self.mean, self.var = np.zeros(channels), np.ones(channels)
        self.decay = decay

    def __call__(self, x):
        if dz.Config.train:
            n = len(x)
            m = F.mean(x, axis=0)
            v = F.mean((x - m) ** 2, axis=0)
            keep = self.decay
            self.mean = keep * self.mean + (1 - keep) * m.data
            self.var = keep * self.var + (1 - keep) * v.data * n / (n - 1)
        else:
            m, v = self.mean, self.var
        return self.gamma * (x - m) / F.sqrt(v + EPS) + self.beta


rng = np.random.default_rng(0)
SPREAD, MIDDLE = np.array([1.0, 10.0, 0.5]), np.array([0.0, 5.0, -2.0])
x = dz.Variable(rng.standard_normal((50, 3)) * SPREAD + MIDDLE)
norm = NormByHand(3)
y = norm(x)
for name, a in [("x", x.data), ("y", y.data)]:
    print(f"{name}: mean {a.mean(axis=0).round(3) + 0.0}, std {a.std(axis=0).round(3)}")

# %%
# With the package
# ----------------
# ``F.batch_norm`` is one function with a backward of its own; values, slopes and
# running averages are those of the operators above. In training it changes the arrays
# ``mean`` and ``var`` in place. Images have their channels on axis 1, ``(N, C, H, W)``;
# there mean and variance run over the batch and all places.

weights = rng.standard_normal(y.shape)
F.sum(y * weights).backward()
by_hand = [x.grad.data, norm.gamma.grad.data, norm.beta.grad.data]

gamma, beta = dz.Parameter(np.ones(3)), dz.Parameter(np.zeros(3))
mean, var = np.zeros(3), np.ones(3)
x.cleargrad()
z = F.batch_norm(x, gamma, beta, mean, var, decay=0.9, eps=EPS)
F.sum(z * weights).backward()
by_package = [x.grad.data, gamma.grad.data, beta.grad.data]
gap = max(float(abs(p - q).max()) for p, q in zip(by_hand, by_package, strict=True))
print(f"largest difference: values {abs(y.data - z.data).max():.0e}, slopes {gap:.0e}")
print("running mean:", mean.round(3), " running variance:", var.round(3))

# %%
# A shift does nothing
# --------------------
# Adding a number to a channel changes its mean by the same number, and nothing else. So
# the slopes of ``x`` sum to 0 in every channel, and a bias before a normalisation is of
# no use.

print("sum of the slopes per channel:", abs(by_hand[0].sum(axis=0)).round(12))

# %%
# Training and testing
# --------------------
# ``L.BatchNorm`` holds gamma, beta and the running averages. After 100 batches these
# have come near the mean and variance of the data. In test mode a sample is treated
# alike whether it comes alone or in company. In training it is not.

layer = L.BatchNorm()
for _ in range(100):
    layer(rng.standard_normal((50, 3)) * SPREAD + MIDDLE)
print("avg_mean:", layer.avg_mean.data.round(2))
print("avg_var: ", layer.avg_var.data.round(2))
with dz.test_mode():
    alone, together = layer(x[:1]).data, layer(x).data[:1]
in_training = layer(x[:25]).data[:1]
print("test mode, alone:     ", alone[0].round(3))
print("test mode, with 49:   ", together[0].round(3))
print("in training, with 24: ", in_training[0].round(3))

# %%
# What it is good for
# -------------------
# Eight hidden layers whose weights start far too small: He's rule asks for 0.18, and
# ``Normal(0.02)`` draws them with 0.02. Without normalisation the signal fades on its
# way, and after four epochs the network still guesses. With it, the same start is good
# enough.

train, test = dz.datasets.Digits(), dz.datasets.Digits(train=False)


class Deep(dz.Model):
    def __init__(self, normed):
        small = L.initializers.Normal(0.02)
        self.hidden = [L.Linear(64, initial_W=small) for _ in range(8)]
        self.norms = [L.BatchNorm() if normed else (lambda h: h) for _ in range(8)]
        self.out = L.Linear(10)

    def forward(self, x):
        h = F.flatten(x)
        for linear, normalise in zip(self.hidden, self.norms, strict=True):
            h = F.relu(normalise(linear(h)))
        return self.out(h)


accuracies = {}
for normed in (False, True):
    dz.seed(0)
    model = Deep(normed)
    optimizer = dz.optimizers.Adam(lr=0.003).setup(model)
    for _ in range(4):
        for images, t in dz.DataLoader(train, batch_size=64):
            loss = F.softmax_cross_entropy(model(images), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
    with dz.no_grad(), dz.test_mode():
        accuracies[normed] = F.accuracy(model(test.data), test.label).item()
print(f"test accuracy without normalisation: {accuracies[False]:.3f}")
print(f"test accuracy with normalisation:    {accuracies[True]:.3f}")

assert np.allclose(y.data.mean(axis=0), 0) and np.allclose(y.data.std(axis=0), 1, 0.01)
assert np.allclose(y.data, z.data) and gap < 1e-10
assert np.allclose(norm.mean, mean) and np.allclose(norm.var, var)
assert np.allclose(by_hand[0].sum(axis=0), 0)
assert np.allclose(layer.avg_mean.data, MIDDLE, atol=1.5)
assert np.allclose(layer.avg_var.data, SPREAD**2, rtol=0.4)
assert np.allclose(alone, together)
assert abs(together - in_training).max() > 0.1
assert accuracies[True] > 0.9 and accuracies[False] < 0.6

# %%
# Exercises
# ---------
# 1. Starting from 0, how far has a running average with decay 0.9 come towards a
#    constant mean of 1 after 1, 10 and 50 batches? Find the formula and check it.
# 2. Write ``norm_images`` for ``(N, C, H, W)`` in training, without gamma and beta, and
#    compare it with ``F.batch_norm(x, None, None, mean, var)``, which leaves them out
#    too.
# 3. What comes out of a batch of one sample in training, for ``x`` of shape (1, 3)?
#    Answer from the formula, then run ``F.batch_norm``.
