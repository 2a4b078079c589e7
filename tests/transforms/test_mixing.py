"""Mixup of a batch."""

import numpy as np
import pytest

import dezero.functions as F
from dezero.transforms import Mixup


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
def test_mixup(dtype):
    x, t = np.eye(6).astype(dtype), np.array([0, 1, 2, 3, 4, 5])
    for seed in range(10):
        y, mixed = Mixup(6, alpha=1.0, seed=seed)(x, t)
        expected = np.float32 if dtype == np.uint8 else dtype
        assert y.dtype == mixed.dtype == expected
        np.testing.assert_array_equal(y, mixed)  # x is mixed as t is
        np.testing.assert_allclose(mixed.sum(axis=1), 1, rtol=1e-3)
        np.testing.assert_allclose(mixed.sum(axis=0), 1, rtol=1e-3)
        assert np.all((mixed > 0).sum(axis=1) <= 2)
    np.testing.assert_array_equal(x, np.eye(6))


def test_shapes_and_seeds():
    x, t = np.random.rand(4, 3, 2, 2), np.array([2, 0, 1, 1])
    y, mixed = Mixup(3)(x, t)
    assert y.shape == x.shape and mixed.shape == (4, 3)
    np.random.seed(0)
    first = Mixup(3)(x, t)
    np.random.seed(0)
    np.testing.assert_array_equal(Mixup(3)(x, t)[0], first[0])
    one, other = Mixup(3, seed=1), Mixup(3, seed=1)
    np.testing.assert_array_equal(one(x, t)[1], other(x, t)[1])
    y, mixed = Mixup(3)(x[:0], t[:0])
    assert y.shape == (0, 3, 2, 2) and mixed.shape == (0, 3)


def test_the_loss_is_mixed_as_the_items_are():
    logits = np.random.RandomState(0).randn(4, 3)
    t = np.array([2, 0, 1, 1])
    _, mixed = Mixup(3, alpha=1.0, seed=0)(np.eye(4), t)
    ratio, _ = Mixup(3, alpha=1.0, seed=0)(np.eye(4), t)  # (N, N): parts of each item
    each = np.stack(
        [
            [float(F.softmax_cross_entropy(row[None], np.array([c]))) for c in t]
            for row in logits
        ]
    )  # (N, N): loss of row i with the class of item j
    found = float(F.softmax_cross_entropy(logits, mixed))
    np.testing.assert_allclose(found, (ratio * each).sum(axis=1).mean(), rtol=1e-6)


X, T = np.ones((2, 3)), np.array([0, 1])
ERRORS = [
    (lambda: Mixup(0), "Mixup: expected classes >= 1, got 0"),
    (lambda: Mixup(2, alpha=0), "Mixup: expected alpha > 0, got 0"),
    (lambda: Mixup(2)(X, T[:1]), r"Mixup: .*\(2, 3\) and t of shape \(1,\)"),
    (lambda: Mixup(2)(X, T * 1.0), "Mixup: .*dtype float64"),
    (lambda: Mixup(1)(X, T), r"Mixup: expected classes in \[0, 1\), got 0 to 1"),
    (lambda: Mixup(2)(X, T - 1), r"Mixup: .*got -1 to 0"),
]


@pytest.mark.parametrize("call, message", ERRORS)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
