"""watch_method: who sees which calls, and what is left behind."""

import threading
import types

import pytest

from dezero.diagnostics.methods import owners, watch_method


class Base:
    def f(self, x, y=0):
        """Docstring."""
        return [type(self).__name__, x, y]


class Plain(Base):
    pass


class Own(Plain):
    def f(self, x):
        return super().f(x, y=1)


def adding(log, label):
    def watcher(call, self, *args, **options):
        log.append((label, args, options))
        return [*call(self, *args, **options), label]

    return watcher


def test_calls_are_seen_and_go_on():
    log = []
    original = Base.f
    with watch_method(Base, "f", adding(log, "a")):
        assert Plain().f(1, y=2) == ["Plain", 1, 2, "a"]
        assert Base.f.__doc__ == "Docstring."
    assert log == [("a", (1,), {"y": 2})]
    assert Base.f is original
    assert Base().f(3) == ["Base", 3, 0]


def test_the_outermost_sees_what_inner_ones_do():
    log = []
    with watch_method(Base, "f", adding(log, "outer")):
        with watch_method(Base, "f", adding(log, "inner")):
            assert Base().f(1)[3:] == ["inner", "outer"]
        assert Base().f(1)[3:] == ["outer"]


def test_functions_of_a_module_are_seen_where_they_are_called_by_name():
    log = []
    module = types.ModuleType("module")
    exec("def f(x):\n    return [x]\n\ndef g(x):\n    return f(x)\n", vars(module))
    original = module.f
    with watch_method(module, "f", adding(log, "a")):
        assert module.g(1) == [1, "a"]
    assert module.f is original and module.g(1) == [1]
    assert log == [("a", (), {})]


def test_other_threads_are_left_alone():
    log, found = [], []
    original = Base.f
    with watch_method(Base, "f", adding(log, "a")):
        thread = threading.Thread(target=lambda: found.append(Base().f(1)))
        thread.start()
        thread.join()
    assert found == [["Base", 1, 0]] and log == []
    assert Base.f is original


def test_the_last_thread_puts_it_back():
    original = Base.f
    inside, leave = threading.Event(), threading.Event()

    def other():
        with watch_method(Base, "f", adding([], "b")):
            inside.set()
            assert leave.wait(60)

    thread = threading.Thread(target=other)
    with watch_method(Base, "f", adding([], "a")):
        thread.start()
        assert inside.wait(60)
    assert Base.f is not original and Base().f(1) == ["Base", 1, 0]
    leave.set()
    thread.join()
    assert Base.f is original


def test_an_error_leaves_nothing_behind():
    original = Base.f
    with pytest.raises(TypeError), watch_method(Base, "f", adding([], "a")):
        Base().f()
    assert Base.f is original


def test_owners_are_the_classes_that_define_it():
    assert list(owners(Base, "f")) == [Base, Own]
    assert list(owners(Base, "g")) == []
    assert list(owners(Plain, "f")) == [Own]
