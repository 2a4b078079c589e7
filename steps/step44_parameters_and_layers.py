r"""
Step 44: parameters and layers
==============================

The training in step 43 kept four variables by hand, in a list that had to be complete.
With fifty variables somebody forgets one, and it never learns. Two small classes end
that. A ``Parameter`` is a variable that is to be trained. A ``Layer`` holds parameters,
and finds them by looking through its own attributes.

::

    layer = Linear(1, 10)        W: (1, 10), b: (10,)
    layer(x)                     x W + b
    layer.params()               W, b

New since the step before: ``Parameter``, ``Layer`` and ``Linear`` in small.
"""

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

# %%
# ``Parameter`` adds nothing to ``Variable`` but its name. The class is the mark by
# which a layer tells weights from everything else that it may hold. ``vars(self)`` is
# the dictionary of all attributes, in the order in which they were assigned.

# New in this step


class Parameter(dz.Variable):
    pass


class Layer:
    def __call__(self, *inputs):
        return self.forward(*inputs)

    def params(self):
        for attribute in vars(self).values():
            if isinstance(attribute, Parameter):
                yield attribute

    def cleargrads(self):
        for p in self.params():
            p.cleargrad()


# %%
# A layer of our own makes its parameters in ``__init__`` and uses them in ``forward``.
# The weights start from normal numbers, divided by the root of the number of inputs:
# the sum over all inputs then has about the size of one of them. (By size we mean the
# standard deviation.)


class Linear(Layer):
    def __init__(self, in_size, out_size):
        W = np.random.normal(size=(in_size, out_size)) / np.sqrt(in_size)
        self.in_size = in_size
        self.W = Parameter(W)
        self.b = Parameter(np.zeros(out_size))

    def forward(self, x):
        return F.linear(x, self.W, self.b)


np.random.seed(0)
layer = Linear(100, 50)
x = np.random.normal(size=(1000, 100))
print("attributes:", list(vars(layer)))
print("shapes of the parameters:", [p.shape for p in layer.params()])
print("size of inputs and outputs:", x.std().round(2), layer(x).data.std().round(2))

# %%
# Now the wave of step 43 again. The loop asks each layer for its parameters. It would
# be the same loop for layers with other parameters.

x = np.random.uniform(-2, 2, (100, 1))
t = np.sin(2 * x) + 0.1 * np.random.normal(size=(100, 1))


def train(layers, steps=3000, rate=0.2):
    losses = []
    for _ in range(steps):
        y = layers[1](F.sigmoid(layers[0](x)))
        loss = F.mean_squared_error(y, t)
        for layer in layers:
            layer.cleargrads()
        loss.backward()
        for layer in layers:
            for p in layer.params():
                p.data = p.data - rate * p.grad.data
        losses.append(loss.item())
    return losses


layers = [Linear(1, 10), Linear(10, 1)]
start = [[p.data for p in layer.params()] for layer in layers]
losses = train(layers)  # start keeps its arrays: each step makes new ones
print(f"loss before {losses[0]:.4f}, after {losses[-1]:.4f}")

# %%
# What is no ``Parameter`` is not found. In the layer below, the bias is a plain
# variable. It gets a gradient in every pass, which nobody clears, and it never moves.
# No message says so; the number of parameters does.


class Forgotten(Linear):
    def __init__(self, in_size, out_size):
        super().__init__(in_size, out_size)
        self.b = dz.Variable(np.zeros(out_size))


forgotten = [Forgotten(1, 10), Linear(10, 1)]
train(forgotten, steps=100)
print("parameters found:", len(list(forgotten[0].params())))
print("bias after 100 steps:", np.unique(forgotten[0].b.data))

# %%
# The package has ``dz.Parameter``, ``dz.Layer`` and ``L.Linear``. Its ``Linear`` takes
# the number of outputs alone, and makes ``W`` when the first input tells the number of
# inputs. Its parameters are float32 unless ``dtype`` says otherwise. With the weights
# that our layers started from (``start``), the losses are the same.

package = [L.Linear(10, dtype=np.float64), L.Linear(1, dtype=np.float64)]
print("W before the first call:", package[0].W)
package[1](package[0](x))
print("W after the first call: ", package[0].W.shape)
for layer, arrays in zip(package, start, strict=True):
    layer.W.data, layer.b.data = arrays
package_losses = train(package)
print("same losses from the package:", np.allclose(losses, package_losses))

assert [p.shape for p in Linear(100, 50).params()] == [(100, 50), (50,)]
assert losses[-1] < 0.05 < 0.3 < losses[0]
assert len(list(forgotten[0].params())) == 1 and not forgotten[0].b.data.any()
assert np.allclose(losses, package_losses)
assert isinstance(package[0].W, dz.Parameter) and isinstance(package[0], dz.Layer)

# %%
# Exercises
# ---------
#
# 1. Write a layer ``Scale`` with one parameter of shape (1,), which starts from 1 and
#    multiplies its input. What does ``params()`` give?
# 2. What happens in ``params()`` if the same Parameter is stored under two names? Which
#    fault does that cause in the loop of ``train``? Change ``params`` so that each
#    comes once. (Compare with ``is`` or by ``id``: ``==`` compares the elements.)
# 3. Without the division by the root, how large are the outputs of ``Linear(100, 50)``
#    for inputs of size 1? What would the sigmoid do with them?
