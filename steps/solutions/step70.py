"""
Solutions to step 70: your own operator, proved
===============================================
"""

# %%
# 1. Leave the factor 2 out of exp(-2 a): what does ``check_gradients`` say?
#
# Order 1 is wrong: differences are taken of ``forward``, so they see a fault there,
# too. Order 2 is right: it compares ``backward`` with itself, differentiated.

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero.testing import check_gradients

x = np.linspace(-5, 5, 11)


class LogCosh(dz.Function):
    reads_outputs = False

    def forward(self, x):
        a = np.abs(x)
        return a + np.log1p(np.exp(-a)) - x.dtype.type(np.log(2))

    def backward(self, gy):
        (x,) = self.inputs
        return gy * F.tanh(x)


report = check_gradients(lambda x: LogCosh()(x), x)
print(report)
assert [row.verdict for row in report.checks] == ["wrong", "right", "right"]

# %%
# 2. A Function for y = x^2 / (1 + x^2), proved to order 3.
#
# By the quotient rule: (2 x (1 + x^2) - x^2 2 x) / (1 + x^2)^2 = 2 x / (1 + x^2)^2.


class Softsquare(dz.Function):
    reads_outputs = False

    def forward(self, x):
        return x * x / (1 + x * x)

    def backward(self, gy):
        (x,) = self.inputs
        return gy * 2 * x / (1 + x * x) ** 2


report = check_gradients(lambda x: Softsquare()(x), x, order=3)
print(report)
assert report.verdict == "right" and len(report.checks) == 6

# %%
# 3. Arrays from backward: do ``backward()`` and ``backward(create_graph=True)`` work?
#
# The first does. The second says that the array has left the graph.


class Arrays(LogCosh):
    def backward(self, gy):
        (x,) = self.inputs
        return gy.data * np.tanh(x.data)


v = dz.Variable(x)
y = F.sum(Arrays()(v))
y.backward()
print("gradients:", v.grad.data.round(3))
assert np.allclose(v.grad.data, np.tanh(x))
message = ""
try:
    y.backward(create_graph=True)
except TypeError as error:
    message = str(error)
print("create_graph=True:", message)
assert "an array has left the graph" in message
