"""
Solutions to step 50: mini-batches and accuracy
===============================================
"""

# %%
# Exercise 1
# ----------
# 1437 examples in batches of 32: 44 full batches have 1408, and 29 are left. So an
# epoch takes 45 steps, and the last batch has 29.
import numpy as np

import dezero as dz
import dezero.functions as F

steps, last = -(-1437 // 32), 1437 % 32
print("steps:", steps, " last batch:", last)
assert (steps, last) == (45, 29)
assert len(dz.DataLoader(dz.datasets.Digits(), 32)) == 45

# %%
# Exercise 2
# ----------
# The spiral sorted by class, one epoch without shuffling. The last batches have class 2
# alone. The model answers 2 nearly everywhere: what it saw of the others is forgotten.
x, t = dz.datasets.get_spiral(train=True)
test_x, _ = dz.datasets.get_spiral(train=False)
order = np.argsort(t)
np.random.seed(0)
model = dz.models.MLP((32, 3), activation=F.relu)
optimizer = dz.optimizers.SGD(lr=0.5).setup(model)
for start in range(0, 300, 32):
    picks = order[start : start + 32]
    loss = F.softmax_cross_entropy(model(x[picks]), t[picks])
    model.cleargrads()
    loss.backward()
    optimizer.update()
answers = np.bincount(model(test_x).data.argmax(axis=1), minlength=3)
print("answers for classes 0, 1, 2:", answers)
assert answers[2] > 240

# %%
# Exercise 3
# ----------
# The test that always says "healthy" has an accuracy of 99 %, and is useless. Two other
# numbers tell: the share of the ill that it finds (here 0), and the share of its alarms
# that are right (here there is no alarm).
ill = np.zeros(1000, dtype=bool)
ill[:10] = True
says_ill = np.zeros(1000, dtype=bool)
accuracy = (says_ill == ill).mean()
found = says_ill[ill].mean()
print(f"accuracy {accuracy:.2f}, share of the ill that are found {found:.2f}")
assert accuracy == 0.99 and found == 0
