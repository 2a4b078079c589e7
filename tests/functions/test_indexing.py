"""get_item and scatter_add."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.functions.indexing import GetItem
from dezero.testing import (
    Case,
    array_indices,
    arrays,
    basic_indices,
    mask_indices,
)


def some_slices(strategy):
    """Options that index by what ``strategy`` draws for the shape of x."""
    return lambda x: st.fixed_dictionaries({"slices": strategy(x.shape)})


def two_of_three_rows(x, values):
    mask = np.array([True, False, True])
    rows = [[0, 0], [2, -1], np.array([1, 0]), slice(0, 2), slice(None, None, 2), mask]
    return st.fixed_dictionaries({"index": st.sampled_from(rows)})


def scatter_add(x, values, index):
    return F.scatter_add(x, index, values)


def numpy_scatter_add(x, values, index):
    y = x.copy()
    np.add.at(y, index, values)
    return y


def indexed(x, slices):
    return x[slices]


CASES = [
    Case(F.get_item, arrays(), reference=indexed, options=some_slices(basic_indices)),
    *[
        Case(
            F.get_item,
            arrays(min_dims=1),
            reference=indexed,
            options=some_slices(strategy),
        )
        for strategy in (array_indices, mask_indices)
    ],
    Case(
        scatter_add,
        arrays(shape=(3, 4)),
        st.sampled_from([(2, 4), (4,), (2, 1), ()]).flatmap(lambda s: arrays(shape=s)),
        reference=numpy_scatter_add,
        options=two_of_three_rows,
    ),
]

M = np.arange(6.0).reshape(2, 3)
FLOATS = np.zeros(2)
ERRORS = [
    (lambda: F.get_item(M, 2), IndexError, "index 2 is out of bounds .* size 2"),
    (lambda: F.get_item(M, [0, 5]), IndexError, "index 5 is out of bounds .* size 2"),
    (lambda: F.get_item(M, (0, 0, 0)), IndexError, "too many indices"),
    (lambda: F.get_item(M, FLOATS), IndexError, "integer .or boolean. type"),
    (
        lambda: F.get_item(M, np.ones(3, bool)),
        IndexError,
        "boolean index did not match",
    ),
    (lambda: F.scatter_add(M, 2, 1.0), IndexError, "index 2 is out of bounds"),
    (lambda: F.scatter_add(M, 0, FLOATS), ValueError, r"scatter_add: .*\(3,\).*\(2,\)"),
    (
        lambda: F.scatter_add(M, [0], FLOATS),
        ValueError,
        r"scatter_add: .*\(1, 3\).*\(2,",
    ),
]


def gradient_of_index(x, index, g):
    expected = np.zeros_like(x)
    np.add.at(expected, index, g)
    return expected


FORMS = [
    0,
    -1,
    np.int64(1),
    np.array(1),
    (1, ..., 2),
    (None, slice(None), None, 2),
    slice(None, None, -2),
    (),
    ...,
    [],
    ([],),
    [0, 0, 3],
    ((0, 1), (1, 1)),
    (range(2), 0),
    True,
    (False, 0),
    np.array(True),
    np.array([0, 1, 1], np.uint64),
    (np.array(1), [0, 0]),
    ([[0], [1]], [[0, 1, 1]]),
    (slice(None), [1, 1, 0]),
    ([0, 0], slice(None), [1, 1]),
    (0, slice(None), [1, 1]),
    (slice(None), [0, 0], None, [1, 1]),
    ([0, 0, -1], [1, 1, 2], [5, 5, -1]),
    ([1, 1], slice(None), slice(None)),
    (..., [2, 2]),
    (np.array([True, False, True, True]), [0, 0, 1]),
    (np.array([True, False, True, True]), [[0], [0]]),
    (slice(None), np.eye(5, 6) > 0),
]


@pytest.mark.parametrize("index", FORMS, ids=repr)
def test_every_form_of_index(index):
    rng = np.random.RandomState(0)
    x = Variable(rng.randn(4, 5, 6))
    y = F.get_item(x, index)
    np.testing.assert_array_equal(y.data, x.data[index])
    g = rng.randn(*y.shape)
    y.backward(grad=np.asarray(g))
    expected = gradient_of_index(x.data, index, g)
    np.testing.assert_allclose(x.grad.data, expected, rtol=1e-12)
    added = F.scatter_add(x, index, Variable(np.asarray(g)))
    np.testing.assert_allclose(added.data, x.data + expected, rtol=1e-12)


@pytest.mark.parametrize("wide", [1, 7, 255, 256, 300])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_many_repeated_rows(wide, dtype):
    # Both ways of adding up rows, and more elements than one piece holds.
    rng = np.random.RandomState(0)
    x = Variable(np.zeros((5, wide), dtype))
    ids = rng.randint(-5, 5, 500 if wide > 1 else 70_000)
    g = rng.randint(-2, 3, (len(ids), wide)).astype(dtype)
    F.get_item(x, ids).backward(grad=g)
    assert x.grad.dtype == dtype
    expected = gradient_of_index(np.zeros((5, wide)), ids, g)
    np.testing.assert_array_equal(x.grad.data, expected)


def test_half_precision_is_added_up_in_single():
    # In half precision the sum of ones would stop at 2048.
    x = Variable(np.zeros((2, 1), np.float16))
    F.get_item(x, np.zeros(4096, int)).backward()
    np.testing.assert_array_equal(x.grad.data, [[4096], [0]])
    values = Variable(np.ones((4096, 1), np.float16))
    y = F.scatter_add(x, np.zeros(4096, int), values)
    np.testing.assert_array_equal(y.data, [[4096], [0]])
    assert y.dtype == np.float16


def test_variables_as_indices():
    x = Variable(np.arange(12.0).reshape(3, 4))
    i, j = Variable(np.array([0, 2, 2])), Variable(np.array([1, 3, 3]))
    mask, one = Variable(x.data > 5), Variable(np.array(1))
    np.testing.assert_array_equal(F.get_item(x, i).data, x.data[[0, 2, 2]])
    np.testing.assert_array_equal(F.get_item(x, (one, j)).data, [5, 7, 7])
    np.testing.assert_array_equal(F.get_item(x, mask).data, x.data[x.data > 5])
    np.testing.assert_array_equal(F.take(x, i, 0).data, x.data[[0, 2, 2]])
    F.get_item(x, (i, j)).backward()
    assert x.grad.data[2, 3] == 2
    assert i.grad is None


def test_integers_and_slices_give_a_view():
    x = Variable(np.arange(6.0).reshape(2, 3))
    assert np.shares_memory(F.get_item(x, (slice(None), 1)).data, x.data)
    assert np.shares_memory(F.get_item(x, (Variable(np.array(1)),)).data, x.data)


def test_one_element_is_a_0d_variable():
    x = Variable(np.array([1.0, 2.0], np.float32))
    y = F.get_item(x, 1)
    assert isinstance(y.data, np.ndarray)
    assert (y.shape, y.dtype) == ((), np.float32)


def test_second_derivative_through_repeated_indices():
    x = Variable(np.array([1.0, 2.0, 3.0]))
    y = F.get_item(x, [0, 0, 2])
    (y * y * y).backward(create_graph=True)
    gx = x.grad
    x.cleargrad()
    gx.backward()
    np.testing.assert_allclose(x.grad.data, [12.0, 0.0, 18.0])


def test_the_gradient_of_indexing_is_no_view_of_what_comes_in():
    assert GetItem.fresh_gradients
    x = Variable(np.ones(3))
    seed = np.ones(3)
    F.get_item(x, ...).backward(grad=seed)
    assert not np.shares_memory(x.grad.data, seed)


def test_scatter_add_leaves_its_inputs_alone():
    x = np.zeros(3)
    y = F.scatter_add(x, [1, 1], np.array([1.0, 2.0]))
    np.testing.assert_array_equal(y.data, [0, 3, 0])
    np.testing.assert_array_equal(x, 0)


def test_scatter_add_of_a_number():
    x = Variable(np.zeros(3, np.float32))
    y = F.scatter_add(x, [0, 0, 2], 1.5)
    np.testing.assert_array_equal(y.data, [3, 0, 1.5])
    assert y.dtype == np.float32


def test_scatter_add_into_a_transposed_array():
    x = Variable(np.arange(6.0).reshape(2, 3).T)
    y = F.scatter_add(x, ([0, 0], [1, 1]), np.array([1.0, 1.0]))
    assert y.data[0, 1] == 5


@pytest.mark.parametrize("index", [0, slice(1), [0], np.array([True, False])])
def test_indexing_an_axis_of_an_empty_array(index):
    x = Variable(np.ones((2, 0)))
    y = F.get_item(x, index)
    y.backward()
    assert x.grad.shape == (2, 0)
