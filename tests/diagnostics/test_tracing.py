"""Trace: what is noted of calls and of reads, and by which door values leave."""

import copy
import weakref

import numpy as np
import pytest

import dezero.functions as F
from dezero import Parameter, Variable
from dezero.diagnostics.tracing import Trace


@pytest.fixture
def w():
    return Parameter(np.array([1.5, -2.5, 3.25]), name="w")


def exits(w, f):
    trace = Trace(w)
    trace.run(f)
    return [door for value in trace.values for door, _ in value.exits]


@pytest.mark.parametrize(
    ("f", "door"),
    [
        (lambda w: w.data, ".data"),
        (lambda w: w.detach(), "detach()"),
        (lambda w: np.asarray(w), "np.asarray()"),
        (lambda w: w > 0, "a comparison"),
        (lambda w: w == 0, "a comparison"),
        (lambda w: np.ones(3) < w, "a comparison"),
        (lambda w: np.add(np.zeros(3), w, out=np.zeros(3)), "np.add()"),
        (lambda w: float(F.sum(w)), "float()"),
        (lambda w: F.sum(w).item(), "float()"),
        (lambda w: int(F.sum(w)), "float()"),
        (lambda w: copy.deepcopy(w), "a copy"),
        (lambda w: w.astype(int), "astype()"),
        (lambda w: w.argmax(), "argmax()"),
        (lambda w: np.argmax(w), "np.argmax()"),
        (lambda w: F.accuracy(w.reshape(1, 3), np.array([1])), "accuracy()"),
    ],
)
def test_doors(w, f, door):
    assert door in exits(w, lambda: f(w))


@pytest.mark.parametrize(
    "f",
    [
        lambda w: w * 2.0,
        lambda w: F.sum(w),
        lambda w: (w.shape, w.ndim, w.size, w.dtype, len(w)),
        lambda w: w.astype(np.float32),
        lambda w: w[1:] + np.sin(w)[1:],
        lambda w: np.ones(3) * w,
        lambda w: repr(w),
        lambda w: F.softmax_cross_entropy(w.reshape(1, 3), np.array([1])),
    ],
)
def test_what_is_no_door(w, f):
    assert exits(w, lambda: f(w)) == []


def test_values_of_others_are_not_noted(w):
    other = Variable(np.ones(3))
    assert exits(w, lambda: other.data) == []


def test_lines(w):
    trace = Trace(w)

    def f():
        y = F.exp(w)
        return y.data

    trace.run(f)
    ((name, lines),) = trace.uses
    assert name == "Exp" and lines[0].endswith("in f: y = F.exp(w)")
    (exit,) = [exit for value in trace.values for exit in value.exits]
    assert exit[1][0].endswith("in f: return y.data")
    assert all([line.startswith("test_tracing.py:") for line in lines[:2]])


def test_uses_of_a_raw_array_are_counted_once(w):
    trace = Trace(w)
    trace.run(lambda: w * 2.0)  # the engine calls itself with the number wrapped
    assert [name for name, _ in trace.uses] == ["Mul"]


def test_loading_weights_inside(w):
    def f():
        w.data = np.zeros(3)
        return F.sum(w)

    trace = Trace(w)
    assert trace.run(f).item() == 0.0
    assert w.data.tolist() == [0, 0, 0]


def test_nothing_is_kept_alive(w):
    refs = []

    def f():
        y = F.exp(w)
        refs.extend([weakref.ref(y), weakref.ref(y.creator)])
        return w * 2.0

    trace = Trace(w)
    trace.run(f)
    assert [ref() for ref in refs] == [None, None]
    assert [value.maker for value in trace.values] == ["", "Exp", "Mul"]
    assert trace.values[1].label == "the result of Exp (3,)"


def test_what_takes_the_place_of_the_slot(w):
    def f():
        y = Variable(w.data)
        assert isinstance(Variable.data, object)
        del y.data
        with pytest.raises(AttributeError):
            print(y.data)
        return w

    Trace(w).run(f)
    assert w.data is not None
