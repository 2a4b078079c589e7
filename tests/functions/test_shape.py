"""reshape and its kin."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.functions.shape import as_shape
from dezero.testing import Case, arrays


def options_of(**values):
    """Each keyword drawn from the list of its values."""
    return st.fixed_dictionaries({k: st.sampled_from(v) for k, v in values.items()})


def other_shape(x):
    inserted = [1, *x.shape]
    filled = [(-1, *x.shape[1:]), (*x.shape[:-1], -1)] if x.ndim else [(1, -1)]
    return options_of(
        shape=[-1, x.size, (-1,), x.shape, x.shape[::-1], inserted, *filled]
    )


def axes_of_size_1(x):
    ones = [i for i, n in enumerate(x.shape) if n == 1]
    single = [sign for i in ones for sign in (i, i - x.ndim)]
    return options_of(axis=[None, tuple(ones), *single])


def new_axis(x):
    return st.fixed_dictionaries({"axis": st.integers(-x.ndim - 1, x.ndim)})


def at_least(ndim, **sides):
    return arrays(min_dims=ndim, **sides)


CASES = [
    Case(
        F.reshape,
        arrays(),
        reference=lambda x, shape: np.reshape(x, shape),
        options=other_shape,
    ),
    Case(F.ravel, arrays(), reference=np.ravel),
    Case(
        F.flatten,
        at_least(1),
        reference=lambda x: np.array([row.ravel() for row in x]),
    ),
    Case(F.squeeze, arrays(max_side=2), reference=np.squeeze, options=axes_of_size_1),
    Case(F.expand_dims, arrays(), reference=np.expand_dims, options=new_axis),
]

M = np.ones((2, 3))
ERRORS = [
    (
        lambda: F.reshape(M, np.array([3, 2])),
        TypeError,
        r"reshape: .*integers, got array\(\[3, 2\]\)",
    ),
    (
        lambda: F.reshape(M, (4,)),
        ValueError,
        r"reshape: .* 6 elements.*\(2, 3\).*\(4,\)",
    ),
    (lambda: F.reshape(M, (-1, 4)), ValueError, r"reshape: .*got \(-1, 4\)"),
    (lambda: F.reshape(M, (-1, -1)), ValueError, r"reshape: .*got \(-1, -1\)"),
    (lambda: F.reshape(M, (-2, -3)), ValueError, r"reshape: .*got \(-2, -3\)"),
    (lambda: F.reshape(M, (0, -1)), ValueError, r"reshape: .*got \(0, -1\)"),
    (lambda: F.reshape(M, (3.0, 2)), TypeError, r"reshape: .*integers, got \(3.0, 2\)"),
    (lambda: F.reshape(M, None), TypeError, r"reshape: .*integer.*got None"),
    (lambda: F.flatten(np.ones(())), ValueError, r"flatten: .*batch axis.*\(\)"),
    (lambda: F.squeeze(M, 0), ValueError, r"squeeze: .*size 1 along axis 0.*\(2, 3\)"),
    (lambda: F.squeeze(M, 2), ValueError, r"squeeze: .*axis 2 "),
    (lambda: F.expand_dims(M, -4), ValueError, r"expand_dims: .*axis -4 "),
    (lambda: F.expand_dims(M, "1"), TypeError, r"expand_dims: .*integer.*str"),
]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.reshape(x, (2, 3)),
        lambda x: F.reshape(x, [2, -1]),
        lambda x: F.squeeze(x),
        lambda x: F.flatten(x),
    ],
)
def test_no_change_returns_the_variable_itself(function):
    x = Variable(np.ones((2, 3)))
    assert function(x) is x


@pytest.mark.parametrize("function", [F.ravel])
def test_one_axis_stays_as_it_is(function):
    x = Variable(np.ones(3))
    assert function(x) is x


@pytest.mark.parametrize(
    ("shape", "flat"),
    [((4,), (4, 1)), ((0, 2, 3), (0, 6)), ((2, 0, 3), (2, 0)), ((2, 3, 4), (2, 12))],
)
def test_flatten_keeps_the_batch_axis(shape, flat):
    x = Variable(np.ones(shape))
    y = F.flatten(x)
    assert y.shape == flat
    y.backward()
    assert x.grad.shape == shape


def test_expand_dims_beyond_the_end_appends():
    x = np.ones((2, 3))
    assert F.expand_dims(F.expand_dims(x, 3), 4).shape == (2, 3, 1, 1)
    assert F.expand_dims(x, np.int64(9)).shape == (2, 3, 1)


def test_expand_dims_counts_from_the_end_of_the_result():
    x = np.ones((2, 3))
    assert F.expand_dims(x, -1).shape == (2, 3, 1)
    assert F.expand_dims(x, -3).shape == (1, 2, 3)


@pytest.mark.parametrize(
    ("shape", "target", "result"),
    [
        ((0, 3), (-1, 3), (0, 3)),
        ((0, 3), (3, -1), (3, 0)),
        ((0, 3), -1, (0,)),
        ((2, 0), (0, 5), (0, 5)),
        ((), (1, 1), (1, 1)),
        ((1,), (), ()),
    ],
)
def test_reshape_of_empty_and_0d(shape, target, result):
    x = Variable(np.ones(shape))
    y = F.reshape(x, target)
    assert y.shape == result
    y.backward()
    assert x.grad.shape == shape


def test_as_shape_accepts_numpy_integers():
    assert as_shape("f", [np.int64(2), 3]) == (2, 3)
    assert as_shape("f", np.int32(2)) == (2,)
