"""flip, roll, sort; triangles and diagonals."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays


def some_axes(x):
    one = st.integers(-x.ndim, x.ndim - 1)
    several = st.lists(one, unique_by=lambda i: i % x.ndim).map(tuple)
    choices = [st.none()] + [one, several] * (x.ndim > 0)
    return st.fixed_dictionaries({"axis": st.one_of(choices)})


@st.composite
def shifts(draw, x):
    shift = st.integers(-5, 5)
    axes = st.integers(-x.ndim, x.ndim - 1)
    options = {"shift": draw(shift)}
    form = draw(
        st.sampled_from(["all", "one", "several", "same"][: 4 if x.ndim else 1])
    )
    if form != "all":
        options["axis"] = draw(axes)
    if form == "same":
        options["shift"] = draw(st.tuples(shift, shift))
    if form == "several":
        options["axis"] = tuple(draw(st.lists(axes, min_size=1, max_size=3)))
        options["shift"] = tuple([draw(shift) for _ in options["axis"]])
    return options


def any_axis_or_none(x):
    return st.fixed_dictionaries(
        {"axis": st.sampled_from([None, *range(-x.ndim, x.ndim)])}
    )


def which_diagonal(x):
    return st.fixed_dictionaries({"k": st.integers(-4, 4)})


@st.composite
def diagonals(draw, x):
    # NumPy itself refuses a diagonal that lies outside.
    axis1, axis2 = draw(st.permutations(range(x.ndim)))[:2]
    offset = draw(st.integers(1 - x.shape[axis1], x.shape[axis2] - 1))
    return {"offset": offset, "axis1": axis1 - x.ndim, "axis2": axis2}


CASES = [
    Case(F.flip, arrays(), reference=np.flip, options=some_axes),
    Case(F.roll, arrays(), reference=np.roll, options=shifts),
    Case(
        F.sort,
        arrays(min_dims=1, unique=True),
        reference=np.sort,
        options=any_axis_or_none,
    ),
    Case(F.tril, arrays(min_dims=2), reference=np.tril, options=which_diagonal),
    Case(F.triu, arrays(min_dims=2), reference=np.triu, options=which_diagonal),
    Case(F.diagonal, arrays(min_dims=2), reference=np.diagonal, options=diagonals),
    Case(
        F.diag,
        arrays(min_dims=1, max_dims=1),
        reference=np.diag,
        options=which_diagonal,
    ),
    Case(F.diag, arrays(shape=(5, 6)), reference=np.diag, options=which_diagonal),
]

V = np.ones(3)
M = np.ones((2, 3))
ERRORS = [
    (lambda: F.tril(M, 0.5), TypeError, "tril: expected an integer as k, got float"),
    (lambda: F.triu(M, 0.5), TypeError, "triu: expected an integer as k, got float"),
    (lambda: F.diag(V, 0.5), TypeError, "diag: expected an integer as k, got float"),
    (
        lambda: F.diagonal(M, 0.5),
        TypeError,
        "diagonal: .* integer as offset, got float",
    ),
    (lambda: F.flip(M, 2), ValueError, r"flip: .*axis 2 .*\(2, 3\)"),
    (lambda: F.flip(M, (1, -1)), ValueError, r"flip: .*different axes, got \(1, -1\)"),
    (lambda: F.roll(M, 1, 2), ValueError, r"roll: .*axis 2 .*\(2, 3\)"),
    (lambda: F.roll(M, 0.5), TypeError, "roll: .*integer.*got 0.5"),
    (
        lambda: F.roll(M, (1, 2, 3), (0, 1)),
        ValueError,
        r"roll: .*\(1, 2, 3\) for \(0, 1\)",
    ),
    (lambda: F.sort(M, 2), ValueError, r"sort: .*axis 2 .*\(2, 3\)"),
    (lambda: F.tril(V), ValueError, r"tril: .*two axes.*\(3,\)"),
    (lambda: F.triu(V), ValueError, r"triu: .*two axes.*\(3,\)"),
    (lambda: F.diagonal(V), ValueError, r"diagonal: .*two axes.*\(3,\)"),
    (lambda: F.diagonal(M, 0, 1, -1), ValueError, r"diagonal: .*different.*\(1, -1\)"),
    (lambda: F.diagonal(M, 0, 0, 2), ValueError, r"diagonal: .*axis 2 .*\(2, 3\)"),
    (lambda: F.diag(M[None]), ValueError, r"diag: .*one axis or two.*\(1, 2, 3\)"),
    (lambda: F.diag(np.ones(())), ValueError, r"diag: .*one axis or two.*\(\)"),
]


def test_sort_keeps_equal_elements_in_order():
    x = Variable(np.array([2.0, 1.0, 2.0, 1.0]))
    y = F.sort(x)
    np.testing.assert_array_equal(y.data, [1, 1, 2, 2])
    y.backward(grad=np.arange(4.0))
    np.testing.assert_array_equal(x.grad.data, [2, 0, 3, 1])


def test_sort_puts_nan_last():
    y = F.sort(np.array([np.nan, 2.0, 1.0]))
    np.testing.assert_array_equal(y.data, [1, 2, np.nan])


@pytest.mark.parametrize("function", [F.tril, F.triu])
def test_triangles_do_not_spread_what_they_leave_out(function):
    x = Variable(np.array([[1.0, np.inf], [np.nan, 2.0]]))
    y = function(function(x), 0)
    assert np.count_nonzero(y.data == 0) == 1
    y.backward(grad=np.array([[1.0, np.inf], [np.nan, 2.0]]))
    assert np.count_nonzero(x.grad.data == 0) == 1


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 3)])
def test_empty_arrays(shape):
    x = Variable(np.ones(shape))
    functions = [F.flip, F.sort, lambda x: F.roll(x, 1), lambda x: F.roll(x, 1, 0)]
    if len(shape) > 1:
        functions += [F.tril, F.triu, F.diagonal]
    for function in functions:
        x.cleargrad()
        y = function(x)
        y.backward()
        assert x.grad.shape == shape
    assert F.diag(np.ones(0)).shape == (0, 0)


def test_a_0d_variable():
    x = Variable(np.array(2.0))
    for y in (F.flip(x), F.roll(x, 3), F.reshape(F.sort(x, axis=None), ())):
        assert y.shape == ()
        x.cleargrad()
        y.backward()
        assert x.grad.data == 1


def test_diag_takes_diag_back():
    x = Variable(np.arange(3.0))
    for k in (-2, 0, 1):
        np.testing.assert_array_equal(F.diag(F.diag(x, k), k).data, x.data)


def test_a_diagonal_outside_the_matrix_is_empty():
    x = Variable(np.ones((2, 3)))
    y = F.diagonal(x, 5)
    assert y.shape == (0,)
    y.backward()
    np.testing.assert_array_equal(x.grad.data, np.zeros((2, 3)))
