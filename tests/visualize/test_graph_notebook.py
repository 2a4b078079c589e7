"""What notebooks show, and that it never fails."""

import numpy as np

import dezero.functions as F
import dezero.layers as L
from dezero.core import Parameter, Variable
from dezero.models import GPT, MLP
from dezero.visualize import graph_notebook, graph_rendering


def test_a_result_shows_its_graph_and_its_value():
    x = Variable(np.ones((2, 3)), name="x")
    svg = F.sum(x * 2.0)._repr_svg_()
    assert svg.startswith("<?xml")
    for text in ("x", "Mul", "Sum", "variable(12.0)"):
        assert f">{text}</text>" in svg


def test_long_values_are_cut():
    x = Variable(np.arange(200.0).reshape(100, 2))
    svg = (x * 1.0)._repr_svg_()
    assert svg.count("[") < 15
    assert "..." in svg


def test_others_show_their_value_as_text():
    x = Variable(np.ones(3))
    assert x._repr_svg_() is None
    assert Parameter(None)._repr_svg_() is None
    y = x
    for _ in range(101):
        y = F.sin(y)
    assert y._repr_svg_() is None


def test_rows_are_folded():
    y = Variable(np.ones(3))
    for _ in range(50):
        y = F.sin(y)
    assert "Sin ×50" in y._repr_svg_()


def test_without_a_program_there_is_text(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(graph_rendering, "_installed_pure", lambda: None)
    assert F.sin(Variable(np.ones(3)))._repr_svg_() is None


def test_no_error_reaches_the_notebook(monkeypatch):
    def fail(*args, **options):
        raise MemoryError

    y = F.sin(Variable(np.ones(3)))
    monkeypatch.setattr(graph_notebook, "collect", fail)
    assert y._repr_svg_() is None
    monkeypatch.setattr(graph_notebook, "_Outline", fail)
    assert MLP((3,))._repr_html_() is None


def test_a_model_shows_its_layers():
    model = MLP((10, 3))
    model(np.ones((1, 4), np.float32))
    html = model._repr_html_()
    assert "<b>MLP</b> 83 parameters" in html
    assert "l0: <b>Linear</b> 50 parameters" in html
    assert "<div>W: (4, 10) float32</div>" in html
    assert html.count("<details") == html.count("</details>") == 3


def test_layers_that_look_the_same_are_folded():
    html = GPT(5, layers=6, context=3, width=4)._repr_html_()
    assert "blocks/0 … blocks/5 ×6: <b>TransformerBlock</b>" in html
    assert "blocks/1" not in html


def test_sizes_that_are_not_known_yet():
    html = MLP((10, 10, 10))._repr_html_()
    assert "(more after the first call)" in html
    assert "×" not in html
    assert "W: shape not known yet" in html


def test_a_layer_without_anything():
    assert "<b>ReLU</b>" in L.ReLU()._repr_html_()


def test_frozen_and_hard_names():
    class Net(L.Layer):
        def __init__(self):
            super().__init__()
            self.table = {"<b>": Parameter(np.ones(2))}
            self.table["<b>"].requires_grad = False

    html = Net()._repr_html_()
    assert "table/&lt;b&gt;: (2,) float64 (frozen)" in html
