"""watch_calls: order, threads, and that the engine is left as it was."""

import threading

import numpy as np
import pytest

import dezero.functions as F
from dezero import Function, Variable
from dezero.diagnostics.calls import watch_calls


def noting(calls, label):
    def watcher(call, f, *inputs):
        calls.append((label, "before", type(f).__name__))
        y = call(f, *inputs)
        calls.append((label, "after", type(f).__name__))
        return y

    return watcher


def test_a_watcher_sees_each_call_and_the_outermost_sees_it_first():
    calls = []
    x = Variable(np.array(1.0))
    with watch_calls(noting(calls, 1)), watch_calls(noting(calls, 2)):
        y = F.sin(x)
    assert calls == [
        (1, "before", "Sin"),
        (2, "before", "Sin"),
        (2, "after", "Sin"),
        (1, "after", "Sin"),
    ]
    assert y.data == np.sin(1.0)
    F.sin(x)
    assert len(calls) == 4


def test_the_engine_is_as_it_was_after_an_error():
    before = Function.__call__
    with pytest.raises(ZeroDivisionError), watch_calls(noting([], 1)):
        raise ZeroDivisionError
    assert Function.__call__ is before


def test_blocks_that_overlap_in_two_threads_keep_to_their_own_calls():
    mine, theirs = [], []
    inside, leave = threading.Event(), threading.Event()

    def other():
        with watch_calls(noting(theirs, 2)):
            F.cos(np.array(1.0))
            inside.set()
            leave.wait()
            F.cos(np.array(1.0))

    before = Function.__call__
    thread = threading.Thread(target=other)
    with watch_calls(noting(mine, 1)):
        thread.start()
        inside.wait()
        F.sin(np.array(1.0))
    assert Function.__call__ is not before  # theirs is still open
    leave.set()
    thread.join()
    assert Function.__call__ is before
    assert {name for _, _, name in mine} == {"Sin"}
    assert len(theirs) == 4 and {name for _, _, name in theirs} == {"Cos"}
