r"""
Step 51: reading digits
=======================

Handwriting is the first task here for which nobody could write the rules down. The
package contains 1797 digits, written by 13 people, of 8 by 8 points each. A network
with one hidden layer learns to read them within seconds.

::

    image (8, 8) -> 64 numbers -> 100 units -> 10 scores -> the digit

New since the step before: real data, the complete training loop, and a look at the
digits that the network gets wrong.
"""

import numpy as np

import dezero as dz
import dezero.functions as F

# %%
# Such a network knows nothing of the neighbourhood of points. It wants rows of numbers,
# so each image becomes one row of 64. The transform ``Flatten`` does that when an image
# is read. Only the pictures below set it up as an image again.

flatten = dz.transforms.Flatten()
train = dz.datasets.Digits(train=True, transform=flatten)
test = dz.datasets.Digits(train=False, transform=flatten)
print(len(train), "digits to learn from,", len(test), "to test with")
x, t = train[10]
for row in x.reshape(8, 8):
    print("   " + "".join(" .:oO@"[int(5 * v)] * 2 for v in row))
print("this is a", t)

# %%
# The loop. Each epoch has two halves: learn from all batches, then measure on the test
# part, without an optimizer. Loss and accuracy of an epoch are means over examples, so
# a batch counts by its size. While the network learns they are measured on the way, so
# the first epochs look worse there than on the test part, which comes after.

# New in this step


def run_epoch(model, loader, optimizer=None):
    total_loss, right, count = 0.0, 0.0, 0
    for x, t in loader:
        y = model(x)
        loss = F.softmax_cross_entropy(y, t)
        if optimizer is not None:
            model.cleargrads()
            loss.backward()
            optimizer.update()
        total_loss += loss.item() * len(t)
        right += F.accuracy(y, t).item() * len(t)
        count += len(t)
    return total_loss / count, right / count


def start():
    dz.seed(0)  # np.random.seed(0), and the same for Python's own numbers
    model = dz.models.MLP((100, 10), activation=F.relu)
    loader = dz.DataLoader(train, batch_size=32)
    test_loader = dz.DataLoader(test, batch_size=len(test), shuffle=False)
    return model, loader, test_loader, dz.optimizers.Adam(lr=0.002)


model, loader, test_loader, optimizer = start()
optimizer.setup(model)
history = []
print("\nepoch   loss   accuracy   test loss   test accuracy")
for epoch in range(1, 16):
    learned = run_epoch(model, loader, optimizer)
    with dz.no_grad():
        tested = run_epoch(model, test_loader)
    history.append((*learned, *tested))
    if epoch in (1, 2, 5, 10, 15):
        print("{:5} {:6.3f} {:10.3f} {:11.3f} {:15.3f}".format(epoch, *history[-1]))

# %%
# Which ones are wrong? The probability that the network gave to its answer tells how
# sure it was.

images, truth = test.data[:, 0], test.label  # (360, 1, 8, 8) -> (360, 8, 8)
with dz.no_grad():
    p = F.softmax(model(images.reshape(-1, 64))).data
answers = p.argmax(axis=1)
wrong = np.flatnonzero(answers != truth)
print(f"\n{len(wrong)} of {len(test)} are wrong")
for i in wrong[:6]:
    sure = p[i].max()
    print(f"{truth[i]} was read as {answers[i]}, with probability {sure:.2f}")
sure_right = p.max(axis=1)[answers == truth].mean()
sure_wrong = p.max(axis=1)[wrong].mean()
print(f"mean probability when right {sure_right:.2f}, when wrong {sure_wrong:.2f}")

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, axes = plt.subplots(2, 5, figsize=(8, 4))
    for ax in axes.ravel():
        ax.axis("off")
    for ax, i in zip(axes.ravel(), wrong, strict=False):
        ax.imshow(images[i], cmap="gray_r", vmin=0, vmax=1)
        ax.set_title(f"{truth[i]} read as {answers[i]}", fontsize=10)
    fig.tight_layout()
    plt.savefig("step51.png", dpi=120)
    print("Some of the wrong ones are in step51.png.")

# %%
# The package has the loop as ``dz.fit``. ``validation`` is what is measured after each
# epoch, and ``metrics`` are measured besides the loss. From the same seed, the test
# losses are the same in every epoch.

model, loader, test_loader, optimizer = start()
record = dz.fit(
    model,
    loader,
    F.softmax_cross_entropy,
    optimizer,
    epochs=15,
    validation=test_loader,
    metrics=[F.accuracy],
    progress=False,
)
ours = [row[2] for row in history]
print("same test losses from dz.fit:", np.allclose(ours, record["validation_loss"]))

final = history[-1]
assert final[3] >= 0.95 and final[1] > final[3] - 0.01
assert len(wrong) == round((1 - final[3]) * len(test))
assert sure_right > sure_wrong + 0.1
assert np.allclose(ours, record["validation_loss"], rtol=1e-4)

# %%
# Exercises
# ---------
#
# 1. How many numbers does this network learn? How good is it with 10 hidden units in
#    place of 100, and without any hidden layer?
# 2. Move all test images one point to the right and fill with 0. What is the accuracy
#    now, and why? (Step 59 has a network that minds less.)
# 3. Replace each label of the training part by a random digit. How high does the
#    training accuracy get in 15 epochs, and the test accuracy?
