"""
Solutions to step 58: convolution and pooling
=============================================
"""

# %%
# 1. A filter that moves an image down by one pixel, and one that blurs it.
#
# With a padding of 1 the middle of the window stands on the pixel. To move down, each
# place takes the pixel above its middle; to blur, the mean of all nine.

import numpy as np

import dezero as dz
import dezero.functions as F

digit = dz.datasets.Digits().data[:1]
down = np.array([[0, 1, 0], [0, 0, 0], [0, 0, 0]], dtype=np.float32)
blur = np.full((3, 3), 1 / 9, dtype=np.float32)
filters = np.stack([down, blur])[:, np.newaxis]  # (2, 1, 3, 3)
moved, blurred = F.conv2d(digit, filters, pad=1).data[0]
print("moved down:", np.array_equal(moved[1:], digit[0, 0, :-1]))
print(f"blurred: std {digit.std():.3f} -> {blurred.std():.3f}")
assert np.array_equal(moved[1:], digit[0, 0, :-1]) and (moved[0] == 0).all()
assert np.isclose(blurred[3, 4], digit[0, 0, 2:5, 3:6].mean())

# %%
# 2. Two convolutions of 3x3: on how large a patch does one number depend?
#
# It sees 3x3 numbers of the first result, whose windows together cover 5x5 pixels.

x = dz.Variable(np.random.default_rng(0).standard_normal((1, 1, 9, 9)))
W = np.ones((1, 1, 3, 3))
y = F.conv2d(F.conv2d(x, W), W)  # (1, 1, 5, 5)
y[0, 0, 2, 2].backward()
patch = x.grad.data[0, 0] != 0
print("rows", patch.any(axis=1).sum(), "columns", patch.any(axis=0).sum())
assert patch.sum() == 25 and patch[2:7, 2:7].all()

# %%
# 3. Where do the slopes go in the backward of pooling?
#
# To the largest number of each patch and nowhere else: the others could change a little
# and the result would not. In this image it is the pixel at the bottom right.

x = dz.Variable(np.arange(16.0).reshape(1, 1, 4, 4))
y = F.pooling(x, 2, 2)
F.sum(y).backward()
print(x.grad.data[0, 0].astype(int))
assert y.data.ravel().tolist() == [5, 7, 13, 15]
assert x.data[x.grad.data == 1].tolist() == [5, 7, 13, 15]
assert x.grad.data.sum() == 4
