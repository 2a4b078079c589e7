"""L-BFGS: its directions, its line search, and where it ends."""

import copy
import pickle

import numpy as np
import pytest
from scipy.optimize import minimize

import dezero.functions as F
from dezero.core import Parameter, no_grad
from dezero.layers import Layer, Linear
from dezero.optimizers import LBFGS, SGD, FreezeParam
from dezero.optimizers.line_search import Point, strong_wolfe


def rosenbrock(x):
    return F.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def value_and_gradient(x):
    y = 100.0 * np.sum((x[1:] - x[:-1] ** 2) ** 2) + np.sum((1.0 - x[:-1]) ** 2)
    g = np.zeros_like(x)
    g[:-1] += -400.0 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2.0 * (1.0 - x[:-1])
    g[1:] += 200.0 * (x[1:] - x[:-1] ** 2)
    return y, g


def dense_direction(g, pairs):
    """-H g with H written out: equations 7.16 to 7.20 of Nocedal and Wright."""
    n = len(g)
    H = np.eye(n)
    if pairs:
        s, y = pairs[-1]
        H *= (s @ y) / (y @ y)
    for s, y in pairs:
        rho = 1 / (s @ y)
        V = np.eye(n) - rho * np.outer(y, s)
        H = V.T @ H @ V + rho * np.outer(s, s)
    return -H @ g


@pytest.mark.parametrize("history", [1, 4, 10])
def test_200_steps_go_the_directions_of_the_dense_formula_and_meet_wolfe(history):
    p = Parameter(np.array([-1.2, 1.0] * 20))
    optimizer = LBFGS(history=history, iterations=1).setup([p])
    pairs = []
    steps = 0
    for _ in range(200):
        x = p.data.copy()
        value, g = value_and_gradient(x)
        if abs(g).max() < 1e-6:
            break
        after = optimizer.update(lambda: rosenbrock(p))
        s = p.data - x
        value_new, g_new = value_and_gradient(p.data)
        assert after == pytest.approx(value_new, rel=1e-9)
        np.testing.assert_allclose(p.grad.data, g_new, rtol=1e-9, atol=1e-9)
        d = dense_direction(g, pairs)
        a = (s @ d) / (d @ d)
        np.testing.assert_allclose(s, a * d, rtol=1e-6, atol=1e-6 * abs(s).max())
        slope = d @ g
        assert value_new <= value + 1e-4 * a * slope + 1e-12
        assert abs(d @ g_new) <= 0.9 * abs(slope) * (1 + 1e-9)
        pairs = [*pairs, (s, g_new - g)][-history:]
        steps += 1
    assert steps > 40


def test_it_ends_where_scipy_does():
    start = np.array([-1.2, 1.0, 0.5, -0.3, 2.0])
    p = Parameter(start.copy())
    LBFGS(iterations=200, tolerance=1e-9).setup([p]).update(lambda: rosenbrock(p))
    expected = minimize(
        value_and_gradient, start, jac=True, method="L-BFGS-B", tol=1e-14
    )
    np.testing.assert_allclose(p.data, expected.x, atol=1e-6)


def test_a_regression_is_solved_in_few_updates():
    rng = np.random.default_rng(0)
    x, t = rng.standard_normal((50, 8)), rng.standard_normal((50, 3))
    W, b = Parameter(np.zeros((8, 3))), Parameter(np.zeros(3))
    optimizer = LBFGS(iterations=40, tolerance=1e-10).setup([W, b])
    optimizer.update(lambda: F.mean_squared_error(F.linear(x, W, b), t))
    exact = np.linalg.lstsq(np.c_[x, np.ones(50)], t, rcond=None)[0]
    np.testing.assert_allclose(np.r_[W.data, [b.data]], exact, atol=1e-8)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_low_precision_goes_as_low_as_it_can(dtype):
    p = Parameter(np.array([3.0, -2.0], dtype))
    data = p.data
    optimizer = LBFGS().setup([p])
    for _ in range(5):
        value = optimizer.update(lambda: F.sum((p - 1.0) ** 2))
    assert p.data is data
    assert p.grad.dtype == dtype
    assert value < 1e-6
    np.testing.assert_allclose(p.data, 1.0, atol=2e-3)


