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
# A warm-up in a straight line, then half a cosine from the base down to 0; and stairs,
# for comparison. A schedule of the package sets ``optimizer.lr`` when it is made and at
# every ``step()``.

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
    rates = [optimizer.lr]
    for _ in range(PERIOD + WARMUP):
        rates.append(schedule.step())
    return rates


steps = range(PERIOD + WARMUP + 1)
cosine = [warmup_and_cosine(t) for t in steps]
halved = [BASE * 0.5 ** (t // 40) for t in steps]
theirs = rates_of_package(lambda o: dz.optimizers.CosineLR(o, PERIOD, warmup=WARMUP))
theirs_stairs = rates_of_package(lambda o: dz.optimizers.StepLR(o, 40, gamma=0.5))
print("t       0     6    12    40    66   120")
for name, rates in [("cosine", cosine), ("stairs", halved)]:
    print(name, " ".join(f"{rates[t]:.3f}" for t in (0, 6, 12, 40, 66, 120)))
print("the package's rates are the same:", np.allclose(cosine, theirs))

# %%

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
    print("the rates are drawn in step64.png")

# %%
# One training, many settings
# ---------------------------
# ``train`` fits a small network to the first ``n`` digits. Hooks are functions that the
# optimizer calls before each update; they may change the gradients. ``spoil`` stands
# for a broken sensor: once in 50 updates a batch comes in 100 times as bright. Each
# number printed is the mean of three seeds.

digits, test = dz.datasets.Digits(), dz.datasets.Digits(train=False)
images, labels = digits.data.reshape(-1, 64), digits.label
test_images = test.data.reshape(-1, 64)


def train(
    seed, n, lr, epochs, rule=dz.optimizers.SGD, schedule=None, hooks=(), spoil=0
):
    dz.seed(seed)
    model = dz.models.MLP((100, 10), activation=F.relu)
    optimizer = rule(lr).setup(model)
    for hook in hooks:
        optimizer.add_hook(hook)
    rates = schedule(optimizer) if schedule else None
    update = 0
    for _ in range(epochs):
        order = np.random.permutation(n)
        for chosen in np.split(order, range(32, n, 32)):
            update += 1
            x = images[chosen] * (100 if spoil and update % spoil == 25 else 1)
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
            "loss": float(F.softmax_cross_entropy(y, labels[:n])),
            "test loss": float(F.softmax_cross_entropy(y_test, test.label)),
            "accuracy": float(F.accuracy(y_test, test.label)),
            "size": float(np.sqrt(sum((p.data**2).sum() for p in model.params()))),
        }


def compare(title, **settings):
    runs = [train(seed, **settings) for seed in range(3)]
    result = {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}
    print(f"{title:19}" + ", ".join(f"{k} {v:.3f}" for k, v in result.items()))
    return result


# %%
# The effect of a schedule
# ------------------------
# Six epochs on all digits. Long steps at the end leave the weights wherever the last
# batches threw them; short ones let them settle.

settings = dict(
    n=1437, lr=BASE, epochs=6, rule=lambda lr: dz.optimizers.MomentumSGD(lr, 0.9)
)
constant = compare("constant rate", **settings)
falling = compare(
    "warm-up and cosine",
    **settings,
    schedule=lambda o: dz.optimizers.CosineLR(o, 258, warmup=12),
)

# %%
# The effect of clipping
# ----------------------
# First ``ClipGrad`` against our own function, then a training with spoiled batches.

p, q = dz.Parameter(np.zeros(3)), dz.Parameter(np.zeros(2))
p.grad, q.grad = np.array([3.0, 0.0, 4.0]), np.array([0.0, 12.0])
clipped, norm = clip([p.grad.data, q.grad.data], 1.0)
dz.optimizers.ClipGrad(1.0)([p, q])
print(f"length {norm:.0f} becomes 1:", p.grad.data.round(3), q.grad.data.round(3))
settings = dict(n=300, lr=0.5, epochs=10)
clipping = [dz.optimizers.ClipGrad(1.0)]
spoiled = compare("spoiled batches", **settings, spoil=50)
bounded = compare("... and clipping", **settings, spoil=50, hooks=clipping)

# %%
# The effect of weight decay
# --------------------------
# ``WeightDecay(rate)`` adds ``rate * p`` to each gradient: the gradient of
# ``rate / 2 * sum(p ** 2)``, as if that had been added to the loss. The weights stay
# smaller and fit the training digits less well. Whether new digits gain depends on the
# rate: too much of it costs more than it brings.

decays = {}
for rate in (0.0, 0.001, 0.003, 0.01):
    decay = [dz.optimizers.WeightDecay(rate)]
    decays[rate] = compare(f"decay {rate}", n=300, lr=0.5, epochs=40, hooks=decay)

w = dz.Parameter(np.array([1.0, -2.0]))
F.sum(w**3 + 0.1 / 2 * w**2).backward()
penalised = w.grad.data
w.cleargrad()
F.sum(w**3).backward()
dz.optimizers.WeightDecay(0.1)([w])

assert np.allclose(cosine, theirs) and np.allclose(halved, theirs_stairs)
assert falling["loss"] < constant["loss"]
assert falling["accuracy"] > constant["accuracy"]
assert norm == 13 and np.allclose(clipped[0], p.grad.data)
assert np.allclose(clipped[1], q.grad.data)
assert bounded["accuracy"] > spoiled["accuracy"] + 0.05
assert np.allclose(w.grad.data, penalised)
results = [decays[rate] for rate in sorted(decays)]
for less, more in zip(results, results[1:], strict=False):
    assert more["size"] < less["size"] and more["loss"] > less["loss"]

# %%
# Exercises
# ---------
# 1. Write ``one_cycle(t)``: from 0.01 up to 0.2 in 30 updates and down to 0 in 90, all
#    in straight lines. Which area lies under the curve, compared with a constant 0.2?
# 2. ``ClipGradValue(1.0)`` bounds each element instead of the length. Which angle lies
#    between the gradient (3, 0, 4, 0, 12) and what becomes of it?
# 3. With plain ``SGD`` and a gradient of 0, weight decay alone moves the weights. By
#    which factor does a weight shrink in 100 updates with lr = 0.5 and rate = 0.01?
#    Work it out, then run it.
