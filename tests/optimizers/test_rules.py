"""Every rule against its formula, written out in NumPy, over 200 steps."""

import inspect

import numpy as np
import pytest

import dezero.functions as F
from dezero import optimizers
from dezero.core import Parameter
from dezero.optimizers import (
    LBFGS,
    SGD,
    AdaDelta,
    AdaGrad,
    Adam,
    AdamW,
    Lion,
    MomentumSGD,
    Optimizer,
    RMSprop,
)


def sgd(p, g, state, t, lr):
    return p - lr * g


def momentum_sgd(p, g, state, t, lr, momentum, nesterov=False):
    state["v"] = momentum * state.get("v", 0.0) - lr * g
    return p + (momentum * state["v"] - lr * g if nesterov else state["v"])


def adagrad(p, g, state, t, lr, eps=1e-8):
    state["h"] = state.get("h", 0.0) + g**2
    return p - lr * g / (np.sqrt(state["h"]) + eps)


def adadelta(p, g, state, t, rho=0.95, eps=1e-6, lr=1.0):
    state["v"] = rho * state.get("v", 0.0) + (1 - rho) * g**2
    u = state.get("u", 0.0)
    d = np.sqrt(u + eps) / np.sqrt(state["v"] + eps) * g
    state["u"] = rho * u + (1 - rho) * d**2
    return p - lr * d


def rmsprop(p, g, state, t, lr, rho=0.99, eps=1e-8, momentum=0.0, centered=False):
    state["v"] = rho * state.get("v", 0.0) + (1 - rho) * g**2
    state["a"] = rho * state.get("a", 0.0) + (1 - rho) * g
    s = state["v"] - state["a"] ** 2 if centered else state["v"]
    state["d"] = momentum * state.get("d", 0.0) + g / (np.sqrt(s) + eps)
    return p - lr * state["d"]


def adam(
    p,
    g,
    state,
    t,
    lr,
    beta1=0.9,
    beta2=0.999,
    eps=1e-8,
    bias_correction=True,
    amsgrad=False,
):
    state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
    state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g**2
    state["largest"] = np.maximum(state.get("largest", 0.0), state["v"])
    m, v = state["m"], state["largest"] if amsgrad else state["v"]
    if bias_correction:
        m, v = m / (1 - beta1**t), v / (1 - beta2**t)
    return p - lr * m / (np.sqrt(v) + eps)


def adamw(p, g, state, t, lr, weight_decay=0.01, **options):
    return adam(p - lr * weight_decay * p, g, state, t, lr, **options)


def lion(p, g, state, t, lr, beta1=0.9, beta2=0.99, weight_decay=0.0):
    m = state.get("m", 0.0)
    state["m"] = beta2 * m + (1 - beta2) * g
    c = beta1 * m + (1 - beta1) * g
    return p - lr * (np.sign(c) + weight_decay * p)


