"""What a checked function holds is the same at every call, and given back after."""

import functools
import random
import threading

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import Function, Parameter, Variable
from dezero.testing import check_gradients, numerical_gradient
from dezero.testing.states import HeldState, pin_random, pinned_random_state

X = np.random.RandomState(0).uniform(0.2, 2.0, (4, 3))


def rows(report, order=1):
    return [check.by for check in report.checks if check.order == order]


# ---- layers ----------------------------------------------------------------------


def snapshot(layer):
    return [
        (name, id(p), id(p.data), p.dtype, p.data.tobytes(), id(p.grad))
        for name, p in layer.named_params()
    ]


def test_a_layer_is_checked_by_its_parameters_and_stays_as_it_is():
    layer = L.Linear(2, in_size=3)
    x = Variable(X.astype("f4"))
    layer(x).sum().backward()
    x.cleargrad()
    before = snapshot(layer)
    report = check_gradients(layer, x)
    report.assert_ok(1e-8)
    assert report.name == "Linear"
    assert rows(report) == ["input 0", "W", "b"]
    assert rows(report, 2) == ["input 0", "W", "b", "gy 0"]
    assert report.notes == ("cast to float64: input 0, 2 parameters (float32)",)
    assert snapshot(layer) == before
    assert x.grad is None


def test_names_of_parameters_fit_into_the_table():
    block = dz.models.Sequential(L.TransformerBlock(4, 2, 6))
    x = np.random.RandomState(1).randn(2, 3, 4)
    report = check_gradients(block, x, directions=1, order=1)
    report.assert_ok()
    assert rows(report)[1:] == [name for name, _ in _called(block, x).named_params()]
    assert max(map(len, str(report).splitlines())) <= 80
    assert "..." in str(report)


def _called(layer, x):
    layer(x)
    return layer


def test_a_lazy_layer_is_called_as_a_copy_and_stays_lazy():
    layer = dz.models.MLP((4, 2))
    state = np.random.get_state()[1].tolist()
    report = check_gradients(layer, X)
    report.assert_ok()
    assert rows(report) == ["input 0", "l0/W", "l0/b", "l1/W", "l1/b"]
    assert layer.l0.W.data is None
    assert np.random.get_state()[1].tolist() == state


def test_parameters_that_the_first_call_makes_are_found():
    class Scale(L.Layer):
        def forward(self, x):
            if not hasattr(self, "s"):
                self.s = Parameter(np.full(x.shape[-1:], 2.0))
            return x * self.s

    layer = Scale()
    report = check_gradients(layer, X)
    report.assert_ok()
    assert rows(report) == ["input 0", "s"]
    assert not hasattr(layer, "s")


def test_running_statistics_stay():
    layer = L.BatchNorm(in_channels=3)
    layer(X)
    before = snapshot(layer)
    report = check_gradients(layer, X)
    report.assert_ok()
    assert rows(report) == ["input 0", "gamma", "beta"]  # statistics are not trained
    assert snapshot(layer) == before
    with dz.test_mode():
        check_gradients(layer, X).assert_ok()


@pytest.mark.parametrize("cls", [L.RNN, L.LSTM, L.GRU])
def test_every_call_starts_from_the_state_of_the_layer(cls):
    layer = cls(2)
    layer(X)  # with a state the weights of the state have a gradient
    h = layer.h
    report = check_gradients(layer, X, directions=1)
    report.assert_ok()
    assert layer.h is h
    (row,) = (
        [c for c in report.checks if c.order == 1 and c.by.endswith("h2h/W")]
        or [c for c in report.checks if c.order == 1 and c.by.endswith("h2u/W")]
        or [c for c in report.checks if c.order == 1 and c.by.startswith("h2")][:1]
    )
    assert row.analytic != 0


def test_the_dtype_of_a_layer_is_that_of_the_check():
    class Caster(L.Layer):
        def __init__(self):
            self.dtype = np.dtype("f4")
            self.kind = "plain"
            self.inner = L.Linear(2, in_size=3)

        def forward(self, x):
            return self.inner(F.cast(x, self.dtype))

    layer = Caster()
    check_gradients(layer, X.astype("f4")).assert_ok(1e-8)
    assert layer.dtype == np.float32
    layer.dtype = "no dtype"
    with pytest.raises(TypeError):
        check_gradients(layer, X.astype("f8"))


def test_tied_and_frozen_parameters():
    class Tied(L.Layer):
        def __init__(self):
            self.a = L.Linear(3, in_size=3, nobias=True)
            self.b = self.a
            self.frozen = Parameter(np.ones(3, "f4"), "frozen", False)
            self.steps = Parameter(np.zeros((), int), "steps")

        def forward(self, x):
            assert len(list(self.params())) == 3
            self.steps.data += 1
            return self.b(F.tanh(self.a(x))) * self.frozen

    layer = Tied()
    report = check_gradients(layer, X)
    report.assert_ok()
    assert rows(report) == ["input 0", "a/W"]
    assert layer.steps.item() == 0


