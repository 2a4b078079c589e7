"""
Step 70: your own operator, proved
==================================

What functions say well needs no operator of its own. One is worth writing when the
formula overflows, wastes memory, or is too slow. Here it overflows::

    log cosh x = log((exp(x) + exp(-x)) / 2)     its derivative is tanh x

As a loss it is like x^2 / 2 near zero, and like ``|x|`` - log 2 far away. At x = 1000,
cosh is infinite in floating point while log cosh x is about 999.3. For x >= 0 it equals
``x + log(1 + exp(-2 x)) - log 2``, where nothing overflows, and the function is even.

New since the step before: ``Case`` and ``check_case``, the proof of a Function outside
the package.
"""

# %%
# Composed of the package's functions
# -----------------------------------
# The short way is right for small numbers. In float32 it ends before x = 90.

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero.testing import check_gradients


def composed(x):
    return F.log(F.cosh(x))


with np.errstate(over="ignore"):
    far = composed(np.array([1.0, 88.0, 1000.0], np.float32)).data
print("composed at 1, 88, 1000:", far)

# %%
# The operator
# ------------
# ``forward`` gets arrays: ``cuda.get_array_module`` says of which library, so that it
# runs on a GPU as well. ``backward`` gets Variables and uses dezero functions only, so
# that it can be differentiated again. It does not read its output, and says so: the
# engine need not keep that array.


# New in this step
class LogCosh(dz.Function):
    reads_outputs = False

    def forward(self, x):
        xp = dz.cuda.get_array_module(x)
        a = xp.abs(x)
        return a + xp.log1p(xp.exp(-2 * a)) - x.dtype.type(np.log(2))

    def backward(self, gy):
        (x,) = self.inputs
        return gy * F.tanh(x)


def log_cosh(x):
    return LogCosh()(x)


x = np.linspace(-5, 5, 11)
error = np.abs(log_cosh(x).data - composed(x).data).max()
near = log_cosh(np.array([1.0, 88.0, 1000.0], np.float32)).data
print("operator at 1, 88, 1000:", near)
print(f"largest difference to the composed one on [-5, 5]: {error:.1e}")

# %%
# The proof at chosen points
# --------------------------
# ``check_gradients`` (step 24) compares with differences along random directions, and
# to second order: "order 2" differentiates the gradient again, by the input and by the
# gradient that comes in, which ``gy`` stands for. "analytic" is what ``backward`` says,
# "numeric" what the differences say.

report = check_gradients(log_cosh, x)
print(report)

# %%
# A wrong one that looks right
# ----------------------------
# ``forward`` could compute tanh x and keep it for ``backward``, which then has less to
# do. But an array on ``self`` is a constant: the gradient is right, and the derivative
# of the gradient is zero. A check of first order does not see it.


class Kept(LogCosh):
    reads_inputs = False

    def forward(self, x):
        self.slope = np.tanh(x)
        return super().forward(x)

    def backward(self, gy):
        return gy * self.slope


first = check_gradients(lambda x: Kept()(x), x, order=1)
both = check_gradients(lambda x: Kept()(x), x)
print("first order only:", first.verdict)
print(both)

# %%
# The proof on inputs that somebody else chooses
# ----------------------------------------------
# A ``Case`` names the operator, a NumPy reference and a kind of input. Hypothesis, a
# library that tests with examples it makes up, draws shapes, zeros, empty arrays and
# views of other arrays. ``check_case`` looks at all that a Function should keep to:
# values, derivatives, float32 staying float32, nothing changed in place. In a test file
# one line does it for a list of cases: ``test_mine = cases_test(CASES)``. The folder
# ``examples/own_operator`` is a package to copy, with more ways to be wrong.

try:
    from dezero.testing import Case, arrays, check_case
except ImportError:
    print("the last proof needs Hypothesis: pip install hypothesis")
    Case = None

found = None
if Case is not None:

    def reference(x):
        return np.logaddexp(x, -x) - np.log(2)

    check_case(Case(log_cosh, arrays(), reference=reference))
    print("log_cosh: every property holds on every input that was drawn")

    def kept(x):
        return Kept()(x)

    try:
        check_case(Case(kept, arrays(), reference=reference))
    except AssertionError as e:
        found = str(e)
        print("kept:", found.splitlines()[0])

assert np.isinf(far[2]) and np.isclose(near[2], 1000 - np.log(2)) and error < 1e-12
assert near.dtype == np.float32
assert [r.verdict for r in (report, first, both)] == ["right", "right", "wrong"]
assert Case is None or "kept" in found

# %%
# Exercises
# ---------
# 1. Leave the factor 2 out of ``exp(-2 * a)``. Does ``check_gradients`` find it,
#    although ``backward`` is as it was? What do the rows of the second order say, and
#    why?
# 2. Write a Function for y = x^2 / (1 + x^2) with a backward, and prove it to order 3.
# 3. Return ``gy.data * np.tanh(x.data)`` from backward. Does ``backward()`` work? And
#    ``backward(create_graph=True)``?
