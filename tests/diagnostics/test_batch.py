"""overfit_one_batch: sound models pass, and each fault is found by its check."""

import copy
import json

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import Function, Parameter
from dezero.diagnostics import overfit_one_batch
from dezero.models import MLP, Sequential
from dezero.optimizers import LBFGS, SGD, Adam, MomentumSGD

rng = np.random.default_rng(0)
X = rng.standard_normal((16, 8)).astype(np.float32)
T = rng.integers(0, 4, 16)
Y = rng.standard_normal((16, 4)).astype(np.float32)
CE = F.softmax_cross_entropy

NAMES = [
    "shapes of output and target",
    "loss is a finite number",
    "loss at the start",
    "same loss in a second forward",
    "loss by its formula",
    "every parameter gets a gradient",
    "gradients equal differences",
    "one step moves every parameter",
    "loss falls along the gradient",
]


def seeded(make, seed=0):
    np.random.seed(seed)
    return make()


def verdicts(report):
    return [row.verdict for row in report.rows]


def row(report, name):
    (found,) = [r for r in report.rows if r.name.startswith(name)]
    return found


def check_shown(report):
    assert max(map(len, str(report).splitlines())) <= 80
    assert json.loads(json.dumps(report.to_dict(), allow_nan=False))["rows"]
    assert "<table>" in report._repr_html_()


# ---- sound models ------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("make", "loss", "t"),
    [
        (lambda: MLP((32, 4), activation=F.relu), CE, T),
        (lambda: MLP((32, 4), activation=F.tanh), F.mean_squared_error, Y),
        (lambda: MLP((32, 1)), F.sigmoid_cross_entropy, (T[:, None] > 1)),
        (
            lambda: Sequential(
                L.Linear(64), L.BatchNorm(), L.ReLU(), L.Dropout(0.2), L.Linear(4)
            ),
            CE,
            T,
        ),
    ],
)
def test_sound_models_pass(seed, make, loss, t):
    report = overfit_one_batch(seeded(make, seed), loss, (X, t))
    assert report.ok, str(report)
    assert [r.name for r in report.rows] == [*NAMES, "learns the batch in 200 steps"]
    assert set(verdicts(report)) <= {"pass", "skipped", "hint"}
    assert report.title().startswith("One batch: passed") and report.error is None
    assert len(report.losses) == 201 and report.losses[-1] < report.losses[0]
    check_shown(report)


@pytest.mark.parametrize("step", [L.RNN, L.LSTM])
def test_recurrent_models(step):
    class Recurrent(dz.Model):
        def __init__(self):
            self.cells = [step(16)]
            self.head = L.Linear(1)

        def forward(self, x):
            for i in range(x.shape[1]):
                h = self.cells[0](x[:, i : i + 1])
            return self.head(h)

    model = seeded(Recurrent)
    x = X[:, :4]
    report = overfit_one_batch(
        model, F.mean_squared_error, (x, x.sum(1, keepdims=True)), steps=100
    )
    assert report.ok and model.cells[0].h is None, str(report)


def test_several_inputs_outputs_and_targets():
    class Two(dz.Model):
        def __init__(self):
            self.a, self.b = L.Linear(16), L.Linear(4)
            self.b2 = self.b  # shared

        def forward(self, x0, x1):
            return self.b(F.tanh(self.a(x0))), self.b2(F.tanh(self.a(x1)))

    def loss(ys, t0, t1):
        return CE(ys[0], t0) + CE(ys[1], t1)

    report = overfit_one_batch(seeded(Two), loss, ((X, X * 2), T, T), steps=100)
    assert report.ok, str(report)
    assert row(report, "shapes").detail == (
        "output [(16, 4), (16, 4)], target (16,), (16,)"
    )
    assert row(report, "loss by its formula").verdict == "skipped"
    assert row(report, "loss at the start").verdict == "skipped"


def test_no_target():
    model = seeded(lambda: MLP((4, 8)))
    report = overfit_one_batch(model, lambda y: F.sum((y - 1.0) ** 2) / len(X), [X])
    assert report.ok and row(report, "shapes").detail == "output (16, 8), no target"