CASES = [
    (SGD, sgd, {"lr": 0.1}),
    (MomentumSGD, momentum_sgd, {"lr": 0.02, "momentum": 0.8}),
    (MomentumSGD, momentum_sgd, {"lr": 0.02, "momentum": 0.8, "nesterov": True}),
    (MomentumSGD, momentum_sgd, {"lr": 0.1, "momentum": 0.0, "nesterov": True}),
    (AdaGrad, adagrad, {"lr": 0.1}),
    (AdaGrad, adagrad, {"lr": 0.5, "eps": 0.1}),
    (AdaDelta, adadelta, {}),
    (AdaDelta, adadelta, {"rho": 0.5, "eps": 1e-3, "lr": 0.7}),
    (RMSprop, rmsprop, {"lr": 0.03}),
    (RMSprop, rmsprop, {"lr": 0.01, "rho": 0.9, "eps": 0.1, "momentum": 0.5}),
    (RMSprop, rmsprop, {"lr": 0.01, "rho": 0.8, "eps": 1e-2, "centered": True}),
    (
        RMSprop,
        rmsprop,
        {"lr": 0.01, "rho": 0.8, "eps": 0.01, "momentum": 0.9, "centered": True},
    ),
    (AdamW, adamw, {"lr": 0.05}),
    (AdamW, adamw, {"lr": 0.01, "beta1": 0.5, "beta2": 0.9, "eps": 0.1}),
    (AdamW, adamw, {"lr": 0.01, "weight_decay": 0.5, "amsgrad": True}),
    (AdamW, adamw, {"lr": 0.01, "weight_decay": 0.1, "bias_correction": False}),
    (Adam, adam, {"lr": 0.05, "beta2": 0.9, "amsgrad": True}),
    (
        Adam,
        adam,
        {"lr": 0.001, "beta2": 0.9, "amsgrad": True, "bias_correction": False},
    ),
    (Lion, lion, {"lr": 0.01}),
    (Lion, lion, {"lr": 0.01, "beta1": 0.5, "beta2": 0.9, "weight_decay": 0.3}),
    (Adam, adam, {"lr": 0.05}),
    (Adam, adam, {"lr": 0.01, "beta1": 0.5, "beta2": 0.9, "eps": 0.1}),
    (Adam, adam, {"lr": 0.001, "bias_correction": False}),
    (Adam, adam, {"lr": 0.001, "beta1": 0.0, "beta2": 0.0}),
]
DEFAULTS = {
    SGD: {"lr": 0.01},
    MomentumSGD: {"lr": 0.01, "momentum": 0.9, "nesterov": False},
    AdaGrad: {"lr": 0.001, "eps": 1e-8},
    AdaDelta: {"rho": 0.95, "eps": 1e-6, "lr": 1.0},
    RMSprop: {"lr": 0.01, "rho": 0.99, "eps": 1e-8, "momentum": 0, "centered": False},
    Adam: {
        "lr": 0.001,
        "beta1": 0.9,
        "beta2": 0.999,
        "eps": 1e-8,
        "bias_correction": True,
        "amsgrad": False,
    },
    Lion: {"lr": 1e-4, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0},
}
DEFAULTS[AdamW] = {**DEFAULTS[Adam], "weight_decay": 0.01}


