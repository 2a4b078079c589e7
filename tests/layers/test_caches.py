"""KeyValueCache: what it gives back, and what it refuses."""

import copy

import numpy as np
import pytest

from dezero.core import Variable, no_grad
from dezero.layers import KeyValueCache


def places(T, *front, size=4):
    return np.random.randn(*front, T, size).astype(np.float32)


@pytest.mark.parametrize("front", [(), (2,), (2, 3)])
def test_it_gives_back_all_places_in_order(front):
    cache = KeyValueCache(6)
    keys, values = places(6, *front), places(6, *front, size=5)
    for start, end in (0, 2), (2, 3), (3, 6):
        k, v = cache.append(keys[..., start:end, :], values[..., start:end, :])
        assert cache.length == end
        np.testing.assert_array_equal(k, keys[..., :end, :])
        np.testing.assert_array_equal(v, values[..., :end, :])
        assert k.dtype == v.dtype == np.float32


def test_what_it_gave_back_stays():
    cache, keys = KeyValueCache(4), places(4)
    first, _ = cache.append(keys[:2], keys[:2])
    cache.append(keys[2:], keys[2:])
    np.testing.assert_array_equal(first, keys[:2])


@pytest.mark.parametrize(
    ("first", "then", "dtype"),
    [
        (np.float16, np.float32, np.float32),
        (np.float32, np.float16, np.float32),
        (np.int64, np.float32, np.float64),
        (bool, np.float16, np.float16),
    ],
)
def test_numbers_of_another_dtype_are_held_as_they_are(first, then, dtype):
    cache = KeyValueCache(3)
    before, _ = cache.append(np.ones((2, 4), first), np.ones((2, 4), first))
    new = np.full((1, 4), 0.7, then)
    for x in cache.append(new, new):
        assert x.dtype == dtype
        np.testing.assert_array_equal(x, np.concatenate([before, new]))
    assert before.dtype == first


def test_inputs_may_be_changed_afterwards():
    cache, keys = KeyValueCache(4), places(2)
    before = keys.copy()
    cache.append(keys, keys)
    keys[:] = 0
    k, v = cache.append(keys, keys)
    np.testing.assert_array_equal(k[:2], before)
    np.testing.assert_array_equal(v[:2], before)


def test_variables_count_by_their_data():
    cache, x = KeyValueCache(4), places(2)
    with no_grad():
        k, _ = cache.append(Variable(x), Variable(x))
    assert type(k) is np.ndarray
    cache.append(Variable(x, requires_grad=False), x)  # constants, recorded or not
    assert cache.length == 4


def test_copies_go_on_by_themselves():
    cache, x = KeyValueCache(4), places(3)
    cache.append(x[:1], x[:1])
    other = copy.deepcopy(cache)
    cache.append(x[1:2], x[1:2])
    k, _ = other.append(x[2:], x[2:])
    np.testing.assert_array_equal(k, x[[0, 2]])
    np.testing.assert_array_equal(cache.append(x[2:], x[2:])[0], x)


def test_repr():
    cache = KeyValueCache(7)
    cache.append(places(2), places(2))
    assert repr(cache) == "KeyValueCache(7), 2 places used"


def used(*shapes):
    """A cache of room for four that has seen arrays of such shapes."""
    cache = KeyValueCache(4)
    for shape in shapes:
        cache.append(np.ones(shape), np.ones(shape))
    return cache


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: KeyValueCache(0),
            ValueError,
            "KeyValueCache: expected capacity to be at least 1, got 0",
        ),
        (
            lambda: KeyValueCache(2.0),
            TypeError,
            "KeyValueCache: expected capacity to be an integer, got float",
        ),
        (
            lambda: used((5, 2)),
            ValueError,
            "KeyValueCache: expected at most 4 places, got 0 and 5 more",
        ),
        (
            lambda: used((3, 2), (2, 2)),
            ValueError,
            "KeyValueCache: expected at most 4 places, got 3 and 2 more",
        ),
        (
            lambda: used((1, 2, 3), (2, 2, 3)),
            ValueError,
            r"expected keys of shape \(1, 2, 3\), as before, got \(2, 2, 3\)",
        ),
        (
            lambda: used((2, 3), (2, 4)),
            ValueError,
            r"expected keys of shape \(2, 3\), as before, got \(2, 4\)",
        ),
        (
            lambda: KeyValueCache(4).append(np.ones((2, 3)), np.ones((1, 3))),
            ValueError,
            r"expected keys \(..., T, D\) and values .* \(2, 3\) and \(1, 3\)",
        ),
        (
            lambda: KeyValueCache(4).append(np.ones(3), np.ones(3)),
            ValueError,
            r"expected keys \(..., T, D\) and values .* \(3,\) and \(3,\)",
        ),
        (
            lambda: KeyValueCache(4).append(Variable(np.ones((2, 3))), np.ones((2, 3))),
            RuntimeError,
            r"KeyValueCache: expected to be used under no_grad\(\), got keys or values",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_what_is_refused_leaves_it_as_it_was():
    cache, x = KeyValueCache(3), places(2)
    cache.append(x, x)
    for wrong in places(2), places(1, size=5):
        with pytest.raises(ValueError):
            cache.append(wrong, wrong)
    assert cache.length == 2
    np.testing.assert_array_equal(cache.append(x[:1], x[:1])[0], x[[0, 1, 0]])
