r"""
Step 47: softmax and cross-entropy without overflow
===================================================

So far networks answered with a number. A network can also choose: which of C kinds,
called *classes*, is this? Then it gives C scores. Softmax turns them into
probabilities, and the loss (the *cross-entropy*) is the surprise at the right class t:
0 if the network was sure of it, large if it gave it little probability.

.. math:: p_i = \frac{e^{x_i}}{\sum_j e^{x_j}}, \qquad L = -\log p_t

The formulas are short and, typed as they stand, they fail: ``exp`` leaves the range of
float32 at a score of 89. The same values can be computed from differences of scores,
and then nothing leaves the range.

New since the step before: ``SoftmaxCrossEntropy``, a Function that is safe for all
scores, and its short gradient.
"""

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero.testing import numerical_gradient

# %%
# The largest number of float32 is about 3.4e38, and ``exp(88.7)`` is just below it. A
# little more, and the result is infinity. Infinity divided by infinity is no number
# (``nan``). At the other end, ``exp(-104)`` is smaller than the smallest number and
# becomes 0. NumPy would warn here; ``np.errstate`` keeps it quiet, since we look at the
# numbers. (Each row of scores is one example, so sums run along axis 1.)

for score in (10, 88, 89, -100, -104):
    with np.errstate(over="ignore"):
        print(f"exp({score:4}) = {np.exp(np.float32(score)):.4g}")


def softmax_as_written(x):
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(x)
        return e / e.sum(axis=1, keepdims=True)


small = np.array([[1.0, 2.0, 3.0]], dtype=np.float32)
large = small + 100
print("\nscores 1, 2, 3:      ", softmax_as_written(small))
print("scores 101, 102, 103:", softmax_as_written(large))

# %%
# A number added to all scores of a row cancels in the fraction: it multiplies above and
# below by the same power. So we may subtract the largest score first. The exponents are
# then 0 or below, and one of them is 0: the sum is at least 1 and at most C.


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


print("shifted first:       ", softmax(large))

# %%
# The logarithm has a trap of its own. If the network is sure and wrong, the probability
# of the right class is rounded to 0, and ``log(0)`` is minus infinity, although the
# true loss is an ordinary number. The remedy is to take the logarithm on paper:
#
# .. math:: -\log p_t = \log \sum_j e^{x_j - M} - (x_t - M), \qquad M = \max_j x_j

sure = np.array([[0.0, 200.0]], dtype=np.float32)  # and class 0 would be right
with np.errstate(divide="ignore"):
    p = softmax(sure)[0, 0]
    print("probability of class 0:", p, "  its loss:", -np.log(p))
shifted = sure[0] - sure[0].max()
loss_of_sure = np.log(np.exp(shifted).sum()) - shifted[0]
print("by the formula above:", loss_of_sure)

# %%
# The last formula is easy to differentiate by a score: the first term gives
# :math:`p_i`, and the second gives −1 for the right class. So the gradient is the
# probabilities minus 1 at the right class: nothing to overflow. Its sum is 0, for only
# differences of scores matter.
#
# The Function takes a batch and returns the mean. The targets ``t`` are class numbers;
# they have no gradient, hence ``None``. In ``backward`` the largest score is taken from
# ``x.data``: it cancels, so it may be a constant.

# New in this step


class SoftmaxCrossEntropy(dz.Function):
    def forward(self, x, t):
        z = x - x.max(axis=1, keepdims=True)
        losses = np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(t)), t]
        return np.asarray(losses.mean())

    def backward(self, gy):
        x, t = self.inputs
        e = F.exp(x - x.data.max(axis=1, keepdims=True))
        p = e / F.sum(e, axis=1, keepdims=True)
        right = np.zeros(x.shape, dtype=x.dtype)
        right[np.arange(len(x)), t.data] = 1
        return (p - right) * (gy / len(x)), None


def softmax_cross_entropy(x, t):
    return SoftmaxCrossEntropy()(x, t)


rng = np.random.default_rng(0)
t = np.array([0, 2, 1, 2])
x = dz.Variable(rng.normal(size=(4, 3)))
loss = softmax_cross_entropy(x, t)
loss.backward()
print("gradient\n", x.grad.data.round(3))
rows_cancel = np.allclose(x.grad.data.sum(axis=1), 0)
print("each row sums to 0:", rows_cancel)
differences = numerical_gradient(lambda x: softmax_cross_entropy(x, t), x)
print("agrees with differences:", np.allclose(x.grad.data, differences))

# %%
# A number worth knowing: a network that knows nothing gives all classes the same
# probability, 1 / C, and its loss is ``log(C)``. A training should start near that.

C = 10
blank = softmax_cross_entropy(np.zeros((5, C)), np.arange(5))
print(f"loss without knowledge: {blank.item():.4f}, log(10) = {np.log(10):.4f}")

# %%
# The package has ``F.softmax_cross_entropy``, which takes the scores and the class
# numbers, and ``F.softmax`` for the probabilities. Give the loss the scores, never the
# probabilities. Here are ours and the package's for scores of 10,000.

extreme = np.array([[1e4, -1e4, 0.0], [0.0, 0.0, 1e4]], dtype=np.float32)
results = []
for f in softmax_cross_entropy, F.softmax_cross_entropy:
    s = dz.Variable(extreme)
    y = f(s, np.array([1, 2]))
    y.backward()
    results.append((y.item(), s.grad.data, y.dtype))
    print(f"loss {y.item()}, gradient of the first row {s.grad.data[0]}")

assert np.isnan(softmax_as_written(large)).all()
assert np.allclose(softmax(large), softmax_as_written(small))
assert p == 0 and loss_of_sure == 200 and rows_cancel
assert np.allclose(x.grad.data, differences)
assert abs(blank.item() - np.log(C)) < 1e-12
assert results[0][0] == results[1][0] == 10000
assert np.array_equal(results[0][1], results[1][1])
assert results[0][2] == results[1][2] == np.float32
assert np.isclose(loss.item(), F.softmax_cross_entropy(x, t).item())

# %%
# Exercises
# ---------
#
# 1. What are the probabilities for the scores (0, 0), (1, 1) and (1000, 1000)? And for
#    (0, log 3)?
# 2. With two classes and scores (0, a), the probability of the second class is a
#    function you know. Which?
# 3. Somebody gives the loss the probabilities in place of the scores. What is the
#    smallest loss that is then possible for 10 classes? Why does the training look
#    stuck?
