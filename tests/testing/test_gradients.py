"""The judge is judged: right gradients read as right, planted faults as wrong."""

import re

import numpy as np
import pytest

import dezero.functions as F
from dezero import Function, Variable, no_grad
from dezero.functions.elementwise import Elementwise
from dezero.models import MLP
from dezero.testing import check_gradients, numerical_gradient
from dezero.testing.diagnosis import explain_ratios
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


# ---- kinks and jumps -------------------------------------------------------------


class Relu(Function):
    """y = max(x, 0); a test says what is wrong with it."""

    slope, at_zero = 1.0, 0.0

    def forward(self, x):
        return np.maximum(x, 0)

    def backward(self, gy):
        x = self.inputs[0].data
        return gy * (self.slope * (x > 0) + self.at_zero * (x == 0))


class Floor(Function):
    def forward(self, x):
        return np.floor(x)

    def backward(self, gy):
        return gy * 0.0


def verdicts(report):
    return {(c.order, c.by): c.verdict for c in report.checks}


def test_a_kink_is_recognised_and_the_other_elements_are_judged():
    report = check_gradients(made(Relu), np.array([-1.0, 0.0, 2.0]))
    assert verdicts(report) == {
        (1, "input 0"): "kink",
        (2, "input 0"): "jump",  # the derivative of a ReLU is a step
        (2, "gy 0"): "right",
    }
    report.assert_ok()
    assert (report.kinks, report.verdict) == (2, "right")
    assert report.error < 1e-9
    assert report.notes == (
        "kink at input 0, order 1: 1 of 3 elements, the first at (1,); the others are "
        "right",
        "jump at input 0, order 2: 1 of 3 elements, the first at (1,); the others are "
        "right",
    )


def test_nothing_but_a_kink():
    report = check_gradients(made(Relu), np.zeros(2), order=1)
    assert report.verdict == "kink"
    assert report.notes == ("kink at input 0, order 1: its 2 elements are not judged",)
    assert str(report).splitlines()[1].split()[-3:] == ["-", "-", "kink"]
    report.assert_ok()


@pytest.mark.parametrize("value", [1e-3, -1e-3, 3e-5, 5e-6])
def test_a_kink_close_by_does_not_disturb(value):
    report = check_gradients(made(Relu), np.array([value, 1.0, -1.0]))
    assert report.verdict == "right", str(report)
    assert report.kinks == 0


@pytest.mark.parametrize("faults", [{"slope": 3.0}, {"slope": -1.0}, {"at_zero": 5.0}])
def test_a_wrong_gradient_beside_or_in_a_kink_fails(faults):
    report = check_gradients(made(Relu, **faults), np.array([-1.0, 0.0, 2.0, 3.0]))
    assert verdicts(report)[1, "input 0"] == "wrong", str(report)
    with pytest.raises(AssertionError):
        report.assert_ok()


@pytest.mark.parametrize("at_zero", [0.0, 0.5, 1.0])
def test_every_slope_between_the_two_is_right_in_a_kink(at_zero):
    x = np.array([0.0, 0.0, -0.5])
    check_gradients(made(Relu, at_zero=at_zero), x).assert_ok()


def test_ties_of_a_maximum_are_a_kink():
    for f in (F.max, lambda x: F.maximum(x, 1.0)):
        report = check_gradients(f, np.array([1.0, 1.0, 0.5]))
        report.assert_ok()
        assert report.kinks


def test_a_jump_is_named():
    report = check_gradients(Floor(), np.array([-1.0, 0.5, 2.0]), order=1)
    assert verdicts(report) == {(1, "input 0"): "jump"}
    assert "jump at input 0, order 1: 2 of 3 elements, the first at (0,)" in str(report)
    report.assert_ok()


def test_kinks_in_a_large_array_are_found_by_halving():
    x = np.linspace(-1, 1, 301)
    report = check_gradients(made(Relu), x, order=1)
    assert report.notes == (
        "kink at input 0, order 1: 1 of 301 elements, the first at (150,); the others "
        "are right",
    )
    report.assert_ok()
    for faults in ({"slope": -1.0}, {"at_zero": 5.0}):
        report = check_gradients(made(Relu, **faults), x, order=1)
        assert report.verdict == "wrong", str(report)


