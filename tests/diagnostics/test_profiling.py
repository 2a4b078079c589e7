"""profile: its arguments, its rows, and how it reads."""

import json
import re

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import Function, Parameter, Variable
from dezero.autodiff import gradients
from dezero.diagnostics import profile, profile_recording, profiling
from dezero.models import MLP
from dezero.optimizers import Adam


@pytest.fixture(scope="module")
def p():
    model = MLP((6, 3), activation=F.relu)
    optimizer = Adam().setup(model)
    with profile(model) as p:
        for _ in range(2):
            loss = F.softmax_cross_entropy(
                model(np.ones((4, 5), np.float32)), np.zeros(4, np.int64)
            )
            model.cleargrads()
            loss.backward(retain_graph=False)
            optimizer.update()
    return p


def test_it_is_found_where_people_look():
    assert dz.profile is profile
    assert "profile" in dz.__all__


def test_rows(p):
    calls = {row.name: row.calls for row in p.rows}
    expected = {
        "Linear": 4,
        "ReLU": 2,
        "SoftmaxCrossEntropy": 2,
        "Adam.update": 2,
        "backward pass": 2,
    }
    assert calls | expected == calls
    seconds = [row.seconds for row in p.rows]
    assert seconds == sorted(seconds, reverse=True)
    assert sum(seconds) + p.rest == pytest.approx(p.seconds)
    assert {row.name: row.calls for row in p.layers} == {"MLP": 2, "l0": 2, "l1": 2}
    assert p.peak_kept > 0 and p.overhead > 0


def test_passes_of_grad_have_a_row_too():
    original = gradients.run_backward
    W = Parameter(np.ones((3, 3)))

    def f(W):
        return F.sum(F.tanh(W))

    with profile() as p:
        dz.grad(f(W), W)
        dz.value_and_grad(f)(W.data)
        f(W).backward()
        dz.hvp(f, W.data, W.data)  # two passes
    (row,) = [row for row in p.rows if row.name == "backward pass"]
    assert row.calls == 5 and row.own > 0
    passes = [e for e in p._recorder.events if e.kind == "pass"]
    assert [e.name for e in passes] == ["backward pass"] * 5
    assert gradients.run_backward is original
    assert sum([row.seconds for row in p.rows]) + p.rest == pytest.approx(p.seconds)


def test_printed_it_is_tables_of_80_columns(p):
    lines = str(p).splitlines()
    assert max(map(len, lines)) <= 80
    assert re.fullmatch(
        r"Profile: [\d.]+ [mu]?s, [\d.]+ % of it in Functions\. Kept for backward: at "
        r"most \d+ B\.",
        lines[0],
    )
    assert lines[1].split() == [
        *("function", "calls", "forward", "backward"),
        *("share", "own", "output", "kept"),
    ]
    assert any([line.split()[:2] == ["Linear", "4"] for line in lines])
    assert any([line.startswith("(rest)  ") for line in lines])
    layers = lines.index("") + 1
    assert lines[layers].split() == [
        *("layer", "calls", "forward", "backward", "share", "output", "kept")
    ]
    assert {line.split()[0] for line in lines[layers + 2 : layers + 5]} == {
        *("MLP", "l0", "l1")
    }
    assert re.fullmatch(
        r"Measuring took [\d.]+ [mu]?s, which is not in the table\.", lines[-1]
    )


def test_long_names_and_large_numbers_fit():
    cls = type("AFunctionWithAnExtraordinarilyLongName", (F.Exp,), {})
    with profile() as p:
        cls()(Variable(np.ones(3)))
    totals = p._recorder.functions[cls]
    totals.calls = 12_345_678
    totals.forward = totals.backward = totals.seconds = totals.own = 123_456.0
    totals.output = totals.kept = 999 * 10**9
    assert max(map(len, str(p).splitlines())) <= 80
    assert "Name  12345678" in str(p)


def test_classes_of_one_name_are_told_apart():
    other = type("Exp", (F.Exp,), {"__module__": "mine"})
    with profile() as p:
        other()(F.exp(Variable(np.ones(3))))
    names = {row.name for row in p.rows}
    assert names == {"mine.Exp", f"{F.Exp.__module__}.Exp"}


def test_in_a_notebook(p):
    html = p._repr_html_()
    assert html.count("<table>") == 2
    assert "<td" in html and "Linear" in html and "Measuring took" in html
    assert repr(p) == f"<{p.title()}>"


def test_names_are_escaped_in_html():
    cls = type("A<b>", (F.Exp,), {})
    with profile() as p:
        cls()(Variable(np.ones(3)))
    assert "A&lt;b&gt;" in p._repr_html_() and "A<b>" not in p._repr_html_()


def test_as_data(p):
    found = p.to_dict()
    assert json.loads(json.dumps(found)) == found
    assert set(found) == {"seconds", "rest", "overhead", "peak_kept", "rows", "layers"}
    row = found["rows"][0]
    assert set(row) == {
        *("name", "calls", "forward", "backward", "seconds", "own", "output", "kept")
    }
    assert [row["name"] for row in found["layers"]] == [row.name for row in p.layers]


def test_nothing_called():
    with profile() as p:
        pass
    assert str(p) == p.title() == "Profile: nothing was called."
    assert p.rows == p.layers == []
    assert p._repr_html_() == "<p><b>Profile: nothing was called.</b></p>"
    never = profile()
    assert (never.seconds, never.rest, never.peak_kept) == (0, 0, 0)
    assert str(never) == str(p)


def test_float64_out_of_float32_is_told():
    x = Variable(np.ones(3, np.float32))
    with profile() as p:
        for _ in range(2):
            x * np.ones(3)
    (note, _) = p.notes()
    assert re.fullmatch(
        r"float64: 2 calls of Mul made float64 out of float32, first at "
        r"test_profiling\.py:\d+ in test_float64_out_of_float32_is_told: x \* "
        r"np\.ones\(3\)\. That takes twice the time and memory from there on\.",
        note,
    )
    assert max(map(len, str(p).splitlines())) <= 80


def test_a_trace_that_was_cut_says_so(monkeypatch):
    monkeypatch.setattr(profile_recording, "MAX_EVENTS", 2)
    monkeypatch.setattr(profiling, "MAX_EVENTS", 2)
    with profile() as p:
        for _ in range(1003):
            F.exp(Variable(np.ones(3)))
    assert (
        p.notes()[-1] == "The trace has the first 2 events; 1,001 more were not kept."
    )


# ---- errors ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "got"), [(print, "builtin_function_or_method"), (MLP, "the class MLP")]
)
def test_a_model_that_is_none(model, got):
    with pytest.raises(TypeError, match=rf"^profile: expected a Layer, got {got}$"):
        profile(model)


def test_a_synchronize_that_is_no_switch():
    text = r"^profile: expected synchronize to be True or False, got int$"
    with pytest.raises(TypeError, match=text):
        profile(synchronize=1)


def test_a_block_inside_a_block_of_the_same_profile():
    text = (
        r"^profile: expected one block after the other, got one inside another of the "
        r"same profile; make a profile for each$"
    )
    call = Function.__call__
    p = profile(L.Linear(1))
    with p:
        with pytest.raises(RuntimeError, match=text), p:
            raise AssertionError("must not be entered")
        F.exp(Variable(np.ones(3)))
    assert [row.calls for row in p.rows] == [1]
    assert Function.__call__ is call
