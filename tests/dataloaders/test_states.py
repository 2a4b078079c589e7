"""The state of a loader: what is refused, and that a refusal changes nothing.

That passes go on from it is tested beside the loader.
"""

import copy

import numpy as np
import pytest

from dezero.dataloaders import DataLoader, SeqDataLoader

PAIRS = [(np.full(1, i), i) for i in range(7)]


def loader(**options):
    return DataLoader(PAIRS, 2, **options)


def state(seed=None, **changes):
    """The state of a loader after two batches."""
    other = loader(seed=seed)
    next(other), next(other)
    found = {**other.state_dict(), **changes}
    return {name: x for name, x in found.items() if x is not None}


def test_the_state_is_a_copy():
    first = loader(seed=1)
    next(first)
    found = first.state_dict()
    kept = copy.deepcopy(found)
    list(first), list(first)
    second = loader(seed=2)
    second.load_state_dict(found)
    list(second), list(second)
    for name in kept:
        np.testing.assert_array_equal(found[name], kept[name])


def test_numpy_scalars_will_do():
    other = loader()
    other.load_state_dict({k: np.asarray(x) for k, x in state().items()})
    assert other.iteration == 2 and type(other.iteration) is int


def test_sequences():
    first, second = SeqDataLoader(PAIRS, 2), SeqDataLoader(PAIRS, 2)
    next(first)
    second.load_state_dict(first.state_dict())
    assert next(second)[1].tolist() == next(first)[1].tolist() == [1, 4]


ERRORS = [
    (None, [1], TypeError, "expected a dict that state_dict gave, got list$"),
    (None, {}, ValueError, "one without iteration, data_size, batch_size$"),
    (1, state(1, generator_position=None), ValueError, "without generator_position$"),
    (None, state(iteration="2"), ValueError, "an integer for iteration, got '2'$"),
    (None, state(iteration=2.0), ValueError, "an integer for iteration, got 2.0$"),
    (None, state(order=3), ValueError, "a row of integers for order, got 3$"),
    (None, state(iteration=5), ValueError, r"an iteration in \[0, 4\], got 5$"),
    (None, state(iteration=-1), ValueError, r"an iteration in \[0, 4\], got -1$"),
    (
        None,
        state(order=np.arange(6)),
        ValueError,
        r"an order of 7 indices of items, got one of shape \(6,\) with 0 to 5$",
    ),
    (
        None,
        state(order=np.arange(1, 8)),
        ValueError,
        r"an order of 7 indices of items, got one of shape \(7,\) with 0 to 7$",
    ),
    (
        1,
        state(1, generator_keys=np.arange(3), generator_position=7),
        ValueError,
        r"expected 624 generator_keys and .* got shape \(3,\) and 7$",
    ),
    (1, state(1, generator_position=625), ValueError, r"got shape \(624,\) and 625$"),
    (1, state(), ValueError, "expected .* a loader with a seed, got one of no seed$"),
    (None, state(1), ValueError, "expected .* without a seed, got one of a seed$"),
    (None, state(data_size=8), ValueError, "expected data_size 7, got 8$"),
]


@pytest.mark.parametrize("seed, given, error, message", ERRORS)
def test_errors_change_nothing(seed, given, error, message):
    other = loader(seed=seed)
    next(other)
    before = other.state_dict()
    with pytest.raises(error, match=f"^DataLoader.load_state_dict: .*{message}"):
        other.load_state_dict(given)
    after = other.state_dict()
    assert list(after) == list(before)
    for name in before:
        np.testing.assert_array_equal(after[name], before[name])
    assert len(list(other)) == 4  # a fresh pass, as it would have been