def test_a_large_array_of_kinks_is_looked_through_in_part():
    report = check_gradients(made(Relu), np.zeros(2000), order=1)
    assert report.notes == (
        "kink at input 0, order 1: its 2000 elements are not judged",
    )
    report.assert_ok()
    report = check_gradients(made(Relu, at_zero=5.0), np.zeros(2000), order=1)
    assert report.verdict == "wrong", str(report)
    x = np.r_[np.zeros(400), np.ones(200)]
    report = check_gradients(made(Relu), x, order=1)
    (note,) = report.notes
    assert re.fullmatch(
        r"kink at input 0, order 1: 2\d\d of 600 elements, the first at \(\d+,\); "
        r"1\d\d more are not judged; the others are right",
        note,
    ), note
    faulty = check_gradients(
        Masked(lambda x: np.maximum(x, 0), lambda x: 0 + (x.data > 0), 1 + x),
        x,
        order=1,
    )
    assert faulty.verdict == "wrong"


@pytest.mark.parametrize("n", [2, 5, 300])
def test_kinks_that_cancel_are_kinks(n):
    x = np.r_[np.zeros(n), 1.0]
    for seed in range(40):
        report = check_gradients(made(Relu), x, order=1, directions=1, seed=seed)
        assert report.verdict == "kink", f"{seed}\n{report}"
        report.assert_ok()


def test_a_network_at_inputs_of_zero():
    # Biases start at zero: all units of these rows stand at their kink.
    x = np.r_[np.zeros((2, 4)), np.random.RandomState(0).randn(2, 4)]
    for seed in range(8):
        np.random.seed(seed)
        report = check_gradients(MLP((6, 6, 3), F.relu), x, order=1, seed=seed)
        report.assert_ok()
        assert report.kinks


def test_outputs_turn_independently_in_a_kink():
    # 0 is right for each output, but not between the slopes of their weighted sum.
    W = np.random.RandomState(1).randn(20, 40)
    x = np.r_[np.zeros((1, 20)), np.random.RandomState(2).randn(1, 20)]
    check_gradients(lambda x: made(Relu)(F.matmul(x, W)), x).assert_ok()
    # Nor is it where f has summed them up itself.
    v = np.random.RandomState(3).randn(40)
    summed = check_gradients(
        lambda x: F.sum(made(Relu)(F.matmul(x, W)) * v), x, order=1
    )
    summed.assert_ok()
    wrong = check_gradients(
        lambda x: F.sum(made(Relu, slope=0.9)(F.matmul(x, W)) * v), x[:1], order=1
    )
    assert wrong.verdict == "wrong", str(wrong)


def test_a_kink_of_the_derivative_is_no_fault():
    def f(x):
        return x * abs(x)

    for x in (np.zeros(1), np.array([0.0, 1.0]), np.r_[np.zeros(2), np.ones(300)]):
        check_gradients(f, x, order=1).assert_ok()

    class Wrong(Function):
        def forward(self, x):
            return x * abs(x)

        def backward(self, gy):
            return gy * abs(self.inputs[0]) * 1.9

    report = check_gradients(Wrong(), np.array([0.0, 0.01]), order=1)
    assert report.verdict == "wrong"


def test_noise_is_no_excuse_for_a_wrong_gradient():
    class Coarse(Cube):
        """As an iteration that is stopped when 9 digits are right."""

        factor = 6.0

        def forward(self, x):
            return np.round(x**3, 9)

    report = check_gradients(Coarse(), X, order=1)
    assert report.verdict == "wrong"
    assert report.kinks == 0


# ---- what is wrong, in words -----------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "hint"),
    [
        (-3.0, "the sign: analytic = -1 x numeric along every direction"),
        (
            1.5,
            "about half: analytic = 0.5 x numeric; a gradient was overwritten, not "
            "accumulated?",
        ),
        (6.0, "about twice: analytic = 2 x numeric; counted twice?"),
        (4.5, "a factor: analytic = 1.5 x numeric along every direction"),
        (
            36.0,
            "a factor: analytic = 12 x numeric along every direction, and 12 is a size "
            "here: a mean for a sum?",
        ),
        (
            0.75,
            "a factor: analytic = 0.25 x numeric along every direction, and 4 is a "
            "size here: a mean for a sum?",
        ),
        (
            0.0,
            "analytic is 0: backward gives nothing, or f leaves the graph on the way "
            "(.data, detach, no_grad)",
        ),
        (np.nan, "analytic is not finite: 12 nan of 12"),
        (np.inf, "analytic is not finite: 12 inf of 12"),
    ],
)
def test_factors_are_named(factor, hint):
    report = check_gradients(made(Cube, factor=factor), X, order=1)
    assert report.hints == (f"input 0, order 1: {hint}",)
    joined = " ".join(str(report).split())
    assert f"wrong: input 0, order 1: {hint}" in joined


