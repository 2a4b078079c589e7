r"""
Step 50: mini-batches and accuracy
==================================

The gradient of the loss is a mean over all examples. A few examples, drawn at random,
give an estimate of it: right on average, and cheap. So take many rough steps in place
of one exact step. One pass over the shuffled data, batch by batch, is an *epoch*. The
S in SGD stands for *stochastic*, by chance: it means these steps.

.. math:: \nabla L = \frac{1}{N} \sum_{i=1}^{N} \nabla L_i
          \;\approx\; \frac{1}{B} \sum_{i \in \text{batch}} \nabla L_i

*Accuracy* is the share of right answers. It is what people want to know, and it cannot
be trained: it moves in jumps, and between them its slope is 0.

New since the step before: a ``Loader`` that makes shuffled batches, and ``accuracy``.
"""

import numpy as np

import dezero as dz
import dezero.functions as F

# %%
# Each ``for`` loop over the loader is one epoch with an order of its own. The last
# batch may be smaller. Without shuffling, data that are sorted by class would teach one
# class after the other, and the network would forget the first while it learns the
# last.

# New in this step


class Loader:
    def __init__(self, dataset, batch_size):
        self.dataset = dataset
        self.batch_size = batch_size

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)  # rounded up

    def __iter__(self):
        order = np.random.permutation(len(self.dataset))
        for start in range(0, len(order), self.batch_size):
            pairs = [self.dataset[i] for i in order[start : start + self.batch_size]]
            yield np.stack([x for x, _ in pairs]), np.stack([t for _, t in pairs])


def accuracy(y, t):
    return float((y.argmax(axis=1) == t).mean())


train = dz.datasets.Spiral(train=True)
test = dz.datasets.Spiral(train=False)
np.random.seed(0)
loader = Loader(train, batch_size=32)
sizes = [len(x) for x, t in loader]
print("batches:", len(loader), " sizes:", sizes)

# %%
# Is the gradient of a batch right on average? The mean over the ten batches of an
# epoch, each counted by its size, is the gradient over all examples. Single batches
# differ from it, large ones by less: four times the size halves the difference, which
# is given in lengths of the full gradient. (``gradient`` puts the gradients of all
# parameters into one vector.)

model = dz.models.MLP((32, 3), activation=F.relu)


def gradient(x, t):
    model.cleargrads()
    F.softmax_cross_entropy(model(x), t).backward()
    return np.concatenate([p.grad.data.ravel() for p in model.params()])


full = gradient(train.data, train.label)
mean = sum(len(t) * gradient(x, t) for x, t in loader) / len(train)
print("mean of the batches is the full gradient:", np.allclose(mean, full, atol=1e-6))
spread = {}
for size in (4, 16, 64):
    picks = [np.random.randint(len(train), size=size) for _ in range(200)]
    errors = [gradient(train.data[i], train.label[i]) - full for i in picks]
    spread[size] = np.sqrt(np.mean([e @ e for e in errors])) / np.linalg.norm(full)
    print(f"batches of {size:2}: difference {spread[size]:.2f} of the full gradient")

# %%
# Two trainings with the same number of epochs, so that both see each example equally
# often. The one with batches takes ten steps where the other takes one. After each
# epoch loss and accuracy are measured on the test points.


def measure(model):
    with dz.no_grad():
        y = model(test.data)
        loss = F.softmax_cross_entropy(y, test.label)
    return loss.item(), accuracy(y.data, test.label)


def fit(batches, epochs=100):
    np.random.seed(0)
    model = dz.models.MLP((32, 3), activation=F.relu)
    optimizer = dz.optimizers.SGD(lr=0.5).setup(model)
    history = []
    for _ in range(epochs):
        for x, t in batches:
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
        history.append(measure(model))
    return model, history


_, slow = fit([(train.data, train.label)])
model, fast = fit(Loader(train, 32))
print("\nepoch   all at once: loss  accuracy     in batches: loss  accuracy")
for epoch in (1, 5, 20, 100):
    a, b = slow[epoch - 1], fast[epoch - 1]
    print(f"{epoch:5} {a[0]:18.3f} {a[1]:9.2f} {b[0]:20.3f} {b[1]:9.2f}")

# %%
# Why is the loss trained and not the accuracy? Move one weight a little, and look at
# both. The loss follows each small change. The accuracy does not move at all.

weights = model.layers[1].W.data
start = weights[0, 0]
print("\nweight moved by      loss    accuracy")
measured = []
for delta in (0, 0.01, 0.02, 0.03):
    weights[0, 0] = start + delta
    measured.append(measure(model))
    print(f"{delta:15} {measured[-1][0]:9.6f} {measured[-1][1]:11.4f}")
weights[0, 0] = start

# %%
# The package has ``dz.DataLoader`` and ``F.accuracy``. The loader reads each batch at
# once, with ``read_batch``. With the same seed it draws the same batches as ours.

np.random.seed(1)
ours = list(Loader(train, 32))
np.random.seed(1)
package = list(dz.DataLoader(train, 32))
same = all(
    np.array_equal(x0, x1) and np.array_equal(t0, t1)
    for (x0, t0), (x1, t1) in zip(ours, package, strict=True)
)
score = F.accuracy(model(test.data), test.label)
print("same batches from the package:", same)
print(f"accuracy: {measure(model)[1]:.4f} (ours), {score.item():.4f} (package)")

assert sizes == [32] * 9 + [12] and len(loader) == 10
assert np.allclose(mean, full, atol=1e-6)
assert 1.5 < spread[4] / spread[16] < 2.7 and 1.5 < spread[16] / spread[64] < 2.7
assert fast[-1][1] > 0.9 > slow[-1][1] + 0.1
assert len({loss for loss, _ in measured}) == 4
assert len({score for _, score in measured}) == 1
assert same and np.isclose(measure(model)[1], score.item())

# %%
# Exercises
# ---------
#
# 1. How many steps does an epoch take with 1437 examples and batches of 32, and how
#    large is the last batch?
# 2. Sort the spiral by class (``np.argsort(t)``) and train without shuffling, one epoch
#    in batches of 32 with a rate of 0.5. Which class does the model give to most of the
#    test points?
# 3. A test for an illness that one person in a hundred has answers "healthy" every
#    time. What is its accuracy? What would you measure instead?
