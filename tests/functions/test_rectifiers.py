import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, away_from_zero

ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805


@st.composite
def with_slopes(draw):
    x = draw(away_from_zero(min_dims=2))
    shape = draw(st.sampled_from([(), (1,), x.shape[1:2]]))
    return x, draw(arrays(shape))


def prelu(x, slope):
    if slope.ndim:
        slope = slope.reshape((-1,) + (1,) * (x.ndim - 2))
    return np.where(x > 0, x, slope * x)


CASES = [
    Case(F.prelu, with_slopes(), reference=prelu),
    Case(F.prelu, away_from_zero(), arrays(()), reference=prelu),
    Case(
        F.selu,
        away_from_zero(),
        reference=lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(x)),
    ),
    Case(
        F.mish, arrays(), reference=lambda x: x * np.tanh(np.log1p(np.exp(x))), order=3
    ),
]

ERRORS = [
    (
        lambda: F.prelu(np.ones((2, 3, 4)), np.ones(4)),
        ValueError,
        r"prelu: .* \(\), \(1,\) or \(3,\) for x of shape \(2, 3, 4\), got \(4,\)",
    ),
    (
        lambda: F.prelu(np.ones((2, 3)), np.ones((1, 3))),
        ValueError,
        r"prelu: .* got \(1, 3\)",
    ),
    (lambda: F.prelu(np.ones(3), np.ones(3)), ValueError, r"prelu: .* got \(3,\)"),
    (lambda: F.selu(None), TypeError, "expected .* got NoneType"),
]


def learned(x):
    return F.prelu(x, np.array([0.25], x.dtype))


FUNCTIONS = [learned, F.selu, F.mish]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_extreme_numbers(f, dtype):
    x = Variable(np.array([-1e4, -100, -20, 0, 20, 100, 1e4], dtype))
    y = f(x)
    y.backward(create_graph=True)
    g = x.grad
    x.cleargrad()
    F.sum(g * g).backward()
    for a in (y, g) if x.grad is None else (y, g, x.grad):
        assert np.isfinite(a.data).all() and a.dtype == dtype
    low, high = {learned: (-2500, 1e4), F.mish: (0, 1e4)}.get(
        f, (-SCALE * ALPHA, SCALE * 1e4)
    )
    np.testing.assert_allclose(y.data[[0, -1]], [low, high], rtol=2e-3)


def test_slopes_at_the_kink(slope):
    assert slope(lambda x: F.prelu(x, np.array(0.3)), [0.0]) == [0.3]
    np.testing.assert_allclose(slope(F.selu, [0.0]), [SCALE * ALPHA])
    np.testing.assert_allclose(slope(F.mish, [0.0]), [np.tanh(np.log(2))])


def test_selu_keeps_mean_and_variance():
    y = F.selu(np.random.default_rng(0).normal(size=1_000_000)).data
    assert abs(y.mean()) < 5e-3 and abs(y.var() - 1) < 5e-3


def test_prelu_of_one_channel_and_of_a_vector():
    x = np.array([[[-1.0, 2.0]]])
    np.testing.assert_array_equal(F.prelu(x, np.array([0.5])).data, [[[-0.5, 2.0]]])
    np.testing.assert_array_equal(F.prelu(np.array([-2.0, 4.0]), 0.5).data, [-1.0, 4.0])


@pytest.mark.parametrize("f", FUNCTIONS)
def test_empty(f):
    x = Variable(np.zeros((0, 1, 3)))
    y = f(x)
    y.backward()
    assert y.shape == x.grad.shape == (0, 1, 3)


@pytest.mark.parametrize("f", [F.selu, F.mish])
def test_integers_count_as_floats(f):
    x = np.array([0, 3, 200], np.uint8)
    np.testing.assert_allclose(f(x).data, f(x.astype("f8")).data)


def test_a_number_as_slope_is_weak():
    y = F.prelu(np.array([-2, 4], np.float32), 0.5)
    assert y.dtype == np.float32 and y.data.tolist() == [-1, 4]
