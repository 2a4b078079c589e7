r"""
Step 58: convolution and pooling
================================

A layer of step 44 has a weight for every pixel and every unit. In an image the same
stroke may stand anywhere. A *convolution* has one small set of weights, a filter, and
uses it at every place of the image. Filter ``o`` gives, at the place ``(i, j)``,

.. math:: y_{o,i,j} = b_o + \sum_{c,k,l} x_{c,\,i+k,\,j+l} \, W_{o,c,k,l}

With the patches as rows of a matrix (step 57) this is one product of matrices. *Max
pooling* takes the largest number of every patch instead, so an image becomes smaller
and what was found in it stays.

New since the step before: ``F.conv2d``, ``F.pooling``.
"""

# %%
# By hand
# -------
# The filters ``W`` have the shape ``(O, C, KH, KW)``. Reshaped, each is one column that
# fits the rows of ``F.im2col``. What comes out is sorted by image, place and filter;
# the last line of each function brings the axes back into the order of an image.

import numpy as np

import dezero as dz
import dezero.functions as F


# New in this step
def conv_by_hand(x, W, b, stride=1, pad=0):
    N, C, IH, IW = x.shape
    O, _, KH, KW = W.shape
    OH = (IH + 2 * pad - KH) // stride + 1
    OW = (IW + 2 * pad - KW) // stride + 1
    columns = F.im2col(x, (KH, KW), stride, pad)  # (N*OH*OW, C*KH*KW)
    y = F.matmul(columns, F.reshape(W, (O, -1)).T) + b  # (N*OH*OW, O)
    return F.transpose(F.reshape(y, (N, OH, OW, O)), (0, 3, 1, 2))


def pooling_by_hand(x, kernel, stride):
    N, C, IH, IW = x.shape
    OH, OW = (IH - kernel) // stride + 1, (IW - kernel) // stride + 1
    columns = F.im2col(x, kernel, stride)  # (N*OH*OW, C*K*K)
    columns = F.reshape(columns, (N * OH * OW, C, kernel * kernel))
    y = F.max(columns, axis=2)  # (N*OH*OW, C)
    return F.transpose(F.reshape(y, (N, OH, OW, C)), (0, 3, 1, 2))


# %%
# With the package
# ----------------
# Values first, then the slopes of a weighted sum by image, filters and bias. None of
# the functions above has a backward of its own: the graph of what they are made of
# gives the slopes.

np.random.seed(0)
x = dz.Variable(np.random.randn(2, 3, 8, 7))
W = dz.Variable(np.random.randn(4, 3, 3, 3))
b = dz.Variable(np.random.randn(4))


def slopes(y):
    for v in (x, W, b):
        v.cleargrad()
    weights = np.random.default_rng(0).standard_normal(y.shape)
    F.sum(y * weights).backward()
    return [v.grad.data for v in (x, W, b) if v.grad is not None]  # pooling: x only


def difference(ours, theirs):
    pairs = [(ours.data, theirs.data), *zip(slopes(ours), slopes(theirs), strict=True)]
    return max(float(abs(p - q).max()) for p, q in pairs)


differences = []
for stride, pad in [(1, 0), (1, 1), (2, 1)]:
    theirs = F.conv2d(x, W, b, stride, pad)
    differences.append(difference(conv_by_hand(x, W, b, stride, pad), theirs))
    print(f"conv2d, stride {stride}, pad {pad}: {theirs.shape}", end="")
    print(f", largest difference {differences[-1]:.0e}")
theirs = F.pooling(x, 2, 2)
differences.append(difference(pooling_by_hand(x, 2, 2), theirs))
print(f"pooling 2x2: {theirs.shape}, largest difference {differences[-1]:.0e}")

# %%
# What a filter sees
# ------------------
# Two filters of 3x3 for one digit. The first subtracts what is above from what is
# below, the second what is left from what is right: they answer at the edges of the
# strokes. Then relu keeps the answers above 0, and pooling the strongest of each 2x2.
# In the picture, red is above 0 and blue below.

digit = dz.datasets.Digits().data[8:9]  # (1, 1, 8, 8)
below = np.array([[-1, -1, -1], [0, 0, 0], [1, 1, 1]], dtype=np.float32)
filters = np.stack([below, below.T])[:, np.newaxis]  # (2, 1, 3, 3)
answers = F.conv2d(digit, filters, pad=1)
pooled = F.pooling(F.relu(answers), 2, 2)
print("digit", digit.shape, "-> answers", answers.shape, "-> pooled", pooled.shape)

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None
if plt is not None:
    titles = ["the digit", "below - above", "right - left"]
    titles += ["below, pooled", "right, pooled"]
    pictures = [digit[0, 0], *answers.data[0], *pooled.data[0]]
    figure, axes = plt.subplots(1, 5, figsize=(10, 2.3), layout="constrained")
    for ax, title, picture in zip(axes, titles, pictures, strict=True):
        ax.imshow(picture, cmap="RdBu_r", vmin=-3, vmax=3)
        ax.set(xticks=[], yticks=[])
        ax.set_title(title, fontsize=10)
    plt.savefig("step58.png", dpi=110)
    print("The digit and the answers are in step58.png.")

# %%
# Few weights, and they do not care where
# ---------------------------------------
# If the image moves by one pixel, the answers move with it (away from the edges, where
# zeros are padded). A linear layer would have to learn the strokes anew at each place,
# and has many more weights: one for each of the 64 pixels and each of the 2 x 64
# answers.

moved = np.roll(digit, 1, axis=3)
answers_moved = F.conv2d(moved, filters, pad=1)
inner, inner_moved = answers.data[..., 1:6], answers_moved.data[..., 2:7]
print("answers of the moved digit = moved answers:", np.allclose(inner, inner_moved))
full = 64 * (2 * 64)
print(f"weights: {filters.size} in two filters, {full:,} in a linear layer")

assert max(differences) < 1e-12
assert answers.shape == (1, 2, 8, 8) and pooled.shape == (1, 2, 4, 4)
assert np.allclose(inner, inner_moved)
assert filters.size == 18 and full == 8192

# %%
# Exercises
# ---------
# 1. Which filter of 3x3 moves an image down by one pixel, and which one blurs it? Write
#    both and apply them with ``F.conv2d(..., pad=1)`` to a digit.
# 2. Two convolutions of 3x3, one after the other without padding: how large is the
#    patch of the image that one number of the result depends on? Think first. Then set
#    all weights to 1 and look where the slopes of one number by the pixels are not 0.
# 3. Where do the slopes go in the backward of pooling? Find them by hand for 2x2
#    patches of ``np.arange(16.0).reshape(1, 1, 4, 4)``, then run ``F.pooling``.
