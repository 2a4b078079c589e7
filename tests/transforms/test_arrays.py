"""Transforms of arrays."""

import copy
import pickle

import numpy as np
import pytest

from dezero.checkpoints import load_checkpoint, save_checkpoint
from dezero.transforms import (
    AsType,
    Compose,
    Flatten,
    Normalize,
    RandomCrop,
    RandomVerticalFlip,
    ToFloat,
    ToInt,
)

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


class Counter:
    """A transform of the user's with a state, in which "bad" is refused too late."""

    def __init__(self):
        self.state = {"n": [0]}

    def __call__(self, x):
        self.state["n"][0] += 1
        return x

    def state_dict(self):
        return self.state

    def load_state_dict(self, state):
        self.state["n"][:] = state["n"]
        if state["n"] == ["bad"]:
            raise KeyError("bad")


def chain(seed=0, counter=None):
    inner = Compose([RandomVerticalFlip(seed=seed + 1), ToFloat()])
    counter = Counter() if counter is None else counter
    return Compose([ToFloat(), RandomCrop(1, seed=seed), abs, inner, counter, Counter])


def draw(f, n=20):
    f = Compose(f.transforms[:-1])  # without the class at the end
    return [f(X).tolist() for _ in range(n)]


def test_compose_has_the_states_of_its_transforms():
    f, g = chain(), chain(5)
    draw(f, 3)
    state = copy.deepcopy(f.state_dict())
    assert list(state) == ["1", "3", "4"] and list(state["3"]) == ["0"]
    assert state["4"] == {"n": [3]}
    g.load_state_dict(state)
    assert draw(g) == draw(f)
    assert Compose([Flatten(), ToInt(), lambda x: x]).state_dict() == {}
    Compose().load_state_dict({})


def test_compose_in_a_checkpoint(tmp_path):
    f, g = chain(), chain(5)
    draw(f, 3)
    save_checkpoint(tmp_path / "run", transform=f)
    load_checkpoint(tmp_path / "run", transform=g)
    assert draw(g) == draw(f)


@pytest.mark.parametrize("place, wrong", [("3", {"0": {}}), ("4", {"n": ["bad"]})])
def test_compose_loads_all_states_or_none(place, wrong):
    f, g = chain(), chain()
    draw(f, 3)
    state = copy.deepcopy(chain(5).state_dict()) | {place: wrong}
    with pytest.raises((ValueError, KeyError), match="with a seed, got one|bad"):
        f.load_state_dict(state)
    draw(g, 3)
    if place == "4":  # which had taken in what is wrong before it failed
        assert f.transforms[4].state == {"n": [3]}
    assert draw(f) == draw(g)


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
    (
        lambda: Compose().load_state_dict([]),
        TypeError,
        r"^Compose.load_state_dict: expected a dict that state_dict gave, got list$",
    ),
    (
        lambda: chain().load_state_dict({"1": {}, "2": {}}),
        ValueError,
        r"^Compose.load_state_dict: expected the states of transforms at the places "
        r"1, 3, 4, got those at 1, 2$",
    ),
    (
        lambda: Compose().load_state_dict({"0": {}}),
        ValueError,
        "at the places none, got those at 0$",
    ),
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
