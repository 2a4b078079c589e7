import numpy as np
import pytest
import scipy.special as sp
from hypothesis import strategies as st

import dezero as dz
import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays, broadcastable


def gaussian(mean, log_var):
    shape = np.broadcast_shapes(mean.shape, log_var.shape)
    return mean + np.exp(log_var / 2) * np.random.standard_normal(shape)


def gumbel_softmax(x, temperature=1.0, axis=1):
    g = -np.log(np.random.standard_exponential(x.shape))
    return sp.softmax((x + g) / temperature, axis)


def temperatures(x):
    return st.fixed_dictionaries(
        {
            "temperature": st.sampled_from([0.5, 1.0, 3]),
            "axis": st.integers(-x.ndim, x.ndim - 1),
        }
    )


CASES = [
    Case(F.gaussian, broadcastable(2), reference=gaussian, random=True),
    Case(
        F.gumbel_softmax,
        arrays(min_dims=1),
        reference=gumbel_softmax,
        options=temperatures,
        random=True,
    ),
]

ERRORS = [
    (
        lambda: F.gumbel_softmax(np.ones((2, 3)), 0),
        ValueError,
        r"gumbel_softmax: expected temperature > 0, got 0",
    ),
    (
        lambda: F.gumbel_softmax(np.ones((2, 3)), Variable(np.ones(()))),
        TypeError,
        r"gumbel_softmax: expected a number as temperature, got Variable",
    ),
    (
        lambda: F.gumbel_softmax(np.ones(3)),
        ValueError,
        r"gumbel_softmax: .* got axis 1 for an array of shape \(3,\)",
    ),
]

SAMPLERS = [
    lambda x: F.gaussian(x, x),
    F.gumbel_softmax,
    lambda x: F.gumbel_softmax(x, hard=True),
]


def test_gaussian_has_mean_and_variance():
    np.random.seed(0)
    mean, log_var = np.full(200_000, 3.0, np.float32), np.float32(np.log(4))
    y = F.gaussian(mean, log_var).data
    assert abs(y.mean() - 3) < 0.02 and abs(y.std() - 2) < 0.02
    assert y.dtype == np.float32


def test_classes_come_up_as_often_as_they_should():
    np.random.seed(0)
    x = np.array([0.0, 1.0, -1.0, 2.0])
    y = F.gumbel_softmax(np.broadcast_to(x, (100_000, 4)), 0.3, hard=True).data
    np.testing.assert_allclose(y.mean(0), sp.softmax(x), atol=0.01)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_hard_values_and_soft_gradients(axis):
    x = np.random.default_rng(0).normal(size=(3, 4, 5))
    w = np.random.default_rng(1).normal(size=(3, 4, 5))
    results = []
    for hard in (False, True):
        v = Variable(x)
        np.random.seed(5)
        y = F.gumbel_softmax(v, 0.7, hard=hard, axis=axis)
        F.sum(y * w).backward(create_graph=True)
        g = v.grad
        v.cleargrad()
        F.sum(g * g).backward()
        results.append((y.data, g.data, v.grad.data))
    (soft, *slopes), (hard, *hard_slopes) = results
    assert set(np.unique(hard)) == {0, 1}
    np.testing.assert_array_equal(hard.sum(axis), np.ones(hard.sum(axis).shape))
    np.testing.assert_array_equal(hard.argmax(axis), soft.argmax(axis))
    for a, b in zip(slopes, hard_slopes, strict=True):
        np.testing.assert_array_equal(a, b)


def test_one_hot_of_a_tie_is_one():
    y = F.OneHotOfMax(1)(np.ones((2, 3)))
    np.testing.assert_array_equal(y.data, [[1, 0, 0], [1, 0, 0]])


@pytest.mark.parametrize("sample", SAMPLERS)
def test_repeats_under_a_seed_in_test_mode_too(sample):
    x = np.zeros((50, 4))
    with dz.test_mode():
        np.random.seed(3)
        a, b = sample(x).data, sample(x).data
    np.random.seed(3)
    np.testing.assert_array_equal(sample(x).data, a)
    assert (a != b).any()


@pytest.mark.parametrize("sample", SAMPLERS)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_shapes_and_dtypes(sample, dtype):
    for shape in [(0, 3), (3, 0), (2, 3)]:
        x = Variable(np.ones(shape, dtype))
        y = sample(x)
        y.backward()
        assert y.shape == x.grad.shape == shape and y.dtype == x.grad.dtype == dtype


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_extreme_scores(dtype):
    x = Variable(np.array([[1e4, 0, -1e4]], dtype))
    y = F.gumbel_softmax(x)
    y.backward()
    np.testing.assert_array_equal(y.data, [[1, 0, 0]])
    np.testing.assert_array_equal(x.grad.data, [[0, 0, 0]])


def test_an_exponential_of_0_is_no_infinity(monkeypatch):
    monkeypatch.setattr(np.random, "standard_exponential", np.zeros)
    y = F.gumbel_softmax(np.zeros((1, 2), np.float32))
    np.testing.assert_array_equal(y.data, [[0.5, 0.5]])


def test_integer_scores():
    y = F.gumbel_softmax(np.array([[0, 250]], np.uint8))
    assert y.dtype == np.float64
    np.testing.assert_allclose(y.data, [[0, 1]], atol=1e-9)


def test_numbers_as_parameters_are_weak():
    x = np.zeros(3, np.float32)
    assert F.gaussian(x, 0.0).dtype == F.gaussian(0.0, x).dtype == np.float32
    assert F.gaussian(0.0, 0.0).shape == ()
