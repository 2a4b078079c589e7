"""Equal blocks in a row, drawn once."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero.core import Variable
from dezero.models import GPT, MLP, Model, ResNet18, Sequential
from dezero.visualize.graph_folding import fold
from dezero.visualize.graph_layers import run_model
from dezero.visualize.graph_nodes import Knowledge, collect


def folded(y):
    return fold(collect([y], Knowledge()))


def folded_run(model, *inputs):
    outputs, known = run_model(model, inputs, {})
    return fold(collect(outputs, known))


def frames(graph):
    found = dict.fromkeys([s for call in graph.calls for s in call.scopes])
    return [(s.name, s.last, s.repeats) for s in found if s.repeats > 1]


@pytest.fixture
def x():
    return Variable(np.ones((2, 3), np.float32), name="x")


def test_one_function_again_and_again(x):
    y = x
    for _ in range(50):
        y = F.sin(y)
    graph = folded(F.exp(y))
    assert [(c.title, c.repeats) for c in graph.calls] == [("Sin", 50), ("Exp", 1)]
    assert graph.calls[0].sources == graph.leaves()
    assert graph.calls[1].sources == [(graph.calls[0], 0)]


def test_twice_is_not_a_row(x):
    assert [c.repeats for c in folded(F.sin(F.sin(x))).calls] == [1, 1]


def test_several_functions_again_and_again(x):
    y = x
    for i in range(10):
        y = F.tanh(F.sin(y) * float(i)) + y
    graph = folded(y)
    assert [c.title for c in graph.calls] == ["Sin", "Mul", "Tanh", "Add"]
    frame = graph.calls[0].scopes[0]
    assert frame.repeats == 10
    assert all([c.scopes == (frame,) for c in graph.calls])
    assert graph.outputs == [(graph.calls[3], 0)]


def test_shapes_must_be_equal(x):
    y = x
    for size in (3, 4, 5, 6, 7):
        y = F.matmul(y, np.ones((y.shape[1], size), np.float32))
    assert len(folded(y).calls) == 5


def test_side_by_side_is_not_in_a_row(x):
    ys = [F.sin(x) for _ in range(20)]
    graph = folded(F.concatenate(ys, axis=0))
    assert len(graph.calls) == 21


def test_what_is_used_elsewhere_keeps_its_place(x):
    y, seen = x, []
    for _ in range(10):
        y = F.sin(y)
        seen.append(y)
    graph = folded(F.concatenate(seen, axis=0))
    assert [c.repeats for c in graph.calls] == [1] * 11


def test_what_is_asked_for_keeps_its_place(x):
    ys = [F.sin(x)]
    for _ in range(9):
        ys.append(F.sin(ys[-1]))
    graph = fold(collect([ys[4], ys[9]], Knowledge()))
    assert [c.repeats for c in graph.calls] == [5, 5]
    assert [s[0] for s in graph.outputs] == graph.calls


def test_arrows_inside_must_be_equal(x):
    def straight(y):
        return F.sin(y) * F.cos(y)

    def crossed(y):
        return F.cos(F.sin(y)) * y

    y = x
    for block in (straight, crossed, straight, crossed, straight):
        y = block(y)
    # (straight, crossed) twice is no row of single Functions.
    assert all([c.repeats == 1 for c in folded(y).calls])


def test_a_state_from_outside_is_the_same_one(x):
    memory = F.exp(Variable(np.ones((2, 3), np.float32)))
    y = x
    for _ in range(5):
        y = F.tanh(y * memory)
    graph = folded(y)
    assert [c.title for c in graph.calls] == ["Exp", "Mul", "Tanh"]
    assert graph.calls[1].scopes[0].repeats == 5


def test_another_state_for_each_is_no_row(x):
    # The first of a row may start from anywhere, the others may not.
    memories = [F.exp(Variable(np.ones((2, 3), np.float32))) for _ in range(5)]
    total = memories[0]
    for memory in memories[1:]:
        total = total + memory
    y = x
    for memory in memories:
        y = F.tanh(y * memory)
    graph = folded(y * total)
    assert sum([c.title == "Tanh" for c in graph.calls]) > 1


def test_blocks_of_a_transformer():
    model = GPT(5, layers=6, context=3, width=4)
    graph = folded_run(model, np.zeros((1, 3), int))
    assert frames(graph) == [("blocks/0", "blocks/5", 6)]
    assert len(graph.calls) < 30
    assert not [p for p in graph.leaves() if p.name.startswith("blocks/1")]


def test_stages_of_a_resnet():
    model = ResNet18(num_classes=4)
    graph = folded_run(model, np.ones((1, 3, 32, 32), np.float32))
    assert frames(graph) == [("res2/a", "res2/b1", 2)]


def test_layers_with_functions_between():
    model = MLP((8,) * 6 + (3,))
    graph = folded_run(model, np.ones((2, 8), np.float32))
    assert frames(graph) == [("l0", "l5", 6)]
    assert [c.title for c in graph.calls] == ["Linear", "Sigmoid", "Linear"]
    # The frame begins with the layer although the first one may differ.
    graph = folded_run(MLP((8,) * 6 + (3,)), np.ones((2, 5), np.float32))
    assert [c.title for c in graph.calls] == ["Linear", "Sigmoid"] * 2 + ["Linear"]
    assert frames(graph) == [("l1", "l5", 5)]


def test_two_equal_layers_are_a_row():
    model = Sequential(L.Linear(4, in_size=4), L.Linear(4, in_size=4), L.Linear(2))
    graph = folded_run(model, np.ones((1, 4), np.float32))
    assert frames(graph) == [("l0", "l1", 2)]


def test_steps_in_time():
    class Net(Model):
        def __init__(self):
            super().__init__()
            self.rnn = L.RNN(3)

        def forward(self, xs):
            self.rnn.reset_state()
            for t in range(xs.shape[1]):
                h = self.rnn(xs[:, t])
            return h

    graph = folded_run(Net(), np.ones((2, 12, 4), np.float32))
    # The first step has no state, and so is another one.
    assert frames(graph) == [("rnn", "rnn", 11)]


def test_rows_inside_rows():
    class Block(L.Layer):
        def __init__(self):
            super().__init__()
            self.inner = [L.Linear(4, in_size=4) for _ in range(3)]
            self.norm = L.LayerNorm(in_size=4)

        def forward(self, x):
            for layer in self.inner:
                x = layer(x)
            return self.norm(x)

    graph = folded_run(
        Sequential(Block(), Block(), Block()), np.ones((1, 4), np.float32)
    )
    assert frames(graph) == [("l0", "l2", 3), ("l0/inner/0", "l0/inner/2", 3)]
    assert [c.title for c in graph.calls] == ["Linear", "Standardize"]
