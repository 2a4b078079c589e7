import math

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, away_from_zero


def some_axis_and_keepdims(x):
    return st.fixed_dictionaries(
        {"axis": st.integers(-x.ndim, x.ndim - 1), "keepdims": st.booleans()}
    )


def frobenius(x, ord=None, axis=None, keepdims=False):
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def axes_of_frobenius(x):
    axes = st.one_of(
        st.none(),
        st.integers(-x.ndim, x.ndim - 1),
        st.just((0, -1) if x.ndim > 1 else (0,)),
    )
    return st.fixed_dictionaries(
        {"axis": axes, "keepdims": st.booleans(), "ord": st.sampled_from([None, "fro"])}
    )


def p_norms(x):
    return st.tuples(
        st.sampled_from([1, 2, 3, 2.5, math.inf]), some_axis_and_keepdims(x)
    ).map(lambda pair: {"ord": pair[0], **pair[1]})


def diagonals(x):
    axes = st.permutations(range(-x.ndim, 0)).map(lambda order: order[:2])
    return st.tuples(axes, st.integers(-2, 2)).map(
        lambda pair: {"offset": pair[1], "axis1": pair[0][0], "axis2": pair[0][1]}
    )


CASES = [
    Case(F.trace, arrays(min_dims=2), reference=np.trace, options=diagonals),
    Case(
        F.norm,
        away_from_zero(min_dims=1),
        reference=frobenius,
        options=axes_of_frobenius,
    ),
    Case(
        F.norm,
        away_from_zero(min_dims=1, unique=True),
        reference=np.linalg.norm,
        options=p_norms,
    ),
    Case(F.norm, away_from_zero(()), reference=np.abs),
]

ERRORS = [
    (
        lambda: F.norm(np.ones(3), Variable(np.array(2.0))),
        TypeError,
        r"norm: expected None, 'fro', inf or a number >= 1 as ord, got Variable",
    ),
    (
        lambda: F.trace(np.ones((2, 2)), 0.5),
        TypeError,
        r"trace: expected an integer as offset, got float",
    ),
    (
        lambda: F.trace(np.ones(3)),
        ValueError,
        r"trace: .* two axes, got x of shape \(3,\)",
    ),
    (
        lambda: F.trace(np.ones((3, 3)), axis2=-2),
        ValueError,
        r"trace: .* different axes",
    ),
    (lambda: F.norm(np.ones(3), axis=1), ValueError, r"norm: .* axis 1 .* \(3,\)"),
    (lambda: F.norm(np.ones(3), 0.5), ValueError, r"norm: .* as ord, got 0\.5"),
    (lambda: F.norm(np.ones(3), "nuc"), ValueError, r"norm: .* as ord, got 'nuc'"),
    (
        lambda: F.norm(np.ones((2, 3)), 2),
        ValueError,
        r"norm: expected one axis for ord=2, got axes \(0, 1\) of shape \(2, 3\)",
    ),
]


def test_norm_of_zeros_has_gradient_zero():
    for ord in (None, 1, 2, 3, math.inf):
        x = Variable(np.zeros(3))
        y = F.norm(x, ord)
        y.backward(create_graph=True)
        assert y.data == 0
        np.testing.assert_array_equal(x.grad.data, np.zeros(3))


def test_second_derivative_of_norm_beside_a_row_of_zeros():
    x = Variable(np.array([[0.0, 0.0], [3.0, 4.0]]))
    F.norm(x, axis=1).backward(create_graph=True)
    g = x.grad
    x.cleargrad()
    F.sum(g * np.array([[0.0, 0.0], [1.0, 0.0]])).backward()
    np.testing.assert_allclose(x.grad.data[1], [16 / 125, -12 / 125], rtol=1e-12)
    np.testing.assert_array_equal(x.grad.data[0], [0.0, 0.0])


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("f8", 1e200), ("f8", 1e-200), ("f4", 1e30), ("f4", 1e-30), ("f2", 3e3)],
)
@pytest.mark.parametrize("ord", [None, 3])
def test_norm_of_extreme_numbers(dtype, value, ord):
    x = Variable(np.array([3, 4], dtype) * np.array(value, dtype))
    y = F.norm(x, ord)
    y.backward()
    size = np.linalg.norm([3.0, 4.0], ord)
    np.testing.assert_allclose(y.data / x.data[1], size / 4, rtol=2e-3)
    p = ord or 2
    gradient = (np.array([3.0, 4.0]) / size) ** (p - 1)
    np.testing.assert_allclose(x.grad.data, gradient, rtol=2e-3)
    assert y.dtype == x.grad.dtype == dtype


def test_norm_of_infinity_and_of_nothing():
    assert F.norm(np.array([1.0, -np.inf])).data == np.inf
    assert F.norm(np.zeros((0,))).data == 0
    np.testing.assert_array_equal(F.norm(np.zeros((2, 0)), axis=1).data, [0.0, 0.0])
    x = Variable(np.zeros((2, 0)))
    F.norm(x).backward()
    assert x.grad.shape == (2, 0)


def test_trace_ignores_what_is_off_the_diagonal():
    assert F.trace(np.array([[1.0, np.inf], [np.nan, 2.0]])).data == 3


@pytest.mark.parametrize("ord", [None, 1, 2, 3, math.inf])
def test_norm_of_integers(ord):
    x = np.array([3, -4], np.int8)
    y = F.norm(x, ord).data
    np.testing.assert_allclose(y, np.linalg.norm(x, ord))
    assert y.dtype == np.float64


@pytest.mark.parametrize("ord", [None, 2, 3])
def test_second_derivatives_at_norm_zero_are_zero(second_slopes, ord):
    def norms(x):
        return F.norm(F.reshape(x, (-1, 1)), ord, axis=1)

    assert second_slopes(norms, [0, 0]) == [0, 0]


@pytest.mark.parametrize("ord", [None, 1, 2, 3])
def test_an_infinite_slope_does_no_harm_at_norm_zero(slope, ord):
    assert slope(lambda x: F.sqrt(F.norm(x, ord)), [0, 0]) == [0, 0]


def test_an_infinite_slope_does_no_harm_off_the_diagonal(slope):
    assert slope(lambda x: F.sqrt(F.trace(x)), [[0, 1], [1, 0]]) == [
        [np.inf, 0],
        [0, np.inf],
    ]
