"""draw_graph, draw_model, get_dot, and the names that scripts know."""

import inspect
import os

import numpy as np
import pytest

import dezero
import dezero.functions as F
import dezero.layers as L
from dezero import utils
from dezero.core import Variable
from dezero.models import GPT, MLP, Model, Sequential
from dezero.visualize import draw_graph, draw_model, get_dot
from dezero.visualize.graph_rendering import Drawing


@pytest.fixture
def y():
    x = Variable(np.ones((2, 3), np.float32), name="x")
    return F.sum(F.sin(x) * 2.0)


def test_the_names_are_there():
    assert dezero.visualize.draw_graph is draw_graph
    assert {"draw_graph", "draw_model", "get_dot"} <= set(dir(dezero.visualize))


def test_draw_graph(tmp_path, y):
    drawing = draw_graph(y, to_file=tmp_path / "y.svg")
    assert isinstance(drawing, Drawing)
    assert (tmp_path / "y.svg").read_bytes() == drawing.render("svg")
    assert drawing.dot == get_dot(y)
    assert os.listdir(tmp_path) == ["y.svg"]


def test_drawing_changes_nothing(y):
    before = [y.creator, y.grad, y.data.copy()]
    draw_graph(y, verbose=2)
    assert y.creator is before[0]
    assert y.grad is None
    assert y.data == before[2]
    y.backward()


def test_several_outputs():
    x = Variable(np.ones(3))
    dot = get_dot(F.sin(x), F.cos(x))
    assert dot.count('peripheries="2"') == 2


def test_small_graphs_are_not_folded():
    x = Variable(np.ones(3))
    y = F.sin(F.sin(F.sin(F.sin(x))))
    assert "×4" not in get_dot(y)
    assert "Sin ×4" in get_dot(y, fold=True)
    for _ in range(16):
        y = F.sin(y)
    assert "Sin ×20" in get_dot(y)
    assert "×" not in get_dot(y, fold=False)


def test_depth():
    model = GPT(5, layers=2, context=3, width=4)
    ids = np.zeros((1, 3), int)
    assert "ScaledDot" in draw_model(model, ids, depth=9).dot
    dot = draw_model(model, ids, depth=1).dot
    assert "attention: MultiHeadAttention" in dot
    assert "query" not in dot
    dot = draw_model(model, ids, depth=0).dot
    assert "token: Embedding" in dot
    assert "subgraph" not in dot


def test_many_boxes_close_the_innermost_layers():
    sizes = list(range(3, 40))
    model = Sequential(*[L.Linear(n) for n in sizes])
    dot = draw_model(model, np.ones((1, 2), np.float32)).dot
    assert "subgraph" not in dot
    assert r"l0: Linear\nW (2, 3)\nb (3,)" in dot
    assert "subgraph" in draw_model(model, np.ones((1, 2), np.float32), depth=9).dot


def test_draw_model(tmp_path):
    model = MLP((4, 3))
    drawing = draw_model(
        model, np.ones((2, 5), np.float32), to_file=tmp_path / "m.png", direction="LR"
    )
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")
    assert "MLP" in drawing.dot
    assert "l0: Linear" in drawing.dot
    assert model.l0.W.data is None


def test_draw_model_passes_options_on():
    class Net(Model):
        def forward(self, x, power=1):
            return x**power

    dot = draw_model(Net(), np.ones(3), call_options={"power": 3}, verbose=2).dot
    assert r"Pow\nc=3" in dot


def test_model_plot(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = MLP((4, 3))
    x = np.ones((2, 5), np.float32)
    drawing = model.plot(x)
    assert os.listdir() == ["model.png"]
    assert isinstance(drawing, Drawing)
    model.plot(x, to_file="other.svg")
    assert sorted(os.listdir()) == ["model.png", "other.svg"]
    assert model.plot(x, to_file=None, direction="LR").dot.count('"LR"') == 1
    assert sorted(os.listdir()) == ["model.png", "other.svg"]


def test_get_dot_graph(y):
    assert utils.get_dot_graph(y).startswith("digraph")
    assert utils.get_dot_graph(y) == get_dot(y)
    assert "float32" not in utils.get_dot_graph(y, verbose=False)
    assert "float32" in utils.get_dot_graph(y, True)
    parameters = list(inspect.signature(utils.get_dot_graph).parameters)
    assert parameters[:2] == ["output", "verbose"]


def test_plot_dot_graph(tmp_path, monkeypatch, y):
    monkeypatch.chdir(tmp_path)
    picture = utils.plot_dot_graph(y)
    assert os.listdir() == ["graph.png"]
    assert picture._repr_svg_().startswith("<?xml")
    utils.plot_dot_graph(y, False, "my graph.svg")
    assert sorted(os.listdir()) == ["graph.png", "my graph.svg"]
    assert utils.plot_dot_graph(y, to_file=None)._repr_png_().startswith(b"\x89PNG")
    assert len(os.listdir()) == 2
    parameters = list(inspect.signature(utils.plot_dot_graph).parameters)
    assert parameters[:3] == ["output", "verbose", "to_file"]


def test_a_second_derivative():
    x = Variable(np.array(1.0), name="x")
    F.tanh(x).backward(create_graph=True)
    gx = x.grad
    x.cleargrad()
    gx.backward(create_graph=True)
    dot = get_dot(x.grad)
    assert "Tanh" in dot
    assert 'label="x' in dot
    x.cleargrad()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda y: draw_graph(), ValueError, "draw_graph: .* one Variable, got none"),
        (lambda y: draw_graph(y.data), TypeError, "expected Variables, got ndarray"),
        (lambda y: get_dot(3), TypeError, "get_dot: expected Variables, got int"),
        (
            lambda y: draw_graph(y, model=3),
            TypeError,
            "draw_graph: expected model to be a Layer, got int",
        ),
        (
            lambda y: draw_model(F.sin, y),
            TypeError,
            "draw_model: expected model to be a Layer, got function",
        ),
        (
            lambda y: draw_graph(y, direction="up"),
            ValueError,
            "expected direction 'TB' or 'LR', got 'up'",
        ),
        (
            lambda y: draw_graph(y, verbose="much"),
            TypeError,
            "expected verbose to be an integer, got 'much'",
        ),
        (lambda y: draw_graph(y, verbose=-1), ValueError, "expected verbose >= 0"),
        (lambda y: draw_graph(y, limit=0), ValueError, "expected limit >= 1, got 0"),
        (lambda y: draw_graph(y, depth=-1), ValueError, "expected depth >= 0"),
        (lambda y: draw_graph(y, depth=1.5), TypeError, "expected depth to be an int"),
        (
            lambda y: draw_graph(y, fold=3),
            TypeError,
            "expected fold to be True, False or None, got 3",
        ),
        (
            lambda y: draw_graph(y, colour="red"),
            TypeError,
            "draw_graph: expected the options verbose, .* got 'colour'",
        ),
        (
            lambda y: draw_model(MLP((3,)), y, rankdir="LR"),
            TypeError,
            "draw_model: expected the options verbose, .* got 'rankdir'",
        ),
        (
            lambda y: utils.plot_dot_graph(y, to_file="x.odt"),
            ValueError,
            r"draw_graph: expected a file name that ends in one of \.svg",
        ),
        (
            lambda y: draw_model(MLP((3,)), y, to_file="x.odt"),
            ValueError,
            r"draw_model: expected a file name that ends in one of \.svg",
        ),
    ],
)
def test_errors(y, call, error, message):
    with pytest.raises(error, match=message):
        call(y)
