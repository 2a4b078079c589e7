"""Initializers."""

import copy
import pickle

import numpy as np
import pytest

import dezero.layers as L
from dezero.layers import initializers as I

SHAPE, FAN_IN, FAN_OUT = (400, 300), 400, 300


@pytest.mark.parametrize(
    ("initializer", "std"),
    [
        (I.Normal(0.3), 0.3),
        (I.LeCunNormal(), 400**-0.5),
        (I.LeCunUniform(), 400**-0.5),
        (I.GlorotNormal(), (2 / 700) ** 0.5),
        (I.GlorotUniform(), (2 / 700) ** 0.5),
        (I.HeNormal(), (2 / 400) ** 0.5),
        (I.HeUniform(), (2 / 400) ** 0.5),
        (I.HeNormal(1.0), 400**-0.5),
        (I.HeUniform(1.0), 400**-0.5),
        (I.TruncatedNormal(0.3), 0.3 * 0.8796),  # the deviation of what is left
    ],
    ids=repr,
)
def test_mean_and_deviation(initializer, std):
    np.random.seed(0)
    W = initializer(SHAPE, FAN_IN, FAN_OUT)
    assert W.shape == SHAPE
    np.testing.assert_allclose(W.std(), std, rtol=1e-2)
    assert abs(W.mean()) < 0.01 * std
    np.random.seed(0)
    np.testing.assert_array_equal(initializer(SHAPE, FAN_IN, FAN_OUT), W)
    assert not np.array_equal(initializer(SHAPE, FAN_IN, FAN_OUT), W)


def test_bounds():
    W = I.GlorotUniform()(SHAPE, FAN_IN, FAN_OUT)
    bound = (6 / 700) ** 0.5
    assert 0.99 * bound < abs(W).max() <= bound
    W = I.TruncatedNormal(0.5, limit=1.5)(SHAPE, FAN_IN, FAN_OUT)
    assert 0.74 < abs(W).max() <= 0.75


def test_constant():
    np.testing.assert_array_equal(I.Constant(2)((2, 3), 2, 3), np.full((2, 3), 2.0))
    assert not I.Constant()((2, 3), 2, 3).any()


@pytest.mark.parametrize("shape", [(5, 5), (5, 3), (3, 5), (2, 3, 2, 2), (9, 2, 2)])
def test_orthogonal(shape):
    W = I.Orthogonal(2.0)(shape, 1, 1)
    assert W.shape == shape
    W = W.reshape(shape[0], -1)
    product = W @ W.T if W.shape[0] <= W.shape[1] else W.T @ W
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-12)


def test_orthogonal_has_no_preferred_sign():
    np.random.seed(0)
    diagonals = [np.diag(I.Orthogonal()((2, 2), 2, 2)) for _ in range(300)]
    assert abs(np.mean(diagonals)) < 0.1


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda i: L.Linear(40, in_size=30, initial_W=i), (30, 40, 30, 40)),
        (
            lambda i: L.Conv2d(8, (2, 3), in_channels=4, groups=2, initial_W=i),
            (8, 2, 2, 3, 12, 24),
        ),
        (lambda i: L.Deconv1d(8, 5, in_channels=4, initial_W=i), (4, 8, 5, 20, 40)),
        (lambda i: L.Embedding(5, 6, initial_W=i), (5, 6, 5, 6)),
    ],
)
def test_layers_call_it(make, shape):
    calls = []

    def initializer(*arguments):
        calls.append(arguments)
        return np.full(arguments[0], 7.0)

    layer = make(initializer)
    assert calls == [(shape[:-2], *shape[-2:], np)]
    assert layer.W.dtype == np.float32
    assert (layer.W.data == 7).all()


def test_layers_of_no_size_yet_keep_it():
    layer = L.Linear(4, initial_W=I.Orthogonal())
    for copied in copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)), layer:
        copied(np.ones((1, 4), np.float32))
        W = copied.W.data
        np.testing.assert_allclose(W @ W.T, np.eye(4), atol=1e-5)


def wrong(W):
    return lambda: L.Linear(3, in_size=2, initial_W=lambda *_: W)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: I.Normal(-1), ValueError, "Normal: expected std >= 0, got -1"),
        (
            lambda: I.TruncatedNormal(-1),
            ValueError,
            "TruncatedNormal: expected std >= 0, got -1",
        ),
        (
            lambda: I.TruncatedNormal(1, 0.1),
            ValueError,
            "TruncatedNormal: expected limit >= 0.5, got 0.1",
        ),
        (
            lambda: I.Orthogonal()((3,), 3, 3),
            ValueError,
            r"Orthogonal: expected a shape of at least two axes, got \(3,\)",
        ),
        (
            wrong(np.ones((3, 2))),
            ValueError,
            r"Linear: expected initial_W to give an array of shape \(2, 3\), got shape "
            r"\(3, 2\)",
        ),
        (wrong(1.0), ValueError, r"of shape \(2, 3\), got float"),
        (
            lambda: L.Linear(3, initial_W=np.ones((2, 3))),
            TypeError,
            "Linear: expected initial_W to be an initializer such as HeNormal",
        ),
        (
            lambda: L.Linear(3, initial_W=I.HeNormal),
            TypeError,
            r"such as HeNormal\(\), got HeNormal",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
