r"""
Step 45: models are layers made of layers
=========================================

A network is a tree: a model holds layers, these may hold layers again, and the
parameters are the leaves. Looking through the attributes has to go down the tree. On
the way, each parameter gets a name that says where it is:

::

    model.hidden.W     ->  hidden/W
    model.blocks[2].b  ->  blocks/2/b

New since the step before: ``params`` that walks down, names, and a ``Chain`` of layers.
"""

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

# %%
# ``leaves`` reports a parameter with its name. It goes into a layer, attribute by
# attribute, and into a list, item by item, each time with a longer name. Whatever else
# it meets has no parameters. ``named_params`` keeps each parameter once, also one that
# is met in two places: a training loop that got it twice would take two steps for one
# gradient. (``setdefault`` does nothing if the key is there already.)

# New in this step


def leaves(name, value):
    if isinstance(value, dz.Parameter):
        yield name, value
    elif isinstance(value, Layer):
        for key, item in vars(value).items():
            yield from leaves(f"{name}/{key}", item)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(f"{name}/{i}", item)


class Layer:
    def __call__(self, *inputs):
        return self.forward(*inputs)

    def named_params(self):
        found = {}
        for name, p in leaves("", self):
            found.setdefault(id(p), (name[1:], p))  # without the first "/"
        return list(found.values())

    def params(self):
        return [p for _, p in self.named_params()]

    def cleargrads(self):
        for p in self.params():
            p.cleargrad()


class Linear(Layer):
    def __init__(self, in_size, out_size):
        W = np.random.normal(size=(in_size, out_size)) / np.sqrt(in_size)
        self.W = dz.Parameter(W)
        self.b = dz.Parameter(np.zeros(out_size))

    def forward(self, x):
        return F.linear(x, self.W, self.b)


# %%
# A ``Chain`` runs its parts one after the other. Parts are layers, or functions without
# parameters. It is a layer itself, so a chain may be a part of a chain.


class Chain(Layer):
    def __init__(self, *parts):
        self.parts = list(parts)

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


np.random.seed(0)
model = Chain(Linear(1, 16), F.tanh, Chain(Linear(16, 16), F.tanh), Linear(16, 1))
for name, p in model.named_params():
    print(f"{name:18} {p.shape}")

# %%
# To the training loop it does not matter how deep the tree is.

x = np.random.uniform(-1, 1, (100, 1))
t = np.sin(8 * x)


def train(model, steps=2000, rate=0.1):
    for _ in range(steps):
        loss = F.mean_squared_error(model(x), t)
        model.cleargrads()
        loss.backward()
        for p in model.params():
            p.data = p.data - rate * p.grad.data
    return loss.item()


start = [p.data for p in model.params()]
loss = train(model)
print(f"loss after training: {loss:.4f}")

# %%
# The same layer in two places is trained as one. The gradient of its parameters is the
# sum of what both places want, which is step 14 again: a variable that is used twice.

shared = Linear(16, 16)
tied = Chain(Linear(1, 16), F.tanh, shared, F.tanh, shared, F.tanh, Linear(16, 1))
print("the tied model has", len(tied.params()), "parameters, for 4 linear layers")

# %%
# The package has ``dz.models.Sequential``, which is our chain. ``dz.models.MLP``
# (multi-layer perceptron, an old name for such networks) is a chain of ``Linear`` with
# one function between all of them. The first line below is our model. From the same
# parameters, its training gives the same loss.

package = dz.models.MLP((16, 16, 1), activation=F.tanh)
for layer in package.layers:
    layer.dtype = np.float64  # as our layers have it
package(x)
for p, data in zip(package.params(), start, strict=True):
    p.data = data
print("names in the package:", [name for name, _ in package.named_params()])
package_loss = train(package)
print("same loss from the package:", np.isclose(loss, package_loss))

# %%
# A model with other connections is a class with its own ``forward``. Nothing has to be
# declared: what is an attribute is found. The one below adds its input to its output.
# It derives from ``dz.Model``, a layer that can show itself: ``summary`` runs it on an
# input and lists the layers, each with the number of numbers that it holds itself.


class Shortcut(dz.Model):
    def __init__(self):
        self.inner = dz.models.Sequential(L.Linear(16), F.tanh, L.Linear(1))

    def forward(self, x):
        return x + self.inner(x)


shortcut = Shortcut()
print(shortcut.summary(x))

names = [name for name, _ in model.named_params()]
assert names[2] == "parts/2/parts/0/W" and len(names) == 6
assert loss < 0.05
assert len(tied.params()) == 6
assert np.isclose(loss, package_loss)
assert shortcut(x).shape == t.shape

# %%
# Exercises
# ---------
#
# 1. How many numbers does ``MLP((100, 10))`` learn if its input has 64 numbers? Find it
#    by hand, then let the package count.
# 2. ``leaves`` does not look into dictionaries. Add that, with the key in the name.
# 3. Write a model with two inputs: each goes through a ``Linear`` of its own, the sum
#    goes through ``F.tanh`` and a third one. What are the names of its parameters?
