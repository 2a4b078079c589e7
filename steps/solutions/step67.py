"""
Solutions to step 67: a variational autoencoder
===============================================
"""

# %%
# 1. For which m and s^2 is the KL of a code smallest?
#
# For m = 0 and s^2 = 1, those of N(0, 1) itself; it is 0 there.

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero.datasets import Digits
from dezero.models import VAE
from dezero.optimizers import Adam

m, log_var = dz.Variable(np.array(2.0)), dz.Variable(np.array(-1.0))
for _ in range(200):
    kl = (m**2 + F.exp(log_var) - 1 - log_var) / 2
    gradients = dz.grad(kl, [m, log_var])
    for x, gx in zip((m, log_var), gradients, strict=True):
        x.data = x.data - 0.2 * gx.data
print(f"m = {float(m):.4f}, s^2 = {np.exp(float(log_var)):.4f}, KL = {float(kl):.1e}")
assert abs(float(m)) < 1e-3 and abs(float(log_var)) < 1e-3 and float(kl) < 1e-6

# %%
# 2. Train with the first part of the loss alone: are digits drawn again better? What
#    are codes drawn from N(0, 1) worth?
#
# They are drawn better, from codes far from N(0, 1) with little noise. Codes from
# N(0, 1) fall between them, where the decoder has learned nothing: the new images are
# further from every real digit.

x, test_x = [
    (Digits(train).data > 0.5).astype(np.float32).reshape(-1, 64)
    for train in (True, False)
]
results = {}
for beta in (1.0, 0.0):
    dz.seed(0)
    model = VAE(64, hidden_size=128, latent_size=8)
    optimizer = Adam(2e-3).setup(model)
    for _ in range(30):
        order = np.random.permutation(len(x))
        for i in range(0, len(x), 64):
            loss = model.loss(x[order[i : i + 64]], beta)
            model.cleargrads()
            loss.backward(retain_graph=False)
            optimizer.update()
    with dz.no_grad():
        drawing = float(model.loss(test_x, 0.0))
        kl = float(model.loss(test_x, 1.0)) - drawing
        new = model.sample(200).data
    squares = ((new[:, None] - x) ** 2).sum(axis=2)  # (200, 1437)
    results[beta] = model, drawing, kl, squares.min(axis=1).mean()
    print(
        f"beta {beta:.0f}: drawing {drawing:.2f}, KL {kl:.1f}, "
        f"new ones are {results[beta][3]:.2f} from the nearest digit"
    )
assert results[0.0][1] < results[1.0][1] - 1
assert results[0.0][2] > 3 * results[1.0][2]
assert results[0.0][3] > results[1.0][3]

# %%
# 3. Walk in ten steps from the code of one digit to that of another: does the drawing
#    change little by little?
#
# Yes: no step makes more than a third of the whole change.

model = results[1.0][0]
with dz.no_grad():
    a, b = model.encode(test_x[:2])[0].data
    way = np.linspace(a, b, 11)  # (11, 8)
    images = F.sigmoid(model.decode(way)).data
steps = np.abs(np.diff(images, axis=0)).sum(axis=1)
whole = np.abs(images[-1] - images[0]).sum()
print("each step, as a share of the whole change:", (steps / whole).round(2))
assert whole > 5 and steps.max() < whole / 3
