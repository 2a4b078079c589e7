r"""
Step 25: drawing the graph
==========================

Running code leaves a graph behind: each result points to the Function that made it,
each Function to its inputs. So far we read that graph from the inside, in
``backward``. This step makes it visible. A drawing needs no more than a list of boxes
and arrows, and there is a small language for such lists, DOT::

    digraph { f0 [label="Sin" shape="box"]; v0 -> f0; }

A program called Graphviz turns such a text into a picture. The text as such needs no
program at all.

New since the step before: ``draw_graph``, which writes DOT for any result, and a first
use of a drawing: to find out why a gradient is wrong.
"""

# %%
# A walk with a pencil
# --------------------
# To write DOT, walk from the result backwards, as ``backward`` does, and write a line
# for each thing met: a box for a Function, an ellipse for a Variable, an arrow from
# each input to its Function and from the Function to its result. A thing that is met
# twice gets one node: ``ids`` remembers them. The order of the walk does not matter
# this time, so a plain list of things to do is enough.

import re

import numpy as np

import dezero as dz
import dezero.functions as F


# New in this step
def to_dot(y):
    ids = {}  # Variable or Function -> name of its node
    nodes, arrows = [], []

    def node(thing, label, shape):
        if thing not in ids:
            ids[thing] = f"n{len(ids)}"
            nodes.append(f'  {ids[thing]} [label="{label}" shape="{shape}"];')
            return True  # it is new
        return False

    node(y, y.name or "", "ellipse")
    todo = [y]
    while todo:
        v = todo.pop()
        f = v.creator
        if f is None:
            continue
        node(f, type(f).__name__, "box")
        arrows.append(f"  {ids[f]} -> {ids[v]};")
        for x in f.inputs:
            if node(x, x.name or "", "ellipse"):
                todo.append(x)
            arrows.append(f"  {ids[x]} -> {ids[f]};")
    return "\n".join(["digraph {", *nodes, *arrows, "}"])


x = dz.Variable(np.array(2.0), name="x")
w = dz.Variable(np.array(0.5), name="w")
y = x * F.sin(x * w)
y.name = "y"
ours = to_dot(y)
print(ours)

# %%
# Three boxes, for ``x * w``, the sine and the outer product. From ``x`` go two arrows,
# because it is used twice. That is the reason why its gradient is a sum.
#
# The same from the package
# -------------------------
# ``to_dot`` reads ``f.inputs``, and there the package is thriftier than we are: a
# Function whose backward does not need its inputs (a sum, for example) does not keep
# them, to save memory, and ``f.inputs`` is None. It still knows where gradients go,
# and ``draw_graph`` follows that. Colours, shapes of arrays and values come with it. In
# its arrows, ``v`` stands for inputs, ``f`` for Functions and ``r`` for results.

drawing = dz.visualize.draw_graph(y)
print("\nby the package:", drawing)
print([line.strip() for line in drawing.dot.splitlines() if "->" in line])


def count(dot):
    return dot.count('shape="box"'), dot.count("->")


print("boxes and arrows, ours:   ", count(ours))
print("boxes and arrows, package:", count(drawing.dot))

# %%
# ``draw_graph(y, to_file="step25.png")`` makes the picture. That needs a program:
# Graphviz, or the Python package that comes with the extra ``plot``
# (``pip install -e '.[plot]'``, as for the other figures).
# ``dz.utils.get_dot_graph(y)`` gives the text alone; it can be pasted into any of the
# DOT viewers on the web.

try:
    dz.visualize.draw_graph(y, to_file="step25.png")
    print("step25.png shows the graph of y")
except ImportError as error:
    print("no picture:", error)

# %%
# What a drawing is good for
# --------------------------
# Here is a function whose gradient comes out wrong. It is meant to be
# :math:`y = x^2 \cdot x`, with :math:`y' = 3x^2 = 12` at 2.


def cube(x):
    with dz.no_grad():
        a = x**2  # whoever wrote this wanted to save memory
    return a * x


z = cube(x)
z.backward()
print("\ngradient:", x.grad, "(expected 12)")
dot = dz.utils.get_dot_graph(z, verbose=False)  # without shapes and dtypes
nodes = re.findall(r'label="(.*?)", shape="(.*?)"', dot)
print("nodes:", nodes)

# %%
# The drawing shows one box, ``Mul``, and its two inputs: ``x``, and a constant 4. There
# is no ``Pow``. What was computed under ``no_grad`` is a number without a past, drawn
# as a grey note, and no gradient goes through it: one of the two paths to ``x`` is
# missing. With the switch removed, there are two boxes, and the gradient is right.

x.cleargrad()
repaired = x**2 * x
repaired.backward()
print("repaired:", x.grad)

assert count(ours) == count(drawing.dot) == (3, 8)
assert z.data == 8 and "Pow" not in dot and count(dot)[0] == 1
whole = dz.utils.get_dot_graph(repaired)
assert "Pow" in whole and count(whole)[0] == 2
assert x.grad.data == 12

# %%
# Exercises
# ---------
# 1. With ``a = x * w``, the products ``a * a`` and ``(x * w) * (x * w)`` are equal. How
#    many boxes and how many arrows has the drawing of each? Say it first, then count
#    with ``to_dot``. How does a drawing show that something was computed twice?
# 2. Change ``to_dot`` so that the label of each box also shows the generation of the
#    Function.
# 3. Draw :math:`(x + 2w - 7)^2 + (2x + w - 5)^2` with ``draw_graph``. How many
#    Functions are recorded, and how many of them are ``Pow``?
