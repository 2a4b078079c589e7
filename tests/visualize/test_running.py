"""A model runs for a picture, and nothing of that remains."""

import random

import numpy as np
import pytest

import dezero.layers as L
from dezero import Config, Variable
from dezero.models import MLP, Sequential
from dezero.visualize.running import (
    as_input,
    copied,
    find_layer,
    layers_by_name,
    undisturbed,
    watch,
)


def states():
    return np.random.get_state()[1].tolist(), random.getstate()


def test_undisturbed():
    before = states()
    with undisturbed():
        assert not Config.train and not Config.enable_backprop
        np.random.rand()
        random.random()
    assert states() == before and Config.train and Config.enable_backprop


def test_layers_are_copied_and_functions_are_not():
    model = MLP((2,))
    other = copied("f", model)
    assert other is not model and isinstance(other, MLP)
    assert copied("f", abs) is abs


def test_layers_by_name():
    model = Sequential(L.Linear(2), L.ReLU())
    found = layers_by_name("f", model)
    assert list(found) == ["l0", "l1"]
    assert find_layer("f", found, "l1") is model.l1


def test_watching_one_layer():
    model = copied("f", Sequential(L.Linear(2), L.Linear(3)))
    seen = []
    watch(model.l0, seen.append)
    y = model(np.ones((1, 4), np.float32))
    assert [v.shape for v in seen] == [(1, 2)] and y.shape == (1, 3)
    assert type(model.l0).__name__ == "Linear" and type(model.l1) is L.Linear


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        ([[1.0]], np.float32),
        ([[1]], np.int64),
        (np.ones(2, np.float64), np.float64),
        (Variable(np.ones(2, np.float16)), np.float16),
    ],
)
def test_inputs(x, dtype):
    found = as_input("f", x)
    assert type(found) is np.ndarray and found.dtype == dtype


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: copied("f", 3), "model to be a Layer or a function of x, got int"),
        (lambda: copied("f", MLP), "model to be .*, got the class MLP"),
        (lambda: layers_by_name("f", abs), "model to be a Layer, got builtin_function"),
        (lambda: layers_by_name("f", MLP), "model to be a Layer, got the class MLP"),
        (lambda: as_input("f", "a"), "x to hold numbers, got dtype <U1"),
    ],
)
def test_wrong_types(call, message):
    with pytest.raises(TypeError, match=f"^f: expected {message}"):
        call()


def test_an_unknown_layer():
    with pytest.raises(ValueError, match="one of a, b; got 'c'"):
        find_layer("f", {"a": L.ReLU(), "b": L.ReLU()}, "c")