@pytest.mark.parametrize("rule", [SGD(0.5), MomentumSGD(0.1), Adam(0.03), LBFGS()])
def test_optimizers(rule):
    model = seeded(lambda: MLP((32, 4), activation=F.relu))
    report = overfit_one_batch(model, CE, (X, T), steps=150, optimizer=rule)
    assert report.ok, str(report)
    assert type(rule).__name__ in row(report, "one step").detail
    assert rule.target is None


def test_half_precision():
    model = seeded(
        lambda: Sequential(
            L.Linear(32, dtype=np.float16), F.relu, L.Linear(4, dtype=np.float16)
        )
    )
    report = overfit_one_batch(model, CE, (X.astype(np.float16), T))
    assert report.ok, str(report)


def test_frozen_parameters_are_left_out():
    model = seeded(lambda: MLP((32, 4), activation=F.relu))
    model(X)
    model.l0.W.requires_grad = False
    report = overfit_one_batch(model, CE, (X, T))
    assert report.ok, str(report)
    assert row(report, "every").detail == "3 have one, 1 are frozen"


# ---- everything is given back -----------------------------------------------------


def test_nothing_is_changed():
    model = seeded(
        lambda: Sequential(L.Linear(16), L.BatchNorm(), L.Dropout(), MLP((4,)))
    )
    model(X)
    optimizer = Adam(0.01).setup(model)
    CE(model(X), T).backward()
    optimizer.update()
    weights = {n: p.data.copy() for n, p in model.named_params()}
    grads = {n: p.grad for n, p in model.named_params()}
    state = copy.deepcopy(optimizer.state_dict())
    numbers = np.random.get_state()[1].copy(), np.random.get_state()[2]
    with dz.test_mode(), dz.no_grad():
        report = overfit_one_batch(model, CE, (X, T), steps=5, optimizer=optimizer)
        assert not dz.Config.train and not dz.Config.enable_backprop
    assert row(report, "one step").verdict == "pass"
    for name, p in model.named_params():
        np.testing.assert_array_equal(p.data, weights[name])
        assert p.grad is grads[name]
    for name, kept in state["state"].items():
        for key, x in kept.items():
            np.testing.assert_array_equal(optimizer.state_dict()["state"][name][key], x)
    assert (np.random.get_state()[1] == numbers[0]).all()
    assert np.random.get_state()[2] == numbers[1]


def test_lazy_parameters_stay_lazy():
    model = MLP((32, 4))
    overfit_one_batch(model, CE, (X, T), steps=2)
    assert model.l0.W.data is None


# ---- faults ------------------------------------------------------------------------


class Broken(dz.Model):
    def __init__(self):
        self.a, self.b = L.Linear(16), L.Linear(4)
        self.c = Parameter(np.ones(2), name="c")

    def forward(self, x):
        return self.b(F.relu(self.a(x)).data)


def test_a_broken_chain():
    report = overfit_one_batch(seeded(Broken), CE, (X, T), steps=20)
    check_shown(report)
    assert not report.ok
    r = row(report, "every")
    assert r.verdict == "fail"
    assert r.detail.startswith(
        "none for 3. a/W: detached. Linear got the array of the result of ReLU"
    )
    assert (
        "a/W: detached. Linear got the array of the result of ReLU (16, 16) as a "
        "constant by .data. (test_batch.py:"
    ) in r.detail
    assert "return self.b(F.relu(self.a(x)).data)" in r.detail
    assert r.detail.endswith("c: unused. c was not used: no function got it.")
    assert row(report, "gradients equal").verdict == "fail"
    assert row(report, "one step").verdict == "fail"


def test_more_than_three_are_counted():
    model = seeded(Broken)
    model.more = [Parameter(np.ones(2)) for _ in range(3)]
    report = overfit_one_batch(model, CE, (X, T), steps=2)
    assert row(report, "every").detail.endswith(" And 3 more.")


class Scaled(Function):
    reads_inputs = reads_outputs = False

    def __init__(self, factor):
        self.factor = factor

    def forward(self, x):
        return x.copy()

    def backward(self, gy):
        return gy * self.factor


