"""Whole layers as one box each."""

import numpy as np

import dezero.layers as L
from dezero.models import GPT, Model, ResNet18, Sequential
from dezero.visualize.graph_closing import close_layers, deepest
from dezero.visualize.graph_layers import run_model
from dezero.visualize.graph_nodes import collect


def graph_of(model, *inputs):
    outputs, known = run_model(model, inputs, {})
    return collect(outputs, known)


def boxes(graph):
    return [c.scopes[-1].name for c in graph.calls if c.function is None]


def test_all_layers_closed():
    model = GPT(5, layers=2, context=3, width=4)
    graph = graph_of(model, np.zeros((1, 3), int))
    assert deepest(graph) == 3
    closed = close_layers(graph, 0)
    assert boxes(closed) == ["token", "blocks/0", "blocks/1", "norm", "head"]
    block = next(c for c in closed.calls if c.scopes[-1:] and c.title.startswith("T"))
    size = sum([p.size for p in model.blocks[0].params()])
    assert block.inside[0] == f"{size:,} parameters"
    assert len(block.outputs) == 1
    # Nothing is left inside, and the graph that was given is as before.
    assert deepest(closed) == 1
    assert deepest(graph) == 3


def test_arrows_lead_to_the_boxes():
    model = Sequential(L.Linear(3), L.Linear(2))
    closed = close_layers(graph_of(model, np.ones((1, 4), np.float32)), 0)
    first, second = closed.calls
    assert [leaf.name for leaf in closed.leaves()] == ["x"]
    assert first.sources == closed.leaves()
    assert second.sources == [(first, 0)]
    assert closed.outputs == [(second, 0)]
    assert first.inside == ["W (4, 3)", "b (3,)"]


def test_layers_without_others_closed():
    model = ResNet18(num_classes=4)
    graph = graph_of(model, np.ones((1, 3, 32, 32), np.float32))
    closed = close_layers(graph, None)
    assert "res2/a/conv1" in boxes(closed)
    assert "res2/a" not in boxes(closed)
    norm = next(c for c in closed.calls if c.title == "BatchNorm")
    assert norm.inside == ["gamma (64,)", "beta (64,)", "Standardize"]


def test_a_depth_nobody_reaches_changes_nothing():
    graph = graph_of(Sequential(L.Linear(3)), np.ones((1, 4), np.float32))
    closed = close_layers(graph, 5)
    assert [c.title for c in closed.calls] == ["Linear"]
    assert closed.calls[0].function is graph.calls[0].function


def test_without_layers_there_is_nothing_to_close():
    class Net(Model):
        def forward(self, x):
            return x * x

    graph = graph_of(Net(), np.ones(3))
    assert close_layers(graph, None) is graph
    assert close_layers(graph, 0) is graph


def test_closed_again():
    model = GPT(5, layers=1, context=3, width=4)
    once = close_layers(graph_of(model, np.zeros((1, 3), int)), None)
    twice = close_layers(once, 0)
    assert boxes(twice) == ["token", "blocks/0", "norm", "head"]
    block = next(c for c in twice.calls if c.title == "TransformerBlock")
    size = sum([p.size for p in model.blocks[0].params()])
    assert block.inside[0] == f"{size:,} parameters"
    assert "Linear" in block.inside[1]


def test_several_results_of_one_layer():
    class Two(L.Layer):
        def forward(self, x):
            return x * 2.0, x * 3.0

    class Net(Model):
        def __init__(self):
            super().__init__()
            self.two = Two()

        def forward(self, x):
            a, b = self.two(x)
            return a + b, b

    closed = close_layers(graph_of(Net(), np.ones(3)), 0)
    box, add = closed.calls
    assert len(box.outputs) == 2
    assert add.sources == [(box, 0), (box, 1)]
    assert closed.outputs == [(add, 0), (box, 1)]


def test_frozen_and_many_parameters():
    model = Sequential(L.Linear(3, in_size=4))
    model.l0.W.requires_grad = False
    closed = close_layers(graph_of(model, np.ones((1, 4), np.float32)), 0)
    assert closed.calls[0].inside == ["W (4, 3) (frozen)", "b (3,)"]
