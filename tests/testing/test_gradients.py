"""The judge is judged: right gradients read as right, planted faults as wrong."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Function, Variable, no_grad
from dezero.functions.elementwise import Elementwise
from dezero.testing import check_gradients, numerical_gradient
from dezero.testing.gradients import pin_random, pinned_random_state
from dezero.testing.report import GradientCheck, GradientReport, verdict

RNG = np.random.RandomState(0)
X = RNG.uniform(0.2, 2.0, (3, 4))
B = RNG.uniform(0.2, 2.0, (4,))


class Cube(Function):
    """y = x**3; a test says what is wrong with it."""

    factor = 3.0
    detach_input = False
    detach_gradient = False

    def forward(self, x):
        return x**3

    def backward(self, gy):
        (x,) = self.inputs
        if self.detach_input:
            x = x.detach()
        if self.detach_gradient:
            gy = gy.detach()
        return gy * x * x * self.factor


class Product(Elementwise):
    """y = x0 * x1; ``mixed=False`` cuts the mixed derivative."""

    mixed = True

    def forward(self, x0, x1):
        return x0 * x1

    def backward(self, gy):
        x0, x1 = self.inputs
        return gy * (x1 if self.mixed else x1.detach()), gy * x0


def made(cls, **attributes):
    """A function that calls ``cls`` with the faults given."""
    return lambda *xs: type("Made", (cls,), attributes)()(*xs)


def errors(report, order):
    return [check.error for check in report.checks if check.order == order]


# ---- right ones ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        (made(Cube), [X]),
        (made(Product), [X, B]),
        (made(Product), [X, X]),
        (lambda x: x, [X]),
        (lambda x: x - x, [X]),
        (lambda x: (x * x, made(Cube)(x)), [X]),
        (lambda x, y: made(Cube)(x * y) - y, [X, B]),
        (made(Cube), [np.array(0.7)]),
        (made(Cube), [np.empty((0, 3))]),
        (made(Cube), [X * 1e-4]),
        (made(Cube), [X * 1e4]),
    ],
)
def test_right_gradients_read_as_right(f, xs):
    report = check_gradients(f, *xs)
    assert report.verdict == "right", str(report)
    report.assert_ok(1e-8)


def test_steep_functions_read_as_right():
    class Power(Function):
        def __init__(self, n):
            self.n = n

        def forward(self, x):
            return x**self.n

        def backward(self, gy):
            return gy * Power(self.n - 1)(self.inputs[0]) * float(self.n)

    report = check_gradients(Power(-4), np.full((4, 4), 0.2))
    report.assert_ok(1e-8)


def test_a_gradient_that_cancels_to_zero_reads_as_right():
    # The sum of a softmax is 1: what is left of its gradient is rounding.
    class Ratio(Function):
        def forward(self, x):
            return np.array(x.sum() / x.sum())

        def backward(self, gy):
            return Variable(np.full(X.shape, 3e-17)) * gy

    check_gradients(Ratio(), X).assert_ok(1e-7)


def test_a_constant_has_a_zero_gradient():
    report = check_gradients(lambda x: x.detach() * 2.0, np.zeros(3))
    assert [check.analytic for check in report.checks] == [0.0] * len(report.checks)
    # numerically it is not constant: the tool sees a detach for what it is
    with pytest.raises(AssertionError):
        report.assert_ok()


# ---- planted faults --------------------------------------------------------------


@pytest.mark.parametrize("factor", [-3.0, 6.0, 1.0, 3.1])
def test_wrong_factor_is_wrong(factor):
    report = check_gradients(made(Cube, factor=factor), X)
    assert report.verdict == "wrong"
    with pytest.raises(AssertionError, match="differ by more than 1e-05"):
        report.assert_ok()


@pytest.mark.parametrize(
    ("change", "expected"), [(1e-4, "suspicious"), (1e-6, "rounding"), (0.0, "right")]
)
def test_bands_tell_how_far_off(change, expected):
    report = check_gradients(made(Cube, factor=3.0 * (1 + change)), X, order=1)
    assert report.verdict == expected, str(report)


def test_constant_inside_backward_is_wrong_at_second_order_only():
    report = check_gradients(made(Cube, detach_input=True), X)
    assert max(errors(report, 1)) < 1e-9
    assert verdict(max(errors(report, 2))) == "wrong"


def test_detached_incoming_gradient_is_wrong_at_second_order_only():
    report = check_gradients(made(Cube, detach_gradient=True), X)
    assert max(errors(report, 1)) < 1e-9
    bad = [check.by for check in report.checks if check.verdict == "wrong"]
    assert bad == ["gy 0"]


def test_lost_mixed_derivative_is_wrong():
    report = check_gradients(made(Product, mixed=False), X, X)
    assert max(errors(report, 1)) < 1e-9
    bad = [(c.order, c.by) for c in report.checks if c.verdict == "wrong"]
    assert bad == [(2, "input 1")]


def test_third_order_sees_what_the_second_does_not():
    class CubeGrad(Function):
        """gx = 3 * x**2 * gy, with a backward of its own that forgets to go on."""

        def forward(self, x, gy):
            return 3 * x**2 * gy

        def backward(self, ggx):
            x, gy = self.inputs
            return ggx.data * gy * x * 6.0, ggx.data * x * x * 3.0

    class Outer(Cube):
        def backward(self, gy):
            return CubeGrad()(self.inputs[0], gy)

    check_gradients(made(Cube), X, order=3).assert_ok(1e-9)
    report = check_gradients(made(Outer), X, order=3)
    assert max(errors(report, 1) + errors(report, 2)) < 1e-9
    assert [check.by for check in report.checks if check.verdict == "wrong"] == [
        "ggx 0"
    ]


def test_nan_is_wrong():
    report = check_gradients(made(Cube, factor=np.nan), X, order=1)
    assert report.error == np.inf
    with pytest.raises(AssertionError):
        report.assert_ok(limit=np.finfo(float).max)


# ---- the report ------------------------------------------------------------------


def test_report_is_a_table_of_at_most_80_columns():
    report = check_gradients(
        lambda x: (made(Cube, factor=-1e10)(x),) * 2, np.ones((1,) * 12)
    )
    lines = str(report).splitlines()
    assert lines[0].split() == [
        *("order", "by", "shape", "analytic", "numeric", "error", "verdict")
    ]
    assert len(lines) == 1 + len(report.checks)
    assert max(map(len, lines)) <= 80
    with pytest.raises(AssertionError) as raised:
        report.assert_ok()
    assert str(report) in str(raised.value)


def test_report_has_a_row_per_order_and_input():
    report = check_gradients(made(Product), X, B)
    assert [(check.order, check.by, check.shape) for check in report.checks] == [
        (1, "input 0", (3, 4)),
        (1, "input 1", (4,)),
        (2, "input 0", (3, 4)),
        (2, "input 1", (4,)),
        (2, "gy 0", (3, 4)),
    ]


def test_verdict_bands():
    values = [0.0, 9e-8, 2e-7, 9e-6, 2e-5, 9e-4, 2e-3, np.inf, np.nan]
    names = ["right"] * 2 + ["rounding"] * 2 + ["suspicious"] * 2 + ["wrong"] * 3
    assert [verdict(value) for value in values] == names


def test_report_without_checks_is_right():
    assert GradientReport("f", ()).verdict == "right"


def test_report_gives_the_worst_check():
    checks = [
        GradientCheck(1, f"input {i}", (), 0.0, 0.0, error)
        for i, error in enumerate([1e-9, 1e-4, 1e-6])
    ]
    report = GradientReport("f", tuple(checks))
    assert (report.error, report.verdict) == (1e-4, "suspicious")
    report.assert_ok(limit=1e-3)


# ---- behaviour -------------------------------------------------------------------


def test_casts_to_float64_and_accepts_variables():
    x = Variable(X.astype(np.float32))
    check_gradients(made(Cube), x).assert_ok(1e-9)
    assert x.grad is None
    assert x.dtype == np.float32


def test_random_functions_are_checked_with_a_pinned_state():
    class Noisy(Function):
        def forward(self, x):
            self.scale = np.random.uniform(1, 2, x.shape)
            return x * self.scale

        def backward(self, gy):
            return gy * self.scale

    np.random.seed(5)
    expected = np.random.uniform()
    np.random.seed(5)
    check_gradients(lambda x: Noisy()(x), X).assert_ok(1e-9)
    assert np.random.uniform() == expected  # the caller's sequence goes on undisturbed


def test_random_state_is_restored_after_an_error():
    np.random.seed(1)
    expected = np.random.uniform()
    np.random.seed(1)
    with pytest.raises(KeyError), pinned_random_state():
        pin_random()
        np.random.uniform()
        raise KeyError
    assert np.random.uniform() == expected


def test_check_gradients_errors():
    with pytest.raises(
        ValueError, match=r"check_gradients: expected order 1, 2 or 3, got 4"
    ):
        check_gradients(made(Cube), X, order=4)
    with pytest.raises(TypeError, match=r"floating Variables, got int as output 0"):
        check_gradients(lambda x: 3, X)
    with pytest.raises(
        TypeError, match=r"floating Variables, got dtype bool as output 0"
    ):
        check_gradients(lambda x: x > 0, X)


# ---- numerical_gradient ----------------------------------------------------------


def test_numerical_gradient_is_exact_to_rounding():
    found = numerical_gradient(made(Cube), X)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, 3 * X**2, rtol=1e-10)


def test_numerical_gradient_by_another_input_and_step():
    found = numerical_gradient(made(Product), X, B, index=1, eps=1e-3)
    np.testing.assert_allclose(found, X.sum(axis=0), rtol=1e-8)


def test_numerical_gradient_takes_float32_and_several_outputs():
    x = np.array(2.0, dtype=np.float32)
    found = numerical_gradient(lambda x: (x * x, x), x)
    assert found.shape == ()
    np.testing.assert_allclose(found, 5.0, rtol=1e-10)


def test_numerical_gradient_takes_integers_beside():
    found = numerical_gradient(lambda x, n: x * n, X, np.array([1, 2, 3, 4]))
    np.testing.assert_allclose(found, np.broadcast_to([1, 2, 3, 4], X.shape))


def test_numerical_gradient_of_integers_is_refused():
    with pytest.raises(
        TypeError, match=r"numerical_gradient: expected arrays\[0\] .* int64"
    ):
        numerical_gradient(made(Cube), np.array([1, 2]))


def test_no_grad_outside_changes_nothing():
    with no_grad():
        report = check_gradients(F.sin, np.array([0.3, 1.2]))
    assert report.verdict == "right" and len(report.checks) == 3


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: check_gradients(F.sin, np.ones(2), directions=0),
            ValueError,
            "check_gradients: expected directions >= 1, got 0",
        ),
        (
            lambda: check_gradients(lambda x: (), np.ones(2)),
            ValueError,
            "check_gradients: expected f to return outputs, got none",
        ),
        (
            lambda: check_gradients(F.linear, np.ones((2, 2)), np.ones((2, 2)), None),
            TypeError,
            "check_gradients: .* numbers as inputs, got object as input 2; .* lambda",
        ),
        (
            lambda: check_gradients(F.sin, np.ones(2, complex)),
            TypeError,
            "check_gradients: .* got complex128 as input 0",
        ),
    ],
)
def test_what_would_check_nothing_or_nonsense(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_function_object_gives_the_report_its_class_name():
    assert check_gradients(F.Sin(), np.ones(2)).name == "Sin"
