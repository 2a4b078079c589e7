"""gradient_flow on small real networks: healthy, vanishing, exploding, dead, frozen."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero import Parameter
from dezero.diagnostics import gradient_flow
from dezero.diagnostics.flow import DEAD, EXPLODING, STEEP, VANISHING
from dezero.layers.initializers import GlorotNormal, HeNormal, Normal
from dezero.models import LeNet, Sequential


def after_backward(depth, act, init=None, seed=0, norm=False, dtype=np.float32):
    """A network of ``depth`` layers that has just had a backward pass."""
    np.random.seed(seed)
    rng = np.random.default_rng(seed)
    layers = []
    for _ in range(depth - 1):
        layers.append(L.Linear(64, initial_W=init, dtype=dtype))
        layers += [L.BatchNorm(), act] if norm else [act]
    model = Sequential(*layers, L.Linear(10, initial_W=init, dtype=dtype))
    x = rng.standard_normal((64, 32)).astype(dtype)
    F.softmax_cross_entropy(model(x), rng.integers(0, 10, 64)).backward()
    return model


def row(report, name):
    (found,) = [r for r in report.rows if r.name == name]
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("depth", "act", "init", "norm"),
    [
        (3, F.sigmoid, None, False),
        (5, F.sigmoid, None, False),
        (3, F.relu, None, False),
        (20, F.relu, HeNormal(), False),
        (20, F.relu, HeNormal(), True),
        (20, F.tanh, GlorotNormal(), False),
    ],
)
def test_healthy_networks(seed, depth, act, init, norm):
    report = gradient_flow(after_backward(depth, act, init, seed, norm))
    assert report.ok and report.verdict == "fine", str(report)
    assert report.title().startswith("Gradient flow: fine; first weights / last w")
    assert report.notes() == []


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("act", "init"), [(F.sigmoid, None), (F.relu, Normal(0.3 / 8))]
)
def test_vanishing_gradients(seed, act, init):
    report = gradient_flow(after_backward(20, act, init, seed))
    assert report.verdict == "vanishing" and not report.ok
    assert row(report, "l0/W").verdict == "tiny"
    text = str(report)
    assert "Vanishing: the first layers learn next to nothing." in text
    assert "Tiny: smaller than the rounding of the parameter" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("act", "init"), [(F.relu, Normal(4 / 8)), (lambda x: x, Normal(2 / 8))]
)
def test_exploding_gradients(seed, act, init):
    report = gradient_flow(after_backward(20, act, init, seed))
    assert report.verdict == "exploding" and not report.ok
    assert row(report, "l0/W").verdict == "steep"
    assert "Exploding: a step will throw the weights far off." in str(report)
    assert "Steep: the gradient is more than 1000 times the norm" in str(report)


def two(first, last, weight=1.0):
    """Two matrices of 4 elements with gradients of these sizes."""
    ps = [Parameter(np.full((2, 2), weight), name=name) for name in ("a", "b")]
    for p, g in zip(ps, (first, last), strict=True):
        p.grad = np.full((2, 2), g)
    return ps


@pytest.mark.parametrize(
    ("first", "last", "verdict"),
    [
        (VANISHING * 1.1, 1.0, "fine"),
        (VANISHING * 0.9, 1.0, "vanishing"),
        (EXPLODING * 0.09, 0.1, "fine"),
        (EXPLODING * 0.11, 0.1, "exploding"),
        (STEEP * 1.1, STEEP * 1.1, "exploding"),
        (STEEP * 0.9, STEEP * 0.9, "fine"),
        (0.0, 1.0, "vanishing"),
        (1e-17, 1e-17, "vanishing"),
        (np.nan, 1.0, "not finite"),
    ],
)
def test_thresholds(first, last, verdict):
    report = gradient_flow(two(first, last))
    assert report.verdict == verdict
    assert report.ok == (verdict == "fine")


def test_the_numbers():
    a, b = two(3.0, 1.0, weight=2.0)
    r = gradient_flow([a, b])
    assert r.ratio == pytest.approx(3.0)
    first = r.rows[0]
    assert (first.norm, first.rms, first.relative) == pytest.approx((6.0, 3.0, 1.5))
    assert (first.dead, first.units, first.verdict) == (0, 2, "fine")
    assert r.to_dict()["ratio"] == pytest.approx(3.0)
    assert "<table>" in r._repr_html_()


def test_dead_units():
    model = Sequential(L.Linear(8, in_size=5), F.relu, L.Linear(3))
    x = np.random.default_rng(0).standard_normal((16, 5)).astype(np.float32)
    model.l0.b.data[:7] = -1e3
    F.softmax_cross_entropy(model(x), np.arange(16) % 3).backward()
    report = gradient_flow(model)
    r = row(report, "l0/W")
    assert (r.dead, r.units, r.verdict) == (7, 8, "dead units")
    assert row(report, "l0/b").verdict == "dead units"
    assert report.verdict == "fine" and not report.ok
    assert "2 parameters need a look" in report.title()
    assert "Dead units: weights whose unit got no gradient" in str(report)


@pytest.mark.parametrize(("dead", "verdict"), [(3, "dead units"), (2, "fine")])
def test_the_share_of_dead_units(dead, verdict):
    assert DEAD == 0.75
    (a,) = [Parameter(np.ones((3, 4)))]
    g = np.ones((3, 4))
    g[:, :dead] = 0
    a.grad = g
    assert gradient_flow([a]).rows[0].verdict == verdict


def test_where_the_units_of_layers_are():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3, 6, 6)).astype(np.float32)
    conv, deconv = L.Conv2d(4, 3), L.Deconv2d(5, 3)
    model = Sequential(conv, L.BatchNorm(), deconv)
    F.sum(model(x) ** 2).backward()
    units = {r.name: r.units for r in gradient_flow(model).rows}
    assert units["l0/W"] == 4 and units["l2/W"] == 5 and units["l1/gamma"] is None
    words = L.Embedding(50, 4)
    F.sum(words(np.array([1, 2])) ** 2).backward()
    assert gradient_flow(words).ok  # words that do not occur are not dead


def test_convolutions():
    np.random.seed(0)
    model = LeNet()
    x = np.random.standard_normal((16, 1, 28, 28)).astype(np.float32)
    F.softmax_cross_entropy(model(x), np.arange(16) % 10).backward()
    assert gradient_flow(model).ok


def test_no_gradient_zero_and_frozen():
    model = Sequential(L.Linear(4, in_size=3), L.Linear(2))
    model.unused = Parameter(np.ones(2))
    model.lazy = L.Linear(2)
    x = np.ones((5, 3), np.float32)
    model(x)
    model.l1.W.data[...] = 0
    model.l1.b.requires_grad = False
    F.sum(model(x)).backward()
    report = gradient_flow(model)
    assert row(report, "l0/W").verdict == "zero"
    assert row(report, "l1/b").verdict == "frozen"
    assert row(report, "unused").verdict == "no gradient"
    assert row(report, "lazy/W").shape == ()
    text = str(report)
    assert "No gradient: the last backward did not reach it." in text
    assert "Zero: a gradient arrived, but is zero everywhere." in text


def test_a_gradient_on_what_was_frozen_since():
    (a,) = [Parameter(np.ones((2, 2)))]
    a.grad = np.ones((2, 2))
    a.requires_grad = False
    report = gradient_flow([a])
    assert report.rows[0].verdict == "frozen" and report.ratio is None


def test_not_finite():
    (a,) = [Parameter(np.ones((2, 2)))]
    a.grad = np.array([[np.inf, 1.0], [1.0, 1.0]])
    report = gradient_flow([a])
    assert report.title() == "Gradient flow: not finite."
    assert "Not finite: dz.detect_anomaly() finds" in str(report)


def test_half_precision():
    report = gradient_flow(after_backward(3, F.relu, dtype=np.float16))
    assert report.ok, str(report)


@pytest.mark.gpu
def test_on_a_gpu():
    model = after_backward(3, F.relu)
    expected = gradient_flow(model).ratio
    model.to_gpu()
    assert gradient_flow(model).ratio == pytest.approx(expected, 1e-4)


def test_errors():
    with pytest.raises(
        RuntimeError,
        match=r"gradient_flow: expected gradients, got none in any parameter; call "
        r"loss.backward\(\) first, and cleargrads\(\) after this",
    ):
        gradient_flow(L.Linear(2, in_size=2))
    with pytest.raises(ValueError, match="gradient_flow: expected parameters, got Re"):
        gradient_flow(L.ReLU())
    with pytest.raises(TypeError, match="gradient_flow: expected a Layer .*, got int"):
        gradient_flow(3)