@pytest.mark.parametrize(("rule", "formula", "options"), CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_trajectory(rule, formula, options, dtype):
    rng = np.random.default_rng(0)
    center = rng.standard_normal((3, 4))
    start = rng.standard_normal((3, 4)).astype(dtype)
    p, expected, state = Parameter(start.copy()), start.astype(np.float64), {}
    optimizer = rule(**options).setup([p])
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    for t in range(1, 201):
        noise = rng.standard_normal((3, 4))
        p.grad = (p.data - center + 0.1 * noise).astype(dtype)
        expected = formula(
            expected, expected - center + 0.1 * noise, state, t, **options
        )
        optimizer.update()
        np.testing.assert_allclose(p.data, expected, rtol=tolerance, atol=tolerance)
    assert p.dtype == dtype


def two_loops(g, pairs):
    """The inverse Hessian of the pairs times g: Nocedal and Wright, algorithm 7.4."""
    q, shares = g, []
    for s, y in reversed(pairs):
        shares.append((s @ q) / (y @ s))
        q = q - shares[-1] * y
    for s, y in pairs[-1:]:
        q = q * (s @ y) / (y @ y)
    for s, y in pairs:
        q = q + s * (shares.pop() - (y @ q) / (y @ s))
    return q


# Of the same memory and step size, other problems grow rounding to a half in 200 steps.
@pytest.mark.parametrize(
    ("lr", "history", "flattest"), [(0.3, 5, 1e-4), (0.2, 20, 1e-3)]
)
def test_trajectory_of_lbfgs_with_steps_of_one_size(lr, history, flattest):
    curvature = np.geomspace(1, flattest, 50)
    start = np.random.default_rng(0).standard_normal(50)
    # A gradient shorter than 1, for then the first step is lr too.
    start *= 0.5 / np.linalg.norm(curvature * start)
    p, expected, pairs, calls = Parameter(start.copy()), start, [], []

    def loss():
        calls.append(0)
        return F.sum(p**2 * (0.5 * curvature))

    # Conditions that a step of lr meets if only the loss falls: no search.
    optimizer = LBFGS(lr, history, iterations=1, tolerance=0, c1=0, c2=0.9999)
    optimizer.setup([p])
    for _ in range(200):
        optimizer.update(loss)
        step = -lr * two_loops(curvature * expected, pairs)
        expected = expected + step
        pairs = [*pairs, (step, curvature * step)][-history:]
        np.testing.assert_allclose(p.data, expected, atol=1e-7 * abs(expected).max())
    assert len(calls) == 2 * 200
    assert curvature @ expected**2 < 1e-3 * (curvature @ start**2)


def rules():
    exported = {getattr(optimizers, name) for name in optimizers.__all__}
    return {x for x in exported if issubclass(x, Optimizer)} - {Optimizer}


def test_every_rule_has_a_trajectory():
    # of L-BFGS there is one more in test_lbfgs.py, with its search
    assert {rule for rule, _, _ in CASES} | {LBFGS} == rules()


@pytest.mark.parametrize(
    "rule", sorted(rules() - {LBFGS}, key=str), ids=lambda rule: rule.__name__
)
def test_every_option_has_a_trajectory_that_is_not_of_its_default(rule):
    options = inspect.signature(rule).parameters
    defaults = {name: x.default for name, x in options.items() if name != "alpha"}
    for name, default in defaults.items():
        given = [case[2][name] for case in CASES if case[0] is rule and name in case[2]]
        assert any(value != default for value in given), name


@pytest.mark.parametrize("rule", DEFAULTS, ids=lambda rule: rule.__name__)
def test_defaults(rule):
    numbers = {k: v for k, v in vars(rule()).items() if isinstance(v, (float, bool))}
    assert numbers == DEFAULTS[rule]


def test_positional_arguments_are_in_the_order_of_old_scripts():
    assert vars(AdaGrad(0.1, 0.2)) == vars(AdaGrad(lr=0.1, eps=0.2))
    assert vars(AdaDelta(0.1, 0.2)) == vars(AdaDelta(rho=0.1, eps=0.2))
    assert vars(MomentumSGD(0.1, 0.2)) == vars(MomentumSGD(lr=0.1, momentum=0.2))


@pytest.mark.parametrize(
    ("off", "on"),
    [
        (Adam(), {"amsgrad": True}),
        (RMSprop(eps=0.1), {"momentum": 0.9}),
        (RMSprop(eps=0.1), {"centered": True}),
        (MomentumSGD(), {"nesterov": True}),
    ],
)
def test_what_may_be_switched_on_and_off_between_updates(off, on):
    p = Parameter(np.zeros(3))
    p.grad = np.array([1.0, -2.0, 3.0])
    off.setup([p]).update()
    before = {name: getattr(off, name) for name in on}
    for values in on, before:
        vars(off).update(values)
        off.update()
    assert np.isfinite(p.data).all()
    assert (np.sign(p.data) == [-1, 1, -1]).all()


def test_adamw_is_adam_where_nothing_decays_and_shrinks_without_slope():
    a, b = Parameter(np.ones(3)), Parameter(np.ones(3))
    a.grad = b.grad = np.array([1.0, 2.0, 3.0])
    Adam().setup([a]).update()
    AdamW(weight_decay=0.0).setup([b]).update()
    np.testing.assert_array_equal(a.data, b.data)
    b.data, b.grad = np.ones(3), np.zeros(3)
    AdamW(lr=0.1, weight_decay=0.5).setup([b]).update()
    np.testing.assert_allclose(b.data, 0.95, rtol=1e-15)


@pytest.mark.parametrize("rule", [AdamW, Lion])
def test_decay_in_half_precision(rule):
    # 1 - 1e-5 is 1 in float16, and 3e-5 of 6e4 is not to be lost.
    p = Parameter(np.full(2, 6e4, np.float16))
    p.grad = np.zeros(2, np.float16)
    rule(lr=1e-2, weight_decay=0.1).setup([p]).update()
    np.testing.assert_array_equal(p.data, np.full(2, 6e4 * 0.999, np.float16))


def test_the_learning_rate_of_adam_has_two_names():
    assert Adam(0.1).lr == Adam(lr=0.1).lr == Adam(alpha=0.1).lr == 0.1
    optimizer = Adam(alpha=0.1)
    optimizer.alpha = 0.2
    assert optimizer.lr == optimizer.alpha == 0.2
    with pytest.raises(TypeError, match="Adam: expected lr or alpha, .* got both"):
        Adam(0.1, alpha=0.1)


def test_the_first_step_of_adam_is_the_learning_rate():
    p = Parameter(np.zeros(3))
    p.grad = np.array([1e-3, -1.0, 1e3])
    Adam(lr=0.1).setup([p]).update()
    np.testing.assert_allclose(p.data, [-0.1, 0.1, -0.1], rtol=1e-4)


def test_adam_does_not_move_without_a_slope():
    p = Parameter(np.ones(3, np.float32))
    p.grad = np.zeros(3, np.float32)
    Adam().setup([p]).update()
    np.testing.assert_array_equal(p.data, np.ones(3))


def test_adam_corrects_the_bias_of_each_parameter_by_its_own_updates():
    late, early = (Parameter(np.zeros(1)) for _ in range(2))
    early.grad = np.ones(1)
    optimizer = Adam(lr=0.1).setup([late, early])
    for _ in range(10):
        optimizer.update()
    late.grad = np.ones(1)
    optimizer.update()
    np.testing.assert_allclose(late.data, [-0.1], rtol=1e-6)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: SGD(-0.1), ValueError, r"SGD: expected lr in \[0, inf\), got -0.1"),
        (lambda: SGD(np.inf), ValueError, r"SGD: expected lr in \[0, inf\), got inf"),
        (lambda: SGD(np.nan), ValueError, r"SGD: expected lr in \[0, inf\), got nan"),
        (lambda: SGD([1]), TypeError, "SGD: expected lr to be a number, got list; par"),
        (lambda: SGD(True), TypeError, "SGD: expected lr to be a number, got bool"),
        (lambda: MomentumSGD(-1), ValueError, "MomentumSGD: expected lr in"),
        (
            lambda: MomentumSGD(momentum=1.0),
            ValueError,
            r"MomentumSGD: expected momentum in \[0, 1\), got 1.0",
        ),
        (lambda: MomentumSGD(momentum=-0.1), ValueError, "expected momentum in"),
        (lambda: AdaGrad(-1), ValueError, r"AdaGrad: expected lr in \[0, inf\)"),
        (lambda: AdaGrad(eps=-1), ValueError, r"AdaGrad: expected eps in \[0, inf\)"),
        (lambda: AdaDelta(1.0), ValueError, r"AdaDelta: expected rho in \[0, 1\)"),
        (lambda: AdaDelta(eps=0), ValueError, "AdaDelta: expected eps to be positive"),
        (lambda: AdaDelta(eps=-1), ValueError, r"AdaDelta: expected eps in \[0, inf"),
        (lambda: AdaDelta(lr=-1), ValueError, r"AdaDelta: expected lr in \[0, inf"),
        (lambda: RMSprop(rho=1), ValueError, r"RMSprop: expected rho in \[0, 1\)"),
        (lambda: RMSprop(momentum=1), ValueError, "RMSprop: expected momentum in"),
        (lambda: RMSprop(-1), ValueError, r"RMSprop: expected lr in \[0, inf\)"),
        (lambda: RMSprop(eps="a"), TypeError, "RMSprop: expected eps to be a number"),
        (lambda: AdamW(beta1=1), ValueError, r"AdamW: expected beta1 in \[0, 1\)"),
        (lambda: AdamW(weight_decay=-1), ValueError, "AdamW: expected weight_decay in"),
        (lambda: AdamW(1, alpha=1), TypeError, "AdamW: expected lr or alpha"),
        (lambda: Lion(-1), ValueError, r"Lion: expected lr in \[0, inf\), got -1"),
        (lambda: Lion(beta1=1), ValueError, r"Lion: expected beta1 in \[0, 1\)"),
        (lambda: Lion(beta2=1), ValueError, r"Lion: expected beta2 in \[0, 1\)"),
        (lambda: Lion(weight_decay=-1), ValueError, "Lion: expected weight_decay in"),
        (lambda: Adam(-1), ValueError, r"Adam: expected lr in \[0, inf\), got -1"),
        (lambda: Adam(alpha=-1), ValueError, r"Adam: expected lr in \[0, inf\)"),
        (lambda: Adam(beta1=1), ValueError, r"Adam: expected beta1 in \[0, 1\), got 1"),
        (lambda: Adam(beta2=1.5), ValueError, r"expected beta2 in \[0, 1\), got 1.5"),
        (lambda: Adam(beta2=-0.5), ValueError, r"expected beta2 in \[0, 1\)"),
        (lambda: Adam(eps=-1e-8), ValueError, r"Adam: expected eps in \[0, inf\)"),
    ],
)
def test_wrong_values(make, error, message):
    with pytest.raises(error, match=message):
        make()
