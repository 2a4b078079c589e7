"""activations: what is measured, on small real networks and on layers of all kinds."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import Parameter
from dezero.diagnostics import activations
from dezero.diagnostics.output_records import DEAD, SATURATED
from dezero.layers.initializers import GlorotNormal, HeNormal, Normal
from dezero.models import MLP, LeNet, Sequential

X = np.random.default_rng(0).standard_normal((64, 5)).astype(np.float32)


def deep(act, init, seed, depth=8):
    np.random.seed(seed)
    layers = []
    for _ in range(depth):
        layer = act() if isinstance(act, type) else act
        layers += [L.Linear(64, initial_W=init), layer]
    return Sequential(*layers, L.Linear(10))


def row(report, name):
    (found,) = [r for r in report.rows if r.name == name]
    return found


class Fixed(L.Layer):
    """Puts out an array."""

    def __init__(self, y):
        self.y = np.asarray(y, dtype=float)

    def forward(self, x):
        return self.y


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("act", "init"),
    [
        (F.relu, HeNormal()),
        (F.tanh, GlorotNormal()),
        (F.sigmoid, GlorotNormal()),
        (L.ReLU, HeNormal()),
        (F.gelu, HeNormal()),
    ],
)
def test_healthy_networks(seed, act, init):
    report = activations(deep(act, init, seed), X)
    assert report.ok and report.flagged == [], str(report)
    assert report.title().startswith("Activations: fine, ")
    assert report.notes() == []


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("act", [F.tanh, F.sigmoid, L.Tanh])
def test_saturated_networks(seed, act):
    report = activations(deep(act, Normal(5.0), seed), X)
    assert not report.ok
    assert {r.verdict for r in report.flagged} == {"saturated"}
    text = str(report)
    assert "8 saturated; of" in report.title()
    assert "Saturated: most outputs stand at a bound" in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("seed", range(4))
def test_dead_relu(seed):
    model = deep(F.relu, HeNormal(), seed)
    model(X)
    model.l2.b.data[...] = -1e3
    r = row(activations(model, X), "l2 > F.relu")
    assert (r.dead, r.units, r.zeros, r.verdict) == (64, 64, 1.0, "dead units")
    assert "Dead units: they are 0 for every sample" in str(activations(model, X))


def test_the_numbers():
    y = [[0.0, 1.0, -2.0, 0.0], [0.0, 3.0, 4.0, 0.0]]
    r = row(activations(Sequential(Fixed(y)), X), "l0")
    assert (r.kind, r.calls, r.shape) == ("Fixed", 1, (2, 4))
    assert r.mean == pytest.approx(np.mean(y)) and r.std == pytest.approx(np.std(y))
    assert (r.zeros, r.saturated, r.dead, r.units) == (0.5, None, 2, 4)
    assert (r.not_finite, r.verdict) == (0, "fine")


@pytest.mark.parametrize(
    ("y", "verdict"),
    [
        ([[0.0, 0, 0, 1]], "dead units"),
        ([[0.0, 0, 1, 1]], "fine"),
        ([[np.nan, 1, 1, 2]], "not finite"),
        ([[np.inf, 1, 1, 2]], "not finite"),
        ([[2.0, 2, 2, 2]], "constant"),
        ([[2.0]], "fine"),
    ],
)
def test_verdicts(y, verdict):
    assert DEAD == 0.75
    report = activations(Sequential(Fixed(y)), X)
    assert report.rows[0].verdict == verdict
    assert report.ok == (verdict == "fine")
    if verdict == "not finite":
        assert report.rows[0].not_finite == 1
        assert "Not finite: dz.detect_anomaly()" in str(report)
    if verdict == "constant":
        assert "Constant: all outputs are the same" in str(report)


@pytest.mark.parametrize(
    ("f", "inside", "outside"),
    [
        (F.sigmoid, [4.5, -4.5], [4.7, -4.7]),
        (F.tanh, [2.2, -2.2], [2.4, -2.4]),
        (F.softsign, [45.0, -45.0], [55.0, -55.0]),
    ],
)
def test_what_counts_as_saturated(f, inside, outside):
    assert SATURATED == 0.5
    for x, share in (inside, 0.0), (outside, 1.0), (inside + outside, 0.5):
        model = Sequential(Fixed([x]), f)
        r = activations(model, X).rows[1]
        assert r.saturated == share
        assert r.verdict == ("saturated" if share > 0.5 else "fine")


def test_a_layer_called_many_times_is_one_row():
    class Recurrent(dz.Model):
        def __init__(self):
            self.rnn = L.RNN(4)
            self.head = L.Linear(1)

        def forward(self, x):
            hs = [self.rnn(x) for _ in range(6)]
            return self.head(hs[-1]), hs

    model = Recurrent()
    model(X)
    model.rnn.reset_state()
    report = activations(model, X)
    assert [(r.name, r.calls) for r in report.rows] == [("rnn", 6), ("head", 1)]
    assert "rnn x6" in str(report)
    assert model.rnn.h is None  # the model itself was not called

    # The numbers are those of all calls together.
    hs = model(X)[1]
    r = report.rows[0]
    assert r.mean == pytest.approx(np.mean([h.data for h in hs]), abs=1e-6)
    assert r.std == pytest.approx(np.std([h.data for h in hs]), abs=1e-6)


@pytest.mark.parametrize("step", [L.RNN, L.LSTM, L.GRU])
def test_recurrent_steps(step):
    report = activations(Sequential(step(4)), X)
    assert [r.name for r in report.rows] == ["l0"]


def test_a_unit_is_dead_only_if_it_is_so_in_every_call():
    class Turns(L.Layer):
        def __init__(self):
            self.n = 0

        def forward(self, x):
            self.n += 1
            return np.eye(4)[: self.n] * 1.0

    class Twice(dz.Model):
        def __init__(self):
            self.turns = Turns()

        def forward(self, x):
            return self.turns(x), self.turns(x)

    (r,) = activations(Twice(), X).rows
    assert (r.calls, r.dead, r.units) == (2, 2, 4)


def test_names_and_nesting():
    class Block(L.Layer):
        def __init__(self):
            self.inner = L.Linear(4)

        def forward(self, x):
            return F.tanh(self.inner(F.relu(x)))

    class Net(dz.Model):
        def __init__(self):
            self.blocks = [Block(), Block()]

        def forward(self, x):
            for block in self.blocks:
                x = block(x)
            return x

    names = [r.name for r in activations(Net(), X).rows]
    assert names == [
        "F.relu",
        "blocks/0/inner",
        "blocks/0/inner > F.tanh",
        "blocks/0/inner > F.relu",
        "blocks/1/inner",
        "blocks/1/inner > F.tanh",
    ]


def test_shared_layers_and_mlp():
    layer = L.Linear(5)
    report = activations(Sequential(layer, F.relu, layer), X)
    assert [(r.name, r.calls) for r in report.rows] == [("l0", 2), ("l0 > F.relu", 1)]
    names = [r.name for r in activations(MLP((4, 2)), X).rows]
    assert names == ["l0", "l0 > F.sigmoid", "l1"]
    assert [r.name for r in activations(L.Linear(2), X).rows] == ["Linear"]


def test_outputs_in_tuples_and_dicts():
    class Two(L.Layer):
        def forward(self, x):
            return x, {"a": x * 2, "ids": np.arange(3)}

    rows = activations(Two(), X).rows
    assert [r.name for r in rows] == ["Two[0]", "Two[1]"]


def test_units_of_convolutions_are_channels():
    x = np.random.default_rng(0).standard_normal((2, 3, 9)).astype(np.float32)
    report = activations(Sequential(L.Conv1d(6, 3), F.relu), x)
    assert [r.units for r in report.rows] == [6, 6]
    report = activations(Sequential(L.Linear(7), F.relu), x)
    assert [r.units for r in report.rows] == [7, 7]
    x = np.random.default_rng(0).standard_normal((8, 1, 28, 28)).astype(np.float32)
    report = activations(LeNet(), x)
    assert report.ok and report.rows[0].units == 6


def test_the_model_and_the_random_state_stay():
    model = Sequential(L.Linear(4), L.BatchNorm(), L.Dropout(0.5))
    np.random.seed(0)
    expected = np.random.rand()
    np.random.seed(0)
    before = type(model), type(model.l0)
    activations(model, X)
    assert np.random.rand() == expected
    assert model.l0.W.data is None and model.l1.avg_mean.data is None
    assert (type(model), type(model.l0)) == before and model.l0.outputs == ()
    # Dropout works or not, as the mode says.
    assert activations(model, X).rows[2].zeros > 0.3
    with dz.test_mode():
        assert activations(model, X).rows[2].zeros == 0


def test_half_precision_does_not_overflow():
    y = np.full((4, 4), 6e4, np.float16)

    class Large(L.Layer):
        def forward(self, x):
            return y

    (r,) = activations(Large(), X).rows
    assert r.mean == pytest.approx(6e4, rel=1e-3) and r.std == 0


def test_a_report_is_data_too():
    report = activations(MLP((4, 2)), X)
    assert report.to_dict()["rows"][1]["kind"] == "Sigmoid"
    assert "F.sigmoid" in report._repr_html_()


@pytest.mark.gpu
def test_on_a_gpu():
    model = MLP((4, 2))
    model(X)
    expected = activations(model, X).rows
    model.to_gpu()
    found = activations(model, dz.cuda.as_cupy(X)).rows
    for a, b in zip(expected, found, strict=True):
        assert a.mean == pytest.approx(b.mean, abs=1e-5)
        assert a.std == pytest.approx(b.std, abs=1e-5)


def test_errors():
    with pytest.raises(TypeError, match="activations: expected a Layer, got function"):
        activations(lambda x: x, X)
    with pytest.raises(TypeError, match="got the class Linear"):
        activations(L.Linear, X)

    class Nothing(dz.Model):
        def __init__(self):
            self.W = Parameter(np.ones(2))

        def forward(self, x):
            return None

    with pytest.raises(ValueError, match="activations: expected Nothing to call lay"):
        activations(Nothing(), X)


def test_of_an_empty_batch_nothing_is_dead():
    model = MLP((8, 3), activation=F.relu)
    model(X)
    report = activations(model, X[:0])
    assert report.ok and [r.dead for r in report.rows] == [0] * len(report.rows)


def test_what_is_not_finite_is_not_saturated():
    model = MLP((8, 3))
    model(X)
    report = activations(model, np.full_like(X, np.nan))
    assert row(report, "l0 > F.sigmoid").verdict == "not finite"
    assert row(report, "l0 > F.sigmoid").saturated == 0.0