def test_a_wrong_layer_fails_with_the_name_of_the_parameter():
    class Wrong(Function):
        def forward(self, x, s):
            return x * s

        def backward(self, gy):
            x, s = self.inputs
            return gy * s, -(gy * x)

    class Scale(L.Layer):
        def __init__(self):
            self.s = Parameter(np.ones((4, 3)))

        def forward(self, x):
            return Wrong()(x, self.s)

    report = check_gradients(Scale(), X, order=1)
    assert report.hints == (
        "s, order 1: the sign: analytic = -1 x numeric along every direction",
    )


def test_a_layer_that_cannot_be_copied():
    layer = L.Linear(2)
    layer.lock = threading.Lock()
    with pytest.raises(TypeError, match=r"copy.deepcopy can copy, got Linear .*lambda"):
        check_gradients(layer, X)


# ---- closures and globals --------------------------------------------------------

MEAN, VAR = np.zeros(3), np.ones(3)
STEP = L.RNN(2)


def normed(x, gamma, beta):
    return F.batch_norm(x, gamma, beta, MEAN, VAR)


def test_running_arrays_of_a_function_are_given_back():
    mean, var = Variable(np.zeros(3)), np.ones(3)
    gamma, beta = np.ones(3), np.zeros(3)
    closure = functools.partial(
        lambda x, g, b, var: F.batch_norm(x, g, b, mean, var), var=var
    )
    for f in normed, closure:
        check_gradients(f, X, gamma, beta).assert_ok()
        numerical_gradient(f, X, gamma, beta)
    for running in mean.data, MEAN:
        assert running.tolist() == [0, 0, 0]
    for running in var, VAR:
        assert running.tolist() == [1, 1, 1]


def test_layers_that_a_function_reaches_start_from_the_same_state():
    step, lazy = L.RNN(2), dz.models.MLP((3,))
    step(X)
    h = step.h

    def f(x):
        return step(F.dropout(lazy(x), 0.5))

    check_gradients(f, X).assert_ok()
    check_gradients(lambda x: STEP(x), X).assert_ok()
    check_gradients(step.forward, X).assert_ok()
    assert step.h is h
    assert STEP.h is None


def test_counters_in_lists_and_arrays_are_put_back():
    calls = {"counts": [np.zeros(())]}

    def f(x):
        calls["counts"][0] += 1
        return x * calls["counts"][0]

    check_gradients(f, X).assert_ok()
    assert calls["counts"][0] == 0


@pytest.mark.parametrize(
    ("generator", "draw"),
    [
        (np.random.default_rng(3), lambda g: g.random()),
        (np.random.RandomState(3), lambda g: g.rand()),
        (random.Random(3), lambda g: g.random()),
    ],
)
def test_generators_start_from_the_same_state(generator, draw):
    check_gradients(lambda x: x * draw(generator), X).assert_ok()
    found = draw(generator)
    again = type(generator)
    fresh = np.random.default_rng(3) if again is np.random.Generator else again(3)
    assert found == draw(fresh)


def test_both_global_states_are_pinned_and_given_back():
    random.seed(4)
    np.random.seed(4)
    expected = random.random(), np.random.rand()
    random.seed(4)
    np.random.seed(4)
    check_gradients(lambda x: x * random.random() * np.random.rand(), X).assert_ok()
    with pinned_random_state():
        first = random.random(), np.random.rand()
        pin_random()
        assert (random.random(), np.random.rand()) == first
    assert (random.random(), np.random.rand()) == expected


def test_what_a_function_object_holds_is_found():
    class Counter:
        def __init__(self):
            self.n = np.zeros(())

        def __call__(self, x):
            self.n += 1
            return x * self.n

    counter = Counter()
    check_gradients(counter, X).assert_ok()
    check_gradients(counter.__call__, X)
    assert counter.n == 0


def test_read_only_arrays_long_lists_and_empty_cells_are_left_alone():
    fixed = np.ones(3)
    fixed.flags.writeable = False
    data = [np.zeros(()) for _ in range(1001)]

    def f(x):
        return x * fixed * float(data[0] + 1) if x is not None else later

    held = HeldState(f)
    held.put_back()
    check_gradients(f, X).assert_ok()
    later = None


def helper(x):
    MEAN[0] += 1
    return x * MEAN[0]


def test_functions_of_the_same_module_are_followed():
    check_gradients(lambda x: helper(x), X).assert_ok()
    assert MEAN[0] == 0
