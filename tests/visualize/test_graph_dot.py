"""The DOT text: escapes, looks, frames, what is written where."""

from xml.etree import ElementTree

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero.core import Parameter, Variable
from dezero.models import GPT, Sequential
from dezero.visualize import draw_graph, draw_model, get_dot
from dezero.visualize.graph_dot import quoted, relative, scope_text
from dezero.visualize.graph_nodes import Scope
from dezero.visualize.graph_values import shorten


@pytest.fixture
def x():
    return Variable(np.ones((2, 3), np.float32), name="x")


def line_of(dot, text):
    lines = [line.strip() for line in dot.splitlines() if f'label="{text}' in line]
    assert len(lines) == 1, (text, dot)
    return lines[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", '"plain"'),
        ('say "x"', '"say \\"x\\""'),
        ("a<b & c>d", '"a&lt;b &amp; c&gt;d"'),
        ("&lt;", '"&amp;lt;"'),
        (r"\N \G\l", r'"\\N \\G\\l"'),
        ("two\nlines", r'"two\nlines"'),
        ("ε über 値", '"ε über 値"'),
        ("", '""'),
    ],
)
def test_quoted(text, expected):
    assert quoted(text) == expected


def test_quoted_flush_left():
    assert quoted("a\nb", flush_left=True) == r'"a\lb\l"'


def test_the_same_graph_gives_the_same_text():
    def dot():
        np.random.seed(0)
        model = Sequential(L.Linear(3), F.relu, L.Linear(2))
        y = F.softmax_cross_entropy(model(np.ones((2, 4), np.float32)), np.arange(2))
        return get_dot(y, model=model, verbose=2)

    text = dot()
    garbage = [np.ones(3) for _ in range(100)]  # other addresses
    assert dot() == text
    assert "0x" not in text
    del garbage


def test_it_begins_as_scripts_expect(x):
    dot = get_dot(x)
    assert dot.startswith("digraph {")
    assert dot.endswith("}\n")


def test_kinds_are_told_apart_without_colour(x):
    W = Parameter(np.ones((2, 3), np.float32), name="W")
    frozen = Parameter(np.ones((2, 3), np.float32), name="fixed")
    frozen.requires_grad = False
    y = x * W * frozen * np.ones((2, 3), np.float32)
    y.name = "y"
    dot = get_dot(y)
    assert 'shape="ellipse"' in line_of(dot, "x")
    assert 'shape="box3d"' in line_of(dot, "W")
    assert 'style="filled,dashed"' in line_of(dot, "fixed")
    assert 'label="(2, 3) float32", shape="note"' in dot
    assert 'peripheries="2"' in line_of(dot, "y")
    assert 'shape="box"' in dot


def test_verbose_levels(x):
    y = F.sum(x * 2.0, axis=1)
    y.name = "y"
    F.sum(y).backward(retain_grad=True)
    names = get_dot(y, verbose=0)
    assert "float32" not in names
    assert "(2," not in names
    assert 'label="x"' in names
    shapes = get_dot(y, verbose=1)
    assert r'label="x\n(2, 3) float32"' in shapes
    assert "grad" not in shapes
    everything = get_dot(y, verbose=2)
    assert (
        r"x\n(2, 3) float32\n1  1  1\n1  1  1\ngrad: 2  2  2\n  2  2  2" in everything
    )
    assert r"Sum\naxis=(1,)" in everything
    assert r"y\n(2,) float32\n6  6\ngrad: 1  1" in everything
    only = get_dot(y, values=True)
    assert "1  1  1" in only
    assert "grad" not in only
    assert "grad: 2  2  2" in get_dot(y, gradients=True)
    assert "grad" not in get_dot(y, verbose=2, gradients=False)


def test_a_scalar_output_shows_its_value(x):
    assert r"output\n() float32\n6" in get_dot(F.sum(x))
    assert "float32" not in get_dot(F.sum(x), verbose=0)


def test_constants_show_their_number():
    x = Variable(np.array(1.0))
    assert r'label="1.0001\n() float64", shape="note"' in get_dot(x * 1.0001)
    assert r'label="1.0001", shape="note"' in get_dot(x * 1.0001, verbose=0)


