"""What is collected from a recorded graph."""

import numpy as np
import pytest

import dezero.functions as F
from dezero.core import Parameter, Variable, as_variable, no_grad
from dezero.visualize.graph_nodes import (
    Knowledge,
    Leaf,
    collect,
    functions_in_order,
)


def graph_of(*outputs):
    return collect(outputs, Knowledge())


def titles(graph):
    return [call.title for call in graph.calls]


def kinds(graph):
    return [leaf.kind for leaf in graph.leaves()]


@pytest.fixture
def x():
    return Variable(np.array(2.0), name="x")


def test_leaves_by_kind(x):
    W = Parameter(np.array(3.0), name="W")
    y = x * W * np.array(4.0)
    graph = graph_of(y)
    assert titles(graph) == ["Mul", "Mul"]
    assert kinds(graph) == ["input", "parameter", "constant"]
    assert [leaf.name for leaf in graph.leaves()] == ["x", "W", ""]
    assert graph.outputs == [(graph.calls[1], 0)]


def test_what_backward_does_not_read_is_not_there(x):
    assert kinds(graph_of(x + 1.0)) == ["input"]
    assert kinds(graph_of(x * 1.0)) == ["input", "constant"]


def test_a_frozen_parameter(x):
    W = Parameter(np.array(3.0))
    W.requires_grad = False
    leaves = graph_of(x * W).leaves()
    assert [(leaf.kind, leaf.frozen) for leaf in leaves] == [
        ("input", False),
        ("parameter", True),
    ]


def test_a_leaf_alone(x):
    graph = graph_of(x)
    assert not graph.calls
    assert isinstance(graph.outputs[0], Leaf)
    assert graph.notes == []


def test_a_lazy_parameter():
    leaf = graph_of(Parameter(None, name="W")).leaves()[0]
    assert (leaf.shape, leaf.dtype, leaf.kind) == (None, None, "parameter")


def test_a_shared_variable_is_one_leaf(x):
    graph = graph_of(x * x)
    assert len(graph.leaves()) == 1
    assert graph.calls[0].sources == graph.leaves() * 2


def test_the_diamond(x):
    a = x**2
    graph = graph_of(a**2 + a**2)
    assert titles(graph) == ["Pow", "Pow", "Pow", "Add"]
    root = graph.calls[0]
    assert [c.sources for c in graph.calls[1:3]] == [[(root, 0)], [(root, 0)]]
    assert graph.consumers()[root] == graph.calls[1:3]


def test_several_outputs_share_what_is_behind(x):
    a = F.sin(x)
    y, z = F.exp(a), F.cos(a)
    graph = graph_of(y, z, x)
    assert titles(graph) == ["Sin", "Exp", "Cos"]
    assert graph.outputs == [
        (graph.calls[1], 0),
        (graph.calls[2], 0),
        graph.leaves()[0],
    ]


def test_a_function_with_several_outputs():
    x = Variable(np.arange(6.0))
    a, b, c = F.split(x, 3)
    graph = graph_of(a + c)
    split, add = graph.calls
    assert len(split.outputs) == 3
    assert add.sources == [(split, 0), (split, 2)]
    assert [shape for shape, _, _ in split.outputs] == [(2,)] * 3
    assert split.outputs[1][2] is b


def test_outputs_that_are_gone_have_a_shape(x):
    graph = graph_of(F.exp(F.sin(x)))
    shape, dtype, alive = graph.calls[0].outputs[0]
    assert (shape, dtype, alive) == ((), np.float64, None)


def test_after_backward_it_is_still_there(x):
    y = F.exp(F.sin(x))
    y.backward()
    assert titles(graph_of(y)) == ["Sin", "Exp"]


def test_a_freed_graph_says_so(x):
    y = F.exp(F.sin(x))
    y.backward(retain_graph=False)
    graph = graph_of(y)
    assert titles(graph) == ["Exp"]
    assert graph.calls[0].freed
    assert "retain_graph=False" in graph.notes[0]


def test_unchained_results_are_leaves(x):
    a = F.sin(x)
    a.name = "a"
    y = F.exp(a)
    a.unchain()
    graph = graph_of(y)
    assert titles(graph) == ["Exp"]
    assert kinds(graph) == ["unchained"]
    assert graph.leaves()[0].name == "a"
    assert "unchained" in graph.notes[0]
    # Asked for itself, too, it is the same one.
    assert len(graph_of(y, a).leaves()) == 1


def test_unchain_backward(x):
    y = F.exp(F.sin(F.cos(x)))
    y.unchain_backward()
    graph = graph_of(y)
    assert titles(graph) == ["Exp"]
    assert kinds(graph) == ["unchained"]


def test_one_of_several_outputs_unchained():
    a, b = F.split(Variable(np.arange(4.0)), 2)
    y = a * b
    b.unchain()
    graph = graph_of(y)
    assert titles(graph) == ["Split", "Mul"]
    assert sorted(kinds(graph)) == ["input", "unchained"]


def test_the_graph_of_a_gradient(x):
    y = F.tanh(x)
    y.backward(create_graph=True)
    assert "TanhGrad" in titles(graph_of(x.grad)) or "Mul" in titles(graph_of(x.grad))
    assert graph_of(x.grad).leaves()[0].variable is x
    x.cleargrad()


def test_without_a_record(x):
    with no_grad():
        graph = graph_of(F.sin(x))
    assert not graph.calls
    assert "no_grad" in graph.notes[0]
    assert graph_of(as_variable(np.ones(2))).notes
    assert kinds(graph_of(as_variable(np.ones(2)))) == ["constant"]


def test_order_puts_what_is_needed_first():
    # Steps in time stay together, whatever argument the state is.
    h = Variable(np.zeros(2))
    xs = Variable(np.ones((4, 2)))
    for t in range(4):
        h = F.tanh(xs[t] + h)
    names = [type(f).__name__ for f in functions_in_order([h.creator])]
    assert names == ["GetItem", "Add", "Tanh"] * 4


def test_deep_graphs_need_no_stack(x):
    y = x
    for _ in range(30_000):
        y = -y
    assert len(graph_of(y).calls) == 30_000
