"""
Solutions to step 59: a convolutional network
=============================================
"""

# %%
# 1. Images of 28x28: which layers have more weights, and how many in all?
#
# The filters do not know the size of the image. After two poolings 7x7 places are
# left with 32 channels each, so only ``hidden`` grows: from 32 * 2 * 2 * 64 + 64 to
# 32 * 7 * 7 * 64 + 64 weights.

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L


class ConvNet(dz.Model):
    def __init__(self):
        self.conv1 = L.Conv2d(16, 3, pad=1)
        self.conv2 = L.Conv2d(32, 3, pad=1)
        self.hidden = L.Linear(64)
        self.out = L.Linear(10)

    def forward(self, x):
        x = F.pooling(F.relu(self.conv1(x)), 2, 2)
        x = F.pooling(F.relu(self.conv2(x)), 2, 2)
        x = F.relu(self.hidden(F.flatten(x)))
        return self.out(F.dropout(x, 0.5))


dz.seed(0)
worked_out = {
    "conv1": 16 * 1 * 9 + 16,
    "conv2": 32 * 16 * 9 + 32,
    "hidden": 32 * 7 * 7 * 64 + 64,
    "out": 64 * 10 + 10,
}
model = ConvNet()
model(np.zeros((1, 1, 28, 28), dtype=np.float32))
counted = {
    name: sum(p.size for p in getattr(model, name).params()) for name in worked_out
}
print(counted, "in all", sum(counted.values()))
assert counted == worked_out and sum(counted.values()) == 105_866

# %%
# 2. A convolution with filters as large as the image is a linear layer.
#
# There is one place, so the result has shape (N, 10, 1, 1). Each filter becomes one
# column of the matrix.

digits = dz.datasets.Digits().data[:20]
W = np.random.randn(10, 1, 8, 8).astype(np.float32)
by_filters = F.conv2d(digits, W)
by_matrix = F.linear(digits.reshape(20, 64), W.reshape(10, 64).T)
print(by_filters.shape, by_matrix.shape)
assert by_filters.shape == (20, 10, 1, 1)
assert np.allclose(by_filters.data[:, :, 0, 0], by_matrix.data, atol=1e-4)

# %%
# 3. The mean over all places of a channel does not change when the image moves.
#
# A digit that moves by one pixel meets the same windows one place further on, and a sum
# does not ask for places. For that each of its pixels must stand in nine windows,
# before and after: two zeros beside it, and one more for the move.

conv = L.Conv2d(5, 3)
padded = np.pad(digits, ((0, 0), (0, 0), (3, 3), (3, 3)))
before = F.mean(conv(padded), axis=(2, 3)).data
gaps = []
for axis in (2, 3):
    for step in (-1, 1):
        after = F.mean(conv(np.roll(padded, step, axis)), axis=(2, 3)).data
        gaps.append(float(abs(after - before).max()))
print("largest difference:", f"{max(gaps):.0e}")
assert max(gaps) < 1e-5
