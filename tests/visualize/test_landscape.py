"""A slice of the loss: the right numbers, along the right directions."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import dezero.functions as F
import dezero.layers as L
from dezero import Config, Variable
from dezero.models import Sequential
from dezero.visualize import plot_loss_landscape
from dezero.visualize.landscape import _direction, _movable

RNG = np.random.default_rng(0)
X = RNG.standard_normal((8, 3)).astype(np.float32)
T = RNG.integers(0, 2, 8)
loss = F.softmax_cross_entropy


def network():
    np.random.seed(0)
    model = Sequential(L.Linear(4), L.BatchNorm(), F.relu, L.Dropout(0.5), L.Linear(2))
    model(X)
    return model


def heights(ax):
    return np.array(ax.images[0].get_array())


def draw(model, **options):
    ax = plot_loss_landscape(model, loss, X, T, **{"resolution": 5} | options)
    ax.figure.draw_without_rendering()
    return ax


def test_the_middle_is_the_loss_of_the_model():
    model = network()
    with_dropout_off = model.__class__.__call__
    Config.train = False
    expected = float(loss(with_dropout_off(model, X), T))
    Config.train = True
    ax = draw(model)
    assert heights(ax).shape == (5, 5)
    assert heights(ax)[2, 2] == pytest.approx(expected, rel=1e-6)
    assert ax.images[0].get_extent() == [-1.25, 1.25, -1.25, 1.25]


def test_heights_are_those_along_the_directions():
    model = Sequential(L.Linear(2, in_size=3, dtype=np.float64))
    found = heights(draw(model, size=0.5, seed=3))
    params = _movable(model)
    rng = np.random.default_rng(3)
    (d1,), (d2,) = _direction(params, rng), _direction(params, rng)
    W, b = model.l0.W.data, model.l0.b.data
    for i, j in (0, 0), (1, 4), (3, 2):
        side = np.linspace(-0.5, 0.5, 5)
        moved = X @ (W + side[j] * d1 + side[i] * d2) + b
        assert found[i, j] == pytest.approx(float(loss(moved, T)), rel=1e-6)


def test_directions_have_filters_as_long_as_the_weights():
    model = Sequential(
        L.Conv2d(4, 3, in_channels=2),
        L.Deconv2d(3, 2, in_channels=4),
        L.Linear(5, in_size=6),
        L.Embedding(7, 3),
    )
    params = _movable(model)
    assert [axis for _, axis in params] == [0, 1, 1, 0]
    for d, (p, axis) in zip(
        _direction(params, np.random.default_rng(0)), params, strict=True
    ):
        others = tuple(i for i in range(p.ndim) if i != axis)
        lengths = [np.sqrt((a**2).sum(axis=others)) for a in (d, p.data)]
        np.testing.assert_allclose(*lengths, rtol=1e-6)


def test_filters_of_zero_do_not_move():
    model = Sequential(L.Linear(2, in_size=3))
    model.l0.W.data[:, 0] = 0
    (d,) = _direction(_movable(model), np.random.default_rng(0))
    assert (d[:, 0] == 0).all() and (d[:, 1] != 0).all()


def test_biases_and_normalizations_stay():
    model = network()
    names = {id(p): name for name, p in model.named_params()}
    assert [names[id(p)] for p, _ in _movable(model)] == ["l0/W", "l4/W"]


def test_the_model_stays_as_it_is():
    model = network()
    loss(model(X), T).backward()
    before = [(p.data, p.data.copy(), p.grad) for p in model.params()]
    state = np.random.get_state()[1].copy()
    draw(model)
    for p, (data, copy, grad) in zip(model.params(), before, strict=True):
        assert p.data is data and p.grad is grad and (data == copy).all()
    assert (np.random.get_state()[1] == state).all()
    assert Config.train and Config.enable_backprop


def test_it_stays_so_if_the_loss_fails():
    model = network()
    before = [p.data.copy() for p in model.params()]

    def bad(y, t):
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        plot_loss_landscape(model, bad, X, T)
    for p, data in zip(model.params(), before, strict=True):
        assert (p.data == data).all()
    assert Config.train


def test_it_repeats_by_its_seed():
    model = network()
    np.testing.assert_array_equal(heights(draw(model)), heights(draw(model)))
    assert (heights(draw(model)) != heights(draw(model, seed=1))).any()


def test_a_logarithmic_scale():
    ax = draw(network(), log=True)
    low, high = heights(ax).min(), heights(ax).max()
    assert ax.images[0].norm(np.sqrt(low * high)) == pytest.approx(0.5)


def test_a_flat_loss_has_no_lines():
    ax = plot_loss_landscape(network(), lambda y, t: 2.0, X, T, resolution=3)
    ax.figure.draw_without_rendering()
    assert (heights(ax) == 2).all()


def test_where_the_loss_is_not_finite():
    def some(y, t):
        value = float(loss(y, t))
        return value if value < 1.5 else np.inf

    ax = plot_loss_landscape(network(), some, X, Variable(T), size=2, resolution=7)
    ax.figure.draw_without_rendering()
    missing = np.ma.getmaskarray(ax.images[0].get_array())
    assert missing.any() and not missing.all()


def test_given_axes():
    ax = Figure().subplots()
    assert draw(network(), ax=ax) is ax


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f: f(lambda x: x, loss, X, T), TypeError, "a Layer, got function"),
        (lambda f: f(network(), 3, X, T), TypeError, r"function of \(y, t\), got int"),
        (
            lambda f: f(Sequential(L.Linear(2)), loss, X, T),
            RuntimeError,
            "weights, got a model that makes l0/W in its first call; call it once",
        ),
        (
            lambda f: f(Sequential(L.BatchNorm(), L.ReLU()), loss, X, T),
            RuntimeError,
            "weights, got a model that makes ",
        ),
        (
            lambda f: f(L.ReLU(), loss, X, T),
            ValueError,
            "weights of two axes or more, got ReLU without any",
        ),
        (lambda f: f(network(), loss, X, T, size=0), ValueError, "size above 0, got 0"),
        (
            lambda f: f(network(), loss, X, T, size="1"),
            TypeError,
            "size to be a number, got str",
        ),
        (
            lambda f: f(network(), lambda y, t: None, X, T),
            TypeError,
            "loss to give a number, got object",
        ),
        (
            lambda f: f(network(), loss, X, T, resolution=2),
            ValueError,
            "resolution >= 3, got 2",
        ),
        (lambda f: f(network(), loss, X, T, seed=-1), ValueError, "seed >= 0, got -1"),
        (
            lambda f: f(network(), lambda y, t: y, X, T),
            ValueError,
            r"loss to give one number, got shape \(8, 2\)",
        ),
        (
            lambda f: f(network(), lambda y, t: np.nan, X, T, resolution=3),
            ValueError,
            "a finite loss, got NaN or infinity everywhere",
        ),
        (
            lambda f: f(network(), lambda y, t: 0.0, X, T, resolution=3, log=True),
            ValueError,
            "a loss above 0 with log=True, got 0",
        ),
    ],
)
def test_errors(call, error, message):
    with pytest.raises(error, match=f"^plot_loss_landscape: expected .*{message}"):
        call(plot_loss_landscape)
