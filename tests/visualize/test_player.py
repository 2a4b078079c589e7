"""The player's page: what is written, what is refused, and that no text breaks out."""

import html.parser
import inspect
import itertools
import json
import os
import pathlib
import pkgutil
import re
from importlib import import_module

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.models as M
from dezero.core import Function, Variable
from dezero.visualize import backward_player, player_page
from dezero.visualize.player_layout import lay_out
from dezero.visualize.player_rules import RULES, rule_of
from dezero.visualize.player_values import Snapshot


def diamond():
    x = Variable(np.array(2.0), name="x")
    a = x**2
    return x, a, a**2 + a**2


def page(tmp_path, y, **options):
    return backward_player(y, tmp_path / "player.html", **options).html


def record_of(page):
    text = re.search(
        r'<script type="application/json" id="record">(.*?)</script>', page
    )
    return json.loads(text[1], parse_constant=pytest.fail)


# ---- the file --------------------------------------------------------------------


def test_what_is_returned_is_where_it_is(tmp_path):
    _, _, y = diamond()
    path = tmp_path / "a folder" / "player.html"
    path.parent.mkdir()
    made = backward_player(y, path)
    assert os.fspath(made) == str(path)
    assert pathlib.Path(made).read_text(encoding="utf-8") == made.html
    assert repr(made) == f"PlayerPage({str(path)!r})"
    assert os.listdir(path.parent) == ["player.html"]


