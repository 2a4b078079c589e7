"""
Step 40: broadcasting and the silent error
==========================================

NumPy adds arrays of different shapes: it repeats the smaller one until the shapes fit.
A number that was repeated takes part many times, so its gradients must be added up. Our
framework of step 22 could not do that; this is what it lacked.

::

    y = broadcast_to(x, shape)        gx = sum_to(gy, shape of x)
    y = sum_to(x, shape)              gx = broadcast_to(gy, shape of x)

This comfort has a price. Two shapes that were never meant to meet may broadcast as
well. The program runs, the loss falls, and the result is wrong.

New since the step before: ``SumTo``, ``BroadcastTo``, and a training that goes wrong
without a message.
"""

import numpy as np

import dezero as dz
import dezero.functions as F

# %%
# The rule of broadcasting: write one shape below the other so that they end in the same
# column. Missing axes in front count as size 1. Two sizes fit if they are equal or if
# one of them is 1, and an axis of size 1 is repeated. ``SumTo`` undoes it: it adds up
# over the axes that were repeated, and drops those that were missing.

# New in this step


class BroadcastTo(dz.Function):
    def __init__(self, shape):
        self.shape = shape

    def forward(self, x):
        self.old_shape = x.shape
        return np.broadcast_to(x, self.shape)

    def backward(self, gy):
        return SumTo(self.old_shape)(gy)


class SumTo(dz.Function):
    def __init__(self, shape):
        self.shape = shape

    def forward(self, x):
        self.old_shape = x.shape
        front = x.ndim - len(self.shape)
        padded = (1,) * front + self.shape
        axes = [i for i in range(x.ndim) if padded[i] == 1]
        return x.sum(axis=tuple(axes), keepdims=True).reshape(self.shape)

    def backward(self, gy):
        return BroadcastTo(self.old_shape)(gy)


# %%
# One number per column is added to each of four rows, so each gets four gradients. The
# operators of the package broadcast and sum by themselves. ``F.broadcast_to`` and
# ``F.sum_to`` are there as functions.

b = dz.Variable(np.array([10.0, 20.0, 30.0]))
(np.zeros((4, 3)) + BroadcastTo((4, 3))(b)).backward()
own = b.grad.data
b.cleargrad()
(np.zeros((4, 3)) + b).backward()
print("gradient of b, ours:   ", own)
print("gradient of b, package:", b.grad.data)
block = np.arange(24.0).reshape(4, 2, 3)
print("sum_to (4, 2, 3) -> (2, 1):", SumTo((2, 1))(block).data.ravel())

# %%
# Now the silent error. We look for a line ``w x + b`` through 100 points. The points
# follow ``t = 2 x + 1`` with a little noise; ``t`` are the *targets*, and what the line
# gives instead are its *predictions*. Descent changes ``w`` and ``b`` so that the mean
# of the squared errors falls. To adjust numbers by descent is called *training*.
#
# The inputs are a column (N, 1), and so are the predictions. The targets are a vector
# (N,). By the rule above, (N, 1) against (N,) gives (N, N): every prediction is
# compared with all targets, not with its own alone. (``item()`` makes a Python number
# of an array or a variable with one element.)

N = 100
rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, (N, 1))
t = 2 * x[:, 0] + 1 + 0.1 * rng.normal(size=N)  # (N,)
t_column = t.reshape(N, 1)


def train(x, t):
    w, b = dz.Variable(np.array(0.0)), dz.Variable(np.array(0.0))
    for _ in range(300):
        error = (w * x + b) - t
        loss = F.sum(error * error) / error.size
        w.cleargrad()
        b.cleargrad()
        loss.backward()
        w.data = w.data - 0.2 * w.grad.data
        b.data = b.data - 0.2 * b.grad.data
    return w.item(), b.item(), loss.item(), error.shape


print("targets   errors      w       b     loss")
right = train(x, t_column)
wrong = train(x, t)
for name, (w, bias, loss, shape) in [("(N, 1)", right), ("(N,)", wrong)]:
    print(f"{name:8}  {shape!s:10} {w:6.3f} {bias:7.3f} {loss:8.4f}")

# %%
# The second training ends with a slope of 0 and the mean of the targets: the best
# single answer to all targets at once. Its loss did fall, from the mean square of the
# targets, where it starts with ``w = b = 0``, to their variance. There it stays. More
# steps or another learning rate change nothing.

print("mean square of t:", (t**2).mean().round(4))
print("mean of t:", t.mean().round(3), " variance of t:", t.var().round(4))

# %%
# What finds it? Three checks, from cheap to thorough:
#
# 1. Assert before the loss that prediction and target have one shape.
# 2. Use a loss that refuses different shapes. ``F.mean_squared_error`` does.
# 3. Train on two points only. A straight line can pass through both, so the loss has to
#    come down to zero. With the wrong shape it cannot. This check works for other
#    formulas too; step 52 comes back to it.

message = ""
try:
    F.mean_squared_error(dz.Variable(x), t)
except ValueError as error:
    message = str(error)
print(message)

two_right = train(x[:2], t_column[:2])
two_wrong = train(x[:2], t[:2])
print(f"loss on two points: {two_right[2]:.1e} (right), {two_wrong[2]:.4f} (wrong)")

assert np.array_equal(own, [4, 4, 4]) and np.array_equal(b.grad.data, own)
assert np.array_equal(SumTo((2, 1))(block).data, F.sum_to(block, (2, 1)).data)
assert np.array_equal(BroadcastTo((4, 3))(b).data, F.broadcast_to(b, (4, 3)).data)
assert abs(right[0] - 2) < 0.1 and abs(right[1] - 1) < 0.1 and right[2] < 0.02
assert abs(wrong[0]) < 1e-6 and wrong[3] == (100, 100)
assert abs(wrong[1] - t.mean()) < 1e-6 and abs(wrong[2] - t.var()) < 1e-6
assert (t**2).mean() > wrong[2] > 50 * right[2]
assert "(100, 1) and (100,)" in message
assert two_right[2] < 1e-6 < 1e-2 < two_wrong[2]

# %%
# Exercises
# ---------
#
# 1. Which of these pairs of shapes broadcast, and to what: (3, 1) and (4,); (3,) and
#    (4,); (2, 3, 4) and (3, 1); (5, 1, 3) and (2, 3)?
# 2. The wrong training ended at the variance of the targets. Show with a few numbers
#    that the mean of ``(p - t_j)**2`` over all ``j`` is smallest at ``p = mean(t)``,
#    and that the smallest value is the variance.
# 3. ``b`` has the shape (1, 3) and is added to an array of shape (5, 2, 3). What shape
#    has its gradient, and which number is in it for a seed of ones?
