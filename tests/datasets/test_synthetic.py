"""Spirals, moons, blobs and a sine curve."""

import numpy as np
import pytest

from dezero.datasets import (
    Blobs,
    Moons,
    SinCurve,
    Spiral,
    get_blobs,
    get_moons,
    get_spiral,
)


def test_spiral():
    x, t = get_spiral()
    assert x.shape == (300, 2) and x.dtype == np.float32
    assert t.shape == (300,) and t.dtype == np.int64
    assert np.bincount(t).tolist() == [100, 100, 100]
    r = np.sort(np.hypot(*x.T))
    np.testing.assert_allclose(r, np.repeat(np.arange(100), 3) / 100, atol=1e-6)
    # Turned back by 4 r and by its arm, each point keeps only its noise.
    rest = np.arctan2(x[:, 0], x[:, 1]) - 4 * np.hypot(*x.T) - 4 * t
    rest = (rest + np.pi) % (2 * np.pi) - np.pi
    assert 0.15 < rest[np.hypot(*x.T) > 0].std() < 0.25


def test_spiral_parts_repeat_and_leave_the_random_state_alone():
    np.random.seed(0)
    expected = np.random.rand(3)
    np.random.seed(0)
    x, t = get_spiral()
    assert np.random.rand(3).tolist() == expected.tolist()
    np.testing.assert_array_equal(get_spiral()[0], x)
    assert not np.array_equal(get_spiral(train=False)[0], x)
    dataset = Spiral(train=True)
    np.testing.assert_array_equal(dataset.data, x)
    np.testing.assert_array_equal(dataset.label, t)
    assert dataset[5][0].shape == (2,)


def test_moons():
    x, t = get_moons(201, noise=0.0)
    assert x.shape == (201, 2) and x.dtype == np.float32 and t.dtype == np.int64
    assert np.bincount(t).tolist() == [100, 101]
    radius = np.where(t == 0, np.hypot(*x.T), np.hypot(x[:, 0] - 1, x[:, 1] - 0.5))
    np.testing.assert_allclose(radius, 1, atol=1e-6)
    assert np.all(x[t == 0, 1] >= -1e-6) and np.all(x[t == 1, 1] <= 0.5 + 1e-6)
    assert not np.array_equal(t, np.sort(t))
    noisy, t = get_moons(2000, noise=0.1)
    radius = np.hypot(*noisy[t == 0].T)
    assert 0.08 < radius.std() < 0.12


def test_blobs():
    x, t = get_blobs(3001, centers=4, std=0.1, dim=3, seed=1)
    assert x.shape == (3001, 3) and x.dtype == np.float32 and t.dtype == np.int64
    assert sorted(np.bincount(t)) == [750, 750, 750, 751]
    means = np.stack([x[t == c].mean(axis=0) for c in range(4)])
    assert np.all(np.abs(means) < 5.1)
    np.testing.assert_allclose((x - means[t]).std(axis=0), 0.1, atol=0.01)
    others, t = get_blobs(3001, centers=4, std=0.1, dim=3, seed=1, train=False)
    other_means = np.stack([others[t == c].mean(axis=0) for c in range(4)])
    np.testing.assert_allclose(means, other_means, atol=0.02)
    assert not np.array_equal(x, others)


@pytest.mark.parametrize("cls, function", [(Moons, get_moons), (Blobs, get_blobs)])
def test_computed_datasets(cls, function):
    np.random.seed(0)
    expected = np.random.rand()
    np.random.seed(0)
    dataset = cls(n=50, seed=3)
    assert np.random.rand() == expected
    x, t = function(50, seed=3)
    np.testing.assert_array_equal(dataset.data, x)
    np.testing.assert_array_equal(dataset.label, t)
    assert not np.array_equal(cls(train=False, n=50, seed=3).data, x)
    assert not np.array_equal(cls(n=50, seed=4).data, x)
    assert len(cls()) == 300
    doubled = cls(transform=lambda x: 2 * x, n=50, seed=3)
    np.testing.assert_array_equal(doubled[7][0], 2 * x[7])


def test_sin_curve():
    curve, test = SinCurve(), SinCurve(train=False)
    assert len(curve) == len(test) == 999
    assert curve[0][0].shape == (1,) and curve[0][0].dtype == np.float32
    np.testing.assert_array_equal(curve.data[1:], curve.label[:-1])
    x = np.linspace(0, 2 * np.pi, 1000)
    noise = curve.data[:, 0] - np.sin(x[:-1])
    assert np.abs(noise).max() <= 0.0501 and 0.02 < noise.std() < 0.04
    np.testing.assert_allclose(test.data[:, 0], np.cos(x[:-1]), atol=1e-6)
    np.testing.assert_array_equal(SinCurve().data, curve.data)


ERRORS = [
    (lambda: get_moons(1), "get_moons: expected n >= 2, got 1"),
    (lambda: get_moons(noise=-1), "get_moons: expected noise >= 0, got -1"),
    (lambda: get_blobs(0), "get_blobs: expected n >= 1, got 0"),
    (lambda: get_blobs(centers=0), "get_blobs: expected centers >= 1, got 0"),
    (lambda: get_blobs(dim=0), "get_blobs: expected dim >= 1, got 0"),
    (lambda: get_blobs(std=-1), "get_blobs: expected std >= 0, got -1"),
]


@pytest.mark.parametrize("call, message", ERRORS)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()
