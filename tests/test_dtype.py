"""Element types: scalars are weak; float32 and float16 graphs stay what they are."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F

SCALARS = {
    "int": 3,
    "float": 3.0,
    "bool": True,
    "np.float64": np.float64(3),
    "np.sqrt": np.sqrt(9),
    "np.float32": np.float32(3),
    "np.float16": np.float16(3),
    "np.int64": np.int64(3),
    "np.int8": np.int8(3),
}
OPERATORS = {
    "x+s": lambda x, s: x + s,
    "s+x": lambda x, s: s + x,
    "x-s": lambda x, s: x - s,
    "s-x": lambda x, s: s - x,
    "x*s": lambda x, s: x * s,
    "s*x": lambda x, s: s * x,
    "x/s": lambda x, s: x / s,
    "s/x": lambda x, s: s / x,
    "x**s": lambda x, s: x**s,
    "s**x": lambda x, s: s**x,
    "x//s": lambda x, s: x // s,
    "s//x": lambda x, s: s // x,
    "x%s": lambda x, s: x % s,
    "s%x": lambda x, s: s % x,
    "maximum": lambda x, s: F.maximum(x, s),
    "where": lambda x, s: F.where(x.data > 1, x, s),
}


@pytest.mark.parametrize("scalar", SCALARS.values(), ids=SCALARS)
@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_scalars_are_weak(operator, scalar, dtype, shape):
    x = dz.Variable(np.full(shape, 2, dtype))
    y = operator(x, scalar)
    assert isinstance(y, dz.Variable)
    assert y.dtype == dtype
    assert y.shape == shape
    F.sum(y).backward()
    assert x.grad.dtype == dtype


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=OPERATORS)
def test_scalars_have_numpys_values(operator):
    x = np.array([1.5, 2.5])
    if operator is OPERATORS["maximum"]:
        expected = np.maximum(x, 3.0)
    elif operator is OPERATORS["where"]:
        expected = x
    else:
        expected = operator(x, 3.0)
    np.testing.assert_allclose(operator(dz.Variable(x), 3.0).data, expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_sqrt_scaled_graph_keeps_its_dtype(dtype):
    x = dz.Variable(np.array([1, 2, 3], dtype))
    h = x * np.sqrt(2)
    h = h / np.float64(3) + np.float32(1)
    y = F.sum(np.exp(0.5) * h * h)
    assert y.dtype == dtype
    y.backward(create_graph=True)
    assert x.grad.dtype == dtype
    gx = x.grad
    x.cleargrad()
    F.sum(gx * gx).backward()
    assert x.grad.dtype == dtype
    slope = 2 * np.exp(0.5) * 2 / 9
    np.testing.assert_allclose(x.grad.data, 2 * gx.data * slope, rtol=1e-2)


def test_zero_d_variable_used_four_times():
    for dtype in np.float16, np.float32, np.float64:
        x = dz.Variable(np.array(3, dtype))
        y = x * x + x * x
        y.backward()
        assert y.dtype == dtype and x.grad.dtype == dtype
        assert type(y.data) is np.ndarray and type(x.grad.data) is np.ndarray
        assert float(x.grad) == 12


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 0.5,
        lambda x: 0.5 * x,
        lambda x: x - np.float64(0.5),
        lambda x: x / 2,
        lambda x: 2 / x,
        lambda x: x**0.5,
    ],
)
def test_integers_with_a_float_scalar_become_floating(f):
    data = np.array([1, 2, 4])
    y = f(dz.Variable(data))
    assert y.dtype == np.float64
    np.testing.assert_allclose(y.data, f(data))


def test_integers_with_an_integer_scalar_stay_integers():
    x = dz.Variable(np.array([1, 2, 4], np.int32))
    for y in x + 1, 2 * x, 1 - x, x**2, x // 2, x % 2:
        assert y.dtype == np.int32


def test_functions_of_calculus_make_integers_floating():
    x = dz.Variable(np.array([1, 2, 4]))
    for f in F.exp, F.log, F.sin, F.sqrt, F.mean, F.tanh:
        assert f(x).dtype == np.float64


def test_integer_variable_gets_a_gradient():
    x = dz.Variable(np.array(3))
    y = x * x + 1
    y.backward()
    assert float(x.grad) == 6
    x = dz.Variable(np.array([1, 2]))
    F.sum(x * 0.5).backward()
    assert x.grad.dtype == np.float64
    np.testing.assert_allclose(x.grad.data, [0.5, 0.5])


def test_arrays_are_strong_and_each_gradient_has_its_inputs_dtype():
    x = dz.Variable(np.ones(2, np.float32))
    w = dz.Variable(np.ones(2, np.float64))
    y = x * w
    assert y.dtype == np.float64
    y.backward()
    assert x.grad.dtype == np.float32 and w.grad.dtype == np.float64
    assert (x * np.ones((), np.float64)).dtype == np.float64  # an array, if 0-d


def test_float32_with_integer_arrays_follows_numpy():
    x = dz.Variable(np.ones(2, np.float32))
    assert (x * np.ones(2, np.int8)).dtype == np.float32
    assert (x * np.ones(2, np.int64)).dtype == np.float64


def test_reflected_arrays_keep_float32():
    x = dz.Variable(np.ones(2, np.float32))
    a = np.full(2, 2, np.float32)
    for y in a + x, a - x, a * x, a / x, a**x, a @ x:
        assert y.dtype == np.float32
        assert isinstance(y, dz.Variable)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_seed_has_the_dtype_of_the_output(dtype):
    x = dz.Variable(np.ones(2, dtype))
    y = x * 2
    y.backward(grad=np.ones(2))
    assert x.grad.dtype == dtype


def test_astype_gives_the_gradient_the_old_dtype():
    x = dz.Variable(np.ones(2, np.float32))
    y = x.astype(np.float64) * 3
    assert y.dtype == np.float64
    y.backward()
    assert x.grad.dtype == np.float32
    np.testing.assert_array_equal(x.grad.data, [3, 3])


def test_out_of_range_integer_scalar_is_an_error_as_in_numpy():
    with pytest.raises(OverflowError):
        dz.Variable(np.ones(2, np.int8)) + 1000
