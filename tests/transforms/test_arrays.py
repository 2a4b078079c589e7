"""Transforms of arrays."""

import pickle

import numpy as np
import pytest

from dezero.transforms import AsType, Compose, Flatten, Normalize, ToFloat, ToInt

X = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)


def test_compose():
    x = Compose([Flatten(), ToFloat(), Normalize(0.0, 255.0)])(X)
    assert x.shape == (12,) and x.dtype == np.float32
    np.testing.assert_allclose(x, np.arange(12) / 255, rtol=1e-6)
    assert Compose()(X) is X and Compose([])(X) is X
    order = Compose([lambda x: x + 1, lambda x: x * 2])
    assert order(1) == 4
    both = pickle.loads(pickle.dumps(Compose([Flatten(), ToFloat()])))
    assert both(X).shape == (12,)
    assert repr(Compose([])) == "Compose([])"


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_normalize(dtype):
    x = X.astype(dtype)
    y = Normalize(2, 4)(x)
    assert y.dtype == dtype
    np.testing.assert_allclose(y, (x - 2) / 4)
    mean, std = [1, 2, 3], (2.0, 4.0, 8.0)
    y = Normalize(mean, std)(x)
    assert y.dtype == dtype
    expected = (x - np.reshape(mean, (3, 1, 1))) / np.reshape(std, (3, 1, 1))
    np.testing.assert_allclose(y, expected)
    np.testing.assert_array_equal(x, X)  # it is not changed
    assert Normalize()(x).tolist() == x.tolist()
    np.testing.assert_allclose(Normalize([2], np.array([4]))(x), (x - 2) / 4)


def test_normalize_of_integers_does_not_wrap_around():
    y = Normalize(5, 2)(X)
    assert y.dtype == np.float32 and y[0, 0, 0] == -2.5


def test_flatten_is_a_copy():
    y = Flatten()(X)
    y[0] = 99
    assert X[0, 0, 0] == 0 and y.shape == (12,)


def test_types():
    assert AsType()(X).dtype == ToFloat()(X).dtype == np.float32
    assert AsType(np.float64)(X).dtype == np.float64
    assert ToFloat(np.float16)(X).dtype == np.float16
    y = ToInt()(np.array([1.9, -1.9]))
    assert y.dtype == np.int64 and y.tolist() == [1, -1]
    label = ToFloat()(3)
    assert label == 3 and label.dtype == np.float32
    assert ToInt()(np.float32(2.7)) == 2


ERRORS = [
    (lambda: Compose([1]), TypeError, "Compose: expected .* called, got int"),
    (lambda: Normalize()([1, 2]), TypeError, "Normalize: expected an array, got list$"),
    (lambda: Normalize(0, 0), ValueError, "Normalize: expected std other than zero"),
    (lambda: Normalize(0, [1, 0]), ValueError, r"zero, got \[1, 0\]"),
    (lambda: Normalize(0, np.nan), ValueError, "other than zero, got nan"),
    (lambda: Normalize([[1]], 1), ValueError, "Normalize: expected mean to be a num"),
    (lambda: Normalize(0, []), ValueError, r"Normalize: expected std .* got \[\]"),
    (lambda: Normalize("a"), ValueError, "Normalize: expected mean .* got 'a'"),
    (
        lambda: Normalize([1, 2])(X),
        ValueError,
        r"Normalize: expected 2 channels along the first axis, got .*\(3, 2, 2\)",
    ),
    (lambda: Normalize([1, 2])(np.array(1.0)), ValueError, r"got x of shape \(\)"),
    (lambda: Flatten()(3), TypeError, "Flatten: expected an array, got int"),
    (lambda: AsType()("a"), TypeError, "AsType: expected an array, got str"),
    (lambda: ToInt()([1]), TypeError, "ToInt: expected an array, got list"),
]


@pytest.mark.parametrize("call, error, message", ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
