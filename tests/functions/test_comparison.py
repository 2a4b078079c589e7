"""maximum, minimum, where, clip."""

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero.functions as F
from dezero import Variable
from dezero.testing import Case, arrays, broadcastable, masks


def choose(x0, x1, condition):
    return F.where(condition, x0, x1)


def conditions(x0, x1):
    shape = np.broadcast_shapes(x0.shape, x1.shape)
    some = st.sampled_from([shape, (2, *shape), shape[1:], ()])
    return st.fixed_dictionaries({"condition": some.flatmap(masks)})


# Bounds stay in the middle between two points of the grid that elements are drawn from,
# whose step is 1 / 48: there the slope jumps.
def bounds(x):
    numbers = {
        "x_min": [None, -1.25 - 1 / 96, -0.5 + 1 / 96],
        "x_max": [None, 0.75 + 1 / 96, np.float64(1.25 - 1 / 96)],
    }
    return st.fixed_dictionaries({k: st.sampled_from(v) for k, v in numbers.items()})


with_bounds = (
    arrays,
    lambda **kwargs: arrays(low=-1 - 1 / 96, high=-1 - 1 / 98, **kwargs),
    lambda **kwargs: arrays(low=1 + 1 / 98, high=1 + 1 / 96, **kwargs),
)

CASES = [
    Case(F.maximum, broadcastable(2, unique=True), reference=np.maximum),
    Case(F.minimum, broadcastable(2, unique=True), reference=np.minimum),
    Case(
        choose,
        broadcastable(2),
        options=conditions,
        reference=lambda x0, x1, condition: np.where(condition, x0, x1),
        name="where",
    ),
    Case(
        F.clip,
        arrays(),
        options=bounds,
        reference=lambda x, x_min, x_max: np.clip(x, x_min, x_max),
    ),
    Case(F.clip, broadcastable(3, elements=with_bounds), reference=np.clip),
]

ERRORS = [
    (
        lambda: F.where(np.array([1, 0]), np.ones(2), np.zeros(2)),
        TypeError,
        r"where: expected a boolean condition, .* got dtype int64",
    ),
    (
        lambda: F.clip(np.ones(2), 1, -1),
        ValueError,
        r"clip: expected x_min <= x_max, got 1 and -1",
    ),
]


def slopes(f, *xs, gy=None, dtype=float):
    """The gradients of f by all its inputs, which are lists of numbers."""
    xs = [Variable(np.array(x, dtype=dtype)) for x in xs]
    f(*xs).backward(grad=None if gy is None else np.array(gy, dtype=dtype))
    return [x.grad.data.tolist() for x in xs]


@pytest.mark.parametrize("f", [F.maximum, F.minimum])
def test_equal_numbers_share_the_gradient(f):
    assert slopes(f, [2, 0.0, np.inf], [2, -0.0, np.inf]) == [[0.5] * 3, [0.5] * 3]
    assert slopes(lambda x: f(x, x), [2, 3]) == [[1, 1]]
    assert slopes(lambda x: f(x, 0), [0.0, 0.0], dtype=np.float16) == [[0.5, 0.5]]


@pytest.mark.parametrize("f", [F.maximum, F.minimum])
def test_maximum_and_minimum_of_nan(f):
    x = Variable(np.array([np.nan, 1.0]))
    y = f(x, 0.5)
    y.backward()
    assert np.isnan(y.data[0])
    assert x.grad.data[0] == 0


@pytest.mark.parametrize("f", [F.maximum, F.minimum])
def test_maximum_and_minimum_of_integers(f):
    x0, x1 = Variable(np.array([1, 2])), Variable(np.array([2, 2]))
    y = f(x0, x1)
    y.backward()
    assert y.dtype == x0.dtype
    assert x0.grad.data[1] == x1.grad.data[1] == 0.5
    assert x0.grad.data[0] + x1.grad.data[0] == 1


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_where_keeps_the_other_value_out_of_the_gradient(bad):
    mask = np.array([True, False])
    assert slopes(lambda x: F.where(mask, x, bad), [1, bad]) == [[1, 0]]
    assert slopes(lambda x: F.where(mask, bad, x), [bad, 1]) == [[0, 1]]
    assert slopes(lambda x: F.where(mask, x, 0), [1, 1], gy=[1, bad]) == [[1, 0]]


