"""Slopes of a model's loss in float64: the numbers, kinks, and a small step."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero import Variable
from dezero.diagnostics.slopes import directional_slopes, falls, in_float64
from dezero.models import MLP, Sequential

X = np.random.default_rng(0).standard_normal((6, 3))


def quadratic(model):
    return F.sum(model(X) ** 2)


@pytest.fixture
def model():
    np.random.seed(0)
    model = MLP((4, 2), activation=F.tanh)
    model(X)
    return in_float64(model)


def test_everything_becomes_double(model):
    assert {p.dtype for p in model.params()} == {np.dtype(float)}
    x = X.astype(np.float32)
    a, (b, c), d, e = in_float64((x, [x, np.arange(3)], Variable(x), "text"))
    assert a.dtype == b.dtype == d.dtype == float and c.dtype == int and e == "text"
    assert isinstance(d, Variable) and d.requires_grad
    assert in_float64(L.Linear(3)).W.data is None


def test_right_slopes(model):
    before = [p.data.copy() for p in model.params()]
    slopes = directional_slopes(model, quadratic)
    assert len(slopes) == 3
    for s in slopes:
        assert s.error < 1e-7 and s.analytic == pytest.approx(s.numeric, rel=1e-5)
        assert (s.kink, s.double, s.dtype) == (False, True, "float64")
    for p, data in zip(model.params(), before, strict=True):
        np.testing.assert_array_equal(p.data, data)
        assert p.grad is None


def test_wrong_slopes(model):
    def half(model):  # of the square, one factor is a constant
        y = model(X)
        return F.sum(y * y.data)

    assert all([s.error > 0.1 for s in directional_slopes(model, half)])


def test_single_precision_is_told(model):
    slopes = directional_slopes(model, lambda m: quadratic(m).astype(np.float32))
    assert all([not s.double and s.error < s.limit for s in slopes])


def test_a_kink():
    model = in_float64(Sequential(L.Linear(1, in_size=1, nobias=True)))
    model.l0.W.data[...] = 1.0
    slopes = directional_slopes(
        model, lambda m: F.sum(F.relu(m(np.ones((1, 1))) - 1 + 1e-6))
    )
    assert all([s.kink for s in slopes])


def test_a_small_step(model):
    before, after = falls(model, quadratic)
    assert before == quadratic(model).item()
    assert after < before
    # A straight line falls by a thousandth of the loss.
    assert after == pytest.approx(before * 0.999, rel=1e-3)


def test_a_step_without_a_gradient(model):
    before, after = falls(model, lambda m: F.sum(m(X) * 0.0) + 1.0)
    assert before == after == 1.0


def test_a_step_is_short_where_the_gradient_is_small():
    model = in_float64(Sequential(L.Linear(1, in_size=1, nobias=True)))
    model.l0.W.data[...] = 1.0
    before, after = falls(model, lambda m: F.sum(m(np.ones((1, 1)))) * 1e-6 + 1e3)
    assert before - after == pytest.approx(1e-9, rel=1e-3)


def test_parameters_beside_the_graph_do_not_disturb(model):
    model.extra = L.Linear(2, in_size=2)
    model.lazy = L.Linear(2)
    model.l0.b.requires_grad = False
    in_float64(model)
    assert all([s.error < 1e-7 for s in directional_slopes(model, quadratic)])
    before, after = falls(model, quadratic)
    assert after < before
