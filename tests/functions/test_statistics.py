"""Weighted mean, variance, standard deviation."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, axis_and_keepdims, same_shape


def with_ddof(x):
    def more(options):
        n = np.size(x) // np.sum(x, axis=options["axis"]).size
        return st.integers(0, min(1, n - 1)).map(lambda ddof: options | {"ddof": ddof})

    return axis_and_keepdims(x).flatmap(more)


def weighted(x, weights):
    return F.average(x, weights=weights + 3)


def weighted_along_an_axis(x, weights):
    return F.average(x, axis=-2, weights=weights + 3, keepdims=True)


CASES = [
    Case(F.average, arrays(), reference=np.mean, options=axis_and_keepdims),
    Case(
        weighted,
        same_shape(2),
        reference=lambda x, weights: np.average(x, weights=weights + 3),
        name="average",
    ),
    Case(
        weighted_along_an_axis,
        arrays(shape=(2, 3, 2)),
        arrays(shape=(3,)),
        reference=lambda x, weights: np.average(
            x, axis=1, weights=weights + 3, keepdims=True
        ),
        name="average",
    ),
    Case(F.var, arrays(), reference=np.var, options=with_ddof),
    Case(
        F.std,
        arrays(min_dims=2, min_side=2, unique=True),
        reference=np.std,
        options=with_ddof,
    ),
]


def errors_of(f):
    name = f.__name__
    yield lambda: f(np.ones(3), axis=1), ValueError, rf"{name}: .* axis 1 .* \(3,\)"
    yield (
        lambda: f(np.ones((0, 3)), axis=0),
        ValueError,
        rf"{name}: expected at least one element over axis .*0.*, got .*\(0, 3\)",
    )
    if f is not F.average:
        yield (
            lambda: f(np.ones((2, 1)), axis=1, ddof=1),
            ValueError,
            rf"{name}: expected more elements than ddof = 1, got 1 in x of .* \(2, 1\)",
        )


ERRORS = [
    (
        lambda: F.std(np.ones(3), ddof="1"),
        TypeError,
        "std: expected a number as ddof, got str",
    ),
    *[error for f in (F.average, F.var, F.std) for error in errors_of(f)],
    (
        lambda: F.average(np.ones((2, 3)), axis=0, weights=np.ones(3)),
        ValueError,
        r"average: expected weights of the shape \(2, 3\) .* got shape \(3,\) and axis",
    ),
    (
        lambda: F.average(np.ones((2, 3)), weights=np.ones(3)),
        ValueError,
        r"average: expected weights .* got shape \(3,\) and axis None",
    ),
    (
        lambda: F.average(np.ones(2), weights=np.array([1.0, -1.0])),
        ValueError,
        r"average: expected weights that do not add up to 0",
    ),
]


def slopes(f, x, dtype=float):
    """The gradient of f at x, which is a list of numbers."""
    x = Variable(np.array(x, dtype=dtype))
    f(x).backward()
    return x.grad.data.tolist()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("number", [0.0, 3.0, 0.1, -1e4])
def test_std_of_equal_numbers_is_flat(number, dtype):
    # 0.1 three times has a rounded mean that is not 0.1.
    assert slopes(F.std, np.full(3, number), dtype=dtype) == [0, 0, 0]
    x = Variable(np.full((2, 3), number, dtype=dtype))
    y = F.std(x, axis=1)
    y.backward(create_graph=True)
    gx = x.grad
    x.cleargrad()
    gx.backward()
    assert y.data.tolist() == [0, 0]
    assert gx.data.tolist() == x.grad.data.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_std_and_var_of_one_number():
    assert slopes(F.std, [3.0]) == slopes(F.var, [3.0]) == [0]
    assert slopes(F.std, 3.0) == slopes(F.var, 3.0) == 0


def test_var_and_std_of_integers():
    for dtype in np.int64, np.uint8:
        x = np.array([[5, 1], [2, 250]], dtype=dtype)
        np.testing.assert_allclose(F.std(x).data, np.std(x))
        np.testing.assert_allclose(F.var(x, axis=0).data, np.var(x, axis=0))
        np.testing.assert_allclose(
            slopes(F.std, x, dtype=dtype), slopes(F.std, x), rtol=1e-12
        )


def test_half_precision_does_not_overflow():
    x = np.array([-1000.0, 1000.0] * 50, dtype=np.float16)
    assert F.std(x).data == 1000
    assert F.std(x).dtype == F.var(x / 10).dtype == np.float16
    assert F.var(x / 10).data == 10_000


def test_var_far_from_zero_is_exact():
    x = np.array([1.0, 2.0, 3.0]) + 1e9
    assert F.var(x).data == pytest.approx(2 / 3, rel=1e-12)
    assert F.std(x).data == pytest.approx(np.sqrt(2 / 3), rel=1e-12)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_std_of_numbers_whose_squares_are_out_of_range(size):
    x = Variable(np.array([[1, 2, 3], [-2, 5, 1]], np.float32) * np.float32(size))
    y = F.std(x, axis=1)
    y.backward()
    like = Variable(np.array([[1.0, 2, 3], [-2, 5, 1]]))
    F.std(like, axis=1).backward()
    np.testing.assert_allclose(y.data / size, like.data.std(axis=1), rtol=1e-6)
    np.testing.assert_allclose(x.grad.data, like.grad.data, rtol=1e-5, atol=1e-7)


def test_std_in_half_precision_of_the_greatest_numbers():
    x = Variable(np.array([65504, -65504], np.float16))
    y = F.std(x)
    y.backward()
    assert (y.dtype, float(y)) == (np.float16, 65504)
    assert (x.grad.dtype, x.grad.data.tolist()) == (np.float16, [0.5, -0.5])


def test_average_in_half_precision_does_not_overflow():
    x = Variable(np.full(1000, 100, np.float16))
    weights = Variable(np.full(1000, 100, np.float16))
    y = F.average(x, weights=weights)
    y.backward()
    assert (y.dtype, float(y)) == (np.float16, 100)
    assert x.grad.dtype == weights.grad.dtype == np.float16
    np.testing.assert_allclose(x.grad.data, 1e-3, rtol=1e-3)


def test_an_infinite_slope_does_no_harm_where_std_is_flat(slope):
    assert slope(lambda x: F.sqrt(F.std(x)), [2, 2]) == [0, 0]
