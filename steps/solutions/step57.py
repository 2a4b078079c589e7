"""
Solutions to step 57: images as columns
=======================================
"""

# %%
# 1. Ten colour images of 32x32, windows of 5x5, stride 1, padding 2: which shape has
# the matrix, and how many times as many numbers does it hold?
#
# (32 + 4 - 5) // 1 + 1 = 32 places each way, so 10 * 32 * 32 = 10,240 rows; a row has
# 3 * 5 * 5 = 75 numbers. Each pixel of the batch became 25 numbers.

import numpy as np

import dezero as dz
import dezero.functions as F

batch = np.zeros((10, 3, 32, 32), dtype=np.float32)
matrix = F.im2col(batch, 5, 1, 2)
print(matrix.shape, "times as many numbers:", matrix.size / batch.size)
assert matrix.shape == (10240, 75) and matrix.size == 25 * batch.size

# %%
# 2. Shrink an 8x8 digit to 4x4 by the mean of each 2x2 square.

digit = dz.datasets.Digits().data[:1]  # (1, 1, 8, 8)
columns = F.im2col(digit, 2, 2)  # (16, 4)
small = F.reshape(F.mean(columns, axis=1), (4, 4))
print(small.data.round(2))
assert np.isclose(small.data[0, 1], digit[0, 0, 0:2, 2:4].mean())
assert np.isclose(small.data[3, 2], digit[0, 0, 6:8, 4:6].mean())

# %%
# 3. ``col2im_by_hand`` for stride 1 and no padding.


def col2im_by_hand(columns, shape, kernel):
    N, C, IH, IW = shape
    OH, OW = IH - kernel + 1, IW - kernel + 1
    patches = columns.reshape(N, OH, OW, C, kernel, kernel)
    image = np.zeros(shape)
    for n in range(N):
        for i in range(OH):
            for j in range(OW):
                image[n, :, i : i + kernel, j : j + kernel] += patches[n, i, j]
    return image


shape = (2, 3, 6, 5)
columns = np.random.default_rng(0).standard_normal((2 * 4 * 3, 3 * 9))
ours, theirs = col2im_by_hand(columns, shape, 3), F.col2im(columns, shape, 3).data
print("largest difference:", abs(ours - theirs).max())
assert np.allclose(ours, theirs)
