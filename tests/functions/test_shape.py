"""reshape, transpose, broadcasting and dtypes."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.functions.shape import as_shape, broadcasts, sum_to_array
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


def order_of_axes(x):
    def signed(order):
        return tuple([i - x.ndim if i % 2 else i for i in order])

    some = st.permutations(range(x.ndim)).map(signed)
    return st.fixed_dictionaries({"axes": st.one_of(st.none(), some)})


def two_axes(x):
    return options_of(axis1=range(-x.ndim, x.ndim), axis2=range(-x.ndim, x.ndim))


def source_and_destination(x):
    axes = st.permutations(range(x.ndim))
    pairs = st.tuples(axes, axes, st.integers(1, x.ndim)).map(
        lambda drawn: {
            "source": drawn[0][: drawn[2]],
            "destination": drawn[1][: drawn[2]],
        }
    )
    return st.one_of(pairs, options_of(source=[0, -1], destination=[-1, 0]))


def axes_of_size_1(x):
    ones = [i for i, n in enumerate(x.shape) if n == 1]
    single = [sign for i in ones for sign in (i, i - x.ndim)]
    return options_of(axis=[None, tuple(ones), *single])


def new_axis(x):
    return st.fixed_dictionaries({"axis": st.integers(-x.ndim - 1, x.ndim)})


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
    Case(F.transpose, arrays(), reference=np.transpose, options=order_of_axes),
    Case(F.swapaxes, at_least(1), reference=np.swapaxes, options=two_axes),
    Case(
        F.moveaxis, at_least(1), reference=np.moveaxis, options=source_and_destination
    ),
    Case(F.squeeze, arrays(max_side=2), reference=np.squeeze, options=axes_of_size_1),
    Case(F.expand_dims, arrays(), reference=np.expand_dims, options=new_axis),
    Case(
        F.broadcast_to,
        arrays(max_side=2),
        reference=np.broadcast_to,
        options=wider_shape,
    ),
    Case(F.sum_to, arrays(), reference=sum_like, options=narrower_shape),
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
    (
        lambda: F.transpose(M, (0,)),
        ValueError,
        r"transpose: .*2 axes.*\(0,\).*\(2, 3\)",
    ),
    (lambda: F.transpose(M, (0, 0)), ValueError, r"transpose: .*different.*\(0, 0\)"),
    (lambda: F.transpose(M, (0, 2)), ValueError, r"transpose: .*axis 2 .*\(2, 3\)"),
    (lambda: F.transpose(M, (0, 1.0)), TypeError, r"transpose: .*integer.*float"),
    (lambda: F.swapaxes(M, 0, 2), ValueError, r"swapaxes: .*\[-2, 2\).*axis 2 "),
    (lambda: F.swapaxes(np.ones(()), 0, 0), ValueError, r"swapaxes: .*no axis.*axis 0"),
    (lambda: F.moveaxis(M, 0, -3), ValueError, r"moveaxis: .*axis -3 "),
    (
        lambda: F.moveaxis(M, (0, 1), (0,)),
        ValueError,
        r"moveaxis: .*\(0, 1\) and \(0,\)",
    ),
    (lambda: F.squeeze(M, 0), ValueError, r"squeeze: .*size 1 along axis 0.*\(2, 3\)"),
    (lambda: F.squeeze(M, 2), ValueError, r"squeeze: .*axis 2 "),
    (lambda: F.expand_dims(M, -4), ValueError, r"expand_dims: .*axis -4 "),
    (lambda: F.expand_dims(M, "1"), TypeError, r"expand_dims: .*integer.*str"),
    (lambda: F.broadcast_to(M, (3,)), ValueError, r"broadcast_to: .*\(2, 3\).*\(3,\)"),
    (lambda: F.broadcast_to(M, (2, 4)), ValueError, r"broadcast_to: .*\(2, 4\)"),
    (lambda: F.broadcast_to(M, "33"), TypeError, r"broadcast_to: .*integer.*'33'"),
    (lambda: F.sum_to(M, (2,)), ValueError, r"sum_to: .*\(2, 3\) of x, got \(2,\)"),
    (lambda: F.sum_to(M, (3, 2)), ValueError, r"sum_to: .*got \(3, 2\)"),
    (lambda: F.sum_to(M, (1, 2, 3)), ValueError, r"sum_to: .*got \(1, 2, 3\)"),
    (lambda: F.sum_to(M[:1], (0, 3)), ValueError, r"sum_to: .*got \(0, 3\)"),
    (lambda: F.sum_to(M, 1.5), TypeError, r"sum_to: .*integer.*1.5"),
    (lambda: F.cast(M, complex), TypeError, r"cast: .*floats, got complex128"),
]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.reshape(x, (2, 3)),
        lambda x: F.reshape(x, [2, -1]),
        lambda x: F.transpose(x, (0, 1)),
        lambda x: F.transpose(x, (0, -1)),
        lambda x: F.swapaxes(x, 1, -1),
        lambda x: F.moveaxis(x, 1, 1),
        lambda x: F.squeeze(x),
        lambda x: F.flatten(x),
        lambda x: F.broadcast_to(x, (2, 3)),
        lambda x: F.broadcast_to(x, [2, 3]),
        lambda x: F.sum_to(x, (2, 3)),
        lambda x: F.sum_to(x, [2, 3]),
        lambda x: F.cast(x, "float64"),
    ],
)
def test_no_change_returns_the_variable_itself(function):
    x = Variable(np.ones((2, 3)))
    assert function(x) is x


@pytest.mark.parametrize("function", [F.transpose, F.ravel])
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


def test_as_shape_accepts_numpy_integers():
    assert as_shape("f", [np.int64(2), 3]) == (2, 3)
    assert as_shape("f", np.int32(2)) == (2,)
