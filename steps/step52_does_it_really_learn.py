r"""
Step 52: does it really learn?
==============================

A training that is broken seldom says so. Layers that are cut off, a loss that is given
the wrong thing, labels that belong to other images: nothing raises an error, the loss
falls a little, and the result is merely poor. Three questions find most such faults in
seconds:

::

    question                                      if not
    1  Can it learn one batch by heart?           model and loss do not fit
    2  Did every parameter move?                  the graph is cut somewhere
    3  Is the loss on new data well below         the data say nothing
       log(C), the loss of guessing (step 47)?

New since the step before: the three checks, tried on a sound model and on three with a
planted fault; and how the curve of a loss looks for several learning rates.
"""

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L

flatten = dz.transforms.Flatten()
train = dz.datasets.Digits(train=True, transform=flatten)
test = dz.datasets.Digits(train=False, transform=flatten)
x, t = train.read_batch(np.arange(500))
test_x, test_t = test.read_batch(np.arange(len(test)))

# %%
# The checks. A batch of ten digits is so small that a network with 50 units has to be
# able to learn it by heart: the loss must come close to 0. If it does not, more data
# and more time cannot help.
#
# To see which parameters do not move, compare them before and after one step. The third
# check is a short training on 500 digits, measured on others.

# New in this step


def step(model, optimizer, x, t):
    loss = F.softmax_cross_entropy(model(x), t)
    model.cleargrads()
    loss.backward()
    optimizer.update()
    return loss.item()


def loss_by_heart(model, t):
    optimizer = dz.optimizers.Adam(lr=0.01).setup(model)
    return [step(model, optimizer, x[:10], t[:10]) for _ in range(400)][-1]


def without_move(model, t):
    model(x[:10])  # makes the weights (step 44)
    optimizer = dz.optimizers.Adam(lr=0.001).setup(model)
    before = {name: p.data.copy() for name, p in model.named_params()}
    step(model, optimizer, x, t)
    after = {name: p.data for name, p in model.named_params()}
    return [name for name in after if np.array_equal(after[name], before[name])]


def loss_on_new_data(model, t):
    optimizer = dz.optimizers.Adam(lr=0.01).setup(model)
    for _ in range(30):
        step(model, optimizer, x, t)
    with dz.no_grad():
        return F.softmax_cross_entropy(model(test_x), test_t).item()


# %%
# The patients. ``Cut`` takes ``.data`` in the middle: what follows has no past, so no
# gradient reaches the first layer. ``Twice`` is a model that ends with softmax, while
# the loss applies softmax itself (exercise 3 of step 47). The third fault is in the
# data: the labels were shuffled and the images were not.


class Sound(dz.Model):
    def __init__(self):
        self.l0 = L.Linear(50)
        self.l1 = L.Linear(10)

    def forward(self, x):
        return self.l1(F.relu(self.l0(x)))


class Cut(Sound):
    def forward(self, x):
        hidden = F.relu(self.l0(x)).data
        return self.l1(hidden)


class Twice(Sound):
    def forward(self, x):
        return F.softmax(super().forward(x))


shuffled = np.random.default_rng(0).permutation(t)
cases = {
    "sound": (Sound, t),
    "cut off": (Cut, t),
    "softmax twice": (Twice, t),
    "labels mixed up": (Sound, shuffled),
}
found = {}
print("                 1 loss      2 parameters    3 loss on")
print("case             by heart    without move    new data")
for name, (kind, labels) in cases.items():
    dz.seed(0)
    first = loss_by_heart(kind(), labels)
    still = without_move(kind(), labels)
    third = loss_on_new_data(kind(), labels)
    found[name] = first > 0.1, len(still) > 0, third > 0.9 * np.log(10)
    marks = ["FOUND" if fault else "     " for fault in found[name]]
    print(f"{name:15} {first:5.2f} {marks[0]}  {len(still):5} {marks[1]}", end="")
    print(f"     {third:5.2f} {marks[2]}")

# %%
# Each fault is found by one check and passes the two others. The model that was cut off
# learns a batch by heart with its last layer alone. The mixed labels can be learned by
# heart as well, but they say nothing about new images. No single check is enough.
#
# The package has such checks in ``dz.diagnostics``. ``check_updates`` runs one step and
# measures how far each parameter moved. A healthy step changes a matrix by about a
# thousandth to a hundredth of it, which is the column ``ratio``. Here is the model that
# was cut off.

cut = Cut()
cut(x[:10])
optimizer = dz.optimizers.Adam(lr=0.001).setup(cut)
updates = dz.diagnostics.check_updates(cut, lambda: step(cut, optimizer, x, t))
print("\n" + str(updates))

# %%
# ``overfit_one_batch`` asks ten questions, from the shapes to the batch by heart, which
# comes last. Here it finds the model that applies softmax twice.

dz.seed(0)
batch = x[:10], t[:10]
report = dz.diagnostics.overfit_one_batch(Twice(), F.softmax_cross_entropy, batch)
print("\n" + str(report))

# %%
# The fourth instrument is the curve of the loss. The same model is trained with three
# learning rates. Too small: the curve has hardly left its start. Too large: it jumps
# up, and here it ends at ``log(10)``, where guessing stands, for the network has been
# destroyed. Right: it falls fast at first, then levels out.

curves = {}
print("\nrate   loss at steps 0, 1, 3, 10, 30 and 99")
for rate in (0.02, 0.3, 10.0):
    dz.seed(0)
    model = Sound()
    optimizer = dz.optimizers.SGD(lr=rate).setup(model)
    curves[rate] = [step(model, optimizer, x, t) for _ in range(100)]
    some = [f"{curves[rate][i]:7.2f}" for i in (0, 1, 3, 10, 30, 99)]
    print(f"{rate:4}", *some)

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

if plt is not None:
    fig, ax = plt.subplots(figsize=(7, 4))
    for (rate, losses), style in zip(curves.items(), ["--", "-", ":"], strict=True):
        ax.plot(losses, style, label=f"rate {rate}")
    ax.axhline(np.log(10), color="0.7", lw=1)
    ax.text(99, np.log(10) + 0.1, "guessing", ha="right", color="0.5")
    ax.set(xlabel="step", ylabel="loss", ylim=(0, 5))
    ax.legend(frameon=False)
    fig.tight_layout()
    plt.savefig("step52.png", dpi=120)
    print("The curves are in step52.png.")

# %%
# ``diagnose_loss`` reads such a curve, and names what is found and what is likely.

verdict = dz.diagnostics.diagnose_loss(curves[10.0])
print("\n" + str(verdict))

assert found["sound"] == (False, False, False)
assert found["cut off"] == (False, True, False)
assert found["softmax twice"] == (True, False, False)
assert found["labels mixed up"] == (False, False, True)
assert not report.ok
assert [row.name for row in updates.flagged] == ["l0/W", "l0/b"]
assert curves[0.3][-1] < 0.5 < 1.5 < curves[0.02][-1] and max(curves[10.0]) > 6
assert abs(curves[10.0][-1] - np.log(10)) < 0.1
assert verdict.kinds == ["sudden rise"]

# %%
# Exercises
# ---------
#
# 1. In a fifth model both layers start from zeros, weights too. Which parameters move
#    in the first step? Think first: what is the output of the hidden layer, and what
#    the gradient that comes back through the second?
# 2. The optimizer is set up with ``[model.l1.W, model.l1.b]`` only. Which of the three
#    checks finds it?
# 3. How many steps does the model with the rate 0.02 need to reach the loss that the
#    rate 0.3 has after 20 steps? Guess first, then count.
