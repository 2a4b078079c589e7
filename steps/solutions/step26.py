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
# 2. What does x get with ``Turn`` in the place of the note a, and in that of c? The
# queue hands the whole gradient of a, 25, to the Function in its place: it turns to
# -25, and x gets -25 * 4 = -100. In the place of c only the long path is turned: a gets
# 1 - 24 = -23, and x gets -23 * 4 = -92.


class Turn(dz.Function):
    def forward(self, x):
        return x.copy()

    def backward(self, gy):
        return -gy


x = dz.Variable(np.array(2.0))
a = Turn()(x**2)
(a**3 * 0.5 + a).backward()
at_a = float(x.grad)

x = dz.Variable(np.array(2.0))
a = x**2
(Turn()(a**3 * 0.5) + a).backward()
at_c = float(x.grad)
print("turned at a:", at_a, " turned at c:", at_c)
assert (at_a, at_c) == (-100.0, -92.0)

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