def test_ratios_near_half_are_named_too():
    # One of two uses of x is forgotten, and they differ a little.
    report = check_gradients(lambda x: x * (x.detach() * 1.05), X, order=1)
    assert "about half: analytic = 0.5 x numeric" in report.hints[0]


def test_a_lost_second_derivative_is_named():
    report = check_gradients(made(Cube, detach_input=True), X)
    assert report.hints == (
        "input 0, order 2: analytic is 0: backward computes with .data, a detached "
        "copy or an array that forward kept, so its own derivative is lost",
    )


def test_wrong_elements_are_counted():
    class Wrong(Cube):
        def backward(self, gy):
            gx = super().backward(gy)
            return gx * np.where(np.arange(4) == 2, 7.0, 1.0)

    report = check_gradients(Wrong(), X, order=1)
    assert "3 of 12 elements, most at (" in report.hints[0]
    large = check_gradients(Wrong(), np.ones((20, 4)), order=1)
    assert (large.verdict, large.hints) == ("wrong", ())


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda gx: F.broadcast_to(gx, (2, *gx.shape)), "a sum_to is missing: derive"),
        (F.transpose, "transposed?"),
        (lambda gx: gx.reshape(2, 6), "as many elements: a reshape is missing?"),
        (lambda gx: F.sum(gx, axis=0), "a broadcast_to is missing?"),
        (lambda gx: gx[:2], ""),
    ],
)
def test_a_gradient_of_another_shape_is_explained(change, cause):
    class Wrong(Cube):
        def backward(self, gy):
            return change(super().backward(gy))

    report = check_gradients(Wrong(), X)
    assert report.checks == ()
    (problem,) = report.problems
    assert problem.startswith("Wrong.backward: expected a gradient of shape (3, 4)")
    assert cause in problem
    assert problem.count(";") == bool(cause)
    with pytest.raises(AssertionError, match="gradients of Wrong cannot be relied on"):
        report.assert_ok()


def test_a_wrong_shape_at_the_second_order_is_a_problem_too():
    class Grad(Function):
        def forward(self, x, gy):
            return 3 * x * x * gy

        def backward(self, ggx):
            x, gy = self.inputs
            return F.sum(ggx * gy * x * 6.0), ggx * x * x * 3.0

    class Outer(Cube):
        def backward(self, gy):
            return Grad()(self.inputs[0], gy)

    report = check_gradients(Outer(), X)
    assert [check.order for check in report.checks] == [1]
    assert "Grad.backward: expected a gradient of shape (3, 4)" in report.problems[0]


def test_other_errors_of_a_backward_come_through():
    class Broken(Cube):
        def backward(self, gy):
            raise ValueError("not today")

    with pytest.raises(ValueError, match="not today"):
        check_gradients(Broken(), X)


# ---- what f does besides ---------------------------------------------------------


def test_changes_in_place_are_found():
    class Forward(Cube):
        def forward(self, x):
            y = x**3
            x += 1
            return y

    class Backward(Cube):
        def backward(self, gy):
            gx = super().backward(gy)
            gy.data *= 2
            self.inputs[0].data *= 2
            self.outputs[0]().data[...] = 0
            return gx

    x = X.copy()
    report = check_gradients(Forward(), x)
    assert report.problems == ("forward changes input 0 in place",)
    assert np.array_equal(x, X)
    report = check_gradients(Backward(), x)
    assert report.problems == (
        "backward changes input 0 in place",
        "backward changes the incoming gradient gy 0 in place",
        "backward changes output 0 in place",
    )
    assert report.hints == ()  # the numbers follow from that
    with pytest.raises(AssertionError, match="problem: backward changes output 0"):
        report.assert_ok()