def test_results_or_shapes_at_the_arrows(x):
    y = F.exp(F.sin(x))
    nodes = get_dot(y, results=True)
    arrows = get_dot(y, results=False)
    assert nodes.count("->") == 4
    assert arrows.count("->") == 3
    assert 'label=" (2, 3) "' in arrows
    assert "Results are float32 where nothing else is said." in arrows
    assert "label" not in get_dot(y, results=False, verbose=0).split("f0 -> f1")[1][:9]


def test_another_dtype_is_said_at_the_arrow(x):
    y = F.sin(F.cast(F.exp(F.sin(F.cos(x))), np.float64))
    assert '(2, 3) float64 "' in get_dot(y, results=False)


def test_named_results_are_nodes_all_the_same(x):
    a = F.sin(x)
    a.name = "angle"
    assert r'label="angle\n(2, 3) float32"' in get_dot(F.exp(a), results=False)


def test_direction(x):
    assert 'rankdir="TB"' in get_dot(x)
    assert 'rankdir="LR"' in get_dot(x, direction="LR")


def test_names_that_are_hard(x):
    x.name = 'a"b<i>&amp;\\N\nü\x00' + "y" * 100
    dot = get_dot(F.sin(x))
    assert r'label="a\"b&lt;i&gt;&amp;amp;\\N\\n' in dot
    assert "\x00" not in dot
    assert "y" * 41 not in dot
    assert "…" in dot


def test_frames_lie_in_frames():
    dot = draw_model(GPT(5, layers=3, context=3, width=4), np.zeros((1, 3), int)).dot
    lines = dot.splitlines()
    outer = next(i for i, v in enumerate(lines) if "TransformerBlock ×3" in v)
    inner = next(i for i, v in enumerate(lines) if "attention: MultiHead" in v)
    indent = [len(lines[i]) - len(lines[i].lstrip()) for i in (outer, inner)]
    assert outer < inner
    assert indent == [4, 6]
    assert "blocks/0 … blocks/2: TransformerBlock ×3" in lines[outer]
    assert 'label="GPT' in dot
    assert dot.count("{") == dot.count("}")


def test_parameters_stand_in_the_frame_of_their_layer():
    model = Sequential(L.Linear(3, in_size=4))
    dot = get_dot(model(np.ones((1, 4), np.float32)), model=model)
    assert 'label="W\\n(4, 3) float32"' in dot
    frame = dot.index("subgraph")
    assert frame < dot.index('label="W') < dot.index("\n  }", frame)


def test_shared_parameters_stand_outside():
    class Net(L.Layer):
        def __init__(self):
            super().__init__()
            self.fc = L.Linear(4, in_size=4)

        def forward(self, x):
            return self.fc(self.fc(x))

    dot = draw_model(Net(), np.ones((1, 4), np.float32)).dot
    assert 'label="fc/W' in dot


def test_freed_and_unchained_are_dashed(x):
    y = F.exp(F.sin(x))
    y.backward(retain_graph=False)
    assert "dashed" in line_of(get_dot(y), r"Exp\n(freed)")
    a = F.sin(x)
    a.name = "a"
    y = F.exp(a)
    a.unchain()
    assert "dashed" in line_of(get_dot(y), r"a\n(unchained)")


def test_a_lazy_parameter_alone():
    assert "shape not known yet" in get_dot(Parameter(None, name="W"))


def test_scope_text():
    outer = Scope("blocks/0", "Block", 6, "blocks/5")
    assert scope_text(outer) == "blocks/0 … blocks/5: Block ×6"
    assert scope_text(Scope("blocks/0/fc", "Linear"), (outer,)) == "fc: Linear"
    assert scope_text(Scope("rnn", "RNN", 9, "rnn")) == "rnn: RNN ×9"
    assert scope_text(Scope("", "", 3)) == "×3"
    assert relative("l10/W", (Scope("l1", "Linear"),)) == "l10/W"


@pytest.mark.parametrize(
    "name",
    [
        '"',
        "\\",
        "\\N",
        "<b>",
        "&",
        "&lt;",
        "a\nb",
        "{x|y}",
        "ü 値",
        "\x00",
        "\x1b",
        "]]>",
    ],
)
def test_hard_names_can_be_read_in_the_picture(x, name):
    x.name = f"[{name}]"
    svg = draw_graph(F.sin(x)).render().decode("utf-8")
    texts = [e.text for e in ElementTree.fromstring(svg).iter() if e.text]
    assert shorten(x.name) in [text.replace("\xa0", " ") for text in texts]
