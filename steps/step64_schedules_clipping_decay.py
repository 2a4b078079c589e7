r"""
Step 64: schedules, clipping, weight decay
==========================================

Three small changes to the rule ``p <- p - lr * g`` that large trainings hardly do
without:

- a *schedule* changes ``lr`` while training goes on: up at first, then down;
- *clipping* bounds the length of the gradient, so that one odd batch cannot throw the
  weights far away;
- *weight decay* pulls every weight towards 0 a little at each step,
  :math:`g \leftarrow g + \lambda p`.

New since the step before: ``CosineLR``, ``StepLR``, ``ClipGrad``, ``WeightDecay`` of
``dz.optimizers``.
"""

# %%
# Rates by hand
# -------------
# ``t`` counts the updates. A warm-up in a straight line, then half a cosine from the
# base down to 0; and stairs, for comparison. A schedule of the package sets
# ``optimizer.lr`` when it is made and at every ``step()``.

import numpy as np

import dezero as dz
import dezero.functions as F

BASE, WARMUP, PERIOD = 0.2, 12, 108


# New in this step
def warmup_and_cosine(t):
    if t < WARMUP:
        return BASE * (t + 1) / (WARMUP + 1)
    u = min(t - WARMUP, PERIOD)
    return BASE * (1 + np.cos(np.pi * u / PERIOD)) / 2


def clip(grads, max_norm):
    norm = np.sqrt(sum((g**2).sum() for g in grads))
    scale = min(1.0, max_norm / norm)
    return [g * scale for g in grads], norm


def rates_of_package(make):
    optimizer = dz.optimizers.SGD(lr=BASE).setup([dz.Parameter(np.zeros(1))])
    schedule = make(optimizer)
    return [optimizer.lr] + [schedule.step() for _ in range(PERIOD + WARMUP)]


