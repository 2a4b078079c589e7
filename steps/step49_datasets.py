r"""
Step 49: datasets
=================

A training loop needs two things of its data: how many examples there are, and the
example with the number ``i``. Where they come from is not its business. They may be
rows of an array, files on a disk, or be computed at the moment they are asked for.

::

    len(dataset)        the number of examples
    dataset[i]          the pair (x, t) with the number i

New since the step before: a ``Dataset`` with a part to learn from, a part to test with,
and a *transform* that is applied to whatever is read.
"""

import numpy as np

import dezero as dz

# %%
# A subclass writes ``prepare``, which sets ``data`` and ``label``. The flag ``train``
# says which of two parts is wanted. They must not share examples: the test part stands
# for everything that the model will meet later.

# New in this step


class Dataset:
    def __init__(self, train=True, transform=None):
        self.train = train
        self.transform = transform
        self.prepare()

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        x, t = self.read(i)
        return (x if self.transform is None else self.transform(x)), t

    def read(self, i):
        return self.data[i], self.label[i]


# %%
# First a small one in memory: masses in kilograms and heights in centimetres of 200
# animals of two kinds. The numbers are as they were measured, and so the two columns
# have very different sizes.


class Animals(Dataset):
    def prepare(self):
        rng = np.random.default_rng(0 if self.train else 1)
        n = 200 if self.train else 50
        self.label = rng.integers(0, 2, n)
        middle = np.array([[4.0, 25.0], [30.0, 60.0]])[self.label]
        spread = np.array([[1.0, 3.0], [8.0, 8.0]])[self.label]
        self.data = middle + spread * rng.normal(size=(n, 2))


raw = Animals()
print("to learn from:", len(raw), " to test with:", len(Animals(train=False)))
print("number 7:", raw[7][0].round(1), "of kind", raw[7][1])

# %%
# Networks learn best from inputs around 0 with a size of about 1 (step 42, exercise 2).
# A transform brings them there. The mean and the spread are taken from the training
# part, for both parts. The test part must be treated as later data will be, and of
# those we shall not know the mean.

mean, std = raw.data.mean(axis=0), raw.data.std(axis=0)


def standardise(x):
    return (x - mean) / std


def inputs(dataset):
    return np.stack([dataset[i][0] for i in range(len(dataset))])


train = Animals(transform=standardise)
test = Animals(train=False, transform=standardise)
for name, x in [("train", inputs(train)), ("test", inputs(test))]:
    print(f"{name:5} mean {x.mean(axis=0).round(2)}, std {x.std(axis=0).round(2)}")

# %%
# A dataset need not hold its data. This one has a million images of 8 by 8 points with
# a bar in them, and keeps none, as its attributes show. Image ``i`` is drawn when it is
# asked for. Its random numbers come from ``i``, so the same number gives the same image
# every time.


class Bars(Dataset):
    def prepare(self):
        self.offset = 0 if self.train else 1_000_000

    def __len__(self):
        return 1_000_000

    def read(self, i):
        rng = np.random.default_rng(self.offset + i)
        image = 0.2 * rng.normal(size=(8, 8))
        upright = int(rng.integers(2))
        place = rng.integers(8)
        if upright:
            image[:, place] += 1
        else:
            image[place] += 1
        return image, upright


bars = Bars()
image, upright = bars[123_456]
print("\nimages:", len(bars), " attributes:", vars(bars))
for row in image:
    print("   " + "".join(" .:#"[int(np.clip(4 * v, 0, 3))] for v in row))
print("upright:", upright)

# %%
# The package has ``dz.Dataset``, with the same ``prepare`` and ``transform``, and a
# ``target_transform`` for ``t``. (It has no ``read``: a dataset like ``Bars`` writes
# ``__getitem__`` there.) It can also read many examples at once, with ``read_batch``.
# Some datasets come with the package, such as ``dz.datasets.Spiral`` and
# ``dz.datasets.Digits``, which the next steps use.


class PackageAnimals(dz.Dataset):
    prepare = Animals.prepare


package = PackageAnimals(transform=standardise)
same = all(
    np.array_equal(package[i][0], train[i][0]) and package[i][1] == train[i][1]
    for i in range(len(train))
)
x, t = package.read_batch([3, 1, 4])
print("same examples from the package:", same)
print("three at once:", x.shape, t.shape)
digits = dz.datasets.Digits()
image_of_digit, number = digits[0]
print("digits:", len(digits), " the first:", image_of_digit.shape, "number", number)

assert len(train) == 200 and len(test) == 50
assert np.allclose(inputs(train).mean(axis=0), 0)
assert np.allclose(inputs(train).std(axis=0), 1)
assert same and np.array_equal(x[2], train[4][0])
again, _ = bars[123_456]
assert np.array_equal(again, image)
assert not np.array_equal(Bars(train=False)[123_456][0], image)
assert "data" not in vars(bars)
assert len(digits) == 1437 and image_of_digit.shape == (1, 8, 8)

# %%
# Exercises
# ---------
#
# 1. Write a class ``Pairs`` from nothing, without ``data``, whose example ``i`` is the
#    pair ``(i, i * i)``, for ``i`` below 100. Which methods does a loop need of it?
#    What do negative numbers and numbers above 99 give, and what should they give?
# 2. Somebody standardises the test part with its own mean and spread. All test animals
#    come from a farm where every kind is twice as heavy. What does the transform do to
#    that, and why is it a fault?
# 3. Write a transform that adds noise to an image, and make a ``Bars`` with it. Is the
#    same image still the same every time? Should the test part have noise too?
