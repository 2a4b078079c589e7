"""
Solutions to step 44: parameters and layers
===========================================
"""

# %%
# Exercise 1
# ----------
# A layer ``Scale``. ``params()`` gives its one parameter.
import numpy as np

import dezero as dz
import dezero.functions as F


class Parameter(dz.Variable):
    pass


class Layer:
    def __call__(self, *inputs):
        return self.forward(*inputs)

    def params(self):
        for attribute in vars(self).values():
            if isinstance(attribute, Parameter):
                yield attribute


class Scale(Layer):
    def __init__(self):
        self.factor = Parameter(np.ones(1))

    def forward(self, x):
        return x * self.factor


scale = Scale()
y = scale(np.array([1.0, 2.0, 3.0]))
print("output:", y.data, " parameters:", list(scale.params()))
assert np.array_equal(y.data, [1, 2, 3])
assert list(scale.params()) == [scale.factor]

# %%
# Exercise 2
# ----------
# The same Parameter under two names comes twice. The loop then takes two steps for one
# gradient. A set of those already seen mends it. It holds their ``id``, for ``==``
# compares elements.


class Two(Layer):
    def __init__(self):
        self.a = Parameter(np.ones(1))
        self.b = self.a


class TwoMended(Two):
    def params(self):
        seen = set()
        for p in super().params():
            if id(p) not in seen:
                seen.add(id(p))
                yield p


moved = []
for kind in Two, TwoMended:
    layer = kind()
    (layer.a * 3).backward()
    for p in layer.params():
        p.data = p.data - 0.1 * p.grad.data
    moved.append((1 - layer.a.data).item())
    print(f"{kind.__name__:9} parameters {len(list(layer.params()))}", end="")
    print(f", moved by {moved[-1]:.1f}")
assert np.allclose(moved, [0.6, 0.3])

# %%
# Exercise 3
# ----------
# Without the division, each output of ``Linear(100, 50)`` is a sum of 100 numbers of
# size 1, so its size is about the root of 100. In most places the sigmoid of such
# numbers is nearly 0 or 1 and flat: hardly any gradient comes back.
np.random.seed(0)
x = np.random.normal(size=(1000, 100))
a = dz.Variable(x @ np.random.normal(size=(100, 50)))
F.sigmoid(a).backward()
flat = (a.grad.data < 0.01).mean()
print(f"size of the outputs: {a.data.std():.1f}, flat places: {flat:.0%}")
assert 9 < a.data.std() < 11 and flat > 0.6
