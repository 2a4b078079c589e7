"""cast."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.functions.dtypes import working_dtypes
from dezero.testing import Case, arrays

CASES = [
    Case(
        F.cast,
        arrays(),
        reference=lambda x, dtype: x.astype(dtype),
        options=lambda x: st.just({"dtype": np.float64}),
        dtypes=(),
    ),
]

M = np.ones((2, 3))
ERRORS = [
    (lambda: F.cast(M, complex), TypeError, r"cast: .*floats, got <class 'complex'>"),
    (lambda: F.cast(M, "no"), TypeError, r"cast: .*floats, got 'no'"),
    (lambda: F.cast(M, None), TypeError, r"cast: .*floats, got None"),
]


@pytest.mark.parametrize(
    "function",
    [lambda x: F.cast(x, "float64")],
)
def test_no_change_returns_the_variable_itself(function):
    x = Variable(np.ones((2, 3)))
    assert function(x) is x


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_cast_gives_the_gradient_in_the_input_dtype(dtype):
    x = Variable(np.arange(3).astype(dtype))
    y = F.cast(x, np.float64)
    assert y.dtype == np.float64
    (y * y).backward()
    np.testing.assert_array_equal(x.grad.data, [0, 2, 4])
    assert x.grad.dtype == (dtype if x.dtype.kind == "f" else np.float64)


@pytest.mark.parametrize("dtype", ["int64", np.uint8, bool])
def test_cast_from_floats_to_counts_ends_the_chain(dtype):
    y = F.cast(Variable(np.array([0.0, 1.5])), dtype)
    assert y.dtype == np.dtype(dtype)
    assert not y.requires_grad
    assert y.creator is None


def test_cast_between_integers_keeps_the_chain():
    x = Variable(np.array([1, 2]))
    assert F.cast(x, np.int32).requires_grad
    assert not F.cast(x, bool).requires_grad


def test_cast_can_be_differentiated_twice():
    x = Variable(np.array([3.0], np.float32))
    y = F.cast(x, np.float64) ** 3
    y.backward(create_graph=True)
    gx = x.grad
    x.cleargrad()
    gx.backward()
    np.testing.assert_allclose(x.grad.data, [18.0])
    assert x.grad.dtype == np.float32


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        ("e", "ef"),
        ("f", "ff"),
        ("ed", "dd"),
        ("?", "dd"),
        ("bB", "dd"),
        ("l", "dd"),
        ("Bf", "ff"),
        ("be", "ef"),
    ],
)
def test_working_dtypes(dtypes, expected):
    arrays = [np.ones(1, dtype) for dtype in dtypes]
    result, work = working_dtypes(None, *arrays)
    assert (result.char, work.char) == tuple(expected)
