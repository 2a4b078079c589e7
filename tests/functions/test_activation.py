import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, away_from_zero


def leaky(x, slope=0.2):
    return np.where(x > 0, x, slope * x)


def elu(x, alpha=1.0):
    return np.where(x > 0, x, alpha * np.expm1(x))


def numbers(name, *values):
    return lambda x: st.fixed_dictionaries({name: st.sampled_from(values)})


def halved():
    """Arrays of an even size along the last axis."""
    return arrays(min_dims=1).map(lambda x: np.concatenate([x, 1 - x], -1))


def glu(x, axis=-1):
    a, b = np.split(x, 2, axis)
    return a * sp.expit(b)


CASES = [
    Case(F.sigmoid, arrays(), reference=sp.expit),
    Case(F.sigmoid_simple, arrays(), reference=sp.expit),
    Case(F.relu, away_from_zero(), reference=lambda x: np.maximum(x, 0)),
    Case(F.leaky_relu, away_from_zero(), reference=leaky),
    Case(
        F.leaky_relu,
        away_from_zero(),
        reference=leaky,
        options=numbers("slope", 0.01, -0.5, 1.5, 0),
    ),
    Case(
        F.elu,
        away_from_zero(),
        reference=elu,
        options=numbers("alpha", 1.0, 0.3, 0),
    ),
    Case(F.softplus, arrays(), reference=lambda x: np.logaddexp(x, 0)),
    Case(F.silu, arrays(), reference=lambda x: x * sp.expit(x)),
    Case(F.glu, halved(), reference=glu, options=lambda x: st.just({})),
    Case(
        F.glu,
        halved().map(lambda x: np.moveaxis(x, -1, 0)),
        reference=glu,
        options=lambda x: st.sampled_from([{"axis": 0}, {"axis": -x.ndim}]),
    ),
]

ERRORS = [
    (
        lambda: F.glu(np.ones((2, 3))),
        ValueError,
        r"glu: expected an even size along axis 1, got x of shape \(2, 3\)",
    ),
    (
        lambda: F.glu(np.ones((2, 4)), 2),
        ValueError,
        r"glu: .* got axis 2 for an array of shape \(2, 4\)",
    ),
    (lambda: F.elu(np.ones(3), -1), ValueError, r"elu: expected alpha >= 0, got -1"),
    (
        lambda: F.elu(np.ones(3), Variable(np.ones(3))),
        TypeError,
        r"elu: expected a number as alpha, got Variable",
    ),
    (
        lambda: F.leaky_relu(np.ones(3), Variable(np.ones(3))),
        TypeError,
        r"leaky_relu: expected a number as slope, got Variable",
    ),
]

FUSED = [
    (F.sigmoid, F.sigmoid_simple),
    (F.softmax, F.softmax_simple),
    (F.log_softmax, lambda x: F.log(F.softmax_simple(x))),
    (F.softplus, lambda x: F.log(1 + F.exp(x))),
    (F.leaky_relu, lambda x: F.where(x.data > 0, x, 0.2 * x)),
    (F.relu, lambda x: F.maximum(x, 0)),
    (F.elu, lambda x: F.where(x.data > 0, x, F.exp(x) - 1)),
]


def gradient(x):
    """None came back from a straight line: its derivative is a constant."""
    return Variable(np.zeros_like(x.data)) if x.grad is None else x.grad


