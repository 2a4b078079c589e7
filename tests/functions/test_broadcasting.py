"""broadcast_to and sum_to."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.functions.broadcasting import broadcasts, sum_to_array
from dezero.testing import Case, arrays


def wider_shape(x):
    def widen(drawn):
        lead, sizes = drawn
        tail = [n if n != 1 else size for n, size in zip(x.shape, sizes, strict=False)]
        return {"shape": (*lead, *tail)}

    sizes = st.lists(st.integers(1, 3), min_size=x.ndim, max_size=x.ndim)
    return st.tuples(st.lists(st.integers(1, 3), max_size=2), sizes).map(widen)


def narrower_shape(x):
    def narrow(drawn):
        lead, ones = drawn
        sizes = [1 if one else n for one, n in zip(ones, x.shape, strict=True)]
        return {"shape": tuple(sizes[lead:])}

    ones = st.lists(st.booleans(), min_size=x.ndim, max_size=x.ndim)
    return st.tuples(st.integers(0, x.ndim), ones).map(narrow)


def sum_like(x, shape):
    lead = x.ndim - len(shape)
    axes = [i + lead for i, n in enumerate(shape) if n == 1]
    return x.sum(axis=(*range(lead), *axes), keepdims=True).reshape(shape)


CASES = [
    Case(
        F.broadcast_to,
        arrays(max_side=2),
        reference=np.broadcast_to,
        options=wider_shape,
    ),
    Case(F.sum_to, arrays(), reference=sum_like, options=narrower_shape),
]

M = np.ones((2, 3))
ERRORS = [
    (
        lambda: F.broadcast_to(M, (-1, 2, 3)),
        ValueError,
        r"broadcast_to: .*\(-1, 2, 3\)",
    ),
    (
        lambda: F.broadcast_to(M, (2.0, 2, 3)),
        TypeError,
        r"broadcast_to: .*\(2.0, 2, 3\)",
    ),
    (
        lambda: F.broadcast_to(M, np.array([2, 3])),
        TypeError,
        r"broadcast_to: .*got array\(\[2, 3\]\)",
    ),
    (lambda: F.sum_to(M, (1.0, 3)), TypeError, r"sum_to: .*got \(1.0, 3\)"),
    (lambda: F.broadcast_to(M, (3,)), ValueError, r"broadcast_to: .*\(2, 3\).*\(3,\)"),
    (lambda: F.broadcast_to(M, (2, 4)), ValueError, r"broadcast_to: .*\(2, 4\)"),
    (lambda: F.broadcast_to(M, "33"), TypeError, r"broadcast_to: .*integer.*'33'"),
    (lambda: F.sum_to(M, (2,)), ValueError, r"sum_to: .*\(2, 3\) of x, got \(2,\)"),
    (lambda: F.sum_to(M, (3, 2)), ValueError, r"sum_to: .*got \(3, 2\)"),
    (lambda: F.sum_to(M, (1, 2, 3)), ValueError, r"sum_to: .*got \(1, 2, 3\)"),
    (lambda: F.sum_to(M[:1], (0, 3)), ValueError, r"sum_to: .*got \(0, 3\)"),
    (lambda: F.sum_to(M, 1.5), TypeError, r"sum_to: .*integer.*1.5"),
]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.broadcast_to(x, (2, 3)),
        lambda x: F.broadcast_to(x, [2, 3]),
        lambda x: F.sum_to(x, (2, 3)),
        lambda x: F.sum_to(x, [2, 3]),
    ],
)
def test_no_change_returns_the_variable_itself(function):
    x = Variable(np.ones((2, 3)))
    assert function(x) is x


def test_sum_to_of_an_empty_axis_is_zero():
    x = Variable(np.ones((0, 3), np.float32))
    y = F.sum_to(x, (1, 3))
    np.testing.assert_array_equal(y.data, np.zeros((1, 3)))
    assert F.sum_to(x, (3,)).dtype == np.float32
    y.backward()
    assert x.grad.shape == (0, 3)


def test_broadcast_to_an_empty_axis():
    x = Variable(np.ones((1, 3)))
    y = F.broadcast_to(x, (0, 3))
    y.backward()
    np.testing.assert_array_equal(x.grad.data, np.zeros((1, 3)))


@pytest.mark.parametrize(
    "shape", [(3000, 4), (20, 100, 4), (3000, 1), (10000,), (5, 4)]
)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_sum_to_array_of_many_rows(shape, dtype, order):
    rng = np.random.RandomState(0)
    x = np.asarray(rng.randint(-9, 10, shape), dtype, order=order)
    for target in [shape[-1:], (1,) * len(shape), (), (1, *shape[1:])]:
        if broadcasts(target, shape):
            y = sum_to_array(x, target)
            assert isinstance(y, np.ndarray)
            assert y.dtype == dtype
            np.testing.assert_array_equal(y, sum_like(x.astype("f8"), target))


def test_half_precision_is_added_up_in_single():
    # In half precision the sum of ones would stop at 2048.
    x = Variable(np.ones((4096, 2), np.float16))
    y = F.sum_to(x, (2,))
    assert y.dtype == np.float16
    np.testing.assert_array_equal(y.data, [4096, 4096])


def test_sum_to_array_of_booleans_counts():
    np.testing.assert_array_equal(sum_to_array(np.ones((2, 3), bool), (3,)), [2, 2, 2])


def test_a_large_broadcast_makes_no_copy():
    x = np.ones((1, 1000), np.float32)
    y = F.broadcast_to(x, (1000, 1000))
    assert np.shares_memory(y.data, x)


def test_many_rows_are_summed_to_several_axes():
    x = np.arange(4096.0 * 6).reshape(4096, 2, 3)
    y = sum_to_array(x, (2, 3))
    assert y.shape == (2, 3)
    np.testing.assert_allclose(y, x.sum(axis=0))