@pytest.mark.parametrize(
    ("factor", "text"),
    [
        (-1.0, "the gradient has the wrong sign"),
        (0.5, "the gradient is half of it: is one contribution overwritten?"),
        (2.0, "the gradient is twice of it: is one contribution counted twice?"),
        (1.1, ""),
    ],
)
def test_a_wrong_gradient(factor, text):
    layers = L.Linear(32), F.tanh, L.Linear(4), lambda y: Scaled(factor)(y)
    report = overfit_one_batch(seeded(lambda: Sequential(*layers)), CE, (X, T), steps=5)
    r = row(report, "gradients equal")
    assert r.verdict == "fail" and text in r.detail
    falls = row(report, "loss falls").verdict
    assert falls == ("fail" if factor < 0 else "pass")


def test_a_kink_is_a_hint():
    model = Sequential(L.Linear(4, in_size=8), lambda y: abs(y - 1 + 3e-6))
    model.l0.W.data[...] = 1 / 8
    x, t = np.ones_like(X), np.zeros_like(Y)
    report = overfit_one_batch(model, lambda y, t: F.mean(y - t), (x, t), steps=2)
    r = row(report, "gradients equal")
    assert r.verdict == "hint" and "there is a kink nearby" in r.detail


def test_single_precision_inside_passes_within_its_rounding():
    layers = L.Linear(32), F.tanh, L.Linear(4), lambda y: y.astype(np.float32)
    report = overfit_one_batch(seeded(lambda: Sequential(*layers)), CE, (X, T))
    assert row(report, "gradients equal").verdict == "pass"


def test_single_precision_inside_hides_small_faults_but_not_large_ones():
    for factor, verdict in (1.05, "hint"), (2.0, "fail"):
        layers = [L.Linear(32), F.tanh, L.Linear(4), Scaled(factor)]
        layers.append(lambda y: y.astype(np.float32) * 10.0)
        model = seeded(lambda: Sequential(*layers))  # noqa: B023 - called at once
        r = row(overfit_one_batch(model, CE, (X, T), steps=2), "gradients equal")
        assert r.verdict == verdict, r.detail
        assert ("computes in float32" in r.detail) == (verdict == "hint")


def test_a_learning_rate_of_zero():
    model = seeded(lambda: MLP((32, 4)))
    report = overfit_one_batch(model, CE, (X, T), steps=5, optimizer=SGD(0.0))
    assert row(report, "one step").detail.startswith("4 stay. l0/W: it has a gradient")
    r = row(report, "learns")
    assert r.verdict == "fail"
    assert r.detail.endswith(": it cannot learn even one batch by heart")
    assert "failed: one step moves every parameter, learns the" in report.title()


def test_an_optimizer_of_another_model():
    model, other = seeded(lambda: MLP((32, 4))), seeded(lambda: MLP((32, 4)))
    model(X), other(X)
    optimizer = Adam().setup(other)
    report = overfit_one_batch(model, CE, (X, T), steps=5, optimizer=optimizer)
    assert "the optimizer was set up without it" in row(report, "one step").detail


def test_too_large_a_learning_rate():
    model = seeded(lambda: MLP((32, 4), activation=F.relu))
    with np.errstate(all="ignore"):
        report = overfit_one_batch(
            model, F.mean_squared_error, (X, Y), optimizer=SGD(1e3)
        )
    assert row(report, "one step").verdict == "hint"
    assert "by more than 0.1 of their norm: l0/W" in row(report, "one step").detail
    assert row(report, "learns").verdict == "fail"
    assert "after" in row(report, "learns").detail


def test_all_parameters_are_frozen():
    model = seeded(lambda: MLP((4,)))
    model(X)
    for p in model.params():
        p.requires_grad = False
    report = overfit_one_batch(model, CE, (X, T))
    assert report.rows[-1].verdict == "fail"
    assert report.rows[-1].detail.startswith("it requires no gradient: frozen. W.req")


def test_only_something_else_is_trained():
    other = Parameter(np.ones((), np.float32))
    model = seeded(lambda: Sequential(L.Linear(4), lambda y: y * other))
    model(X)
    for p in model.params():
        p.requires_grad = False
    report = overfit_one_batch(model, CE, (X, T), steps=2)
    assert row(report, "every").detail == "all parameters are frozen"
    assert row(report, "loss falls").verdict == "hint"
    assert row(report, "loss falls").detail.endswith("the gradient is zero")


