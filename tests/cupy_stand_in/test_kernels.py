"""Fused kernels on the stand-in: called as the real ones want to be called."""

import numpy as np
import pytest

from dezero.kernels import KERNELS
from dezero.kernels import optimizers as kernels


def test_new_outputs(cupy):
    x = cupy.arange(6.0).reshape(2, 3)
    assert kernels.square_sum(x).item() == 55
    rows = kernels.square_sum(x, axis=1)
    np.testing.assert_array_equal(rows.get(), [5, 50])
    columns = kernels.square_sum(x, axis=(0,), keepdims=True)
    np.testing.assert_array_equal(columns.get(), [[9, 17, 29]])
    scale = kernels.clipping_scale(cupy.array([0.0, 4.0]), 1.0)
    np.testing.assert_array_equal(scale.get(), [1, 0.5])


def ones(cupy, shape=3, dtype=np.float32):
    return cupy.ones(shape, dtype)


MISTAKES = [
    (lambda c: kernels.sgd(ones(c)), TypeError, "Wrong number of arguments"),
    (lambda c: kernels.sgd(np.ones(3), 0.1, ones(c)), TypeError, "Unsupported type"),
    (lambda c: kernels.sgd(ones(c), 0.1, ones(c, 1)), ValueError, "Out shape is mism"),
    (
        lambda c: kernels.adagrad(ones(c), 0.1, 0.1, ones(c), ones(c, (2, 3))),
        ValueError,
        "Out shape is mismatched",
    ),
    (
        lambda c: kernels.lion(ones(c), 1.0, ones(c), 1.0, 0, ones(c), ones(c, 3, "d")),
        TypeError,
        "Type is mismatched. beta1 float32 float64",
    ),
    (lambda c: kernels.clipping_scale(1.0, 2.0), ValueError, "Loop size is undecided"),
    (
        lambda c: kernels.square_sum(ones(c), ones(c, (), "d"), axis=0, keepdims=True),
        ValueError,
        "Out shape is mismatched",
    ),
    (
        lambda c: c.ElementwiseKernel("X x", "Y i", "", "dezero_sgd"),
        ValueError,
        "Can not use 'i'",
    ),
    (
        lambda c: c.ElementwiseKernel("new X x", "Y y", "", "dezero_sgd"),
        ValueError,
        "Unknown keyword",
    ),
]


@pytest.mark.parametrize(("call", "error", "regex"), MISTAKES)
def test_mistakes(cupy, call, error, regex):
    with pytest.raises(error, match=regex):
        call(cupy)


def test_raw_outputs_are_not_made(cupy):
    gated, mask = KERNELS["dezero_lstm"], cupy.ones(1, bool)
    with pytest.raises(ValueError, match="Output array size is Undecided"):
        gated(ones(cupy, (2, 4)), mask, False, 0, 1, size=2)


def test_a_twin_that_writes_to_an_input(cupy, monkeypatch):
    def twin(g, lr, p):
        g[...] = p

    kernel = cupy.ElementwiseKernel("G g, float64 lr", "P p", "", "dezero_sgd")
    monkeypatch.setattr(kernel, "_twin", twin)
    with pytest.raises(ValueError, match="read-only"):
        kernel(ones(cupy), 0.1, ones(cupy))
