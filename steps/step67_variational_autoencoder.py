"""
Step 67: a variational autoencoder
==================================

An autoencoder squeezes an image x into a few numbers, its *code* z, and draws it again.
A *variational* one gives a distribution instead of a code: N(m, s^2), normal with mean
m and variance s^2, for each number of the code. Training keeps it near N(0, 1). So
afterwards codes can be drawn from N(0, 1), and the *decoder*, the half that draws,
makes images that nobody wrote. Training lowers, per image::

    loss = -log p(x|z) + KL,   z = m + s e,   e from N(0, 1)
    KL   = sum (m^2 + s^2 - 1 - log s^2) / 2

The first part says how badly x is drawn again. The second, the Kullback-Leibler
divergence, says how far its codes are from N(0, 1). On average over e, ``-loss`` is at
most log p(x): the *evidence lower bound*, ELBO.

New since the step before: ``models.VAE``, and a gradient through chance.
"""

# %%
# A gradient through a draw
# -------------------------
# A draw from N(m, s^2) has no slope. Written as m + s e, with e drawn beforehand, it
# has: dz/dm = 1 and dz/ds = e. For y = mean of z^2 the gradients must be near 2 m and
# 2 s, since the mean of z^2 is m^2 + s^2.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.datasets import Digits
from dezero.models import VAE, Model
from dezero.optimizers import Adam

dz.seed(0)
m, s = dz.Variable(np.array(1.5)), dz.Variable(np.array(0.5))
z = m + s * np.random.randn(100_000)
F.mean(z * z).backward()
slopes = m.grad.item(), s.grad.item()
print(f"slopes by m and s: {slopes[0]:.3f} and {slopes[1]:.3f}, expected 3 and 1")

# %%
# The model
# ---------
# The *encoder* gives m and log s^2, which may be any number, while s^2 must be
# positive. Pixels are 1 where there is ink and 0 elsewhere. The decoder gives a score
# for each; its sigmoid is the probability of ink. ``F.sigmoid_cross_entropy(scores,
# x)`` is -log p: it adds up -log sigmoid(score) for ink and -log(1 - sigmoid(score))
# for paper, and divides by the number of images.


# New in this step
class Autoencoder(Model):
    def __init__(self, D=64, H=128, K=8):
        self.encoder = L.Linear(H, in_size=D)
        self.mean, self.log_var = L.Linear(K, in_size=H), L.Linear(K, in_size=H)
        self.decoder, self.logits = L.Linear(H, in_size=K), L.Linear(D, in_size=H)

    def encode(self, x):
        h = F.relu(self.encoder(x))
        return self.mean(h), self.log_var(h)  # (N, K) each

    def decode(self, z):
        return self.logits(F.relu(self.decoder(z)))  # (N, D), before the sigmoid

    def parts(self, x):
        m, log_var = self.encode(x)
        z = m + F.exp(log_var / 2) * np.random.randn(*m.shape).astype(np.float32)
        drawing = F.sigmoid_cross_entropy(self.decode(z), x)  # sum / N
        kl = F.sum(m**2 + F.exp(log_var) - 1 - log_var) / 2 / len(x)
        return drawing, kl


# %%
# Training
# --------
# The mark to beat is a model that knows only how often each pixel has ink. The table
# shows the loss on the test part and its two parts.

x, test_x = [
    (Digits(train).data > 0.5).astype(np.float32).reshape(-1, 64)
    for train in (True, False)
]  # (1437, 64) and (360, 64)
p = x.mean(axis=0).clip(1e-3, 1 - 1e-3)
baseline = -(test_x * np.log(p) + (1 - test_x) * np.log(1 - p)).sum(axis=1).mean()
print(f"pixels by themselves: {baseline:.2f} per image")

model = Autoencoder()
optimizer = Adam(2e-3).setup(model)
losses = []
for epoch in range(46):
    if epoch % 15 == 0:
        with dz.no_grad():
            drawing, kl = [part.item() for part in model.parts(test_x)]
        losses.append(drawing + kl)
        print(f"epoch {epoch:2}: {losses[-1]:.2f} = {drawing:.2f} + KL {kl:.2f}")
    order = np.random.permutation(len(x))
    for i in range(0, len(x), 64):
        drawing, kl = model.parts(x[order[i : i + 64]])
        model.cleargrads()
        (drawing + kl).backward(retain_graph=False)
        optimizer.update()

# %%
# The package's own
# -----------------
# ``models.VAE`` has these layers in this order. With our weights and the same draws
# (the same seed) it gives the same loss.

own = VAE(64, hidden_size=128, latent_size=8)
for theirs, ours in zip(own.params(), model.params(), strict=True):
    theirs.data[...] = ours.data
with dz.no_grad():
    dz.seed(1)
    drawing, kl = model.parts(test_x)
    dz.seed(1)
    package = own.loss(test_x)
print(f"ours {float(drawing + kl):.4f}, models.VAE {float(package):.4f}")

# %%
# Images that nobody wrote
# ------------------------
# Above test digits, in the middle the same after code and decoder, below new ones from
# codes that were drawn from N(0, 1).

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

with dz.no_grad():
    again = F.sigmoid(model.decode(model.encode(test_x[:10])[0])).data
    new = F.sigmoid(model.decode(np.random.randn(10, 8).astype(np.float32))).data
if plt is not None:
    rows = {"test digits": test_x[:10], "drawn again": again, "new": new}
    figure, axes = plt.subplots(3, 1, figsize=(8, 3.2), layout="constrained")
    for ax, (title, images) in zip(axes, rows.items(), strict=True):
        tiles = np.pad(images.reshape(10, 8, 8), ((0, 0), (1, 1), (1, 1)))
        ax.imshow(np.hstack(tiles), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[], ylabel=title)
    plt.savefig("step67.png", dpi=120)
    print("wrote step67.png")

assert np.allclose(slopes, (3, 1), atol=0.05)
assert losses[0] > losses[1] > losses[-1] and losses[-1] < baseline - 3
assert np.isclose(float(drawing + kl), float(package), rtol=1e-5)
assert np.abs(again - test_x[:10]).mean() < 0.5 * np.abs(p - test_x[:10]).mean()
assert 0.8 < new.mean() / x.mean() < 1.25  # as much ink as real digits

# %%
# Exercises
# ---------
# 1. For which m and s^2 is the KL of a code smallest, and how large is it there? Find
#    it by gradient descent.
# 2. Train with the first part of the loss alone. Are digits drawn again better? And
#    what are codes drawn from N(0, 1) worth then? Measure the distance of new images
#    from the nearest real one. (``models.VAE`` has ``loss(x, beta)``, the first part +
#    beta KL, and ``sample(n)``.)
# 3. Walk in ten steps from the mean code of one digit to that of another. Does the
#    drawing change little by little?
