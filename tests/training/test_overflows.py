"""Warnings of NumPy that are held back: given later, or dropped for an error."""

import threading
import warnings

import numpy as np
import pytest

from dezero.training.overflows import HeldBack

BIG = np.array([1e38], np.float32)


def overflow():
    return BIG * BIG  # the line that warnings are for


@pytest.fixture
def seen():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def test_they_are_given_at_the_end_for_their_lines(seen):
    with HeldBack():
        overflow()
        np.array([np.inf]) - np.inf
        overflow()
        assert seen == []
    assert [str(w.message) for w in seen] == [
        "overflow encountered",
        "invalid value encountered",
    ]
    assert {w.category for w in seen} == {RuntimeWarning}
    assert seen[0].filename == __file__
    code = overflow.__code__
    assert code.co_firstlineno < seen[0].lineno <= code.co_firstlineno + 1
    overflow()  # as before
    assert "overflow encountered in multiply" in str(seen[-1].message)


def test_filters_count_as_for_warnings_of_numpy():
    with pytest.raises(RuntimeWarning, match="overflow encountered"), HeldBack():
        overflow()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=__name__)
        with HeldBack():
            overflow()


def test_code_without_a_module(seen):
    with HeldBack():
        exec("x * x", {"x": BIG})
    assert [w.filename for w in seen] == ["<string>"]


def test_dropped_they_are_gone(seen):
    with HeldBack() as held:
        overflow()
        held.drop()
    assert seen == []


def test_another_error_stays_what_it_is(seen):
    with pytest.raises(KeyError), HeldBack():
        overflow()
        raise KeyError
    assert len(seen) == 1
    with pytest.raises(KeyError), warnings.catch_warnings():
        warnings.simplefilter("error")
        with HeldBack():
            overflow()
            raise KeyError


@pytest.mark.parametrize("mode", ["ignore", "raise", "print"])
def test_who_asked_for_something_else_gets_it(seen, capfd, mode):
    with np.errstate(all=mode):
        if mode == "raise":
            with pytest.raises(FloatingPointError, match="overflow"), HeldBack():
                overflow()
        else:
            with HeldBack():
                overflow()
    assert seen == []
    assert ("overflow" in "".join(capfd.readouterr())) == (mode == "print")


def test_a_function_of_the_user_is_called(seen):
    calls = []
    with np.errstate(over="call", call=lambda kind, flag: calls.append(kind)):
        with HeldBack():
            overflow()
            np.array([np.inf]) - np.inf  # of this NumPy warns
        assert calls == ["overflow"]
        assert np.geterr()["over"] == "call"
    assert ["invalid value" in str(w.message) for w in seen] == [True]


def test_the_state_is_as_before(seen):
    before = np.geterr(), np.geterrcall()
    with HeldBack():
        pass
    with pytest.raises(KeyError), HeldBack():
        raise KeyError
    assert (np.geterr(), np.geterrcall()) == before


def test_other_threads_are_left_alone(seen):
    with HeldBack():
        thread = threading.Thread(target=overflow)
        thread.start()
        thread.join()
        assert len(seen) == 1
