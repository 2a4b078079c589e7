"""Every rule against its formula, written out in NumPy, over 200 steps."""

import numpy as np
import pytest

from dezero.core import Parameter
from dezero.optimizers import SGD, Adam, MomentumSGD


def sgd(p, g, state, t, lr):
    return p - lr * g


def momentum_sgd(p, g, state, t, lr, momentum):
    state["v"] = momentum * state.get("v", 0.0) - lr * g
    return p + state["v"]


def adam(p, g, state, t, lr, beta1=0.9, beta2=0.999, eps=1e-8, bias_correction=True):
    state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
    state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g**2
    m, v = state["m"], state["v"]
    if bias_correction:
        m, v = m / (1 - beta1**t), v / (1 - beta2**t)
    return p - lr * m / (np.sqrt(v) + eps)


CASES = [
    (SGD, sgd, {"lr": 0.1}),
    (MomentumSGD, momentum_sgd, {"lr": 0.02, "momentum": 0.8}),
    (Adam, adam, {"lr": 0.05}),
    (Adam, adam, {"lr": 0.01, "beta1": 0.5, "beta2": 0.9, "eps": 0.1}),
    (Adam, adam, {"lr": 0.001, "bias_correction": False}),
    (Adam, adam, {"lr": 0.001, "beta1": 0.0, "beta2": 0.0}),
]


@pytest.mark.parametrize(("rule", "formula", "options"), CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_trajectory(rule, formula, options, dtype):
    rng = np.random.default_rng(0)
    center = rng.standard_normal((3, 4))
    start = rng.standard_normal((3, 4)).astype(dtype)
    p, expected, state = Parameter(start.copy()), start.astype(np.float64), {}
    optimizer = rule(**options).setup([p])
    for t in range(1, 201):
        noise = rng.standard_normal((3, 4))
        p.grad = (p.data - center + 0.1 * noise).astype(dtype)
        expected = formula(
            expected, expected - center + 0.1 * noise, state, t, **options
        )
        optimizer.update()
    assert p.dtype == dtype
    tolerance = 1e-12 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(p.data, expected, rtol=tolerance, atol=tolerance)


def test_defaults():
    assert SGD().lr == 0.01
    momentum = MomentumSGD()
    assert (momentum.lr, momentum.momentum) == (0.01, 0.9)
    a = Adam()
    assert (a.lr, a.beta1, a.beta2, a.eps) == (0.001, 0.9, 0.999, 1e-8)
    assert a.bias_correction


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
