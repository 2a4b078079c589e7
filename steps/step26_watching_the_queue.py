r"""
Step 26: watching the queue
===========================

The loop of ``backward`` takes Functions out of a priority queue: of all that are
waiting, the one with the highest generation runs first. When it runs, every gradient
that reaches its output has arrived. Step 16 noted the order of the names, in a loop of
our own. Here we look into the loop of the package, and at the numbers, in two ways:
with a Function that takes notes, and with the backward player, a page on which a pass
can be stepped through forwards and backwards.

New since the step before: ``backward_player``.
"""

# %%
# A Function that takes notes
# ---------------------------
# ``Note`` passes its input on, and passes the gradient back. On the way back it writes
# down its label, its generation and the gradient that reached it. Put between two
# operations, it shows when the loop comes past. It is a Function as in the steps
# before, with ``forward`` on arrays and ``backward`` on Variables. (``forward`` returns
# a copy, so that no two Variables share an array.)

import os

import numpy as np

import dezero as dz

notes = []


# New in this step
class Note(dz.Function):
    def __init__(self, label):
        self.label = label

    def forward(self, x):
        return x.copy()

    def backward(self, gy):
        notes.append((self.label, self.generation, float(gy)))
        return gy


x = dz.Variable(np.array(2.0), name="x")
a = Note("a")(x**2)
b = Note("b")(a**3)
c = Note("c")(b * 0.5)
y = Note("y")(c + a)
y.backward()

# %%
# ``a`` is used twice, by a short path (straight into the sum) and by a long one (over
# ``b`` and ``c``):
#
# .. math:: y = \tfrac12 a^3 + a, \qquad \frac{dy}{da} = \tfrac32 a^2 + 1 = 25
#    \quad\text{at}\quad a = 4
#
# The short path brings its 1 to ``a`` first. A careless loop would go on from there.
# The queue makes ``a`` wait: it has the lowest generation of all that are waiting.

for label, generation, gradient in notes:
    print(f"{label}  generation {generation}  gradient {gradient:5.1f}")
print("x.grad:", x.grad)

# %%
# Each Function ran once, the generations fell from note to note, and the gradient that
# passed ``a`` was the whole sum, 25. Multiplied by :math:`da/dx = 2x = 4` that
# makes 100.
#
# The player
# ----------
# ``backward_player`` writes one HTML file into the current directory, which any browser
# opens and which needs no network. It records the engine at work, and shows for each
# Function that is taken out: the queue with its generations, the rule that runs, the
# numbers that go in and out, the sums that they end in. It needs no notes in the graph,
# so here is the same function without them.

u = dz.Variable(np.array(2.0), name="u")
v = u**2
w = v**3 * 0.5
z = w + v
page = dz.visualize.backward_player(
    z, "step26.html", names={"v": v, "w": w, "z": z}, title="Two paths to v"
)
print("\nopen", page.path, "in a browser:", os.path.getsize(page) // 1000, "kB")

# %%
# Two things to try on the page:
#
# * Step to the moment when the first contribution has reached ``v``, and read in the
#   queue why ``Pow`` of generation 0 does not run yet.
# * Switch from the priority queue to the plain stack, where the Function that was put
#   in last runs first. ``Pow`` of generation 0 then runs at once, with 1, and later
#   once more, with 25. What ``u`` gets is :math:`1 \cdot 4 + 25 \cdot 4 = 104`.
#
# The pass on the page runs over a copy of the graph. Nothing in our graph has changed:
# ``u`` has no gradient yet, and ``backward`` gives it the same number as above.

print("after the player:  ", u.grad)
z.backward()
print("after the backward:", u.grad)

generations = [generation for _, generation, _ in notes]
assert [label for label, _, _ in notes] == ["y", "c", "b", "a"]
assert generations == sorted(generations, reverse=True)
assert notes[-1] == ("a", 1, 25.0)
assert x.grad.data == u.grad.data == 100.0
assert "<h1>Two paths to v</h1>" in page.html and os.path.exists("step26.html")
assert "4 + 100 = 104" in page.html and "right is 100" in page.html

# %%
# Exercises
# ---------
# 1. Predict the order of the notes, with generations and gradients, for
#    ``a = Note("a")(x**2)``, ``b = Note("b")(a * a)``, ``y = Note("y")(b * a)`` at
#    ``x = 2``. Check.
# 2. Write a Function ``Turn`` that passes its input on and gives the gradient back with
#    its sign turned. What does x get if ``Turn()`` stands in the place of ``Note("a")``
#    above? And in that of ``Note("c")``? Work it out first.
# 3. Write a player page for the function of exercise 1 without notes. Switch to the
#    plain stack: how often does ``Pow`` run, and what does ``x`` get?
