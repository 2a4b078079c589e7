"""check_updates: who moved, who did not, and why."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import Parameter
from dezero.diagnostics import activations, check_updates, gradient_flow
from dezero.diagnostics.updates import SLOW, WILD
from dezero.models import MLP, Sequential
from dezero.optimizers import SGD, Adam

rng = np.random.default_rng(0)
X = rng.standard_normal((16, 5)).astype(np.float32)
T = rng.integers(0, 3, 16)


def stepper(model, optimizer, clear=False):
    def step():
        model.cleargrads()
        F.softmax_cross_entropy(model(X), T).backward()
        optimizer.update()
        if clear:
            model.cleargrads()

    return step


def row(report, name):
    (found,) = [r for r in report.rows if r.name == name]
    return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rule", [SGD(0.1), Adam(1e-3)])
def test_a_healthy_step(seed, rule):
    np.random.seed(seed)
    model = MLP((8, 3), activation=F.relu)
    model(X)
    report = check_updates(model, stepper(model, rule.setup(model)))
    assert report.ok and report.flagged == []
    assert report.title() == "Updates: fine, 4 parameters moved."
    assert 1e-4 < row(report, "l0/W").ratio < 0.1
    assert row(report, "l0/b").ratio is None  # it was zero
    assert max(map(len, str(report).splitlines())) <= 80
    assert "<table>" in report._repr_html_()
    assert report.to_dict()["rows"][0]["name"] == "l0/W"


@pytest.mark.parametrize("seed", range(3))
def test_no_alarm_while_a_training_on_digits_goes_well(seed):
    np.random.seed(seed)
    digits = dz.datasets.Digits()
    picked = np.random.default_rng(seed).permutation(len(digits))[:256]
    x = np.stack([np.ravel(digits[i][0]) for i in picked]).astype(np.float32)
    t = np.array([int(digits[i][1]) for i in picked])
    model = MLP((32, 10), activation=F.relu)
    optimizer = Adam(3e-3).setup(model)

    def step():
        model.cleargrads()
        F.softmax_cross_entropy(model(x), t).backward(retain_graph=False)
        optimizer.update()

    step()
    for _ in range(4):
        assert check_updates(model, step).ok
        assert gradient_flow(model).ok and activations(model, x).ok
        for _ in range(15):
            step()
    assert F.accuracy(model(x), t).item() > 0.8  # 0.91 to 0.97 with seeds 0 to 9


def test_the_numbers():
    p = Parameter(np.array([[3.0, 4.0]]), name="p")

    def step():
        p.data = p.data + np.array([[0.0, 0.05]])

    (r,) = check_updates([p], step).rows
    assert (r.name, r.shape, r.norm, r.verdict) == ("p", (1, 2), 5.0, "fine")
    assert r.moved == pytest.approx(0.05) and r.ratio == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("ratio", "ndim", "verdict"),
    [
        (WILD * 1.1, 2, "wild"),
        (WILD * 0.9, 2, "fine"),
        (SLOW * 1.1, 2, "fine"),
        (SLOW * 0.9, 2, "slow"),
        (WILD * 10, 1, "fine"),
        (SLOW / 10, 1, "fine"),
    ],
)
def test_thresholds(ratio, ndim, verdict):
    p = Parameter(np.ones((4,) * ndim))

    def step():
        p.data = p.data * (1 + ratio)

    report = check_updates([p], step)
    assert report.rows[0].verdict == verdict
    assert report.ok == (verdict != "wild")


def test_wild_steps_are_counted():
    model = MLP((8, 3), activation=F.relu)
    model(X)
    report = check_updates(model, stepper(model, SGD(100.0).setup(model)))
    assert not report.ok
    assert report.title() == (
        "Updates of 4 parameters: 2 moved by more than 0.1 of their norm."
    )


def test_a_learning_rate_of_zero():
    model = MLP((8, 3))
    model(X)
    report = check_updates(model, stepper(model, SGD(0.0).setup(model)))
    expected = "Updates: no parameter moved. Did the step call optimizer.update()?"
    assert report.title() == expected
    assert row(report, "l1/W").reason.startswith("it has a gradient of norm ")
    assert row(report, "l1/W").reason.endswith(
        ": the learning rate is 0, the optimizer was set up without it, or update() "
        "was not called"
    )


def test_a_parameter_beside_the_graph():
    model = Sequential(L.Linear(3, in_size=5))
    model.extra = Parameter(np.ones(2))
    report = check_updates(model, stepper(model, SGD(0.1).setup(model)))
    assert row(report, "extra").verdict == "did not move"
    assert row(report, "extra").reason == (
        "no gradient is there after the step: the loss does not reach it "
        "(dz.explain_grad says why), or the step cleared it at its end"
    )
    assert report.title() == "Updates of 3 parameters: 1 did not move."
    assert "extra: no gradient is there" in str(report)


def test_a_frozen_parameter():
    model = MLP((8, 3))
    model(X)
    model.l0.W.requires_grad = False
    report = check_updates(model, stepper(model, SGD(0.1).setup(model)))
    assert report.ok and row(report, "l0/W").verdict == "frozen"
    assert report.title() == "Updates: fine, 3 parameters moved."


def test_a_gradient_of_zero():
    model = Sequential(L.Linear(8, in_size=5), lambda h: F.relu(h - 1e3), L.Linear(3))
    model(X)
    report = check_updates(model, stepper(model, SGD(0.1).setup(model)))
    assert row(report, "l0/W").reason == (
        "its gradient is zero everywhere (dz.explain_grad says where it ends)"
    )


def test_a_step_below_the_rounding_of_half_precision():
    p = Parameter(np.ones((2, 2), np.float16))

    def step():
        p.grad = np.full((2, 2), 1e-4, np.float16)
        SGD(0.1).setup([p]).update()

    (r,) = check_updates([p], step).rows
    assert r.verdict == "did not move"
    assert r.reason.endswith("; or the step is below the rounding of float16")


def test_numbers_that_are_not_finite():
    p, q = Parameter(np.ones(2), name="p"), Parameter(np.array([np.nan]), name="q")

    def step():
        p.data = p.data * np.array([np.inf, 1.0])

    report = check_updates([p, q], step)
    assert [r.verdict for r in report.rows] == ["not finite"] * 2
    assert [r.reason for r in report.rows] == [
        "it holds NaN or infinity after the step",
        "it held NaN or infinity before the step already",
    ]
    assert report.title() == "Updates of 2 parameters: 2 are not finite."


def test_a_gradient_that_is_not_finite():
    p = Parameter(np.ones(2))

    def step():
        p.grad = np.array([np.nan, 1.0])

    (r,) = check_updates([p], step).rows
    assert r.reason == "its gradient holds NaN or infinity, and it was not updated"


def test_parameters_that_the_step_makes():
    model = MLP((8, 3))
    report = check_updates(model, stepper(model, SGD(0.1).setup(model)))
    assert row(report, "l0/W").verdict == "made in this step" and report.ok
    never = Sequential(L.Linear(2))
    report = check_updates(never, lambda: None)
    assert row(report, "l0/W").reason == (
        "it has no data yet; its layer makes it when it is first called, and the step "
        "did not call it"
    )
    p = Parameter(np.ones(2))

    def step():
        p.data = np.ones(3)

    (r,) = check_updates([p], step).rows
    assert (r.verdict, r.reason) == ("made in this step", "its shape was (2,) before")


def test_shared_and_recurrent_parameters():
    class Tied(dz.Model):
        def __init__(self):
            self.steps = [L.RNN(4, in_size=5)]
            self.again = self.steps
            self.head = L.Linear(3, in_size=4)

        def forward(self, x):
            self.steps[0].reset_state()
            for _ in range(3):
                h = self.steps[0](x)
            return self.head(h)

    model = Tied()
    report = check_updates(model, stepper(model, SGD(0.1).setup(model)))
    assert report.ok and len(report.rows) == 5


@pytest.mark.gpu
def test_on_a_gpu():
    model = MLP((8, 3))
    model(X)
    model.to_gpu()
    p = model.l0.W

    def step():
        p.data = p.data * 1.01

    assert row(check_updates(model, step), "l0/W").ratio == pytest.approx(0.01, 1e-3)


def test_errors():
    model = MLP((3,))
    with pytest.raises(TypeError, match="check_updates: expected a function of no .*"):
        check_updates(model, 3)
    with pytest.raises(ValueError, match="check_updates: expected parameters, got R"):
        check_updates(L.ReLU(), lambda: None)


def test_parameters_that_the_step_replaces_removes_or_adds():
    model = MLP((8, 3))
    model(X)

    def step():
        model.l0.W = Parameter(model.l0.W.data * np.float32(0.99))
        model.l1.b = None
        model.extra = Parameter(np.ones(2))

    report = check_updates(model, step)
    assert row(report, "l0/W").verdict == "fine"
    assert row(report, "l0/W").ratio == pytest.approx(0.01, rel=1e-3)
    assert row(report, "l0/W").reason == (
        "the step has put another Parameter in its place"
    )
    assert row(report, "l1/b").verdict == "did not move"
    assert row(report, "l1/b").reason == "the step has taken it out of the model"
    assert row(report, "extra").verdict == "made in this step"


@pytest.mark.parametrize("size", [1e-200, 1e200, 1e308])
def test_numbers_at_the_ends_of_float64(size):
    p = Parameter(np.full((2, 2), size / 4), name="W")

    def step():
        p.data = p.data * 0.99

    (found,) = check_updates([p], step).rows
    assert (found.verdict, found.norm) == ("fine", pytest.approx(size / 2))
    assert found.ratio == pytest.approx(0.01)


def test_from_one_end_of_float64_to_the_other():
    p = Parameter(np.full((1, 2), 1e308), name="W")

    def step():
        p.data = -p.data

    assert check_updates([p], step).rows[0].verdict == "wild"
