"""softmax and its logarithm."""

import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, axis


def one_or_two_axes(x):
    both = st.just({"axis": (0, -1)}) if x.ndim > 1 else st.nothing()
    return axis(x) | both


CASES = [
    Case(F.softmax, arrays(min_dims=1), reference=sp.softmax, options=one_or_two_axes),
    Case(
        F.softmax_simple,
        arrays(min_dims=1),
        reference=sp.softmax,
        options=one_or_two_axes,
    ),
    Case(
        F.log_softmax,
        arrays(min_dims=1),
        reference=sp.log_softmax,
        options=one_or_two_axes,
    ),
]

ERRORS = [
    (lambda: F.softmax(np.ones(3)), ValueError, r"softmax: .* axis 1 .* \(3,\)"),
    (
        lambda: F.softmax_simple(np.ones(3)),
        ValueError,
        r"softmax_simple: .* axis 1 .* \(3,\)",
    ),
    (
        lambda: F.log_softmax(np.ones(3)),
        ValueError,
        r"log_softmax: .* axis 1 .* \(3,\)",
    ),
]


def test_log_softmax_of_large_numbers():
    y = F.log_softmax(np.array([[1e4, 0, -1e4]], np.float32)).data
    np.testing.assert_array_equal(y, [[0, -1e4, -2e4]])


def test_softmax_of_masked_scores():
    x = Variable(np.array([[-np.inf, 0.0, 0.0]]))
    y = F.softmax(x)
    F.sum(y * np.array([1.0, 2.0, 3.0])).backward()
    np.testing.assert_array_equal(y.data, [[0, 0.5, 0.5]])
    np.testing.assert_allclose(x.grad.data, [[0, -0.25, 0.25]])


@pytest.mark.parametrize("f", [F.softmax_simple])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_empty_along_an_axis(f, shape):
    x = Variable(np.zeros(shape))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == shape


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_numbers_farther_apart_than_the_greatest_one(dtype):
    most = np.finfo(dtype).max
    x = Variable(np.array([[most, -most], [0, 1]], dtype))
    y = F.softmax(x)
    assert (y.dtype, y.data[0].tolist()) == (dtype, [1, 0])
    logs = F.log_softmax(x)
    assert (logs.dtype, logs.data[0].tolist()) == (dtype, [0, -np.inf])
    for result in y, logs:
        x.cleargrad()
        result.backward(create_graph=True)
        gx = x.grad
        x.cleargrad()
        F.sum(gx * gx).backward()
        assert np.isfinite(gx.data).all() and np.isfinite(x.grad.data).all()
