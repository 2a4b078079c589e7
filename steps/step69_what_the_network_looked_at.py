"""
Step 69: what the network looked at
===================================

A network says "this is a 3". Which pixels made it say so? Two answers, by two kinds of
derivative. The *saliency* is the gradient of the winning score by the image: how much
the score would change if a pixel changed a little::

    saliency = d score / d x          one backward for all pixels

*Occlusion* covers a patch and looks how far the score falls: a difference instead of a
derivative, one forward for each patch. Both are claims about the network, not about the
digit, and both can be tested: take away what they call important and see.

New since the step before: a gradient by the input, with the weights at rest.
"""

# %%
# A network that reads digits
# ---------------------------
# A small convolutional network, trained as in step 59.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import DataLoader
from dezero.datasets import Digits
from dezero.models import Sequential
from dezero.optimizers import Adam

dz.seed(0)
model = Sequential(
    L.Conv2d(16, 3, pad=1),
    F.relu,
    lambda h: F.pooling(h, 2, 2),
    F.flatten,
    L.Linear(10),
)
optimizer = Adam(3e-3).setup(model)
for _ in range(15):
    for x, t in DataLoader(Digits(train=True), batch_size=64):
        loss = F.softmax_cross_entropy(model(x), t)
        model.cleargrads()
        loss.backward(retain_graph=False)
        optimizer.update()

digits = Digits(train=False)
with dz.no_grad():
    scores = model(digits.data).data  # (360, 10)
chosen = scores.argmax(axis=1)
accuracy = (chosen == digits.label).mean()
print(f"{accuracy:.1%} of {len(digits)} digits never seen are read rightly")

# %%
# Saliency
# --------
# The image becomes a Variable: a raw array is a constant, and nothing would come back
# to it. No score depends on another image, so the gradient of the sum of all winning
# scores holds the saliency of each image. ``dz.grad`` leaves the weights' ``.grad``
# alone. A pixel that is made a little paler tests it.


# New in this step
def saliency(images, classes):
    x = dz.Variable(images)
    y = model(x)[np.arange(len(images)), classes]  # (N,) the score of each one's class
    return dz.grad(F.sum(y), [x])[0].data  # the shape of images


images = digits.data  # (360, 1, 8, 8)
slopes = saliency(images, chosen)

moved = images[:1].copy()
moved[0, 0, 3, 4] -= 0.01
with dz.no_grad():
    change = model(moved).data[0, chosen[0]] - scores[0, chosen[0]]
print(f"pixel (3, 4) 0.01 paler: the score moves by {change:+.4f},")
print(f"its slope times -0.01 is {slopes[0, 0, 3, 4] * -0.01:+.4f}")

# %%
# Occlusion
# ---------
# Each patch of 2 x 2 pixels in turn is set to 0, which is paper.


def occlusion(images, classes):
    falls = np.zeros(images.shape, np.float32)
    rows = np.arange(len(images))
    with dz.no_grad():
        before = model(images).data[rows, classes]
        for i in range(0, 8, 2):
            for j in range(0, 8, 2):
                covered = images.copy()
                covered[:, :, i : i + 2, j : j + 2] = 0
                fall = before - model(covered).data[rows, classes]
                falls[:, :, i : i + 2, j : j + 2] = fall[:, None, None, None]
    return falls


falls = occlusion(images, chosen)

# %%
# Are these answers true?
# -----------------------
# Wipe out 8 of the 64 pixels: those that ``slope * x`` calls most important, two
# patches by occlusion, or 8 pixels of ink by chance. (``slope * x`` foretells how far
# the score falls if a pixel goes from x to 0; where there is no ink, it is 0.) If the
# answers are worth something, the score falls further than by chance.


def fall_without(importance):
    order = importance.reshape(len(images), 64).argsort(axis=1)
    flat = images.reshape(len(images), 64).copy()
    np.put_along_axis(flat, order[:, -8:], 0, axis=1)  # in each row its own 8 pixels
    with dz.no_grad():
        y = model(flat.reshape(images.shape)).data
    return (scores - y)[np.arange(len(images)), chosen].mean()


by_chance = (images > 0) * np.random.rand(*images.shape)
answers = {"slope * x": slopes * images, "occlusion": falls, "by chance": by_chance}
measured = {name: fall_without(answer) for name, answer in answers.items()}
for name, value in measured.items():
    print(f"8 pixels, {name}: the winning score falls by {value:.2f}")

# %%
# Three digits
# ------------
# Red raises the score of what the network read, blue lowers it.

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    figure, axes = plt.subplots(3, 3, figsize=(6, 6), layout="constrained")
    for row, i in zip(axes, (1, 2, 9), strict=True):
        row[0].imshow(images[i, 0], cmap="gray_r")
        row[0].set_title(f"read as {chosen[i]}")
        for ax, name in zip(row[1:], ("slope * x", "occlusion"), strict=True):
            a = answers[name][i, 0]
            top = np.abs(a).max()
            ax.imshow(a, cmap="RdBu_r", vmin=-top, vmax=top)
            ax.set_title(name)
    plt.setp(axes.ravel().tolist(), xticks=[], yticks=[])
    plt.savefig("step69.png", dpi=120)
    print("wrote step69.png")

assert accuracy > 0.93
assert np.isclose(change, -0.01 * slopes[0, 0, 3, 4], rtol=0.02)
assert measured["slope * x"] > 1.5 * measured["by chance"]
assert measured["occlusion"] > 1.5 * measured["by chance"]
assert all(p.grad is not None for p in model.params())  # of the training, not touched

# %%
# Exercises
# ---------
# 1. Take a network of Linear layers with relu between them, all without bias
#    (``nobias=True``). Compare each winning score with the sum of ``slope * x`` over
#    the pixels. Why is that so?
# 2. Move each image along the sign of d(second score - winning score) / dx, by 0.1 per
#    pixel, and by 0.2. (The second score is the one after the winning one.) How many
#    digits are read otherwise, and how many after a change by the same amount with
#    random signs?
# 3. Measure the fall of the winning score with ``slope * x``, as a share of the score,
#    for a network that was never trained. What does the result say about maps that look
#    reasonable?
