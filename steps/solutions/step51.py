"""
Solutions to step 51: reading digits
====================================
"""

# %%
# Exercise 1
# ----------
# The network learns 64 * 100 + 100 + 100 * 10 + 10 = 7510 numbers. Ten units do nearly
# as well after 15 epochs, and so does a single layer: these digits are small, and most
# are separated by straight borders in 64 dimensions.
import numpy as np

import dezero as dz
import dezero.functions as F

flatten = dz.transforms.Flatten()
train = dz.datasets.Digits(train=True, transform=flatten)
test = dz.datasets.Digits(train=False, transform=flatten)
train_x, train_t = train.read_batch(np.arange(len(train)))
test_x, test_t = test.read_batch(np.arange(len(test)))


def fit(sizes, labels, epochs=15):
    dz.seed(0)
    model = dz.models.MLP(sizes, activation=F.relu)
    optimizer = dz.optimizers.Adam(lr=0.002).setup(model)
    for _ in range(epochs):
        order = np.random.permutation(len(labels))
        for start in range(0, len(order), 32):
            picks = order[start : start + 32]
            loss = F.softmax_cross_entropy(model(train_x[picks]), labels[picks])
            model.cleargrads()
            loss.backward()
            optimizer.update()
    return model


def accuracy(model, x, t):
    with dz.no_grad():
        return F.accuracy(model(x), t).item()


scores, models = {}, {}
for sizes in (100, 10), (10, 10), (10,):
    model = models[sizes] = fit(sizes, train_t)
    numbers = sum(p.size for p in model.params())
    scores[sizes] = numbers, accuracy(model, test_x, test_t)
    print(f"{sizes!s:10} {numbers:5} numbers, test accuracy {scores[sizes][1]:.3f}")
assert [n for n, _ in scores.values()] == [7510, 760, 650]
assert scores[100, 10][1] > 0.95
assert all(0.85 < score <= scores[100, 10][1] for _, score in scores.values())

# %%
# Exercise 2
# ----------
# All test images moved one point to the right. The accuracy falls far. To this network
# each point is an input of its own, and what it learned of one point says nothing about
# the next one.
model = models[100, 10]
moved = np.zeros((len(test), 8, 8), dtype=np.float32)
moved[:, :, 1:] = test_x.reshape(-1, 8, 8)[:, :, :-1]
before = accuracy(model, test_x, test_t)
after = accuracy(model, moved.reshape(-1, 64), test_t)
print(f"accuracy before {before:.3f}, moved by a point {after:.3f}")
assert before > 0.95 and after < 0.8

# %%
# Exercise 3
# ----------
# Random labels. Some of the training part can be learned by heart even so, so its
# accuracy rises above 0.1. The test accuracy stays at guessing: there is nothing to
# learn that holds for other images.
labels = np.random.default_rng(0).integers(0, 10, len(train_t))
model = fit((100, 10), labels)
on_train = accuracy(model, train_x, labels)
on_test = accuracy(model, test_x, test_t)
print(f"random labels: training accuracy {on_train:.3f}, test accuracy {on_test:.3f}")
assert on_train > 0.15 and on_test < 0.2
