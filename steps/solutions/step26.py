"""
Solutions to step 26: watching the queue
========================================
"""

# %%
# The Function of the step.
import re

import numpy as np

import dezero as dz

notes = []


class Note(dz.Function):
    def __init__(self, label):
        self.label = label

    def forward(self, x):
        return x.copy()

    def backward(self, gy):
        notes.append((self.label, self.generation, float(gy)))
        return gy


# %%
# 1. Predict the notes for ``a = x**2``, ``b = a * a``, ``y = b * a`` at 2. A generation
# counts the Functions before it on the longest path: the power has 0, the note a has 1,
# the product b has 2, its note 3, the product y has 4, its note 5. With a = 4 and
# b = 16: y gets 1, b gets a = 4, and a gets b = 16 from y and twice 4 * 4 from b,
# together 48. Then x gets 48 * 2x = 192.
x = dz.Variable(np.array(2.0))
a = Note("a")(x**2)
b = Note("b")(a * a)
y = Note("y")(b * a)
y.backward()
print(notes, "x.grad:", x.grad)
assert notes == [("y", 5, 1.0), ("b", 3, 4.0), ("a", 1, 48.0)]
assert x.grad.data == 192.0

# %%
# 2. Does it matter which of two Functions of the same generation runs first? No:
# neither lies on a path from the other, for then their generations would differ. Each
# has all its gradients when its turn comes. Only the order in which sums are added up
# differs. The package takes the one that was put in first.
notes.clear()
x = dz.Variable(np.array(1.0))
left, right = Note("left")(x), Note("right")(x)
(left + right).backward()
print(notes, "x.grad:", x.grad)
assert [label for label, _, _ in notes] == ["left", "right"]
assert {generation for _, generation, _ in notes} == {0}
assert x.grad.data == 2.0

# %%
# 3. How often does ``Pow`` run with the plain stack, and what does ``x`` get? Three
# times: at once, with the 16 that came first, and then twice with 48, because the
# product b put it on the stack twice. So ``x`` gets 64 + 192 + 192 = 448 and not 192.
# The page tells it, turn by turn; here the same words are read out of the file.
u = dz.Variable(np.array(2.0), name="u")
a = u**2
b = a * a
page = dz.visualize.backward_player(b * a, "step26_exercise.html", names={"a": a})
turns = re.findall(r"Turn \d of \d: (\w+)", page.html)
print(turns)
assert turns == ["Mul", "Pow", "Mul", "Pow", "Pow"]
assert "64 + 192 = 256" in page.html and "256 + 192 = 448" in page.html