class Infinite(Function):
    reads_inputs = reads_outputs = False

    def forward(self, x):
        return x.copy()

    def backward(self, gy):
        return gy * np.inf


def test_gradients_that_are_not_finite():
    model = seeded(lambda: Sequential(L.Linear(4), lambda y: Infinite()(abs(y))))
    with np.errstate(all="ignore"):
        report = overfit_one_batch(model, F.mean_squared_error, (X, Y), steps=3)
    assert row(report, "every").detail == "NaN or infinity in that of l0/W, l0/b"
    assert row(report, "one step").detail == "not finite after it: l0/W, l0/b"


def test_a_last_loss_that_is_not_finite():
    model = seeded(lambda: MLP((4,)))
    with np.errstate(all="ignore"):
        report = overfit_one_batch(
            model, lambda y, t: F.sum(y**4), (X, Y), steps=1, optimizer=SGD(1e15)
        )
    assert row(report, "learns").detail == "the loss is inf after 1 steps"


def test_outputs_in_a_dict():
    class Named(dz.Model):
        def __init__(self):
            self.l = L.Linear(4)

        def forward(self, x):
            return {"scores": self.l(x)}

    report = overfit_one_batch(
        seeded(Named), lambda y, t: CE(y["scores"], t), (X, T), steps=2
    )
    assert row(report, "shapes").detail == "output [(16, 4)], target (16,)"


def test_slow_learning_is_a_hint():
    model = seeded(lambda: MLP((32, 4), activation=F.relu))
    report = overfit_one_batch(model, CE, (X, T), steps=12)
    assert row(report, "learns").verdict == "hint" and report.ok
    assert "learning, but slowly" in row(report, "learns").detail


def test_a_start_far_from_chance():
    model = seeded(lambda: MLP((32, 4)))
    model(X)
    model.l1.b.data[...] = [30, 0, 0, 0]
    report = overfit_one_batch(model, CE, (X, T), steps=2)
    r = row(report, "loss at the start")
    assert r.verdict == "hint"
    assert r.detail.endswith("the scores are large before anything was learned")
    t = np.zeros(16, int)
    r = row(overfit_one_batch(model, CE, (X, t), steps=2), "loss at the start")
    assert r.detail.endswith("does the model know the targets already?")


def test_equal_inputs_with_different_targets():
    x = np.zeros_like(X)
    model = seeded(lambda: MLP((32, 4)))
    t = np.arange(16) % 4
    t[:10] = 0
    report = overfit_one_batch(model, CE, (x, t))
    assert row(report, "learns").verdict == "pass", str(report)
    assert "equal inputs or soft targets leave" in row(report, "learns").detail


def test_dead_units_are_a_hint():
    model = seeded(lambda: MLP((16, 4), activation=F.relu))
    model(X)
    model.l0.b.data[...] = -1e3
    report = overfit_one_batch(model, CE, (X, T), steps=5)
    assert row(report, "every").verdict == "hint"
    assert row(report, "every").detail.startswith("zero everywhere for l0/W, l0/b")
    assert row(report, "one step").verdict == "hint"


def test_random_numbers_in_test_mode_are_a_hint():
    def noisy(x):
        return x + np.random.standard_normal(x.shape).astype(np.float32) * 0.1

    model = seeded(lambda: Sequential(L.Linear(32), noisy, F.tanh, L.Linear(4)))
    report = overfit_one_batch(model, CE, (X, T))
    assert row(report, "same loss").verdict == "hint"
    assert row(report, "gradients equal").verdict == "pass"


def test_a_wrong_loss_is_found_by_its_formula(monkeypatch):
    from dezero.functions.loss import MeanSquaredError

    forward = MeanSquaredError.forward
    monkeypatch.setattr(
        MeanSquaredError, "forward", lambda self, a, b: forward(self, a, b) * 1.01
    )
    model = seeded(lambda: MLP((32, 4)))
    report = overfit_one_batch(model, F.mean_squared_error, (X, Y), steps=2)
    assert row(report, "loss by its formula").verdict == "fail"
    assert "they differ by more than" in row(report, "loss by its formula").detail


