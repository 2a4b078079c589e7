"""Config: thread-local switches that come back on any exit."""

import threading

import numpy as np
import pytest

import dezero as dz


def test_defaults():
    assert dz.Config.enable_backprop is True
    assert dz.Config.train is True


def test_using_config_restores_after_an_exception():
    with pytest.raises(ZeroDivisionError), dz.using_config("train", False):
        assert dz.Config.train is False
        _ = 1 / 0
    assert dz.Config.train is True


def test_contexts_nest():
    with dz.no_grad():
        with dz.no_grad():
            pass
        assert dz.Config.enable_backprop is False
    assert dz.Config.enable_backprop is True


@pytest.mark.parametrize(
    ("context", "switch"), [(dz.no_grad, "enable_backprop"), (dz.test_mode, "train")]
)
def test_contexts_decorate_functions_that_call_themselves(context, switch):
    seen = []

    @context()
    def f(n):
        """Count down."""
        seen.append(getattr(dz.Config, switch))
        if n:
            f(n - 1)

    f(2)
    f(0)
    assert seen == [False] * 4
    assert getattr(dz.Config, switch) is True
    assert f.__doc__ == "Count down."


def test_unknown_switch():
    with pytest.raises(AttributeError, match="using_config: expected .* got 'trian'"):
        with dz.using_config("trian", False):
            pass


def test_assigning_an_unknown_switch():
    with pytest.raises(
        AttributeError, match="Config: expected .* got 'enable_backprob'"
    ):
        dz.Config.enable_backprob = False


def test_assignment_works_and_stays_in_its_thread():
    seen = {}

    def work():
        seen["start"] = dz.Config.train
        dz.Config.train = False
        seen["set"] = dz.Config.train

    dz.Config.enable_backprop = False
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        dz.Config.enable_backprop = True
    assert seen == {"start": True, "set": False}
    assert dz.Config.train is True


def test_test_mode_is_not_collected_by_pytest():
    assert dz.test_mode.__test__ is False


def test_no_grad_in_another_thread_leaves_this_one_recording():
    inside, leave = threading.Event(), threading.Event()

    def evaluate():
        with dz.no_grad():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=evaluate)
    thread.start()
    try:
        assert inside.wait(10)
        x = dz.Variable(np.array(5.0))
        (x * x).backward()
        assert float(x.grad) == 10.0
    finally:
        leave.set()
        thread.join()


def test_one_object_serves_several_blocks():
    off = dz.no_grad()
    for _ in range(2):
        with off, off:
            assert dz.Config.enable_backprop is False
        assert dz.Config.enable_backprop is True


def test_a_decorated_generator_function_is_switched_while_it_runs():
    log = []

    @dz.no_grad()
    def count(n):
        """Count up."""
        try:
            for i in range(n):
                try:
                    log.append((yield i, dz.Config.enable_backprop))
                except ZeroDivisionError:
                    log.append(dz.Config.enable_backprop)
            return "end"
        finally:
            log.append(dz.Config.enable_backprop)

    assert count.__doc__ == "Count up."
    steps = count(3)
    assert next(steps) == (0, False)
    assert dz.Config.enable_backprop is True
    assert steps.send("sent") == (1, False)
    assert steps.throw(ZeroDivisionError()) == (2, False)
    with pytest.raises(StopIteration, match="end"):
        next(steps)
    assert log == ["sent", False, None, False]

    left = count(3)
    next(left)
    left.close()
    assert log[4:] == [False]
    with pytest.raises(ValueError, match="from outside"):
        left = count(3)
        next(left)
        left.throw(ValueError("from outside"))
    assert dz.Config.enable_backprop is True
