"""Regions of a plane: they are those that the model says."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import dezero.functions as F
import dezero.layers as L
from dezero import Config, Variable
from dezero.datasets import Spiral
from dezero.models import MLP, Sequential
from dezero.visualize import plot_decision_boundary

X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 2.0]], np.float32)
T = np.array([0, 1, 1])


def right_half(x):
    """Scores of two classes: class 1 where x[:, 0] > 0."""
    x = x.data if isinstance(x, Variable) else x
    return np.stack([-x[:, 0], x[:, 0]], axis=1)


def region(ax):
    return np.array(ax.images[0].get_array())


def drawn(ax):
    ax.figure.draw_without_rendering()
    return ax


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_regions_points_and_names():
    ax = drawn(plot_decision_boundary(right_half, X, T, ["left", "right"]))
    found = region(ax)
    assert found.shape == (200, 200)
    assert (found[:, :100] == 0).all() and (found[:, 100:] == 1).all()
    first, second = ax.get_lines()
    np.testing.assert_array_equal(first.get_xydata(), X[:1])
    np.testing.assert_array_equal(second.get_xydata(), X[1:])
    assert first.get_marker() != second.get_marker()
    assert labels(ax) == ["left", "right"]


def test_the_border_stands_where_the_scores_are_equal():
    ax = plot_decision_boundary(right_half, X, T, resolution=7)
    (border,) = [path for c in ax.collections for path in c.get_paths()]
    np.testing.assert_allclose(border.vertices[:, 0], 0, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "threshold"),
    [
        (lambda x: x[:, 0], 0.0),
        (lambda x: x[:, :1], 0.0),
        (lambda x: F.sigmoid(x[:, 0]), 0.5),
    ],
)
def test_one_score(model, threshold):
    ax = drawn(plot_decision_boundary(model, X, T, threshold=threshold))
    np.testing.assert_array_equal(
        region(ax), region(plot_decision_boundary(right_half, X, T))
    )
    assert labels(ax) == ["class 0", "class 1"]


def test_three_classes_of_a_network():
    spiral = Spiral()
    model = MLP((5, 3))
    ax = drawn(plot_decision_boundary(model, spiral.data, spiral.label))
    assert labels(ax) == ["class 0", "class 1", "class 2"]
    assert region(ax).min() >= 0 and region(ax).max() <= 2


def test_the_model_stays_as_it_is():
    model = Sequential(L.Linear(4), L.BatchNorm(), L.Dropout(0.5), L.Linear(2))
    model(X)
    F.sum(model(X)).backward()
    before = {name: (p.data.copy(), p.grad) for name, p in model.named_params()}
    state = np.random.get_state()[1].copy()
    ax = plot_decision_boundary(model, X, T)
    np.testing.assert_array_equal(
        region(ax), region(plot_decision_boundary(model, X, T))
    )
    for name, p in model.named_params():
        assert p.grad is before[name][1] and (p.data == before[name][0]).all()
    assert (np.random.get_state()[1] == state).all()
    assert Config.train and Config.enable_backprop


def test_a_model_that_was_never_called_stays_so():
    model = MLP((3, 2))
    state = np.random.get_state()[1].copy()
    plot_decision_boundary(model, X, T)
    assert all(p.data is None for p in model.params() if p.name == "W")
    assert (np.random.get_state()[1] == state).all()


@pytest.mark.parametrize(
    "x", [X.tolist(), X.astype(np.float64), X.astype(int), Variable(X)]
)
def test_inputs_of_any_kind(x):
    seen = []

    def model(places):
        seen.append(places.dtype)
        return right_half(places)

    drawn(plot_decision_boundary(model, x, T.tolist()))
    kept = getattr(x, "dtype", np.dtype(np.float32))
    assert set(seen) == {kept if kept.kind == "f" else np.dtype(np.float32)}


def test_one_class_and_one_point():
    ax = drawn(plot_decision_boundary(lambda x: x[:, :1] * 0 - 1, X[:1], T[:1]))
    assert (region(ax) == 0).all() and labels(ax) == ["class 0"]


def test_scores_that_are_infinite():
    def model(x):
        with np.errstate(divide="ignore"):
            return np.log((right_half(x) > 0).astype(float))

    ax = drawn(plot_decision_boundary(model, X, T))
    assert set(np.unique(region(ax))) == {0, 1}


def test_given_axes():
    ax = Figure().subplots()
    assert drawn(plot_decision_boundary(right_half, X, T, ax=ax)) is ax


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda f: f(right_half, X[:, :1], T),
            ValueError,
            r"x of shape \(N, 2\), got \(3, 1\); only a plane can be drawn",
        ),
        (lambda f: f(right_half, X[:0], T), ValueError, "x to hold numbers, got none"),
        (lambda f: f(right_half, X * np.nan, T), ValueError, "x to be finite"),
        (lambda f: f(right_half, ["a"], T), TypeError, "x to hold numbers, got dtype"),
        (lambda f: f(right_half, X, T[:2]), ValueError, "each of 3 points, got 2"),
        (lambda f: f(right_half, X, T * 1.0), TypeError, "t to be integers"),
        (lambda f: f(right_half, X, T * 2), ValueError, r"t in \[0, 2\), got 2"),
        (lambda f: f(right_half, X, T, ["a"]), ValueError, "classes to have 2 texts"),
        (lambda f: f(3, X, T), TypeError, "a Layer or a function of x, got int"),
        (lambda f: f(MLP, X, T), TypeError, ".* got the class MLP"),
        (
            lambda f: f(lambda x: x[:5], X, T),
            ValueError,
            r"the model to give scores .* for 8192 points, got shape \(5, 2\)",
        ),
        (
            lambda f: f(lambda x: x * np.nan, X, T),
            ValueError,
            "scores from the model, got NaN for 40000 of 40000 places",
        ),
        (
            lambda f: f(right_half, X, T, resolution=1),
            ValueError,
            "resolution >= 2, got 1",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^plot_decision_boundary: expected .*{message}"):
        call(plot_decision_boundary)
