"""Layers as frames, from a run of a model or from its weights."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero.core import Config, Function, Variable, no_grad
from dezero.models import GPT, MLP, Model, Sequential
from dezero.visualize.graph_layers import know_model, run_model, variables_in
from dezero.visualize.graph_nodes import Knowledge, collect


def scopes(call):
    return [(scope.name, scope.kind) for scope in call.scopes]


def graph_of_run(model, *inputs, **options):
    outputs, known = run_model(model, inputs, options)
    return collect(outputs, known)


def test_a_run_knows_the_layers():
    model = Sequential(L.Linear(3), F.relu, L.LayerNorm())
    graph = graph_of_run(model, np.ones((2, 4), np.float32))
    assert [(c.title, scopes(c)) for c in graph.calls] == [
        ("Linear", [("l0", "Linear")]),
        ("ReLU", []),
        ("Standardize", [("l2", "LayerNorm")]),
    ]
    names = [leaf.name for leaf in graph.leaves()]
    assert names == ["x", "l0/W", "l0/b", "l2/gamma", "l2/beta"]
    assert graph.leaves()[0].kind == "input"


def test_a_run_leaves_the_model_alone():
    model = Sequential(L.Linear(3), L.BatchNorm())
    np.random.seed(0)
    state = np.random.get_state()[1].copy()
    graph_of_run(model, np.ones((2, 4), np.float32))
    assert all([p.data is None or p.size for p in model.params()])
    assert model.l0.W.data is None
    assert type(model.l0) is L.Linear
    assert type(model.l0).__call__ is L.Layer.__call__
    np.testing.assert_array_equal(np.random.get_state()[1], state)
    assert not hasattr(Function.__call__, "__wrapped__")
    assert Config.enable_backprop


def test_a_layer_called_twice_has_two_frames():
    class Net(Model):
        def __init__(self):
            super().__init__()
            self.fc = L.Linear(4, in_size=4)

        def forward(self, x):
            return self.fc(self.fc(x))

    first, second = graph_of_run(Net(), np.ones((1, 4), np.float32)).calls
    assert scopes(first) == scopes(second) == [("fc", "Linear")]
    assert first.scopes != second.scopes


def test_layers_inside_layers():
    graph = graph_of_run(GPT(5, layers=1, context=3, width=4), np.zeros((1, 3), int))
    paths = [[scope.name for scope in call.scopes] for call in graph.calls]
    assert ["blocks/0", "blocks/0/attention", "blocks/0/attention/out"] in paths


def test_an_input_that_only_serves_as_an_index():
    graph = graph_of_run(GPT(5, layers=1, context=3, width=4), np.zeros((1, 3), int))
    ids = [leaf for leaf in graph.leaves() if leaf.kind == "input"]
    assert [leaf.name for leaf in ids] == ["ids"]
    assert [scopes(c) for c in graph.calls if ids[0] in c.sources] == [
        [("token", "Embedding")]
    ]


def test_a_run_shows_constants_that_nobody_keeps():
    class Net(Model):
        def forward(self, x):
            return x + 1.5 + np.ones(2, np.float32)

    graph = graph_of_run(Net(), np.zeros(2, np.float32))
    kinds = [leaf.kind for leaf in graph.leaves()]
    assert kinds == ["input", "constant", "constant"]
    assert graph.leaves()[1].variable == 1.5


def test_a_variable_as_input_keeps_its_name():
    x = Variable(np.ones((2, 4), np.float32), name="pixels")
    graph = graph_of_run(MLP((3,)), x)
    assert graph.leaves()[0].name == "pixels"
    assert graph.leaves()[0].variable is x
    x = Variable(np.ones((2, 4), np.float32))
    assert graph_of_run(MLP((3,)), x).leaves()[0].name == "x"
    assert x.name is None


def test_names_of_further_inputs():
    class Net(Model):
        def forward(self, *xs, scale=1.0):
            return xs[0] * xs[1] * scale

    graph = graph_of_run(Net(), np.ones(2), np.ones(2), scale=2.0)
    assert [leaf.name for leaf in graph.leaves()] == ["x0", "x1", ""]


def test_a_run_records_inside_no_grad_too():
    with no_grad():
        assert graph_of_run(MLP((3,)), np.ones((2, 4))).calls
        assert not Config.enable_backprop


def test_a_call_of_its_own_is_watched():
    class Doubled(L.Linear):
        def __call__(self, x):
            return super().__call__(x) * 2.0

    graph = graph_of_run(Sequential(Doubled(3)), np.ones((2, 4)))
    assert [scopes(c) for c in graph.calls] == [[("l0", "Doubled")]] * 2


def test_an_error_in_the_model_leaves_everything_as_it_was():
    call = Function.__call__
    with pytest.raises(ValueError):
        run_model(Sequential(L.Linear(3, in_size=5)), (np.ones((2, 4)),), {})
    assert Function.__call__ is call


def test_a_model_that_returns_no_variable():
    class Net(Model):
        def forward(self, x):
            return x.data

    with pytest.raises(TypeError, match="draw_model: expected Net to return Variables"):
        run_model(Net(), (np.ones(2),), {})


def test_variables_in():
    a, b = Variable(np.ones(1)), Variable(np.ones(2))
    found = variables_in({"first": a, "rest": [(b, None), a, 3]})
    assert [x is y for x, y in zip(found, [a, b], strict=True)] == [True, True]


def test_weights_tell_names_and_frames():
    model = Sequential(L.Linear(3), F.relu, L.Linear(2))
    y = model(np.ones((2, 4), np.float32)).sum()
    graph = collect([y], know_model([y], model))
    assert [scopes(c) for c in graph.calls] == [
        [("l0", "Linear")],
        [],
        [("l2", "Linear")],
        [],
    ]
    names = [leaf.name for leaf in graph.leaves() if leaf.kind == "parameter"]
    assert names == ["l0/W", "l0/b", "l2/W", "l2/b"]


def test_weights_of_two_layers_in_one_function_are_in_no_frame():
    model = Sequential(L.Linear(3, in_size=3), L.Linear(3, in_size=3))
    y = F.matmul(model.l0.W, model.l1.W)
    assert scopes(collect([y], know_model([y], model)).calls[0]) == []


def test_layers_in_lists_are_found_by_their_weights():
    model = GPT(5, layers=1, context=3, width=4)
    y = model(np.zeros((1, 3), int))
    calls = collect([y], know_model([y], model)).calls
    assert [("blocks/0", "TransformerBlock"), ("blocks/0/fc1", "Linear")] in [
        scopes(call) for call in calls
    ]


def test_knowledge_is_empty_by_default():
    assert not Knowledge().names
    assert not Knowledge().readers
