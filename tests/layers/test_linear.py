"""Linear."""

import numpy as np
import pytest

import dezero.layers as L
from dezero.core import Variable


@pytest.mark.parametrize("nobias", [False, True])
@pytest.mark.parametrize("shape", [(5, 3), (3,), (2, 5, 3), (0, 3)])
def test_formula(shape, nobias):
    layer = L.Linear(4, nobias=nobias, in_size=3)
    x = np.random.randn(*shape).astype(np.float32)
    if not nobias:
        layer.b.data = np.arange(4, dtype=np.float32)
    want = x @ layer.W.data + (0 if nobias else layer.b.data)
    y = layer(x)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y.data, want, rtol=1e-5, atol=1e-5)


def test_parameters():
    layer = L.Linear(4, in_size=3)
    assert [name for name, _ in layer.named_params()] == ["W", "b"]
    assert (layer.W.name, layer.b.name) == ("W", "b")
    assert (layer.W.shape, layer.b.shape) == ((3, 4), (4,))
    np.testing.assert_array_equal(layer.b.data, np.zeros(4))
    assert L.Linear(4, nobias=True).b is None


def test_the_first_call_tells_the_size():
    layer = L.Linear(4)
    assert layer.W.data is None
    assert [name for name, _ in layer.named_params()] == ["W", "b"]
    W = layer.W
    layer(np.ones((2, 3), np.float32))
    assert layer.W is W
    assert W.shape == (3, 4)
    assert layer.in_size == 3


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("in_size", [None, 3])
def test_dtype(dtype, in_size):
    layer = L.Linear(4, dtype=dtype, in_size=in_size)
    x = Variable(np.ones((2, 3), dtype))
    y = layer(x)
    y.sum().backward()
    for v in y, layer.W, layer.b, layer.W.grad, layer.b.grad, x.grad:
        assert v.dtype == dtype


def test_initial_distribution():
    np.random.seed(0)
    W = L.Linear(500, in_size=400).W.data
    assert abs(W.mean()) < 1e-3
    np.testing.assert_allclose(W.std(), 1 / 20, rtol=1e-2)


def test_numpy_seed_repeats_the_weights():
    weights = []
    for _ in range(2):
        np.random.seed(7)
        lazy = L.Linear(4)
        lazy(np.ones((1, 3), np.float32))
        weights.append(lazy.W.data)
    np.random.seed(7)
    weights.append(L.Linear(4, in_size=3).W.data)
    np.testing.assert_array_equal(weights[0], weights[1])
    np.testing.assert_array_equal(weights[0], weights[2])


def test_repr():
    layer = L.Linear(4)
    assert repr(layer) == "Linear(4)"
    layer(np.ones((1, 3), np.float32))
    assert repr(layer) == "Linear(4, in_size=3)"
    layer = L.Linear(4, nobias=True, dtype=np.float64, in_size=3)
    assert repr(layer) == "Linear(4, nobias=True, dtype=float64, in_size=3)"


def wrong_weight():
    layer = L.Linear(4, in_size=3)
    layer.W.data = np.ones((3, 5), np.float32)
    return layer(np.ones((2, 3), np.float32))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: L.Linear(4, in_size=3)(np.ones((2, 5), np.float32)),
            ValueError,
            r"Linear\(4, in_size=3\): expected x of shape \(\.\.\., 3\), got \(2, 5\)",
        ),
        (
            lambda: L.Linear(4, in_size=3)(np.array(1.0)),
            ValueError,
            r"expected x of shape \(\.\.\., 3\), got \(\)",
        ),
        (
            lambda: L.Linear(4)(np.array(1.0)),
            ValueError,
            r"Linear\(4\): expected x with at least one feature, got shape \(\)",
        ),
        (
            lambda: L.Linear(4)(np.ones((2, 0))),
            ValueError,
            r"Linear\(4\): expected x with at least one feature, got shape \(2, 0\)",
        ),
        (
            wrong_weight,
            ValueError,
            r"expected W of shape \(in_size, 4\), got \(3, 5\)",
        ),
        (lambda: L.Linear(0), ValueError, "expected out_size to be at least 1, got 0"),
        (
            lambda: L.Linear(4, in_size=-1),
            ValueError,
            "Linear: expected in_size to be at least 1, got -1",
        ),
        (
            lambda: L.Linear((3, 4)),
            TypeError,
            "Linear: expected out_size to be an integer, got tuple",
        ),
        (
            lambda: L.Linear(4, dtype=np.int64),
            TypeError,
            "Linear: expected a floating dtype, got int64",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
