"""The trace file: what viewers ask of it, and that it is whole or not there."""

import json
import os
import threading

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero import Variable
from dezero.diagnostics import profile
from dezero.diagnostics.profile_recording import Event
from dezero.diagnostics.profile_trace import write_trace
from dezero.optimizers import SGD


@pytest.fixture
def trace(tmp_path):
    model = L.Linear(2)
    optimizer = SGD().setup(model)
    with profile(model) as p:
        loss = F.sum(model(np.ones((4, 3), np.float32)))
        loss.backward()
        optimizer.update()
    path = tmp_path / "trace.json"
    p.save_trace(path)
    assert os.listdir(tmp_path) == ["trace.json"]
    return json.loads(path.read_text())


def test_every_event_has_what_the_format_asks_for(trace):
    assert set(trace) == {"traceEvents", "displayTimeUnit"}
    assert trace["displayTimeUnit"] == "ms"
    for event in trace["traceEvents"]:
        assert event["pid"] == os.getpid()
        assert event["tid"] == threading.get_native_id()
        assert isinstance(event["args"], dict)
        if event["ph"] == "X":
            assert event["ts"] >= 0 and event["dur"] >= 0
        else:
            assert event["ph"] == "M" and event["args"]["name"]


def test_events_tell_what_ran(trace):
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    found = {(e["cat"], e["name"]) for e in events}
    assert {
        ("forward", "Linear"),
        ("backward", "Linear"),
        ("forward", "Sum"),
        ("backward", "Sum"),
        ("layer", "Linear"),
        ("pass", "backward pass"),
        ("update", "SGD.update"),
    } <= found
    (linear,) = [e for e in events if (e["cat"], e["name"]) == ("forward", "Linear")]
    assert linear["args"]["inputs"] == [[4, 3], [3, 2], [2]]
    assert linear["args"]["outputs"] == [[4, 2]]
    assert linear["args"]["bytes"] == 32
    assert linear["args"]["layer"] == "Linear"
    line = linear["args"]["line"]
    assert line.startswith("test_profile_trace.py:")
    assert line.endswith(": loss = F.sum(model(np.ones((4, 3), np.float32)))")


def test_events_lie_inside_one_another(trace):
    events = [e for e in trace["traceEvents"] if e["ph"] == "X"]
    assert events == sorted(events, key=lambda e: e["ts"])

    def span(kind, name):
        (e,) = [e for e in events if (e["cat"], e["name"]) == (kind, name)]
        return e["ts"], e["ts"] + e["dur"]

    def inside(inner, outer):
        rounding = 0.002
        assert outer[0] <= inner[0] + rounding and inner[1] <= outer[1] + rounding

    inside(span("forward", "Linear"), span("layer", "Linear"))
    inside(span("backward", "Linear"), span("pass", "backward pass"))


def test_threads_have_names(tmp_path):
    main = threading.main_thread().native_id
    events = [
        Event("forward", "A", 1.5, 2.0, main, {"line": ""}),
        Event("forward", "B", 1.0, 1.25, 7, {"layer": "l0"}),
    ]
    path = tmp_path / "trace.json"
    write_trace(path, events, 1.0)
    rows = json.loads(path.read_text())["traceEvents"]
    names = {r["tid"]: r["args"]["name"] for r in rows if r["name"] == "thread_name"}
    assert names == {7: "thread 7", main: "main thread"}
    b, a = rows[-2:]
    assert (b["name"], b["ts"], b["dur"], b["args"]) == (
        "B",
        0,
        250000,
        {"layer": "l0"},
    )
    assert (a["name"], a["ts"], a["dur"], a["args"]) == ("A", 500000, 500000, {})


def test_a_folder_that_is_missing(tmp_path):
    with profile() as p:
        F.sum(Variable(np.ones(3)))
    with pytest.raises(FileNotFoundError, match=r"nowhere"):
        p.save_trace(tmp_path / "nowhere" / "trace.json")


def test_an_older_file_stays_until_the_new_one_is_complete(tmp_path, monkeypatch):
    path = tmp_path / "trace.json"
    path.write_text("old")
    with profile() as p:
        F.sum(Variable(np.ones(3)))

    def fail(*args):
        raise OSError("on purpose")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="on purpose"):
        p.save_trace(path)
    monkeypatch.undo()
    assert path.read_text() == "old"
    p.save_trace(path)
    assert json.loads(path.read_text())["traceEvents"]
    assert os.listdir(tmp_path) == ["trace.json"]