steps = range(PERIOD + WARMUP + 1)
cosine = [warmup_and_cosine(t) for t in steps]
halved = [BASE * 0.5 ** (t // 40) for t in steps]
theirs = rates_of_package(lambda o: dz.optimizers.CosineLR(o, PERIOD, warmup=WARMUP))
theirs_stairs = rates_of_package(lambda o: dz.optimizers.StepLR(o, 40, gamma=0.5))
same = np.allclose(cosine, theirs) and np.allclose(halved, theirs_stairs)
print("t       0     6    12    40    66   120")
for name, rates in [("cosine", cosine), ("stairs", halved)]:
    print(name, " ".join(f"{rates[t]:.3f}" for t in (0, 6, 12, 40, 66, 120)))
print("the package's rates are the same:", same)

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None
if plt is not None:
    figure, axes = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
    axes.axhline(BASE, color="0.5", ls=":", label="constant")
    axes.plot(steps, halved, drawstyle="steps-post", label="stairs")
    axes.plot(steps, cosine, label="warm-up and cosine")
    axes.set(xlabel="update", ylabel="learning rate", ylim=(0, 0.23))
    axes.legend(loc="upper right", bbox_to_anchor=(1, 0.84))
    plt.savefig("step64.png", dpi=110)
    print("The rates are in step64.png.")

# %%
# One training, many settings
# ---------------------------
# ``train`` fits a small network to the first ``n`` digits. *Hooks* are functions that
# the optimizer calls with its parameters before each update; they may change the
# gradients. ``spoil=50`` stands for a broken sensor: once in 50 updates a batch comes
# in 100 times as bright.
#
# Each number printed is the mean of three seeds: the loss on the ``n`` digits, loss and
# accuracy on the test part, and the length of all weights as one vector.

digits, test = dz.datasets.Digits(), dz.datasets.Digits(train=False)
images, labels = digits.data.reshape(-1, 64), digits.label
test_images = test.data.reshape(-1, 64)


def train(seed, n, optimizer, epochs, schedule=None, hook=None, spoil=0):
    dz.seed(seed)
    model = dz.models.MLP((100, 10), activation=F.relu)
    optimizer = optimizer().setup(model)
    if hook:
        optimizer.add_hook(hook)
    rates = schedule(optimizer) if schedule else None
    update = 0
    for _ in range(epochs):
        order = np.random.permutation(n)
        for chosen in np.split(order, range(32, n, 32)):
            update += 1
            broken = spoil and update % spoil == spoil // 2
            x = images[chosen] * (100 if broken else 1)
            loss = F.softmax_cross_entropy(model(x), labels[chosen])
            model.cleargrads()
            loss.backward()
            optimizer.update()
            if rates:
                rates.step()
    with dz.no_grad():
        y = model(images[:n])
        y_test = model(test_images)
        return {
            "loss": F.softmax_cross_entropy(y, labels[:n]).item(),
            "test loss": F.softmax_cross_entropy(y_test, test.label).item(),
            "accuracy": F.accuracy(y_test, test.label).item(),
            "length": np.sqrt(sum((p.data**2).sum() for p in model.params())),
        }


def compare(title, **settings):
    runs = [train(seed, **settings) for seed in range(3)]
    result = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
    print(f"{title:19}" + ", ".join(f"{k} {v:.3f}" for k, v in result.items()))
    return result


# %%
# The effect of a schedule
# ------------------------
# Six epochs on all digits, 270 updates. Long steps at the end leave the weights
# wherever the last batches threw them; short ones let them settle.

settings = dict(n=1437, optimizer=lambda: dz.optimizers.MomentumSGD(BASE), epochs=6)
constant = compare("constant rate", **settings)
settings["schedule"] = lambda o: dz.optimizers.CosineLR(o, 270 - WARMUP, warmup=WARMUP)
falling = compare("warm-up and cosine", **settings)

# %%
# The effect of clipping
# ----------------------
# First ``ClipGrad`` against our own function, then a training with spoiled batches.

p, q = dz.Parameter(np.zeros(3)), dz.Parameter(np.zeros(2))
p.grad, q.grad = np.array([3.0, 0.0, 4.0]), np.array([0.0, 12.0])
clipped, norm = clip([p.grad.data, q.grad.data], 1.0)
clipping = dz.optimizers.ClipGrad(1.0)
clipping([p, q])  # as the optimizer would call it
print(f"length {norm:.0f} becomes 1:", p.grad.data.round(3), q.grad.data.round(3))
settings = dict(n=300, optimizer=lambda: dz.optimizers.SGD(0.5), epochs=10, spoil=50)
spoiled = compare("spoiled batches", **settings)
bounded = compare("... and clipping", **settings, hook=clipping)

# %%
# The effect of weight decay
# --------------------------
# ``WeightDecay(rate)`` adds ``rate * p`` to each gradient: the gradient of
# ``rate / 2 * sum(p ** 2)``, as if that had been added to the loss. The weights stay
# smaller and fit the training digits less well. Whether new digits gain depends on the
# rate: too much of it costs more than it brings.

settings = dict(n=300, optimizer=lambda: dz.optimizers.SGD(0.5), epochs=40)
decays = []
for rate in (0.0, 0.001, 0.003, 0.01):
    decay = dz.optimizers.WeightDecay(rate)
    decays.append(compare(f"decay {rate}", **settings, hook=decay))

w = dz.Parameter(np.array([1.0, -2.0]))
w.grad = np.array([3.0, 3.0])
dz.optimizers.WeightDecay(0.1)([w])
print("gradient (3, 3) with decay 0.1 at (1, -2):", w.grad.data)

assert same
assert falling["loss"] < constant["loss"]
assert falling["accuracy"] > constant["accuracy"]
assert norm == 13 and np.allclose(clipped[0], p.grad.data)
assert np.allclose(clipped[1], q.grad.data)
assert bounded["accuracy"] > spoiled["accuracy"] + 0.05
assert np.allclose(w.grad.data, [3.1, 2.8])
for less, more in zip(decays, decays[1:], strict=False):
    assert more["length"] < less["length"] and more["loss"] > less["loss"]

# %%
# Exercises
# ---------
# 1. Write ``one_cycle(t)``: from 0.01 up to 0.2 in 30 updates and down to 0 in 90, all
#    in straight lines. How large is the area under the curve, compared with a constant
#    0.2?
# 2. ``ClipGradValue(1.0)`` bounds each element instead of the length. Which angle lies
#    between the gradient (3, 0, 4, 0, 12) and what becomes of it?
# 3. With plain ``SGD`` and a gradient of 0, weight decay alone moves the weights. By
#    which factor does a weight shrink in 100 updates with lr = 0.5 and rate = 0.01?
#    Work it out, then run it.
