"""
Solutions to step 45: models are layers made of layers
======================================================
"""

# %%
# Exercise 1
# ----------
# ``MLP((100, 10))`` with 64 inputs: 64 * 100 weights and 100 biases, then 100 * 10
# weights and 10 biases. That is 7510.
import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

model = dz.models.MLP((100, 10))
model(np.zeros((1, 64), dtype=np.float32))
count = sum(p.size for p in model.params())
print("numbers:", count)
assert count == 64 * 100 + 100 + 100 * 10 + 10 == 7510

# %%
# Exercise 2
# ----------
# ``leaves`` with dictionaries: one more branch.


def leaves(name, value):
    if isinstance(value, dz.Parameter):
        yield name, value
    elif isinstance(value, Layer):
        for key, item in vars(value).items():
            yield from leaves(f"{name}/{key}", item)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(f"{name}/{i}", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(f"{name}/{key}", item)


class Layer:
    pass


class Heads(Layer):
    def __init__(self):
        self.heads = {"left": dz.Parameter(np.ones(1)), "right": [Scale(), Scale()]}


class Scale(Layer):
    def __init__(self):
        self.factor = dz.Parameter(np.ones(1))


names = [name[1:] for name, _ in leaves("", Heads())]
print(names)
assert names == ["heads/left", "heads/right/0/factor", "heads/right/1/factor"]

# %%
# Exercise 3
# ----------
# A model with two inputs. Its parameters are named after its attributes.


class Both(dz.Model):
    def __init__(self):
        self.first = L.Linear(8)
        self.second = L.Linear(8)
        self.out = L.Linear(1)

    def forward(self, x0, x1):
        return self.out(F.tanh(self.first(x0) + self.second(x1)))


model = Both()
y = model(np.ones((4, 3), dtype=np.float32), np.ones((4, 5), dtype=np.float32))
names = [name for name, _ in model.named_params()]
print(y.shape, names)
assert y.shape == (4, 1)
assert names == ["first/W", "first/b", "second/W", "second/b", "out/W", "out/b"]
