"""
Step 57: images as columns
==========================

A small window that slides over an image meets one patch of it at each place. Whatever
is to be computed from every patch alike can be computed at one go, if the patches are
written out as the rows of a matrix. This is called *im2col*, from image to columns.
With an image of height ``IH`` and a window, or *kernel*, of height ``KH`` that moves by
a *stride* ``S``, there are

    ``OH = (IH + 2 P - KH) // S + 1``

places from top to bottom, where ``P`` rows of zeros, the *padding*, are put before the
first row and after the last; and likewise ``OW`` from left to right.

New since the step before: ``F.im2col`` and its counterpart ``F.col2im``.
"""

# %%
# By hand on a 4x4 image
# ----------------------
# The numbers of the pixels are their values, so the patches can be read in the matrix:
# the first row holds the window at the top left, the next one the window one pixel to
# the right. Images come as ``(N, C, IH, IW)``: a batch of ``N``, each with ``C``
# channels (1 for grey, 3 for colours). A row has the ``C * KH * KW`` numbers of one
# patch; the matrix has ``N * OH * OW`` rows.

import numpy as np

import dezero as dz
import dezero.functions as F


# New in this step
def places(size, kernel, stride=1, pad=0):
    return (size + 2 * pad - kernel) // stride + 1


def im2col_by_hand(x, kernel, stride=1, pad=0):
    N, C, IH, IW = x.shape
    OH, OW = places(IH, kernel, stride, pad), places(IW, kernel, stride, pad)
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    rows = []
    for n in range(N):
        for i in range(OH):
            for j in range(OW):
                top, left = i * stride, j * stride
                patch = padded[n, :, top : top + kernel, left : left + kernel]
                rows.append(patch.ravel())
    return np.stack(rows)  # (N * OH * OW, C * kernel * kernel)


image = np.arange(16.0).reshape(1, 1, 4, 4)
print(image[0, 0].astype(int))
columns = im2col_by_hand(image, 3)
print("windows of 3x3 at", places(4, 3), "x", places(4, 3), "places:")
print(columns.astype(int))

# %%
# Stride and padding
# ------------------
# A stride of 2 skips every other place. A padding of 1 lets a 3x3 window stand with its
# middle on every pixel, so that there are as many places as pixels.

print("kernel stride pad   places   shape of the matrix")
shapes = {}
for kernel, stride, pad in [(3, 1, 0), (3, 1, 1), (2, 2, 0), (4, 1, 0)]:
    shapes[kernel, stride, pad] = im2col_by_hand(image, kernel, stride, pad).shape
    n = places(4, kernel, stride, pad)
    print(f"{kernel:4} {stride:6} {pad:5} {n:6}x{n}   {shapes[kernel, stride, pad]}")

# %%
# With the package
# ----------------
# ``F.im2col`` gives the same matrix, for batches, channels, strides and paddings. It
# copies one pixel of the window for all places at a time: ``KH * KW`` copies, not
# ``N * OH * OW``. And it is a function of the graph: it has a backward.

np.random.seed(0)
batch = np.random.randn(2, 3, 6, 5)
for kernel, stride, pad in [(3, 1, 0), (3, 2, 1), (2, 2, 0), (1, 1, 0)]:
    ours = im2col_by_hand(batch, kernel, stride, pad)
    theirs = F.im2col(batch, kernel, stride, pad)
    assert np.array_equal(ours, theirs.data)
    print(f"kernel {kernel}, stride {stride}, pad {pad}: equal, {theirs.shape}")

# %%
# Back from columns
# -----------------
# A pixel may stand in several windows. Its slope is the sum over all of them: the way
# back adds every patch where it was taken from. That is ``F.col2im``, which gets the
# matrix, the shape of the images and the size of the window. With ones for every number
# of the matrix the sums count the windows that meet each pixel: four in the middle, one
# at a corner.

x = dz.Variable(image)
matrix = F.im2col(x, 3)
F.sum(matrix).backward()
print("windows that meet each pixel:")
print(x.grad.data[0, 0].astype(int))
added = F.col2im(np.ones((4, 9)), (1, 1, 4, 4), 3)

# %%
# Adding back is no inverse: ``col2im(im2col(image))`` multiplies every pixel by its
# count. Where windows do not overlap (a stride as large as the window), the count is 1
# and the image comes back.

counts = x.grad.data
back = F.col2im(matrix, image.shape, 3).data
apart = F.col2im(F.im2col(image, 2, 2), image.shape, 2, 2).data
print("back = image * counts:", np.array_equal(back, image * counts))
print("without overlap, back = image:", np.array_equal(apart, image))

assert columns.shape == (4, 9)
assert columns[0].tolist() == [0, 1, 2, 4, 5, 6, 8, 9, 10]
assert shapes == {
    (3, 1, 0): (4, 9),
    (3, 1, 1): (16, 9),
    (2, 2, 0): (4, 4),
    (4, 1, 0): (1, 16),
}
assert np.array_equal(counts[0, 0], np.outer([1, 2, 2, 1], [1, 2, 2, 1]))
assert np.array_equal(added.data, counts)
assert np.array_equal(back, image * counts) and np.array_equal(apart, image)

# %%
# Exercises
# ---------
# 1. A batch of 10 colour images of 32x32 pixels, windows of 5x5, stride 1, padding 2:
#    which shape has the matrix? How many times as many numbers as the batch does it
#    hold? Answer first, then run ``F.im2col``.
# 2. Shrink an 8x8 digit to 4x4 by the mean of each 2x2 square: one ``F.im2col``, one
#    ``F.mean`` over an axis and one ``F.reshape``.
# 3. Write ``col2im_by_hand(columns, shape, kernel)`` for stride 1 and no padding with
#    three loops, and compare it with ``F.col2im``.
