"""
Step 53: the same graph on a GPU
================================

A graphics processor (GPU) multiplies large matrices many times faster than a CPU. It
has memory of its own, and a library of its own: CuPy, whose arrays have the methods and
functions of NumPy's under the same names. So a function needs no second version. It
asks its input which library to call:

    ``xp = get_array_module(x)``, then ``xp.exp(x)`` on either device.

The graph itself never knows where it runs.

New since the step before: ``dezero.cuda``, the one file that knows CuPy.
"""

# %%
# Which library does an array belong to?
# --------------------------------------
# The type of an array says where it comes from: NumPy's is defined in a module below
# ``numpy``, CuPy's in one below ``cupy``. That is enough to find the library. Plain
# numbers count as NumPy's. ``as_numpy`` brings any array home: from a GPU by a copy,
# which is what the method ``get`` of a CuPy array makes.

import sys

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero import cuda


# New in this step
def library_of(x):
    data = x.data if isinstance(x, dz.Variable) else x
    root = type(data).__module__.partition(".")[0]  # "cupy", "numpy", "builtins" ...
    return sys.modules["cupy"] if root == "cupy" else np


def as_numpy(x):
    data = x.data if isinstance(x, dz.Variable) else x
    return np.asarray(data) if library_of(data) is np else data.get()


examples = {
    "an array": np.ones(3),
    "a Variable": dz.Variable(np.ones(3)),
    "a number": 2.5,
}
for name, example in examples.items():
    ours, theirs = library_of(example), cuda.get_array_module(example)
    print(f"{name:10} -> {ours.__name__} (the package says {theirs.__name__})")

# %%
# A function that runs on both
# ----------------------------
# ``softplus(x) = log(1 + exp(x))``: its ``forward`` names neither NumPy nor CuPy, and
# its ``backward`` uses functions of dezero only, which ask in the same way. (Ours
# overflows for large x, as in step 47; ``F.softplus`` does not.)


class Softplus(dz.Function):
    def forward(self, x):
        xp = cuda.get_array_module(x)
        return xp.log1p(xp.exp(x))

    def backward(self, gy):
        (x,) = self.inputs
        return gy * F.sigmoid(x)


x = dz.Variable(np.array([-1.0, 0.0, 2.0], dtype=np.float32))
y = Softplus()(x)
F.sum(y).backward()
print("softplus:", y.data, "its slope:", x.grad.data)
print("F.softplus:", F.softplus(x).data)

# %%
# Does a device answer?
# ---------------------
# ``cuda.gpu_enable`` is True where CuPy is installed and a GPU answers. ``to_gpu`` of a
# model copies every parameter there, and ``cuda.as_cupy`` an array: the data must be
# there too, for a product of an array here and an array there is an error. The lines of
# ``loss_and_slopes`` are the same for both devices.
#
# Where no device answers, this cell shows how the first copy is refused, and the loss
# is computed once more on the CPU, with the examples in the reverse order.


def loss_and_slopes(model, x, t):
    loss = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    loss.backward()
    return loss.item(), [as_numpy(p.grad) for p in model.params()]


np.random.seed(0)
model = dz.models.MLP((16, 3), activation=F.relu)
data = np.random.randn(80, 4).astype(np.float32)
labels = np.arange(80) % 3
loss_cpu, slopes_cpu = loss_and_slopes(model, data, labels)
print(f"loss on the CPU: {loss_cpu:.6f}")

if cuda.gpu_enable:
    model.to_gpu()
    places = {cuda.get_array_module(p).__name__ for p in model.params()}
    loss_there, slopes_there = loss_and_slopes(
        model, cuda.as_cupy(data), cuda.as_cupy(labels)
    )
    model.to_cpu()
    second = "on the GPU"
    print(f"a GPU answers; parameters as arrays of {places}")
    assert places == {"cupy"}
else:
    try:
        cuda.as_cupy(data)
    except RuntimeError as error:
        print("no device answered, so the rest stays on the CPU:\n  ", error)
    loss_there, slopes_there = loss_and_slopes(model, data[::-1], labels[::-1])
    second = "in the reverse order"
print(f"loss {second}: {loss_there:.6f}")

# %%
# The same numbers
# ----------------
# On another device sums run in another order, as they do here when the examples are
# reversed, so the last digits may differ. Beyond that nothing may. Afterwards the model
# is on the CPU again.

difference = max(
    float(abs(there - here).max())
    for there, here in zip(slopes_there, slopes_cpu, strict=True)
)
print(f"largest difference between the slopes of both runs: {difference:.1e}")

for example in examples.values():
    assert library_of(example) is cuda.get_array_module(example) is np
assert np.array_equal(as_numpy(dz.Variable(data)), cuda.as_numpy(data))
assert np.allclose(y.data, F.softplus(x).data)
assert np.allclose(x.grad.data, F.sigmoid(x).data)
assert abs(loss_there - loss_cpu) < 1e-4 and difference < 1e-4
assert all(cuda.get_array_module(p) is np for p in model.params())

# %%
# Exercises
# ---------
# 1. Write a Function ``Cosh`` for :math:`(e^x + e^{-x}) / 2` that would run on both
#    devices, with a backward made of dezero functions only. Check its slope at 0, 1
#    and -2 against ``np.sinh``.
# 2. Somebody writes ``np.exp(x)`` instead of ``xp.exp(x)`` in a forward. On the CPU
#    every test passes. Write a check that finds it without a GPU: for a while, let
#    ``cuda.get_array_module`` return an object that notes which functions it is asked
#    for and gets them from NumPy. (Python calls ``__getattr__(self, name)`` of an
#    object for an attribute that it does not have.)
# 3. A copy to the GPU takes 10 microseconds for the call, and then a second for each 10
#    gigabytes. How long do 1,000 copies of 4,000 bytes take, and how long one copy of
#    all the bytes at once?