def test_what_is_not_finite_is_said():
    report = check_gradients(F.log, np.array([-1.0, 0.0, 2.0]))
    problem = "output 0 is not finite at these inputs: 1 nan and 1 inf of 3"
    assert report.problems == (problem,)
    assert str(report) == f"problem: {problem}"
    report = check_gradients(F.sin, np.array([np.nan, 1.0]))
    assert report.problems == ("input 0 is not finite: 1 nan of 2",)


def test_the_edge_of_a_domain_is_said():
    class Root(Function):
        def forward(self, x):
            return np.sqrt(x)

        def backward(self, gy):
            return gy * 0.5

    report = check_gradients(Root(), np.zeros(2), order=1)
    assert verdicts(report) == {(1, "input 0"): "not finite"}
    assert report.hints == (
        "input 0, order 1: f is not finite near these inputs: the edge of its domain?",
    )
    with pytest.raises(AssertionError):
        report.assert_ok()


def test_steps_over_the_edge_of_a_domain_are_made_shorter():
    report = check_gradients(F.log, np.array([1e-3, 0.5, 2.0]))
    assert report.verdict == "right", str(report)


def test_another_result_at_the_next_call_is_a_problem():
    report = check_gradients(
        lambda x: x * np.random.default_rng().random(3), np.ones(3)
    )
    assert report.problems == (
        "f gives other outputs when it is called again with the same inputs: it keeps "
        "a state, or draws random numbers out of reach",
    )
    assert report.checks == ()


def test_casts_are_noted_in_one_line():
    low, x = X.astype("f4"), X
    assert check_gradients(made(Cube), x).notes == ()
    report = check_gradients(made(Product), low, x)
    assert report.notes == ("cast to float64: input 0 (float32)",)
    report = check_gradients(made(Product), low, low.astype("f2"), order=1)
    assert report.notes == ("cast to float64: input 0, input 1 (float16, float32)",)
    report = check_gradients(lambda *xs: sum(xs), *[low] * 5, order=1)
    assert report.notes == ("cast to float64: input 0, input 1, 3 more (float32)",)


def test_a_leak_of_dtype_is_a_problem():
    class Leak(Cube):
        def forward(self, x):
            return np.asarray(x, "f8") ** 3

    assert check_gradients(Leak(), X).problems == ()
    report = check_gradients(Leak(), X.astype("f4"))
    assert report.problems == (
        "output 0 is float64 for float32 inputs: forward makes an array or a constant "
        "without their dtype",
    )
    assert report.verdict == "wrong"
    # float32 beside float64 may become float64
    assert check_gradients(made(Product), X.astype("f4"), X).problems == ()


def test_a_function_that_casts_down_cannot_be_checked():
    report = check_gradients(lambda x: x.astype("f4") * 2, X)
    assert report.problems == (
        "output 0 is float32 for float64 inputs: too coarse for differences to say "
        "anything about gradients",
    )


def test_a_function_that_does_not_run_in_the_given_dtype():
    def f(x):
        if x.dtype == np.float16:
            raise TypeError("no halves")
        return x * x

    report = check_gradients(f, X.astype("f2"))
    report.assert_ok()
    assert "f does not run in float16: TypeError: no halves" in report.notes


# ---- structures ------------------------------------------------------------------


def test_integers_stay_integers_and_are_not_varied():
    seen = []

    def f(x, i, mask):
        seen.append((i.dtype, mask.dtype, i.data.tolist()))
        return x[i] * mask

    i, mask = np.array([0, 2, 2]), np.array([True, False, True])
    report = check_gradients(f, X, i, np.array([[1], [0], [1]], bool))
    report.assert_ok()
    assert {(d.kind, m.kind, *ids) for d, m, ids in seen} == {("i", "b", 0, 2, 2)}
    assert {c.by for c in report.checks} == {"input 0", "gy 0"}
    with pytest.raises(ValueError, match="expected a floating input, got bool: integ"):
        check_gradients(lambda m: m * 1.0, mask)


def test_outputs_in_any_structure():
    def f(x, z):
        return {"a": x * z, "b": [x + z, (z * z, None)]}

    report = check_gradients(f, X, B)
    report.assert_ok()
    assert [c.by for c in report.checks if c.order == 2][-3:] == [
        *("gy 0", "gy 1", "gy 2")
    ]


# ---- numerical_gradient, again ---------------------------------------------------


