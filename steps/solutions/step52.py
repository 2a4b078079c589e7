"""
Solutions to step 52: does it really learn?
===========================================
"""

# %%
# Exercise 1
# ----------
# All weights are zero. The hidden layer gives ``relu(0) = 0``, so the gradient of
# ``l1/W`` is 0. What comes back through the second layer is multiplied by its weights,
# so it is 0 as well. Only ``l1/b`` moves: the model learns how frequent each digit is,
# and nothing else, for ever.
import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import diagnostics

digits = dz.datasets.Digits(transform=dz.transforms.Flatten())
x, t = digits.read_batch(np.arange(500))


class Sound(dz.Model):
    def __init__(self):
        self.l0 = L.Linear(50)
        self.l1 = L.Linear(10)

    def forward(self, x):
        return self.l1(F.relu(self.l0(x)))


def step(model, optimizer):
    y = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    y.backward()
    optimizer.update()
    return y.item()


model = Sound()
model(x)
for p in model.params():
    p.data[...] = 0
optimizer = dz.optimizers.SGD(lr=0.1).setup(model)
report = diagnostics.check_updates(model, lambda: step(model, optimizer))
moved = [row.name for row in report.rows if row.moved]
print("parameters that move:", moved)
assert moved == ["l1/b"]

# %%
# Exercise 2
# ----------
# The optimizer knows the second layer alone. The second check finds it: ``l0/W`` and
# ``l0/b`` get a gradient and do not move. The first check passes, as for the model that
# was cut off, and the loss on new data falls, though less than it could.
dz.seed(0)
model = Sound()
model(x)
optimizer = dz.optimizers.Adam(lr=0.001).setup([model.l1.W, model.l1.b])
report = diagnostics.check_updates(model, lambda: step(model, optimizer))
still = [row.name for row in report.flagged]
print("do not move:", still)
print("the reason given:", report.flagged[0].reason)
assert still == ["l0/W", "l0/b"] and model.l0.W.grad is not None

# %%
# Exercise 3
# ----------
# The rate 0.02 is 15 times smaller. As long as the steps are small, 15 of them go as
# far as one: about 300 steps for the 20 of the rate 0.3.


def losses(rate, count):
    dz.seed(0)
    model = Sound()
    optimizer = dz.optimizers.SGD(lr=rate).setup(model)
    return [step(model, optimizer) for _ in range(count)]


goal = losses(0.3, 21)[-1]
slow = np.array(losses(0.02, 400))
needed = int(np.flatnonzero(slow <= goal)[0])
print(f"loss {goal:.3f} is reached after {needed} steps")
assert 270 < needed < 330
