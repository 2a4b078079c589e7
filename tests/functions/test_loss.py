"""Losses of regression."""

import numpy as np

import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, same_shape


def batch(x):
    return len(x) if x.ndim else 1


def mean_squared_error(x0, x1):
    return np.sum((x0 - x1) ** 2) / batch(x0)


CASES = [
    Case(F.mean_squared_error, same_shape(2), reference=mean_squared_error),
    Case(F.mean_squared_error_simple, same_shape(2), reference=mean_squared_error),
]


def zeros(*shape):
    return np.zeros(shape)


ERRORS = [
    (
        lambda: F.mean_squared_error(zeros(3, 1), zeros(3)),
        ValueError,
        r"mean_squared_error: expected .* one shape, got \(3, 1\) and \(3,\)",
    ),
    (
        lambda: F.mean_squared_error(zeros(0, 2), zeros(0, 2)),
        ValueError,
        r"mean_squared_error: .* one sample, got x of shape \(0, 2\)",
    ),
    (
        lambda: F.mean_squared_error_simple(zeros(3, 1), zeros(3)),
        ValueError,
        r"mean_squared_error_simple: expected .* got \(3, 1\) and \(3,\)",
    ),
    (
        lambda: F.mean_squared_error_simple(zeros(0, 2), zeros(0, 2)),
        ValueError,
        r"mean_squared_error_simple: .* one sample, got x of shape \(0, 2\)",
    ),
    (
        lambda: F.mean_squared_error([1.0], zeros(1)),
        TypeError,
        r"as_variable: .* got list",
    ),
]


def test_fused_equals_simple(derivatives):
    rng = np.random.default_rng(0)
    arrays = rng.normal(size=(4, 3)), rng.random((4, 3))
    fused = derivatives(F.mean_squared_error, *arrays, order=2)
    simple = derivatives(F.mean_squared_error_simple, *arrays, order=2)
    for a, b in zip(fused, simple, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-13)


def test_mean_squared_error_of_other_kinds():
    x = Variable(np.array([1.0, 2.0], np.float32))
    loss = F.mean_squared_error(x, np.array([0, 0]))
    assert loss.dtype == np.float32 and loss.data == 2.5
    assert F.mean_squared_error(np.array(3, np.float32), 1.0).dtype == np.float32
    assert F.mean_squared_error(np.array(3.0), 1).data == 4
    small = np.array([1], np.uint8), np.array([2], np.uint8)
    assert F.mean_squared_error(*small).data == 1


def test_mean_squared_error_gives_integers_a_gradient():
    x0, x1 = Variable(np.array([1, 2])), Variable(np.array([3, 3]))
    F.mean_squared_error(x0, x1).backward()
    np.testing.assert_array_equal(x0.grad.data, [-2, -1])
    np.testing.assert_array_equal(x1.grad.data, [2, 1])


def test_mean_squared_error_in_half_precision_does_not_overflow():
    x = Variable(np.full(1000, 20, np.float16))
    loss = F.mean_squared_error(x, np.zeros(1000, np.float16))
    assert loss.data == 400 and loss.dtype == np.float16


def test_mean_squared_error_of_two_precisions_has_the_wider_one():
    half, single = np.ones(3, np.float16), np.ones(3, np.float32)
    assert F.mean_squared_error(half, single).dtype == np.float32
    assert F.mean_squared_error(single, half).dtype == np.float32
