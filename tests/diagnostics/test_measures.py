"""Norms that do not overflow, and the parameters of what was given."""

import numpy as np
import pytest

import dezero.layers as L
from dezero import Parameter
from dezero.diagnostics.measures import is_finite, named_parameters, norm
from dezero.diagnostics.states import unchanged_random_states


def test_norms():
    assert norm(np.full(4, 6e4, np.float16)) == pytest.approx(12e4, rel=1e-3)
    assert norm(np.full(4, 1e38, np.float32)) == pytest.approx(2e38)
    assert norm(np.full(4, 1e300)) == pytest.approx(2e300)
    assert norm(np.full(4, 1e-300)) == pytest.approx(2e-300)
    assert norm(np.array([np.inf])) == np.inf
    assert norm(np.zeros(0)) == norm(np.zeros(3)) == 0.0
    assert np.isnan(norm(np.array([np.nan])))


def test_finite():
    assert is_finite(np.arange(3)) and is_finite(np.ones(3))
    assert not is_finite(np.array([1.0, np.inf]))


def test_names_of_a_layer_and_of_a_list():
    layer = L.Linear(2, in_size=3)
    assert [name for name, _ in named_parameters("f", layer)] == ["W", "b"]
    a, b = Parameter(np.ones(1), name="a"), Parameter(np.ones(1))
    assert [name for name, _ in named_parameters("f", [a, b, a])] == ["a", "1"]


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (L.ReLU(), ValueError, "f: expected parameters, got ReLU without any"),
        ([], ValueError, "f: expected parameters, got list without any"),
        (3, TypeError, "f: expected a Layer or an iterable of Parameters, got int"),
        (L.Linear, TypeError, "f: expected a Layer .*, got a class"),
        ([1], TypeError, "f: expected a Layer .*, got int among them"),
        (Parameter(np.ones(1)), TypeError, "f: .*, got a single Parameter"),
    ],
)
def test_errors(model, error, message):
    with pytest.raises(error, match=message):
        named_parameters("f", model)


def test_random_states_are_given_back():
    import random

    before = np.random.get_state()[2], random.getstate()
    with unchanged_random_states():
        np.random.rand(), random.random()
    assert np.random.get_state()[2] == before[0] and random.getstate() == before[1]