def test_what_was_there_is_replaced_at_once_or_not_at_all(tmp_path):
    path = tmp_path / "player.html"
    path.write_text("old")
    with pytest.raises(RuntimeError):
        backward_player(Variable(np.ones(2)), path)
    assert path.read_text() == "old"
    backward_player(diamond()[2], str(path))
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_in_a_notebook_it_shows_itself(tmp_path):
    made = backward_player(diamond()[2], tmp_path / "player.html")

    class Frame(html.parser.HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert tag == "iframe"
            self.found = dict(attributes)

    frame = Frame()
    frame.feed(made._repr_html_())
    assert frame.found["srcdoc"] == made.html
    assert frame.found["sandbox"] == "allow-scripts"
    assert frame.found["title"]


def test_the_page_needs_nothing_else(tmp_path):
    text = page(tmp_path, diamond()[2])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    addresses = set(re.findall(r"https?://[^\"' )]+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not a place
    assert "{{" not in text
    assert not re.search(r"\binnerHTML|\beval\(|\bsrc=|@import", text)


def test_the_same_graph_makes_the_same_page(tmp_path):
    assert page(tmp_path, diamond()[2]) == page(tmp_path, diamond()[2])


# ---- what it says ----------------------------------------------------------------


def test_steps_of_the_diamond(tmp_path):
    x, a, y = diamond()
    record = record_of(page(tmp_path, y, names={"a": a, "y": y}))
    titles = [step["title"] for step in record["priority"]]
    assert titles == [
        "Where it starts",
        "Pop 1 of 4: Add",
        "Pop 2 of 4: Pow",
        "Pop 3 of 4: Pow",
        "Pop 4 of 4: Pow",
        "The gradients of the leaves",
    ]
    third = record["priority"][3]
    assert third["sums"] == [["a", "8", "8", "16", "2 of 2 arrived: complete", ""]]
    assert third["rule"] == "gx = gy · c · x^(c − 1)"
    assert third["freed"] == ["a (float64 a number)"]
    assert third["say"] == (
        "Pow (generation 1) is popped: the highest generation there. Its gradient is "
        "1. a gets 8 more: 8 + 8 = 16 (2 of 2 arrived: complete)."
    )
    assert record["priority"][-1]["end"] == [["x", "64", ""]]
    assert record["forward"][1]["say"] == "Pow of x gives a = 4. Its generation is 0."
    assert x.grad is None


def test_the_stack_is_marked_wrong_in_words(tmp_path):
    record = record_of(page(tmp_path, diamond()[2]))
    stack = record["stack"]
    early = [step for step in stack if "incomplete: 1 of 2 arrived" in step["say"]]
    assert early
    assert all(step["wrong"] for step in early)
    assert "runs for the 2nd time" in stack[-2]["say"]
    assert "wrong sum: right is 64" in stack[-2]["sums"][0][4]
    assert stack[-1]["end"] == [["x", "96", "wrong: right is 64"]]
    assert "1 gradient of 1 wrong" in stack[-1]["say"]
    assert not any("wrong" in step for step in record["priority"])


def test_a_chain_is_right_with_a_stack_too(tmp_path):
    y = F.sin(Variable(np.array(1.0)) * 2.0)
    record = record_of(page(tmp_path, y))
    assert "gets it right as well" in record["stack"][-1]["say"]
    assert not any("wrong" in step for step in record["stack"])


def test_a_stack_that_takes_too_long_is_stopped(tmp_path):
    y = Variable(np.array(1.0))
    for _ in range(12):
        y = y + y * 0.5
    end = record_of(page(tmp_path, y))["stack"][-1]
    assert "with Functions still on the stack" in end["say"]


def test_names(tmp_path):
    np.random.seed(0)
    model = M.MLP((2, 1))
    x = np.ones((3, 2), np.float32)
    loss = F.mean_squared_error(model(x), np.zeros((3, 1), np.float32))
    record = record_of(page(tmp_path, loss, names={"model": model, "loss": loss}))
    leaves = {row[0] for row in record["priority"][-1]["end"]}
    assert leaves == {"model/l0/W", "model/l0/b", "model/l1/W", "model/l1/b"}
    assert record["words"][-1].startswith("loss = MeanSquaredError(")


def test_names_of_their_own_and_numbers(tmp_path):
    a, b = Variable(np.array(1.0), name="w"), Variable(np.array(2.0), name="w")
    c = Variable(np.array(3.0))
    text = page(tmp_path, a * b * c)
    names = {row[0] for row in record_of(text)["priority"][-1]["end"]}
    assert {"w", "w (2)"} <= names
    assert len(names) == 3
    assert "<title>Backward pass of y</title>" in text


def test_large_arrays_are_summed_up(tmp_path):
    x = Variable(np.arange(100, dtype=np.float32).reshape(4, 25), name="x")
    record = record_of(page(tmp_path, F.sum(x * x)))
    (row,) = record["priority"][-1]["end"]
    assert row[1] == "float32 4 × 25, mean 99, from 0 to 198"


def test_a_gradient_that_is_there_is_mentioned(tmp_path):
    x, _, y = diamond()
    y.backward()
    record = record_of(page(tmp_path, y))
    assert record["priority"][-1]["end"] == [
        ["x", "64", "backward() would add it to the .grad that is there"]
    ]
    assert x.grad.data == 64


def test_a_leaf_that_was_frozen_is_mentioned(tmp_path):
    x, _, y = diamond()
    x.requires_grad = False
    end = record_of(page(tmp_path, y))["priority"][-1]["end"]
    assert end[0][2] == "not stored: it requires no gradient any more"


def test_where_the_pass_starts(tmp_path):
    _, _, y = diamond()
    assert "starts with ones, one for each element of y: 1." in page(tmp_path, y)
    y.grad = np.array(0.5)
    text = page(tmp_path, y)
    assert "starts with the gradient assigned to y.grad: 0.5." in text
    assert record_of(text)["priority"][-1]["end"][0][1] == "32"
    assert y.grad.data == 0.5
    x = Variable(np.array([1.0, 2.0, 3.0]))
    assert "one for each element of y: [1, 1, 1]." in page(tmp_path, x * x)


def test_numbers_that_are_none(tmp_path):
    x = Variable(np.array([0.0, np.inf, np.nan], np.float32), name="x")
    text = page(tmp_path, F.sum(x * 2.0))
    record = record_of(text)  # it would fail on NaN or Infinity
    assert record["forward"][0]["given"][0] == ["x", "leaf", "[0, inf, nan]"]


@pytest.mark.parametrize(
    "x, text",
    [
        (np.float16(1 / 3), "0.3333"),
        (np.float32(1 / 3), "0.333333"),
        (np.int64(-12), "-12"),
        (np.array([True, False]), "[True, False]"),
        (np.array([[1.5, -0.0]]), "[[1.5, -0]]"),
        (np.zeros((0, 3)), "float64 0 × 3"),
        (np.full(20, np.nan, np.float16), "float16 20, 20 NaN"),
        (
            np.array([np.inf] * 3 + [np.nan] + [1.0] * 16),
            "float64 20, mean 1, from 1 to 1, 1 NaN, 3 infinite",
        ),
        (np.full(20, 60000, np.float16), "float16 20, mean 60000, from 6e+04 to 6e+04"),
        (np.full(20, 1e308), "float64 20, mean inf, from 1e+308 to 1e+308"),
    ],
)
def test_numbers_as_text(x, text):
    assert Snapshot.of(x).text() == text


def test_numbers_in_a_sentence():
    texts = [
        Snapshot.of(x).brief()
        for x in (
            np.array([1.0, np.nan]),
            np.arange(4.0),
            np.array([np.inf, np.nan, 1.0, np.nan]),
            np.zeros((0, 2), np.float32),
        )
    ]
    assert texts == [
        "[1, nan]",
        "float64 4 of mean 1.5",
        "float64 4 with 2 NaN and 1 infinite",
        "float32 0 × 2",
    ]


# ---- no text breaks out ----------------------------------------------------------

NASTY = (
    '</script><script>alert("1")</script><img src=x onerror=alert(1)>&amp;\u2028\'{{'
)


class Tags(html.parser.HTMLParser):
    """The elements of a page."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, sorted(name for name, _ in attributes)))


def tags(text):
    parser = Tags()
    parser.feed(text)
    return parser.found


def test_names_and_title_stay_text(tmp_path):
    x, a, y = diamond()
    plain = page(tmp_path, y, names={"x": x, "a": a, "y": y}, title="A title")
    x.name = NASTY
    names = {NASTY + "a": a, NASTY + "y": y}
    text = page(tmp_path, y, names=names, title=NASTY)
    assert tags(text) == tags(plain)
    assert record_of(text)["priority"][-1]["end"][0][0] == NASTY


def test_class_names_and_docstrings_stay_text(tmp_path):
    class Plain(Function):
        """Twice."""

        def forward(self, x):
            return x * 2

        def backward(self, gy):
            return gy * 2

    nasty = type(NASTY, (Plain,), {"__doc__": NASTY, "__module__": "user"})
    x = Variable(np.array(1.0))
    text = page(tmp_path, nasty()(x))
    assert tags(text) == tags(page(tmp_path, Plain()(x)))
    assert record_of(text)["priority"][1]["rule"] == NASTY


def test_half_a_character_can_be_a_name(tmp_path):
    x, _, y = diamond()
    x.name = "\ud800"
    page(tmp_path, y, title="\ud800")
    assert (tmp_path / "player.html").read_bytes()


# ---- refused ---------------------------------------------------------------------


def long_chain(n):
    y = Variable(np.array(1.0))
    for _ in range(n):
        y = -y
    return y


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: np.ones(2), TypeError, "expected a Variable as y, got ndarray"),
        (lambda: Variable(np.ones(2)), RuntimeError, "with a graph .* got a leaf"),
        (lambda: dz.as_variable(2.0) * 3, RuntimeError, "a graph .* got a constant"),
        (lambda: long_chain(301), ValueError, "at most 300 Functions, got 301"),
    ],
)
def test_what_is_no_result(tmp_path, make, error, message):
    with pytest.raises(error, match=f"backward_player: {message}|{message}"):
        backward_player(make(), tmp_path / "player.html")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["player.png", "player", "player.html.gz"])
def test_a_page_ends_in_html(tmp_path, name):
    with pytest.raises(ValueError, match=r"a path that ends in \.html.*" + name):
        backward_player(diamond()[2], tmp_path / name)


def test_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        backward_player(diamond()[2], tmp_path / "missing" / "player.html")


def test_names_that_are_none(tmp_path):
    path = tmp_path / "player.html"
    with pytest.raises(TypeError, match="names as a dict of Variables .* got list"):
        backward_player(diamond()[2], path, names=["x"])
    with pytest.raises(TypeError, match="Variables and Layers .* got float for 'x'"):
        backward_player(diamond()[2], path, names={"x": 1.0})


def test_the_largest_graph(tmp_path):
    assert len(record_of(page(tmp_path, long_chain(300)))["priority"]) == 302


# ---- rules -----------------------------------------------------------------------


def classes_of_functions():
    for info in pkgutil.iter_modules(F.__path__):
        module = import_module(f"dezero.functions.{info.name}")
        for name, cls in vars(module).items():
            if inspect.isclass(cls) and cls.__module__ == module.__name__:
                if issubclass(cls, Function):
                    yield name, cls


def test_every_rule_is_that_of_a_class():
    known = {name for name, _ in classes_of_functions()}
    assert set(RULES) - known == {"Identity"}  # that of the engine


def test_public_functions_have_rules():
    public = {name for name, cls in classes_of_functions() if hasattr(F, name)}
    assert public - set(RULES) <= {"Elementwise"}  # the base class


def test_rules_of_a_user_s_class():
    class Documented(Function):
        """Says in
        two lines what it does.

        And more.
        """

    class Bare(Function):
        pass

    class Sin(Function):
        pass

    assert rule_of(Documented()) == "Says in two lines what it does."
    assert rule_of(Bare()) == "what Bare.backward computes"
    assert rule_of(Sin()) == "what Sin.backward computes"


# ---- layout ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_boxes_do_not_overlap_and_edges_lead_down(seed):
    rng = np.random.default_rng(seed)
    n = 40
    sizes = {f"n{i}": (float(rng.integers(40, 160)), 40.0) for i in range(n)}
    edges = [
        (f"n{i}", f"n{j}")
        for j in range(1, n)
        for i in rng.integers(max(j - 9, 0), j, 2)
    ]
    drawing = lay_out(sizes, edges)
    boxes = list(drawing.boxes.values())
    for (a, b), path in zip(edges, drawing.paths, strict=True):
        assert path[0] is drawing.boxes[a]
        assert path[-1] is drawing.boxes[b]
        assert all(
            upper.y + upper.height / 2 < lower.y - lower.height / 2
            for upper, lower in zip(path, path[1:], strict=False)
        )
    passed = {id(box): box for path in drawing.paths for box in path}.values()
    for box in boxes:
        assert 0 <= box.x - box.width / 2 <= box.x + box.width / 2 <= drawing.width
        assert 0 <= box.y - box.height / 2 <= box.y + box.height / 2 <= drawing.height
        for other in passed:
            apart = abs(box.x - other.x) - (box.width + other.width) / 2
            assert box is other or box.rank != other.rank or apart > 10


def test_a_chain_is_drawn_straight():
    ids = [f"n{i}" for i in range(6)]
    drawing = lay_out(
        {id_: (50.0 + 10 * i, 30.0) for i, id_ in enumerate(ids)},
        list(zip(ids, ids[1:], strict=False)),
    )
    assert len({round(box.x, 6) for box in drawing.boxes.values()}) == 1


# ---- contrast --------------------------------------------------------------------

TEXT_ON_GROUND = [
    *itertools.product(["text", "soft"], ["page", "card", "step", "value"]),
    *itertools.product(["text", "soft"], ["active-fill", "done-fill"]),
    *itertools.product(["text", "soft"], ["partial-fill", "wrong-fill"]),
    *[(name, f"{name}-fill") for name in ("partial", "done", "wrong")],
    ("text", "button"),
    ("done", "value"),
    ("wrong", "page"),
]


def luminance(colour):
    """Relative luminance, as the Web Content Accessibility Guidelines define it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    weights = (0.2126, 0.7152, 0.0722)
    linear = [
        x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts
    ]
    return sum(w * x for w, x in zip(weights, linear, strict=True))


@pytest.mark.parametrize("theme", [0, 1])
def test_contrast_of_text(theme):
    style = (
        pathlib.Path(player_page.__file__).with_name("player.css").read_text("utf-8")
    )
    blocks = re.findall(r"^:root.*?\{(.*?)^\}", style, re.MULTILINE | re.DOTALL)
    colours = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", b)) for b in blocks]
    assert colours[0].keys() == colours[1].keys()
    for text, ground in TEXT_ON_GROUND:
        levels = sorted([luminance(colours[theme][name]) for name in (text, ground)])
        assert (levels[1] + 0.05) / (levels[0] + 0.05) >= 4.5, (text, ground)
