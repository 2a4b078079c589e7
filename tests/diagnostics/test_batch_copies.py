"""Copies of a model that are run and trained; the model itself stays as it is."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.diagnostics.batch_copies import Copies
from dezero.models import MLP, Sequential
from dezero.optimizers import LBFGS, SGD, Adam

rng = np.random.default_rng(0)
X = rng.standard_normal((6, 3)).astype(np.float32)
T = rng.integers(0, 4, 6)


@pytest.fixture(autouse=True)
def seeded():
    np.random.seed(0)


def copies(model, optimizer=None, loss=F.softmax_cross_entropy, batch=(X, T)):
    return Copies(model, loss, batch, optimizer)


def weights(model):
    return {name: p.data.copy() for name, p in model.named_params()}


def test_parameters_are_made_in_the_copy_and_nothing_else_changes():
    model = Sequential(L.Linear(4), L.BatchNorm())
    model.layers[1](np.ones((2, 4), np.float32))  # its statistics exist
    own = copies(model)
    before = own.model.layers[1].avg_mean.data.copy()
    assert own.make_parameters().shape == (6, 4)
    assert own.model.layers[0].W.shape == (3, 4)
    np.testing.assert_array_equal(own.model.layers[1].avg_mean.data, before)
    assert model.layers[0].W.data is None


def test_a_copy_starts_without_a_state():
    own = copies(L.LSTM(4, in_size=3))
    model = own.take()
    first = own.forward(model).item()
    assert model.h is not None
    assert own.forward(model).item() == first


def test_inputs_and_targets_of_all_kinds():
    class Two(dz.Model):
        def __init__(self):
            self.fc = L.Linear(4)

        def forward(self, a, b):
            return self.fc(a + b)

    own = copies(Two(), batch=((X, X), T))
    assert own.inputs == (X, X) and own.targets[0] is T
    own.make_parameters()
    assert own.forward(own.take()).size == 1
    alone = copies(MLP((4,)), loss=F.sum, batch=[X])
    assert alone.targets == () and alone.forward(alone.take()).size == 1


def test_the_copy_in_float64_draws_the_same_each_time():
    own = copies(Sequential(L.Linear(8), L.Dropout(0.5), L.Linear(4)))
    own.make_parameters()
    model, loss = own.in_double()
    value = loss(model)
    assert value.dtype == np.float64
    np.random.rand(5)
    assert loss(model).item() == value.item()
    assert own.model.l0.W.dtype == np.float32


@pytest.mark.parametrize("make", [lambda: None, lambda: SGD(0.1), LBFGS])
def test_training_changes_the_copy_alone(make):
    own = copies(MLP((8, 4)), make())
    own.make_parameters()
    before = weights(own.model)
    model, optimizer = own.with_optimizer()
    assert optimizer.target is model
    assert isinstance(optimizer, type(make() or Adam()))
    first = own.step(model, optimizer)
    for _ in range(5):
        last = own.step(model, optimizer)
    assert last < first
    assert any([not np.array_equal(x, before[n]) for n, x in weights(model).items()])
    for name, x in weights(own.model).items():
        np.testing.assert_array_equal(x, before[name])


def test_an_optimizer_that_was_set_up_keeps_its_numbers():
    model = MLP((4,))
    model(X)
    own = copies(model, SGD(0.25).setup(model))
    copied, optimizer = own.with_optimizer()
    assert optimizer.target is copied and optimizer.target is not model
    assert optimizer.lr == 0.25