def test_a_network_learns():
    np.random.seed(0)

    class Net(Layer):
        def __init__(self):
            self.a, self.b = Linear(10), Linear(1)

        def forward(self, x):
            return self.b(F.tanh(self.a(x)))

    x = np.linspace(-1, 1, 50, dtype=np.float32)[:, None]
    t = np.sin(4 * x)
    net = Net()
    with no_grad():
        net(x)
    optimizer = LBFGS().setup(net)
    losses = [optimizer.step(lambda: F.mean_squared_error(net(x), t)) for _ in range(8)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 1e-3
    assert [p.dtype for p in net.params()] == [np.float32] * 4


def test_what_is_frozen_stays():
    a, b = Parameter(np.zeros(2)), Parameter(np.zeros(2))
    optimizer = LBFGS().setup([a, b]).add_hook(FreezeParam(a))
    optimizer.update(lambda: F.sum((a - 1.0) ** 2) + F.sum((b - 1.0) ** 2))
    np.testing.assert_array_equal(a.data, [0.0, 0.0])
    np.testing.assert_allclose(b.data, 1.0, atol=1e-7)
    optimizer.hooks.clear()  # other parameters: what is remembered does not fit
    optimizer.update(lambda: F.sum((a - 1.0) ** 2) + F.sum((b - 1.0) ** 2))
    np.testing.assert_allclose(a.data, 1.0, atol=1e-7)


def test_a_flat_place_and_all_frozen():
    p = Parameter(np.ones(2))
    optimizer = LBFGS().setup([p])
    assert optimizer.update(lambda: F.sum((p - 1.0) ** 2)) == 0.0
    optimizer.add_hook(FreezeParam(p))
    assert optimizer.update(lambda: F.sum((p - 2.0) ** 2)) == 2.0
    np.testing.assert_array_equal(p.data, [1.0, 1.0])


def test_a_loss_that_cannot_be_lower_ends_the_update():
    calls = []

    def loss():  # its gradient points uphill
        calls.append(0)
        return F.sum(-1.0 * (p - 0.0)) + 2.0 * float(p.data.sum())

    p = Parameter(np.ones(2))
    optimizer = LBFGS(evaluations=5).setup([p])
    assert optimizer.update(loss) == 2.0
    np.testing.assert_array_equal(p.data, [1.0, 1.0])
    assert len(calls) == 6


def test_a_region_where_the_loss_is_not_finite_is_left():
    p = Parameter(np.array([0.5]))

    def loss():
        x = p if p.data > 0 else p * np.nan  # log is not there below zero
        return F.sum(x - 0.01 * F.log(F.maximum(x, 1e-300)))

    optimizer = LBFGS(lr=100.0).setup([p])
    optimizer.check_finite = True  # of where an update begins, not of trials
    optimizer.update(loss)
    assert optimizer.check_finite
    np.testing.assert_allclose(p.data, [0.01], rtol=1e-5)


def test_empty_parameters():
    p = Parameter(np.ones((0, 3)))
    assert LBFGS().setup([p]).update(lambda: F.sum(p)) == 0.0


def test_readonly_and_0d_parameters():
    frozen = np.array([3.0, 4.0])
    frozen.setflags(write=False)
    p, q = Parameter(frozen), Parameter(np.array(5.0))
    LBFGS().setup([p, q]).update(lambda: F.sum((p - 1.0) ** 2) + (q - 1.0) ** 2)
    np.testing.assert_allclose(p.data, 1.0, atol=1e-7)
    np.testing.assert_allclose(q.data, 1.0, atol=1e-7)
    np.testing.assert_array_equal(frozen, [3.0, 4.0])


# ---- state --------------------------------------------------------------------------


def start():
    p, q = Parameter(np.array([-1.2, 1.0, 0.5])), Parameter(np.array(0.3))
    optimizer = LBFGS(iterations=2, history=3).setup([p, q])
    return optimizer, lambda: rosenbrock(p) + (q - p[0]) ** 2


def run(optimizer, steps):
    for _ in range(steps):
        p, q = optimizer.params()
        optimizer.update(lambda: rosenbrock(p) + (q - p[0]) ** 2)  # noqa: B023 - called at once


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_a_copy_goes_on(copied):
    optimizer, _ = start()
    run(optimizer, 4)
    again = copied(optimizer)
    for x in optimizer, again:
        run(x, 3)
    for p, q in zip(optimizer.params(), again.params(), strict=True):
        np.testing.assert_array_equal(p.data, q.data)


def test_a_resumed_run_is_bit_equal():
    optimizer, _ = start()
    run(optimizer, 4)
    saved = optimizer.state_dict()
    assert saved["hyperparameters"]["pairs"] == 3
    assert sorted(saved["state"]["0"]) == ["s0", "s1", "s2", "y0", "y1", "y2"]
    params = [Parameter(p.data.copy()) for p in optimizer.params()]
    again = LBFGS().setup(params)
    again.load_state_dict(saved)
    for x in optimizer, again:
        run(x, 3)
    for p, q in zip(optimizer.params(), params, strict=True):
        np.testing.assert_array_equal(p.data, q.data)


def test_setup_forgets():
    optimizer, _ = start()
    run(optimizer, 2)
    assert optimizer.pairs == 3
    optimizer.setup(optimizer.params())
    assert optimizer.pairs == 0


def test_an_error_in_the_loss_leaves_the_weights():
    optimizer, loss = start()
    before = [p.data.copy() for p in optimizer.params()]
    calls = []

    def failing():
        calls.append(0)
        if len(calls) > 4:
            raise KeyError
        return loss()

    optimizer.iterations = 20
    with pytest.raises(KeyError):
        optimizer.update(failing)
    for p, x in zip(optimizer.params(), before, strict=True):
        np.testing.assert_array_equal(p.data, x)


# ---- the line search ----------------------------------------------------------------


@pytest.mark.parametrize("first", [1e-4, 0.1, 1.0, 10.0, 1e3])
@pytest.mark.parametrize(
    ("f", "slope"),
    [
        (lambda a: (a - 1) ** 2, lambda a: 2 * (a - 1)),
        (lambda a: -a / (a * a + 2), lambda a: (a * a - 2) / (a * a + 2) ** 2),
        (
            lambda a: (a + 0.1) ** 5 - 2 * (a + 0.1) ** 4,
            lambda a: 5 * (a + 0.1) ** 4 - 8 * (a + 0.1) ** 3,
        ),
        (
            lambda a: np.cos(a) - 0.1 * a + 0.01 * a**2,
            lambda a: -np.sin(a) - 0.1 + 0.02 * a,
        ),
    ],
)
def test_the_search_meets_both_conditions(f, slope, first):
    def evaluate(a):
        return Point(a, float(f(a)), float(slope(a)), None)

    begin = evaluate(0.0)
    point = strong_wolfe(evaluate, begin, first, 1e-4, 0.1, 60)
    assert point.a > 0
    assert point.loss <= begin.loss + 1e-4 * point.a * begin.slope
    assert abs(point.slope) <= -0.1 * begin.slope


def test_the_search_gives_up_at_a_kink():
    def evaluate(a):
        evaluations.append(a)
        return Point(a, abs(a - 1.0), 1.0 if a > 1.0 else -1.0, None)

    evaluations = []
    point = strong_wolfe(evaluate, evaluate(0.0), 0.3, 1e-4, 0.9, 500)
    assert point.a == pytest.approx(1.0, abs=1e-11)
    assert len(evaluations) < 100


# ---- errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: LBFGS(-1), ValueError, r"LBFGS: expected lr in \[0, inf\), got -1"),
        (lambda: LBFGS(0), ValueError, "LBFGS: expected lr to be positive, got 0"),
        (lambda: LBFGS(history=0), ValueError, "expected history of at least 1, got"),
        (lambda: LBFGS(history=1.5), TypeError, "expected history to be an integer"),
        (lambda: LBFGS(iterations=0), ValueError, "expected iterations of at least 1"),
        (lambda: LBFGS(evaluations=0), ValueError, "expected evaluations of at least"),
        (lambda: LBFGS(tolerance=-1), ValueError, r"expected tolerance in \[0, inf\)"),
        (lambda: LBFGS(c1=-1), ValueError, r"LBFGS: expected c1 in \[0, 1\), got -1"),
        (lambda: LBFGS(c2=1), ValueError, r"LBFGS: expected c2 in \[0, 1\), got 1"),
        (lambda: LBFGS(c1=0.5, c2=0.5), ValueError, "c1 below c2, got 0.5 and 0.5"),
    ],
)
def test_wrong_values(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_wrong_losses():
    p = Parameter(np.ones(2))
    optimizer = LBFGS().setup([p])
    for loss, error, message in (
        (None, TypeError, r"expected a function that computes the loss, got none; wri"),
        (F.sum(p), TypeError, "function that computes the loss, got Variable; write"),
        (lambda: 1.0, TypeError, "gives the loss as a Variable, got float from it"),
        (lambda: p * 2.0, ValueError, r"loss of one element, got the shape \(2,\)"),
        (lambda: F.sum(p * np.inf), ValueError, "expected a finite loss, got inf"),
    ):
        with pytest.raises(error, match="LBFGS.update: .*" + message):
            optimizer.update(loss)
        np.testing.assert_array_equal(p.data, [1.0, 1.0])


def test_groups_take_one_step_together():
    a, b = Parameter(np.zeros(1)), Parameter(np.zeros(1))
    with pytest.raises(
        ValueError, match="LBFGS.setup: expected groups without numbers"
    ):
        LBFGS().setup([{"params": [a], "lr": 0.5}, {"params": [b]}])
    optimizer = LBFGS().setup([{"params": [a]}, {"params": [b]}])
    optimizer.update(lambda: F.sum((a - b - 1.0) ** 2 + (b - 1.0) ** 2))
    np.testing.assert_allclose([a.data, b.data], [[2.0], [1.0]], atol=1e-6)


def test_other_optimizers_take_no_loss():
    with pytest.raises(TypeError):
        SGD().setup([Parameter(np.ones(1))]).update(lambda: None)
