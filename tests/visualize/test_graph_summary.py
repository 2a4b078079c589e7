"""Graphs that are too large to be drawn."""

import numpy as np

import dezero.functions as F
import dezero.layers as L
from dezero.core import Parameter, Variable
from dezero.models import Sequential
from dezero.visualize import draw_graph, draw_model, get_dot
from dezero.visualize.graph_nodes import Knowledge, collect
from dezero.visualize.graph_summary import summary_lines


def irregular(steps):
    """A chain without a pattern."""
    kinds = np.random.RandomState(0).randint(0, 3, steps)
    y = Variable(np.array(0.5), name="x")
    for kind in kinds:
        y = (F.sin, F.cos, F.tanh)[kind](y)
    return y


def test_ten_thousand_functions_are_counted():
    drawing = draw_graph(irregular(10_000))
    assert drawing.dot.count("\n") < 20
    assert r"10,000 functions\l" in drawing.dot
    assert "× Sin" in drawing.dot
    assert "More than limit=300 boxes, so only counts are shown." in drawing.dot
    assert drawing.render().startswith(b"<?xml")


def test_ten_thousand_alike_are_drawn():
    y = Variable(np.array(1.0))
    for _ in range(10_000):
        y = F.sin(y)
    dot = get_dot(y)
    assert "Sin ×10,000" in dot
    assert "only counts" not in dot
    assert "10,000 × Sin" in get_dot(y, fold=False)


def test_the_limit_is_an_option():
    y = irregular(20)
    assert "only counts" in get_dot(y, limit=5)
    assert "only counts" not in get_dot(y, limit=20, fold=False)


def test_layers_are_closed_before_anything_is_counted():
    class Wavy(L.Layer):
        def forward(self, x):
            for kind in np.random.RandomState(1).randint(0, 3, 40):
                x = (F.sin, F.cos, F.tanh)[kind](x)
            return x

    class Outer(L.Layer):
        def __init__(self):
            super().__init__()
            self.first, self.second = Wavy(), L.Linear(2)

        def forward(self, x):
            return self.second(self.first(x))

    dot = draw_model(Sequential(Outer()), np.ones((1, 3)), limit=1).dot
    assert "l0: Outer" in dot
    assert "Layers inside 0 others are closed" in dot
    assert "only counts" not in dot


def test_summary_lines():
    x = Variable(np.ones((2, 3)), name="x")
    W = Parameter(np.ones((2, 3)))
    y = F.sin(x * W)
    y.name = "result"
    assert summary_lines(collect([y], Knowledge())) == [
        "2 functions",
        "    1 × Mul",
        "    1 × Sin",
        "leaves: 1 input, 1 parameter",
        "result: (2, 3) float64",
    ]


def test_the_layers_of_a_summary():
    class Net(L.Layer):
        def __init__(self):
            super().__init__()
            self.blocks = [L.Linear(4, in_size=4) for _ in range(20)]

        def forward(self, x):
            for layer in self.blocks:
                x = F.relu(layer(x))
            return F.sum(F.exp(x))

    dot = draw_model(Net(), np.ones((1, 4)), limit=2).dot
    assert r"42 functions\l    20 × Linear\l    20 × ReLU\l" in dot
    assert r"in 20 calls of layers\l    20 × Linear\l" in dot


def test_rare_kinds_are_gathered():
    y = Variable(np.array(0.5))
    names = "sin cos tan sinh cosh tanh exp sigmoid relu abs sqrt neg square log1p"
    for name in [*names.split(), "arctan", "softplus", "erf"]:
        y = getattr(F, name)(y)
    lines = summary_lines(collect([y], Knowledge()))
    assert any([line.startswith("    and ") for line in lines])