def test_a_loss_that_may_be_negative():
    model = seeded(lambda: MLP((8, 4)))
    report = overfit_one_batch(model, lambda y, t: F.mean(y * t), (X, Y))
    r = row(report, "learns")
    assert r.verdict == "hint" and r.detail.endswith("the least possible is not known")


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (lambda y, t: 0.5, "it is no Variable, but float"),
        (lambda y, t: F.sum(y, axis=0), "it has shape (4,); take its mean or sum"),
        (lambda y, t: F.sum(y).astype(int), "it has dtype int64"),
        (lambda y, t: F.sum(y * 0.0) + np.array(np.inf), "it is inf"),
        (
            F.accuracy,
            "it requires no gradient: left. The loss is a constant, made outside the",
        ),
    ],
)
def test_what_is_no_loss(loss, text):
    report = overfit_one_batch(seeded(lambda: MLP((32, 4))), loss, (X, T))
    assert verdicts(report) == ["pass", "fail"]
    assert report.rows[1].detail.startswith(text)
    check_shown(report)


@pytest.mark.parametrize(
    ("t", "text"),
    [
        (T[:3], "output (16, 4), target (3,): they differ along the first axis, the"),
        (Y[:, 0], ""),
    ],
)
def test_shapes_that_do_not_fit(t, text):
    report = overfit_one_batch(seeded(lambda: MLP((32, 4))), CE, (X, t), steps=2)
    assert report.rows[0].detail.startswith(text)
    assert report.rows[1].verdict == "fail" and report.error is not None
    assert report.rows[1].detail.startswith(type(report.error).__name__)


def test_a_column_and_a_vector():
    def loss(y, t):
        return F.mean((y - t) ** 2)  # (16, 1) - (16,) is (16, 16)

    report = overfit_one_batch(seeded(lambda: MLP((8, 1))), loss, (X, Y[:, 0]), steps=2)
    assert row(report, "shapes").verdict == "hint"
    assert "would broadcast to a matrix" in row(report, "shapes").detail


def test_an_output_that_is_no_variable():
    class Odd(dz.Model):
        def __init__(self):
            self.l = L.Linear(4)

        def forward(self, x):
            self.y = self.l(x)
            return "text"

    report = overfit_one_batch(Odd(), lambda y, t: None, (X, T))
    assert report.rows[0].verdict == "hint"
    assert report.rows[0].detail.endswith("the output is no Variable")


def test_a_model_that_fails():
    report = overfit_one_batch(MLP((4,)), CE, (np.ones(()), T))
    assert verdicts(report) == ["fail"] and report.error is not None
    assert report.title() == "One batch: failed: shapes of output and target."


def test_errors():
    model = MLP((4,))
    batch = X, T
    for call, error, message in [
        (
            lambda: overfit_one_batch(3, CE, batch),
            TypeError,
            "a Layer as model, got int",
        ),
        (lambda: overfit_one_batch(MLP, CE, batch), TypeError, "got the class MLP"),
        (lambda: overfit_one_batch(model, 3, batch), TypeError, "as loss, got int"),
        (lambda: overfit_one_batch(model, CE, X), TypeError, "as batch, got ndarray"),
        (lambda: overfit_one_batch(model, CE, ()), ValueError, "as batch, got nothing"),
        (
            lambda: overfit_one_batch(model, CE, batch, steps=0),
            ValueError,
            "expected steps >= 1, got 0",
        ),
        (
            lambda: overfit_one_batch(model, CE, batch, optimizer=SGD),
            TypeError,
            r"expected an Optimizer, such as Adam\(\), got type",
        ),
    ]:
        with pytest.raises(error, match=f"overfit_one_batch: .*{message}"):
            call()
    report = overfit_one_batch(L.ReLU(), CE, batch)
    assert isinstance(report.error, ValueError)
    assert "expected parameters, got ReLU without any" in report.rows[0].detail


def test_a_model_that_cannot_be_copied():
    class Holding(L.Linear):
        def __init__(self):
            super().__init__(3)
            self.steps = (i for i in range(3))

    with pytest.raises(
        TypeError,
        match=r"overfit_one_batch: expected a model and an optimizer that "
        r"copy\.deepcopy can copy, got Holding \(TypeError: cannot pickle 'generator'",
    ):
        overfit_one_batch(Holding(), CE, (np.ones((2, 3)), np.zeros(2, int)))