@pytest.mark.parametrize(("fused", "composed"), FUSED)
def test_fused_equals_composed(derivatives, fused, composed):
    x = np.random.default_rng(0).normal(size=(3, 4))
    pairs = zip(derivatives(fused, x), derivatives(composed, x), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


FUNCTIONS = [F.sigmoid, F.relu, F.leaky_relu, F.elu, F.softplus, F.silu]
ALONG_AXIS = [F.softmax, F.log_softmax]


@pytest.mark.parametrize("f", [*FUNCTIONS, *ALONG_AXIS])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_extreme_numbers(f, dtype):
    x = Variable(np.array([[-1e4, -100, -20, 0, 20, 100, 1e4]], dtype))
    y = f(x)
    y.backward(create_graph=True)
    g = x.grad
    x.cleargrad()
    F.sum(g * g).backward()
    for a in (y, g, gradient(x)):
        assert np.isfinite(a.data).all() and a.dtype == dtype


def test_sigmoid_of_large_numbers():
    y = F.sigmoid(np.array([-1e4, -80, -20, 20, 1e4], np.float32)).data
    expected = [0, np.exp(-80.0), np.exp(-20.0), 1, 1]
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_softplus_of_large_numbers():
    y = F.softplus(np.array([-1e4, -80, 80, 1e4], np.float32)).data
    np.testing.assert_allclose(y, [0, np.exp(-80.0), 80, 1e4], rtol=1e-6)


@pytest.mark.parametrize(
    ("f", "slope"),
    [(F.relu, 0), (F.leaky_relu, 0.2), (lambda x: F.elu(x, 0.5), 0.5)],
)
def test_slope_at_the_kink(f, slope):
    x = Variable(np.zeros(2))
    f(x).backward()
    np.testing.assert_array_equal(x.grad.data, [slope, slope])


@pytest.mark.parametrize("f", [F.sigmoid, F.elu, F.softplus, F.silu])
@pytest.mark.parametrize("dtype", ["u1", "i4", "i8"])
def test_integers_count_as_floats(f, dtype):
    x = np.array([0, 3, 200], dtype)
    y = f(x).data
    np.testing.assert_allclose(y, f(x.astype("f8")).data)
    assert y.dtype.kind == "f"


@pytest.mark.parametrize("f", ALONG_AXIS)
def test_integer_scores(f):
    y = f(np.array([[0, 250]], np.uint8)).data
    np.testing.assert_allclose(y, f(np.array([[0.0, 250.0]])).data)


def test_relu_passes_nan_on():
    assert np.isnan(F.relu(np.array([np.nan])).data)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_empty(f):
    x = Variable(np.zeros((0, 3)))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == (0, 3)


@pytest.mark.parametrize("f", [*ALONG_AXIS])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_empty_along_an_axis(f, shape):
    x = Variable(np.zeros(shape))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == shape


def test_classes_have_the_defaults_of_the_functions():
    x = np.array([[-1.0, 2.0]])
    for name in ("Softmax", "LogSoftmax", "LeakyReLU", "ELU", "GELU"):
        function = {"LeakyReLU": "leaky_relu", "LogSoftmax": "log_softmax"}
        f = getattr(F, function.get(name, name.lower()))
        np.testing.assert_array_equal(getattr(F, name)()(x).data, f(x).data)


@pytest.mark.parametrize("f", [F.relu, lambda x: F.leaky_relu(x, 0)])
def test_an_infinite_slope_does_no_harm_where_relu_is_flat(slope, second_slopes, f):
    assert slope(lambda x: F.sqrt(f(x)), [-1, 0, 4]) == [0, 0, 0.25]
    assert second_slopes(lambda x: F.sqrt(f(x)), [-1, 0, 4]) == [0, 0, -1 / 32]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_relu_in_a_pass_that_is_not_recorded_gives_the_same(dtype):
    x, gy = np.meshgrid([-1, 0, 1, np.nan, np.inf], [-2, 0, np.inf, -np.inf, np.nan])
    x, gy = Variable(x.astype(dtype)), gy.astype(dtype)
    y = F.relu(x)
    y.backward(create_graph=True, grad=gy)
    expected = x.grad.data
    x.cleargrad()
    y.backward(grad=gy)
    assert x.grad.dtype == dtype
    np.testing.assert_array_equal(x.grad.data, expected)
    right = [[0, 0, g, 0, g] for g in gy[:4, 0].tolist()]  # NaN stays what it is
    np.testing.assert_array_equal(expected, [*right, [np.nan] * 5])


def test_sigmoid_in_half_precision_has_its_smallest_values():
    y = F.sigmoid(np.array([-16, -12, -11, 12], np.float16))
    assert y.dtype == np.float16
    expected = sp.expit(np.array([-16.0, -12, -11, 12])).astype(np.float16)
    assert y.data.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_glu_of_extreme_numbers(dtype):
    x = Variable(np.array([[1e4, -1e4, 1e4, 1e4, -1e4, 0]], dtype))
    y = F.glu(x)
    y.backward()
    np.testing.assert_array_equal(y.data, [[1e4, 0, 5e3]])
    np.testing.assert_array_equal(x.grad.data, [[1, 0, 0.5, 0, 0, 2.5e3]])


def test_glu_of_nothing():
    x = Variable(np.zeros((0, 4)))
    y = F.glu(x)
    y.backward()
    assert y.shape == (0, 2) and x.grad.shape == (0, 4)