def test_the_step_follows_the_dtype_of_f():
    for dtype, tolerance in (("f4", 1e-4), ("f2", 0.05)):
        found = numerical_gradient(lambda x, d=dtype: x.data.astype(d) ** 3, X)
        np.testing.assert_allclose(found, 3 * X**2, rtol=tolerance, atol=tolerance)


# ---- faults that hide beside larger numbers --------------------------------------


class Masked(Function):
    """y = f(x); the gradient is multiplied by the mask."""

    def __init__(self, f, derivative, mask):
        self.f, self.derivative, self.mask = f, derivative, mask

    def forward(self, x):
        return self.f(x)

    def backward(self, gy):
        return gy * self.derivative(self.inputs[0]) * self.mask


def test_one_wrong_element_among_many_is_seen():
    mask = np.ones(100_000)
    mask[33] = -1.0
    f = Masked(lambda x: x**3, lambda x: 3 * x * x, mask)
    x = np.random.RandomState(0).uniform(0.5, 1.5, mask.shape)
    assert check_gradients(f, x, order=1, directions=1).error > 1e-3
    # A small fault in all of them does not average out.
    f = Masked(lambda x: x**3, lambda x: 3 * x * x, 1.0001)
    report = check_gradients(f, x, order=1)
    assert report.verdict == "suspicious", str(report)


def test_small_elements_are_judged_by_themselves():
    x = np.array([20.0, 0.1, 3.0])
    f = Masked(lambda x: x**4, lambda x: 4 * x**3, np.array([1.0, -1.0, 1.0]))
    assert check_gradients(lambda x: x**4, x).verdict == "right"
    report = check_gradients(f, x, order=1)
    assert report.error > 1e-4, str(report)
    assert report.hints == (
        "input 0, order 1: among 1 of 3 elements, the first at (1,): the sign: "
        "analytic = -1 x numeric along every direction",
    )
    f = Masked(lambda x: x**4, lambda x: 4 * x**3, np.array([1.0, 0.0, 1.0]))
    (hint,) = check_gradients(f, x, order=1).hints
    assert "analytic is 0: backward gives nothing" in hint


@pytest.mark.parametrize(
    ("f", "xs"),
    [
        # a large input, a large constant, tiny outputs
        (lambda x, z, s: s(F.sin)(z) + x / 1e12, [np.ones(1) * 1e12, np.ones(1)]),
        (lambda x, s: s(lambda x: x)(x) + 1e9, [np.ones(3)]),
        (lambda x, s: s(F.sin)(x) * 1e-11, [np.ones(3)]),
    ],
)
def test_rounding_is_measured_where_it_would_excuse_a_fault(f, xs):
    class Minus(Function):
        """y = x, and the gradient of -x."""

        def forward(self, x):
            return x.copy()

        def backward(self, gy):
            return -gy

    def right(f):
        return f

    def wrong(f):
        return lambda x: Minus()(f(x))

    check_gradients(lambda *xs: f(*xs, right), *xs).assert_ok()
    report = check_gradients(lambda *xs: f(*xs, wrong), *xs, order=1)
    assert report.error > 1e-5, str(report)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: F.softmax(x * 30),  # nearly 1, and the rest below its rounding
        lambda x: F.softmax_cross_entropy(x * 100, np.zeros(len(x), int)),
        lambda x: F.mean(x - F.mean(x)),
        lambda x: F.sum(x) / F.sum(x),
        lambda x: F.log(F.exp(x / 10)) - x / 10,
    ],
)
@pytest.mark.parametrize("size", [1e-3, 1.0, 20.0])
def test_what_cancels_is_no_fault(f, size):
    for seed in range(3):
        x = np.random.RandomState(seed).randn(3, 4) * size
        check_gradients(f, x, seed=seed).assert_ok()


def test_elements_near_the_edge_of_a_domain_get_steps_of_their_own():
    x = np.array([1e-12, 0.3, 2.0])
    check_gradients(F.log, x).assert_ok()
    check_gradients(lambda x: x**1.5, np.array([1e-9, 1.0])).assert_ok()
    for mask in ([1.0, 1.0, 2.0], [2.0, 1.0, 1.0]):
        f = Masked(np.log, lambda x: 1 / x, np.array(mask))
        report = check_gradients(f, x, order=1)
        assert report.error > 1e-3, str(report)


def test_a_right_gradient_is_not_described():
    assert explain_ratios([1.0, 1.0], 1, (3,)) is None
