"""What all functional forms promise, and what they refuse."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero import autodiff
from dezero.autodiff import hessian, hvp, jacobian, jvp, value_and_grad, vjp

X = np.array([0.3, -1.2, 2.0])
V = np.array([1.0, 0.5, -2.0])
FORMS = {
    "value_and_grad": lambda f, x: value_and_grad(f)(x)[1],
    "jacobian": jacobian,
    "hessian": hessian,
    "hvp": lambda f, x: hvp(f, x, x),
    "vjp": lambda f, x: vjp(f, x)[1](),
    "jvp": lambda f, x: jvp(f, x, x)[1],
}


@pytest.fixture(params=FORMS)
def form(request):
    return request.param


def test_forms_work_under_no_grad_and_leave_it(form):
    expected = FORMS[form](lambda x: F.sum(x**3), X).data
    with dz.no_grad():
        result = FORMS[form](lambda x: F.sum(x**3), X)
        assert not dz.Config.enable_backprop
    np.testing.assert_array_equal(result.data, expected)
    assert np.any(expected)


def test_forms_touch_no_gradient_and_return_constants(form):
    x, w = dz.Variable(X), dz.Variable(V)
    result = FORMS[form](lambda x: F.sum(x**3 * w), x)
    assert x.grad is None and w.grad is None
    assert not result.requires_grad


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_forms_keep_the_dtype(form, dtype):
    result = FORMS[form](lambda x: F.sum(x**3 * np.sqrt(2)), X.astype(dtype))
    assert result.dtype == dtype


def test_forms_refuse_integers(form):
    with pytest.raises(
        TypeError, match=f"{form}: expected a floating argument 0.* int64"
    ):
        FORMS[form](F.sum, np.arange(3))


def test_forms_refuse_a_parameter_without_data(form):
    with pytest.raises(ValueError, match=f"{form}: expected data in argument 0"):
        FORMS[form](F.sum, dz.Parameter(None))


def test_forms_refuse_a_result_that_is_no_variable(form):
    with pytest.raises(
        TypeError, match=f"{form}: .* f to return a Variable, got ndarray"
    ):
        FORMS[form](lambda x: x.data, X)


def test_forms_refuse_a_constant_result(form):
    with pytest.raises(
        RuntimeError, match=f"{form}: .* depends on its arguments.*detach"
    ):
        FORMS[form](lambda x: F.sum(x).detach(), X)


def test_forms_need_a_point():
    for f in vjp, jacobian:
        with pytest.raises(TypeError, match=f"{f.__name__}: expected a point"):
            f(lambda: dz.Variable(X))


@pytest.mark.parametrize("form", [hessian, lambda f, x: hvp(f, x, x)])
def test_second_derivatives_need_one_element(form):
    with pytest.raises(ValueError, match=r"one element, got shape \(3,\); jacobian"):
        form(lambda x: x * x, X)


@pytest.mark.parametrize("form", [jvp, hvp])
def test_direction_must_fit(form):
    name = form.__name__
    with pytest.raises(ValueError, match=rf"{name}: .* vector 0 .* \(3,\).* \(2,\)"):
        form(F.sum, X, np.ones(2))
    with pytest.raises(ValueError, match=f"{name}: expected 1 vectors in vs.* got 2"):
        form(F.sum, [X], [X, X])


def test_the_module_documents_every_function():
    for name in ["grad", *FORMS]:
        assert "Raises:" in getattr(autodiff, name).__doc__
