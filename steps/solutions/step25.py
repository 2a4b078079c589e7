"""
Solutions to step 25: drawing the graph
=======================================
"""

# %%
# The function of the step, with a line for exercise 2: the label of a box.
import numpy as np

import dezero as dz


def to_dot(y, label=lambda f: type(f).__name__):
    ids = {}
    nodes, arrows = [], []

    def node(thing, text, shape):
        if thing not in ids:
            ids[thing] = f"n{len(ids)}"
            nodes.append(f'  {ids[thing]} [label="{text}" shape="{shape}"];')
            return True
        return False

    node(y, y.name or "", "ellipse")
    todo = [y]
    while todo:
        v = todo.pop()
        f = v.creator
        if f is None:
            continue
        node(f, label(f), "box")
        arrows.append(f"  {ids[f]} -> {ids[v]};")
        for x in f.inputs:
            if node(x, x.name or "", "ellipse"):
                todo.append(x)
            arrows.append(f"  {ids[x]} -> {ids[f]};")
    return "\n".join(["digraph {", *nodes, *arrows, "}"])


def count(dot):
    return dot.count('shape="box"'), dot.count("->")


# %%
# 1. How many boxes and arrows have ``a * a``, with ``a = x * w``, and
# ``(x * w) * (x * w)``? Each box has two arrows in and one out. The first has 2 boxes
# and 6 arrows, two of them from the one node of ``a`` to the outer product. The second
# has 3 boxes and 9 arrows: what was computed twice has two boxes, with arrows from the
# same inputs.
x = dz.Variable(np.array(2.0), name="x")
w = dz.Variable(np.array(0.5), name="w")
a = x * w
once = a * a
twice = (x * w) * (x * w)
print("a * a:", count(to_dot(once)), " (x * w) * (x * w):", count(to_dot(twice)))
assert count(to_dot(once)) == (2, 6) and count(to_dot(twice)) == (3, 9)
assert once.data == twice.data == 1.0

# %%
# 2. Show the generation in the label of each box. Only the label changes:
# ``f"{type(f).__name__} {f.generation}"``.
dot = to_dot(twice, label=lambda f: f"{type(f).__name__} {f.generation}")
print(dot)
assert dot.count('label="Mul 0"') == 2 and dot.count('label="Mul 1"') == 1

# %%
# 3. Draw :math:`(x + 2w - 7)^2 + (2x + w - 5)^2`. How many Functions, how many ``Pow``?
# In each bracket a product, a sum and a difference, then a power: 4 and 4, and the sum
# of both: 9 Functions, two of them ``Pow``.
z = (x + 2 * w - 7) ** 2 + (2 * x + w - 5) ** 2
drawing = dz.visualize.draw_graph(z)
print(drawing)
assert count(drawing.dot)[0] == 9 and drawing.dot.count('label="Pow"') == 2
