"""Weights of convolutions as images, and what layers put out."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import dezero.functions as F
import dezero.layers as L
from dezero import Config, Layer, Parameter
from dezero.models import Sequential
from dezero.visualize import plot_feature_maps, plot_filters
from dezero.visualize.axes import montage

RNG = np.random.default_rng(0)


def sheet(ax):
    data = ax.images[0].get_array()
    return np.ma.filled(data.astype(float), np.nan)


def drawn(ax):
    ax.figure.draw_without_rendering()
    return ax


# ---- filters ---------------------------------------------------------------------


def conv(out, channels, size=3):
    return L.Conv2d(out, size, in_channels=channels)


@pytest.mark.parametrize("of", [lambda c: c, lambda c: c.W, lambda c: c.W.data])
def test_filters_of_one_channel(of):
    layer = conv(8, 1)
    ax = drawn(plot_filters(of(layer)))
    W = layer.W.data
    np.testing.assert_allclose(sheet(ax), montage(W[:, 0], 4))
    low, high = ax.images[0].get_clim()
    assert low == -high and high == pytest.approx(np.abs(W).max())
    assert ax.get_title() == "8 filters of 1 x 3 x 3"


def test_filters_of_three_channels_are_colored():
    layer = conv(4, 3, 5)
    ax = drawn(plot_filters(layer))
    W = layer.W.data
    top = np.abs(W).max()
    expected = montage(0.5 + W.transpose(0, 2, 3, 1) / (2 * top), 3)
    expected[np.isnan(expected)] = 1
    np.testing.assert_allclose(sheet(ax), expected, atol=1e-6)
    assert f"grey is 0, white {top:.2g}" in ax.get_title()


def test_filters_of_many_channels_are_a_table():
    layer = conv(3, 2)
    ax = drawn(plot_filters(layer))
    W = layer.W.data
    np.testing.assert_allclose(sheet(ax)[:12, 13:], W[0, 1].repeat(4, 0).repeat(4, 1))
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("output channel", "input channel")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["0", "1", "2"]


def test_transposed_convolutions_have_inputs_first():
    layer = L.Deconv2d(3, 4, in_channels=2)
    ax = drawn(plot_filters(layer))
    assert ax.get_title() == "3 filters of 2 x 4 x 4"


def test_a_limit_is_told():
    ax = drawn(plot_filters(conv(40, 5)))
    assert ax.get_title().split("\n") == [
        "40 filters of 5 x 3 x 3",
        "first 32 of 40 filters",
    ]
    assert "first 2 of 5 inputs" in plot_filters(conv(4, 5), limit=2).get_title()
    assert sheet(plot_filters(conv(70, 1), limit=1)).shape == (12, 12)


def test_weights_of_zero():
    drawn(plot_filters(np.zeros((2, 1, 3, 3))))


def test_given_axes():
    ax = Figure().subplots()
    assert drawn(plot_filters(conv(2, 1), ax=ax)) is ax


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: plot_filters(L.Conv2d(2, 3)),
            RuntimeError,
            "weights, got a layer that makes them in its first call; call it once",
        ),
        (
            lambda: plot_filters(L.Linear(2, in_size=3)),
            ValueError,
            r"weights of shape \(O, I, KH, KW\), got shape \(3, 2\)",
        ),
        (
            lambda: plot_filters(Sequential(conv(2, 1), L.Conv2d(2, 3))),
            TypeError,
            "a convolution or its weights, got Sequential; it has l0/W$",
        ),
        (lambda: plot_filters(L.ReLU()), TypeError, "a convolution .* got ReLU$"),
        (lambda: plot_filters([1]), TypeError, "a convolution .* got list"),
        (
            lambda: plot_filters(Parameter(np.full((1, 1, 2, 2), np.nan))),
            ValueError,
            "the weights to be finite, got 4 of 4",
        ),
        (lambda: plot_filters(conv(2, 1), limit=0), ValueError, "limit >= 1, got 0"),
    ],
)
def test_errors_of_filters(call, error, message):
    with pytest.raises(error, match=f"^plot_filters: expected {message}"):
        call()


# ---- feature maps ----------------------------------------------------------------


class Net(Layer):
    def __init__(self):
        super().__init__()
        self.conv = L.Conv2d(6, 3, pad=1)
        self.norm = L.BatchNorm()
        self.drop = L.Dropout(0.5)
        self.fc = L.Linear(2)
        self.spare = L.ReLU()

    def forward(self, x):
        y = self.drop(self.norm(self.conv(x)))
        return self.fc(F.flatten(y))


X = RNG.random((3, 1, 5, 4), dtype=np.float32)


@pytest.fixture
def net():
    model = Net()
    model(X)
    return model


def test_feature_maps(net):
    expected = net.conv(X).data[1]
    ax = drawn(plot_feature_maps(net, X, "conv", index=1))
    np.testing.assert_allclose(sheet(ax), montage(expected, 3), rtol=1e-6)
    assert ax.get_title() == "conv: 6 channels of 5 x 4"


def test_the_model_stays_as_it_is(net):
    net.cleargrads()
    F.sum(net(X)).backward()
    before = {name: (p.data.copy(), p.grad) for name, p in net.named_params()}
    outputs, cls = net.conv.outputs, type(net.conv)
    np.random.seed(0)
    state = np.random.get_state()[1].copy()
    plot_feature_maps(net, X, "drop")
    assert (np.random.get_state()[1] == state).all()
    assert Config.train and Config.enable_backprop
    for name, p in net.named_params():
        data, grad = before[name]
        assert p.grad is grad and (p.data == data).all()
    assert net.conv.outputs is outputs and type(net.conv) is cls


def test_a_model_that_was_never_called_stays_so():
    model = Net()
    state = np.random.get_state()[1].copy()
    plot_feature_maps(model, X, "conv")
    assert model.conv.W.data is None
    assert (np.random.get_state()[1] == state).all()


def test_dropout_does_nothing(net):
    maps = [sheet(plot_feature_maps(net, X, name)) for name in ("norm", "drop")]
    np.testing.assert_array_equal(*maps)


def test_channels_beyond_the_limit(net):
    ax = drawn(plot_feature_maps(net, X, "conv", limit=4))
    assert ax.get_title().endswith("\nfirst 4 of 6 channels")


def test_large_maps():
    model = Sequential(L.Conv2d(20, 3))
    ax = drawn(plot_feature_maps(model, np.zeros((1, 1, 130, 130)), "l0"))
    assert max(ax.figure.get_size_inches()) < 12


def test_maps_in_given_axes(net):
    ax = Figure().subplots()
    assert drawn(plot_feature_maps(net, X, "conv", ax=ax)) is ax


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda m: plot_feature_maps(m, X, "cov"),
            ValueError,
            "the name of a layer, one of conv, norm, drop, fc, spare; got 'cov'",
        ),
        (
            lambda m: plot_feature_maps(m, X, "fc"),
            ValueError,
            r"'fc' to put out the shape \(N, C, H, W\), got \(3, 2\)",
        ),
        (
            lambda m: plot_feature_maps(m, X, "spare"),
            RuntimeError,
            "the model to call 'spare', got no call of it",
        ),
        (
            lambda m: plot_feature_maps(m, X, "conv", index=3),
            ValueError,
            "index < 3, the number of images, got 3",
        ),
        (
            lambda m: plot_feature_maps(m, X * np.nan, "conv"),
            ValueError,
            "the output of 'conv' to be finite, got 120 of 120",
        ),
        (
            lambda m: plot_feature_maps(m.forward, X, "conv"),
            TypeError,
            "model to be a Layer, got method",
        ),
        (
            lambda m: plot_feature_maps(Net, X, "conv"),
            TypeError,
            "model to be a Layer, got the class Net",
        ),
        (
            lambda m: plot_feature_maps(L.ReLU(), X, "conv"),
            ValueError,
            r"the name of a layer, one of \(there is none\); got 'conv'",
        ),
    ],
)
def test_errors_of_feature_maps(net, call, error, message):
    with pytest.raises(error, match=f"^plot_feature_maps: expected {message}"):
        call(net)
