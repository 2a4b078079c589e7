"""
Solutions to step 53: the same graph on a GPU
=============================================
"""

# %%
# 1. A Function ``Cosh`` that would run on both devices; its slope at 0, 1 and -2.
#
# Only ``forward`` asks for the library. The slope of cosh is sinh, written with
# ``F.exp``.

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero import cuda


class Cosh(dz.Function):
    def forward(self, x):
        xp = cuda.get_array_module(x)
        return (xp.exp(x) + xp.exp(-x)) / 2

    def backward(self, gy):
        (x,) = self.inputs
        return gy * (F.exp(x) - F.exp(-x)) / 2


x = dz.Variable(np.array([0.0, 1.0, -2.0]))
y = Cosh()(x)
F.sum(y).backward()
print("slopes:", x.grad.data)
assert np.allclose(y.data, np.cosh(x.data))
assert np.allclose(x.grad.data, np.sinh(x.data))

# %%
# 2. A check that finds ``np.exp`` in a forward without a GPU.
#
# ``Spy`` stands in for the library and notes each name that is asked for. A forward
# that goes past it leaves a shorter list than one that asks for everything. (Only
# the forward runs while the spy is there, and the real function comes back whatever
# happens.)


class Spy:
    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        self.asked.append(name)
        return getattr(np, name)


class Honest(dz.Function):
    def forward(self, x):
        xp = cuda.get_array_module(x)
        return xp.log1p(xp.exp(x))


class Careless(dz.Function):
    def forward(self, x):
        xp = cuda.get_array_module(x)
        return xp.log1p(np.exp(x))


def asked_by(function):
    spy, original = Spy(), cuda.get_array_module
    cuda.get_array_module = lambda x: spy
    try:
        function.forward(np.ones(3))
    finally:
        cuda.get_array_module = original
    return sorted(spy.asked)


print("honest asks for", asked_by(Honest()), "careless for", asked_by(Careless()))
assert asked_by(Honest()) == ["exp", "log1p"]
assert asked_by(Careless()) == ["log1p"]
assert cuda.get_array_module(np.ones(3)) is np

# %%
# 3. 10 microseconds per copy and 10 gigabytes per second: how long do 1,000 copies of
# 4,000 bytes take, and one copy of all the bytes?

per_call, per_byte = 10e-6, 1 / 10e9
many = 1000 * (per_call + 4000 * per_byte)
one = per_call + 1000 * 4000 * per_byte
print(f"1,000 copies: {many * 1e3:.2f} ms, one copy: {one * 1e3:.2f} ms")
assert round(many * 1e3, 2) == 10.40 and round(one * 1e3, 2) == 0.41
