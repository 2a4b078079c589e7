"""
Step 59: a convolutional network
================================

Two convolutions, each followed by relu and pooling, then two linear layers: that is the
shape of LeNet, one of the first networks that read digits in earnest. On the way the
images become smaller and the channels more:

    ``(N, 1, 8, 8) -> (N, 16, 4, 4) -> (N, 32, 2, 2) -> (N, 128) -> (N, 64) -> (N, 10)``

It learns the digits of step 51, and is compared with a network of linear layers and
about as many weights on two questions: new digits, and new digits that have moved by
one pixel.

New since the step before: ``L.Conv2d``, the layer that holds filters and bias.
"""

# %%
# The model
# ---------
# ``L.Conv2d(16, 3, pad=1)`` makes 16 filters of 3x3 at the first call, when it sees how
# many channels come in. ``F.flatten`` makes one row of each image for the linear
# layers. Dropout (step 55) stands before the last layer.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L


# New in this step
class ConvNet(dz.Model):
    def __init__(self):
        self.conv1 = L.Conv2d(16, 3, pad=1)
        self.conv2 = L.Conv2d(32, 3, pad=1)
        self.hidden = L.Linear(64)
        self.out = L.Linear(10)

    def forward(self, x):
        x = F.pooling(F.relu(self.conv1(x)), 2, 2)  # (N, 16, 4, 4)
        x = F.pooling(F.relu(self.conv2(x)), 2, 2)  # (N, 32, 2, 2)
        x = F.relu(self.hidden(F.flatten(x)))  # (N, 64)
        return self.out(F.dropout(x, 0.5))


class LinearNet(dz.Model):
    def __init__(self):
        self.hidden1 = L.Linear(128)
        self.hidden2 = L.Linear(40)
        self.out = L.Linear(10)

    def forward(self, x):
        x = F.relu(self.hidden1(F.flatten(x)))
        x = F.relu(self.hidden2(x))
        return self.out(F.dropout(x, 0.5))


# %%
# What comes out where
# --------------------
# ``summary`` calls a copy of the model once and lists its layers.

train, test = dz.datasets.Digits(), dz.datasets.Digits(train=False)
dz.seed(0)
conv_net = ConvNet()
print(conv_net.summary(train.data[:1]))

# %%
# Training
# --------
# The loop is that of step 51: nothing in it knows that there are convolutions.


def read(model, x, t):
    with dz.no_grad(), dz.test_mode():
        return F.accuracy(model(x), t).item()


def learn(model, epochs=15):
    optimizer = dz.optimizers.Adam(lr=0.005).setup(model)
    loader = dz.DataLoader(train, batch_size=64)
    for epoch in range(1, epochs + 1):
        total = 0.0
        for x, t in loader:
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
            total += loss.item() * len(t)
        if epoch in (1, 5, 10, 15):
            accuracy = read(model, test.data, test.label)
            print(f"  epoch {epoch:2}: loss {total / len(train):.4f}, ", end="")
            print(f"test accuracy {accuracy:.3f}")


print("convolutional network:")
learn(conv_net)
print("linear layers:")
linear_net = LinearNet()
learn(linear_net)

# %%
# Digits that moved
# -----------------
# The test digits again, one pixel to the left and one to the right, as neither network
# has seen them in training. (``np.roll`` puts what leaves on one side in again on the
# other.) A filter answers wherever its stroke stands, and pooling forgives a pixel, so
# the convolutional network should lose less. It will lose: its last layers are linear,
# and have learned where things stand.

left, right = np.roll(test.data, -1, axis=3), np.roll(test.data, 1, axis=3)
results = {}
for name, model in [("convolutional", conv_net), ("linear layers", linear_net)]:
    there = read(model, test.data, test.label)
    moved = (read(model, left, test.label) + read(model, right, test.label)) / 2
    weights = sum(p.size for p in model.params())
    results[name] = there, moved
    print(f"{name}: {weights:,} weights, in place {there:.3f}, moved {moved:.3f}")

assert results["convolutional"][0] >= 0.96
assert results["linear layers"][0] >= 0.94
assert results["convolutional"][1] > results["linear layers"][1] + 0.05

# %%
# Which digits does the convolutional network still misread?

with dz.no_grad(), dz.test_mode():
    answers = conv_net(test.data).data.argmax(axis=1)
wrong = np.flatnonzero(answers != test.label)
for i in wrong[:8]:
    print(f"test digit {i}: {test.label[i]} was read as {answers[i]}")
print(f"{len(wrong)} of {len(test)} digits are misread")
assert len(wrong) == round((1 - results["convolutional"][0]) * len(test))

# %%
# Exercises
# ---------
# 1. Images of 28x28 pixels instead of 8x8: which layers of ``ConvNet`` have more
#    weights, and how many does it have in all? Work it out from the shapes, then call a
#    new ``ConvNet`` with such an image and count.
# 2. A convolution whose filters are as large as the image is a linear layer. Give
#    ``F.conv2d`` 10 filters of 8x8 for a batch of digits and show that ``F.linear``
#    with the reshaped filters gives the same numbers.
# 3. The mean over all places of a channel does not change when what is in the image
#    moves. Show it: put a border of three zeros round some digits with ``np.pad``, and
#    compare ``F.mean(L.Conv2d(5, 3)(x), axis=(2, 3))`` before and after ``np.roll`` of
#    the padded images by one pixel. (One layer for both.) Why three zeros and not two?
