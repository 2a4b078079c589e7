"""Embedding."""

import copy
import pickle

import numpy as np
import pytest

import dezero.layers as L
from dezero.core import Variable
from dezero.testing import check_gradients


@pytest.mark.parametrize("wrap", [lambda x: x, Variable])
@pytest.mark.parametrize("ids", [[1, 1, 4], [[0, 2], [2, 3]], 3, np.zeros((0,), int)])
def test_looks_up(wrap, ids):
    layer, ids = L.EmbedID(5, 3), np.array(ids)
    y = layer(wrap(ids))
    np.testing.assert_array_equal(y.data, layer.W.data[ids])
    assert y.dtype == np.float32


def test_gradients():
    layer = L.Embedding(5, 3, dtype=np.float64)
    ids = np.array([[1, 4], [1, 0]])

    def f(W):
        layer.W = W
        return layer(ids)

    check_gradients(f, np.random.randn(5, 3)).assert_ok()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_dtype(dtype):
    layer = L.Embedding(5, 3, dtype)
    y = layer(np.array([1, 2]))
    y.sum().backward()
    assert layer.W.dtype == y.dtype == layer.W.grad.dtype == dtype


def test_initial_distribution():
    np.random.seed(0)
    W = L.Embedding(500, 300).W.data
    np.testing.assert_allclose(W.std(), 1, rtol=1e-2)
    W = L.Embedding(50, 3, initial_W=L.initializers.Constant(2.0)).W.data
    np.testing.assert_array_equal(W, np.full((50, 3), 2))


def test_padding():
    layer = L.Embedding(5, 3, padding_id=0)
    y = layer(np.array([[1, 0], [0, 0]]))
    np.testing.assert_array_equal(y.data[0, 0], layer.W.data[1])
    assert not y.data[0, 1].any()
    assert not y.data[1].any()
    y.sum().backward()
    assert layer.W.grad.data.sum(axis=1).tolist() == [0, 3, 0, 0, 0]
    assert y.dtype == np.float32


def test_copies_and_files(tmp_path):
    layer, ids = L.Embedding(5, 3), np.array([1, 3])
    layer.save_weights(tmp_path / "w")
    loaded = L.EmbedID(5, 3)
    loaded.load_weights(tmp_path / "w")
    want = layer(ids).data
    for again in loaded, copy.deepcopy(layer), pickle.loads(pickle.dumps(layer)):
        np.testing.assert_array_equal(again(ids).data, want)


def test_repr():
    assert repr(L.Embedding(5, 3)) == "Embedding(5, 3)"
    text = repr(L.Embedding(5, 3, np.float64, padding_id=0))
    assert text == "Embedding(5, 3, dtype=float64, padding_id=0)"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: L.Embedding(5, 3)(np.array([5])), IndexError, "5"),
        (lambda: L.Embedding(5, 3)(np.array([-1])), IndexError, "-1"),
        (lambda: L.Embedding(5, 3)(np.array([1.0])), TypeError, "float64"),
        (lambda: L.Embedding(0, 3), ValueError, "expected in_size to be at least 1"),
        (lambda: L.Embedding(3, 0), ValueError, "expected out_size to be at least 1"),
        (lambda: L.Embedding(3, 2, int), TypeError, "a floating dtype, got int64"),
        (
            lambda: L.Embedding(3, 2, padding_id=3),
            ValueError,
            r"Embedding: expected padding_id in \[0, 3\), got 3",
        ),
        (
            lambda: L.Embedding(3, 2, initial_W=L.initializers.Normal),
            TypeError,
            r"expected initial_W to be an initializer such as HeNormal\(\), got Normal",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
