"""The graph as data: what is in it, paths, what arrives, what is alive."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable
from dezero.diagnostics.graphs import Graph, arriving, live_uses


@pytest.fixture
def x():
    return Variable(np.arange(6.0).reshape(2, 3), name="x")


def names(functions):
    return [type(f).__name__ for f in functions]


def test_what_is_in_a_graph(x):
    c = np.ones((2, 3))
    y = F.sum(F.tanh(x * c) + 1.0)
    graph = Graph(y)
    assert names(graph.functions) == ["Sum", "Add", "Tanh", "Mul"]
    ((f, i, kept),) = graph.constants
    assert (type(f).__name__, i, kept.data is c) == ("Mul", 1, True)
    assert [(type(f).__name__, i) for f, i in graph.hidden] == [("Add", 1)]
    ((leaf, (f, i)),) = graph.leaves.items()
    assert leaf is x and (type(f).__name__, i) == ("Mul", 0)
    assert graph.freed == graph.cut == []


def test_a_leaf_is_a_graph_too(x):
    graph = Graph(x)
    assert graph.leaves == {x: (None, 0)} and graph.path(x) == []
    assert graph.path(Variable(np.ones(1))) is None


def test_the_shortest_path(x):
    y = F.sum(F.tanh(F.exp(x)) + x)
    assert names(Graph(y).path(x)) == ["Sum", "Add"]


def test_paths_to_one_output_of_several(x):
    a, b, c = F.split(x, 3, 1)
    y = F.sum(F.exp(b))
    graph = Graph(y)
    assert names(graph.path(b)) == ["Sum", "Exp"]
    assert names(graph.path(x)) == ["Sum", "Exp", "Split"]
    assert graph.path(a) is graph.path(c) is None
    assert graph.path(y) == []
    assert Graph(b).path(a) is None and Graph(a).path(a) == []


def test_cut_and_freed(x):
    h = F.tanh(x)
    y = F.sum(h * h)
    h.unchain()
    assert names(Graph(y).cut) == ["Tanh"]
    y.backward(retain_graph=False)
    assert names(Graph(y).freed) == ["Sum"]


def test_what_arrives(x):
    y = F.sum(x * x)
    found = arriving(Graph(y), y, x)
    np.testing.assert_array_equal(found.gradient, 2 * x.data)
    assert found.node is found.error is None and x.grad is None


def test_what_arrives_after_a_function_of_several_outputs(x):
    a, b = F.split(F.relu(-abs(x) - 1.0), [1], 1)
    y = F.sum(a)
    found = arriving(Graph(y), y, x)
    assert not found.gradient.any() and type(found.node).__name__ == "ReLU"


def test_the_lost_place_of_an_intermediate_result(x):
    h = F.exp(x)
    y = F.sum(F.relu(-h))
    found = arriving(Graph(y), y, h)
    assert not found.gradient.any() and type(found.node).__name__ == "ReLU"


def test_integer_losses_start_from_signed_ones():
    x = Variable(np.array([1, 2], dtype=np.uint8))
    y = F.sum(x)
    assert arriving(Graph(y), y, x).gradient.tolist() == [1, 1]


def test_what_is_alive(x):
    h = F.tanh(x)
    y = F.exp(h)
    uses = live_uses(x)
    assert [type(use.function).__name__ for use in uses] == ["Tanh", "Exp"]
    assert uses[0].x is h and uses[1].x is y
    data = h.data
    del h, uses
    # Tanh keeps its array for its backward.
    uses = live_uses(x)
    assert any([use.x is None and use.data is data for use in uses])
    del y, uses
    assert live_uses(x) == []


def test_a_deep_graph(x):
    y = x
    for _ in range(20_000):
        y = y + 1.0
    graph = Graph(y)
    assert len(graph.path(x)) == 20_000
    assert len(live_uses(x)) >= 1
