r"""
Step 42: linear regression
==========================

The time of a bicycle ride depends on its length and its climb. We do not know how, but
we have the records of 200 rides. A *model* is a formula with numbers that can be
adjusted. Ours is linear: it multiplies the inputs :math:`x` by *weights* :math:`W` and
adds a *bias* :math:`b`. The loss is the mean of the squared errors, where :math:`t_i`
is the time of ride :math:`i`:

.. math:: y = x W + b, \qquad L = \frac{1}{N} \sum_{i=1}^{N} (y_i - t_i)^2

Gradient descent, known from step 28, changes ``W`` and ``b`` so that ``L`` falls.

New since the step before: a model with a matrix of weights and a bias, a loss, and the
loop that almost all training has in common.
"""

import numpy as np

import dezero as dz
import dezero.functions as F

# %%
# The records. Lengths are in units of 10 km and climbs in units of 100 m, so that both
# columns have numbers of about the same size. The rider needs 30 minutes for 10 km and
# 8 more for each 100 m of climb, and 5 minutes to get out of town. The rest is noise.

rng = np.random.default_rng(0)
N = 200
x = rng.uniform(0, 2, (N, 2))  # (N, 2): length, climb
truth = np.array([[30.0], [8.0]])
t = x @ truth + 5 + rng.normal(size=(N, 1))  # (N, 1): minutes
print("three rides:", x[:3].round(2).tolist(), "->", t[:3, 0].round(1).tolist())

# %%
# The model is one matrix product and one sum. The bias has the shape (1,) and is
# repeated for all rows, as in step 40. The loss checks the shapes first: that is where
# a silent error would come in.

# New in this step


def linear(x, W, b):
    return x @ W + b


def mean_squared_error(y, t):
    assert y.shape == t.shape
    return F.sum((y - t) ** 2) / len(y)


W = dz.Variable(np.zeros((2, 1)))
b = dz.Variable(np.zeros(1))
rate = 0.2

# %%
# The loop: predict, measure, clear the old gradients, go back, take a step. Two things
# are easy to forget. Without clearing, each gradient would be added to all before it.
# And the step changes ``W.data``, not ``W``, so that it is no part of any graph. (It
# makes a new array. Step 28 wrote ``-=``, which changes the old one in place; whoever
# still holds that array would see it change.) ``rate`` is the learning rate.

losses = []
for step in range(1001):
    loss = mean_squared_error(linear(x, W, b), t)
    W.cleargrad()
    b.cleargrad()
    loss.backward()
    W.data = W.data - rate * W.grad.data
    b.data = b.data - rate * b.grad.data
    losses.append(loss.item())
    if step in (0, 1, 10, 100, 1000):
        print(f"step {step:4}   loss {loss.item():9.4f}")
print("weights:", W.data.ravel().round(2), " bias:", b.data.round(2))

# %%
# The noise has a variance of 1, so no weights can bring the loss far below 1. For this
# model there is also an exact answer, without any loop: ``np.linalg.lstsq`` finds the
# weights with the smallest sum of squares. It wants the bias as the weight of a column
# of ones. Gradient descent has found the same numbers.

with_ones = np.hstack([x, np.ones((N, 1))])
exact = np.linalg.lstsq(with_ones, t, rcond=None)[0].ravel()
found = np.concatenate([W.data.ravel(), b.data])
print("exact:  ", exact.round(6))
print("descent:", found.round(6))

# %%
# The exact answer needs a linear model. Gradient descent does not: it asks only for a
# gradient. That is why the next steps stay with it.
#
# The package has both functions. ``F.linear`` and ``F.mean_squared_error`` are one node
# of the graph each, so they keep fewer arrays in memory than a chain of operators, but
# the numbers are the same. Here they are at ``W = 1`` and ``b = 1``.

results = []
for model, error in [(linear, mean_squared_error), (F.linear, F.mean_squared_error)]:
    W0, b0 = dz.Variable(np.ones((2, 1))), dz.Variable(np.ones(1))
    loss = error(model(x, W0, b0), t)
    loss.backward()
    results.append([loss.item(), *W0.grad.data.ravel(), *b0.grad.data])
print("loss and gradients, ours:   ", np.round(results[0], 3))
print("loss and gradients, package:", np.round(results[1], 3))

assert np.allclose(results[0], results[1])
assert losses[0] > 1000 and 0.5 < losses[-1] < 1.5
assert (np.diff(losses[:200]) < 0).all()
assert np.allclose(found, exact, atol=1e-6)
assert np.allclose(W.data, truth, atol=0.5) and abs(b.item() - 5) < 0.5

# %%
# Exercises
# ---------
#
# 1. Take 50 steps with ``rate = 0.5``. What happens to the loss? Which of the rates
#    0.25, 0.28, 0.3 and 0.4 still work? (Step 36 said which number decides.)
# 2. Give the climb in metres, so that its column is 100 times larger. The rate 0.2
#    fails now. Find one that works. How good are the weights after 1000 steps?
# 3. Ten records are wrong: they say 500 minutes. Replace the square in the loss by
#    ``F.abs``. Which of the two losses gives weights closer to the truth?