@pytest.mark.parametrize(
    "condition", [np.array(True), Variable(np.array(True)), True, np.True_]
)
def test_where_takes_any_kind_of_boolean(condition):
    x = Variable(np.float32([1, 2]))
    y = F.where(condition, x, 0.0)
    y.backward()
    assert y.dtype == np.float32
    assert x.grad.data.tolist() == [1, 1]


def test_where_broadcasts_the_values_to_the_condition():
    mask = np.array([[True, False], [True, True]])
    assert slopes(lambda a, b: F.where(mask, a, b), 1.0, [2.0]) == [3, [1]]


def test_clip_at_the_bounds_has_slope_1():
    assert slopes(lambda x: F.clip(x, -1, 1), [-2, -1, 0, 1, 2]) == [[0, 1, 1, 1, 0]]
    assert slopes(F.clip, [-2, -1, 0, 1, 2], [-1.0] * 5, [1.0] * 5) == [
        [0, 1, 1, 1, 0],
        [1, 0, 0, 0, 0],
        [0, 0, 0, 0, 1],
    ]


def test_clip_with_open_sides():
    x = np.array([-2.0, 0.5, 3.0])
    assert F.clip(x, None, 1.0).data.tolist() == [-2, 0.5, 1]
    assert F.clip(x, x_min=0).data.tolist() == [0, 0.5, 3]
    assert F.clip(x).data.tolist() == [-2, 0.5, 3]
    assert slopes(lambda x: F.clip(x, None, 1.0), x) == [[1, 1, 0]]
    assert slopes(lambda x: F.clip(x, 0), x) == [[0, 1, 1]]
    assert slopes(lambda x: F.clip(x), x) == [[1, 1, 1]]
    assert slopes(F.Clip().__call__, [1.0], [0.0], [2.0]) == [[1], [0], [0]]


def test_clip_with_crossed_bounds_gives_the_upper_one():
    lower, upper = [2.0, 2.0], [1.0, 1.0]
    assert F.clip(
        np.array([0.0, 3.0]), np.array(lower), np.array(upper)
    ).data.tolist() == [
        1,
        1,
    ]
    assert slopes(F.clip, [0.0, 3.0], lower, upper) == [[0, 0], [0, 0], [1, 1]]


def test_clip_keeps_the_dtype():
    for dtype in np.float16, np.float32:
        x = Variable(np.array([0.5, 2.0], dtype=dtype))
        y = F.clip(x, np.float64(0), 1)
        y.backward()
        assert y.dtype == x.grad.dtype == dtype
    ints = np.array([-3, 3])
    assert F.clip(ints, -1, 1).dtype == ints.dtype
    assert F.clip(ints, -0.5, 1).data.tolist() == [-0.5, 1]


@pytest.mark.parametrize("f", [F.maximum, F.minimum])
def test_empty_arrays(f):
    assert slopes(f, np.empty((0, 2)), np.empty((1, 2))) == [[], [[0, 0]]]
    assert slopes(lambda x: F.clip(x, 0, 1), []) == [[]]


@pytest.mark.parametrize(
    "f",
    [
        lambda x: F.maximum(x, 0),
        lambda x: -F.minimum(-x, 0),
        lambda x: F.clip(x, 0, 9),
        lambda x: F.clip(x, 0),
    ],
)
def test_an_infinite_slope_does_no_harm_to_what_was_not_picked(slope, f):
    assert slope(lambda x: F.sqrt(f(x)), [-1, 4]) == [0, 0.25]


def test_an_infinite_slope_does_no_harm_to_bounds_that_are_not_reached(slopes):
    bounded = slopes(lambda *xs: F.sqrt(F.clip(*xs)), [0.0, 4], [-1.0, -1], [1.0, 9])
    assert bounded == [[np.inf, 0.25], [0, 0], [0, 0]]
