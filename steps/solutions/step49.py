"""
Solutions to step 49: datasets
==============================
"""

# %%
# Exercise 1
# ----------
# ``Pairs`` needs ``__len__`` and ``__getitem__``. Without a check, numbers outside give
# pairs that are no part of it: ``pairs[1000]`` would be (1000, 1000000). A sequence
# counts negative numbers from the end and raises ``IndexError`` for the others. That
# error is also what ends a plain ``for`` loop over the dataset.
import numpy as np


class Pairs:
    def __len__(self):
        return 100

    def __getitem__(self, i):
        if not -100 <= i < 100:
            raise IndexError(i)
        i = i % 100
        return i, i * i


pairs = Pairs()
print("last:", pairs[-1], " number of pairs in a loop:", sum(1 for _ in pairs))
assert pairs[-1] == (99, 9801) and sum(1 for _ in pairs) == 100
refused = False
try:
    pairs[100]
except IndexError:
    refused = True
assert refused

# %%
# Exercise 2
# ----------
# Standardised with its own mean and spread, the test part has the mean 0 and the spread
# 1 whatever it was before: that all animals are twice as heavy cannot be seen any more.
# The model would be praised for a farm on which it fails. There is a second fault: the
# input of one animal then depends on which others are in the test.
rng = np.random.default_rng(0)
train = rng.normal(20, 5, 200)
test = 2 * rng.normal(20, 5, 50)
own = (test - test.mean()) / test.std()
from_training = (test - train.mean()) / train.std()
print("mean with its own numbers:", own.mean().round(6) + 0.0)
print("mean with those of the training part:", from_training.mean().round(2))
assert abs(own.mean()) < 1e-9 and from_training.mean() > 3

# %%
# Exercise 3
# ----------
# A transform that adds noise. With it an image is another one each time that it is
# read, so the training part becomes richer: each pass over it sees other images. The
# test part must not have it, unless later images will be that noisy: it stands for
# them, and a measure that changes from run to run is of little use.


class Dataset:
    def __init__(self, train=True, transform=None):
        self.train = train
        self.transform = transform

    def __getitem__(self, i):
        x, t = self.read(i)
        return (x if self.transform is None else self.transform(x)), t


class Bars(Dataset):
    def read(self, i):
        image = np.zeros((8, 8))
        image[i % 8] = 1
        return image, 0


def add_noise(image):
    return image + 0.1 * np.random.normal(size=image.shape)


np.random.seed(0)
bars = Bars(transform=add_noise)
first, second = bars[5][0], bars[5][0]
noise = (first - Bars()[5][0]).std()
print(f"size of the noise: {noise:.2f}, the same twice: {(first == second).all()}")
assert 0.08 < noise < 0.12 and not (first == second).any()
