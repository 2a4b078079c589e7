import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero import autodiff
from dezero.autodiff import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp

X = np.array([0.3, -1.2, 2.0])
V = np.array([1.0, 0.5, -2.0])


def variable(*values):
    return dz.Variable(np.array(values, dtype=np.float64))


def rosenbrock(x):
    return F.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def rosenbrock_hessian(x):
    n = len(x)
    h = np.zeros((n, n))
    for i in range(n - 1):
        h[i, i] += 1200 * x[i] ** 2 - 400 * x[i + 1] + 2
        h[i + 1, i + 1] += 200
        h[i, i + 1] = h[i + 1, i] = -400 * x[i]
    return h


def numerical_jacobian(f, x, eps=1e-6):
    """Central differences of an array function, one column per element of x."""
    columns = []
    for i in np.ndindex(x.shape):
        d = np.zeros_like(x)
        d[i] = eps
        columns.append((f(x + d) - f(x - d)) / (2 * eps))
    return np.stack(columns, -1).reshape(columns[0].shape + x.shape)


# ---- grad -------------------------------------------------------------------


def test_grad_of_one_input_is_one_variable():
    x = variable(1, 2)
    gx = grad(F.sum(x**3), x)
    assert isinstance(gx, dz.Variable)
    np.testing.assert_allclose(gx.data, [3, 12])
    assert x.grad is None
    assert not gx.requires_grad


def test_grad_of_a_sequence_is_a_tuple():
    x, y = variable(1, 2), variable(3, 4)
    for inputs in [x, y], (x, y):
        gx, gy = grad(F.sum(x * y), inputs)
        np.testing.assert_allclose(gx.data, y.data)
        np.testing.assert_allclose(gy.data, x.data)
    assert isinstance(grad(F.sum(x * y), [x]), tuple)
    assert grad(F.sum(x), []) == ()
    for gx in grad(F.sum(x * y), [x, x]):  # the same one twice
        np.testing.assert_allclose(gx.data, y.data)


def test_grad_touches_no_grad_attribute():
    x, w = variable(1), variable(2)
    h = x * w
    y = h * h
    w.grad = variable(7)
    grad(y, [x, h, w])
    assert x.grad is None and h.grad is None and y.grad is None
    np.testing.assert_allclose(w.grad.data, [7])


def test_grad_by_a_result_in_the_middle():
    x = variable(1, 2)
    h = x**2
    y = F.sum(h**3)
    gh, gx = grad(y, [h, x])
    np.testing.assert_allclose(gh.data, 3 * h.data**2)
    np.testing.assert_allclose(gx.data, 6 * x.data**5)


def test_grad_by_the_output_itself_is_the_seed():
    x = variable(1, 2)
    y = x * x
    np.testing.assert_allclose(grad(y, y).data, [1, 1])
    np.testing.assert_allclose(grad(x, x, variable(3, 4)).data, [3, 4])


def test_grad_of_several_outputs_is_the_sum():
    x = variable(1, 2)
    y, z = x**2, 5 * x
    gx = grad([y, z], x, [variable(1, 10), None])
    np.testing.assert_allclose(gx.data, [2 + 5, 40 + 5])
    np.testing.assert_allclose(grad([y, z], x).data, [7, 9])
    # an output that is an input and lies behind another output
    gy = grad([y, F.sum(y**2)], y)
    np.testing.assert_allclose(gy.data, 1 + 2 * y.data)


def test_grad_takes_grad_outputs_as_arrays_and_numbers():
    x = dz.Variable(np.array(3.0))
    assert float(grad(x * x, x, 2.0)) == 12
    assert float(grad(x * x, x, np.array(2.0))) == 12
    assert float(grad([x * x], x, [np.array(2.0)])) == 12


def test_grad_ignores_an_output_that_is_constant():
    x = variable(1, 2)
    c = dz.as_variable(np.ones(2))
    np.testing.assert_allclose(grad([x * x, c], x).data, [2, 4])


def test_grad_results_share_no_memory():
    x, y = variable(1, 2), variable(3, 4)
    seed = np.ones(2)
    gx, gy = grad(x + y, [x, y], seed)
    assert not np.shares_memory(gx.data, gy.data)
    assert not np.shares_memory(gx.data, seed)


def test_grad_with_create_graph_is_differentiable():
    x = variable(1, 2)
    y = F.sum(x**4)
    gx = grad(y, x, create_graph=True)
    ggx = grad(F.sum(gx), x, create_graph=True)
    gggx = grad(F.sum(ggx), x)
    np.testing.assert_allclose(ggx.data, 12 * x.data**2)
    np.testing.assert_allclose(gggx.data, 24 * x.data)


def test_grad_with_create_graph_differentiates_by_the_seed():
    x, u = variable(1, 2), variable(1, 1)
    gx = grad(x**2, x, u, create_graph=True)
    np.testing.assert_allclose(grad(F.sum(gx), u).data, 2 * x.data)


def test_grad_retain_graph():
    x = variable(1, 2)
    y = F.sum(x * x)
    grad(y, x)
    grad(y, x, retain_graph=False)
    with pytest.raises(RuntimeError, match="retain_graph"):
        grad(y, x)


def test_grad_runs_only_what_lies_on_a_path():
    class Refuses(dz.Function):
        def forward(self, x):
            return x * 1

        def backward(self, gy):
            raise AssertionError("not on a path to x")

    x, w = variable(1), variable(2)
    np.testing.assert_allclose(grad(x * x + Refuses()(w), x).data, [2])


def test_grad_works_under_no_grad():
    x = variable(1, 2)
    y = F.sum(x**3)
    with dz.no_grad():
        gx = grad(y, x, create_graph=True)
    np.testing.assert_allclose(grad(F.sum(gx), x).data, 6 * x.data)


def test_grad_of_an_unused_input():
    x, w = variable(1), variable(2)
    w.name = "W"
    assert grad(x * x, w, allow_unused=True) is None
    gx, gw = grad(x * x, [x, w], allow_unused=True)
    assert gw is None
    np.testing.assert_allclose(gx.data, [2])
    for inputs, place in (
        ([x, w], r"inputs\[1\] \('W'\): no path"),
        (w, r"inputs \('W'\)"),
    ):
        with pytest.raises(RuntimeError, match=f"grad: .* do not depend on {place}"):
            grad(x * x, inputs)


def test_grad_of_constants():
    x = variable(1)
    c = dz.as_variable(np.ones(1))
    with pytest.raises(RuntimeError, match=r"inputs\[1\]: it requires no gradient"):
        grad(x * c, [x, c])
    with pytest.raises(
        RuntimeError, match="the outputs require no gradient: .*no_grad"
    ):
        grad(c * c, x)
    with dz.no_grad():
        y = x * x
    assert grad(y, [x, c], allow_unused=True) == (None, None)


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (
            (X, variable(1)),
            TypeError,
            "grad: expected outputs to be a Variable or a list",
        ),
        ((variable(1), X), TypeError, "grad: expected inputs to be .*, got ndarray"),
        (([variable(1), 2.0], variable(1)), TypeError, r"outputs\[1\] .* got float"),
        ((variable(1), [X]), TypeError, r"inputs\[0\] to be a Variable, got ndarray"),
        (([], variable(1)), ValueError, "at least one output"),
        (
            (variable(1), variable(1), np.ones(2)),
            ValueError,
            r"grad: .* \(1,\).* \(2,\)",
        ),
        (
            ([variable(1)], variable(1), []),
            ValueError,
            "expected 1 grad_outputs.* got 0",
        ),
        (([variable(1)], variable(1), X), TypeError, "grad_outputs to be a list"),
    ],
)
def test_grad_errors(args, error, message):
    with pytest.raises(error, match=message):
        grad(*args)


def test_grad_keeps_float32():
    x = dz.Variable(np.ones(3, np.float32))
    gx = grad(F.sum(x * np.sqrt(2)), x, create_graph=True)
    assert gx.dtype == np.float32


# ---- value_and_grad ---------------------------------------------------------


def test_value_and_grad():
    value, gx = value_and_grad(rosenbrock)(X)
    assert float(value) == pytest.approx(float(rosenbrock(dz.Variable(X))))
    expected = numerical_jacobian(lambda x: rosenbrock(dz.Variable(x)).data, X)
    np.testing.assert_allclose(gx.data, expected, rtol=1e-6)
    assert not value.requires_grad and not gx.requires_grad


def test_value_and_grad_by_chosen_arguments():
    def f(a, b, scale=1.0):
        return scale * F.sum(a * a * b)

    g = value_and_grad(f, argnums=(1, 0))
    _, (gb, ga) = g(X, V, scale=2.0)
    np.testing.assert_allclose(ga.data, 4 * X * V)
    np.testing.assert_allclose(gb.data, 2 * X * X)
    _, gb = value_and_grad(f, argnums=-1)(X, V)
    np.testing.assert_allclose(gb.data, X * X)
    _, gb = value_and_grad(f, argnums=np.int64(1))(X, V)
    np.testing.assert_allclose(gb.data, X * X)
    assert g.__name__ == "f"


def test_value_and_grad_of_an_argument_that_is_not_used():
    _, (ga, gb) = value_and_grad(lambda a, b: F.sum(a), argnums=[0, 1])(X, V)
    np.testing.assert_array_equal(ga.data, np.ones(3))
    np.testing.assert_array_equal(gb.data, np.zeros(3))


def test_value_and_grad_can_be_recorded():
    x = dz.Variable(X)
    value, gx = value_and_grad(lambda x: F.sum(x**3), create_graph=True)(x)
    np.testing.assert_allclose(grad(value, x).data, 3 * X**2)
    np.testing.assert_allclose(grad(F.sum(gx), x).data, 6 * X)


def test_value_and_grad_errors():
    with pytest.raises(
        ValueError, match=r"value_and_grad: .* one element, got .* \(3,\)"
    ):
        value_and_grad(lambda x: x * x)(X)
    with pytest.raises(
        TypeError, match="value_and_grad: .* argument 1 .* got 1 argument"
    ):
        value_and_grad(lambda x: x, argnums=1)(X)
    with pytest.raises(TypeError, match="floating argument 1, got dtype int64"):
        value_and_grad(lambda x, y: F.sum(x * y), argnums=1)(X, np.arange(3))


# ---- jacobian, hessian ------------------------------------------------------


def test_jacobian_has_the_shapes_of_result_and_argument():
    A = np.arange(6.0).reshape(2, 3)
    J = jacobian(lambda x: F.matmul(A, x), X)
    assert J.shape == (2, 3)
    np.testing.assert_allclose(J.data, A)
    J = jacobian(lambda x: F.reshape(x, (2, 2)) ** 2, np.ones(4))
    assert J.shape == (2, 2, 4)
    np.testing.assert_allclose(J.data.reshape(4, 4), 2 * np.eye(4))
    assert jacobian(lambda x: F.sum(x), X).shape == (3,)
    assert jacobian(lambda x: x * x, 3.0).shape == ()


def test_jacobian_agrees_with_central_differences():
    x = np.array([[0.3, -1.2], [2.0, 0.7]])

    def f(x):
        return F.matmul(F.sin(x), F.exp(x)) * x

    expected = numerical_jacobian(lambda x: f(dz.as_variable(x)).data, x)
    np.testing.assert_allclose(jacobian(f, x).data, expected, rtol=1e-7, atol=1e-8)


def test_jacobian_by_several_arguments():
    J0, J1, J2 = jacobian(lambda a, b, c: F.sum(a) * b, X, V, np.ones((2, 2)))
    np.testing.assert_allclose(J0.data, np.outer(V, np.ones(3)))
    np.testing.assert_allclose(J1.data, X.sum() * np.eye(3))
    np.testing.assert_array_equal(J2.data, np.zeros((3, 2, 2)))


def test_jacobian_of_an_empty_result():
    assert jacobian(lambda x: x[:0], X).shape == (0, 3)


def test_hessian_agrees_with_the_formula():
    np.testing.assert_allclose(hessian(rosenbrock, X).data, rosenbrock_hessian(X))


def test_hessian_of_a_line_is_zero():
    H = hessian(lambda x: F.sum(3 * x) + 1, X)
    np.testing.assert_array_equal(H.data, np.zeros((3, 3)))
    H = hessian(lambda x: x, np.array(2.0))
    assert H.shape == () and float(H) == 0


def test_hessian_keeps_the_argument_shape():
    H = hessian(lambda x: F.sum(x**2), np.ones((2, 3)))
    assert H.shape == (2, 3, 2, 3)
    np.testing.assert_allclose(H.data.reshape(6, 6), 2 * np.eye(6))


def test_derivatives_of_derivatives():
    x = dz.Variable(X)
    third = jacobian(lambda x: hessian(lambda x: F.sum(x**4), x, create_graph=True), x)
    expected = np.zeros((3, 3, 3))
    for i in range(3):
        expected[i, i, i] = 24 * X[i]
    np.testing.assert_allclose(third.data, expected)
    J = jacobian(lambda x: x**2, x, create_graph=True)
    np.testing.assert_allclose(grad(F.sum(J), x).data, np.full(3, 2.0))


def test_inner_derivative_does_not_see_outside_uses_of_the_argument():
    # d/dx [x · d/dz (x · z) at z = x] = d/dx x² = 2x: the inner x is a constant there
    def outer(x):
        _, inner = value_and_grad(lambda z: x * z, create_graph=True)(x)
        return x * inner

    _, gx = value_and_grad(outer)(3.0)
    assert float(gx) == 6


# ---- products ---------------------------------------------------------------


def test_hvp_agrees_with_the_hessian():
    Hv = hvp(rosenbrock, X, V)
    np.testing.assert_allclose(Hv.data, rosenbrock_hessian(X) @ V)


def test_hvp_of_several_arguments():
    def f(a, b):
        return F.sum(a * a * b)

    Ha, Hb = hvp(f, [X, V], [V, X])
    np.testing.assert_allclose(Ha.data, 2 * V * V + 2 * X * X)
    np.testing.assert_allclose(Hb.data, 2 * X * V)
    (Ha,) = hvp(lambda a: F.sum(a**3), [X], [V])
    np.testing.assert_allclose(Ha.data, 6 * X * V)


def test_hvp_of_a_line_is_zero():
    np.testing.assert_array_equal(hvp(lambda x: F.sum(2 * x), X, V).data, np.zeros(3))


def test_hvp_can_be_recorded():
    x = dz.Variable(X)
    Hv = hvp(lambda x: F.sum(x**4), x, V, create_graph=True)
    np.testing.assert_allclose(grad(F.sum(Hv), x).data, 24 * X * V)


def test_vjp():
    y, pullback = vjp(lambda x: x**3, X)
    np.testing.assert_allclose(y.data, X**3)
    np.testing.assert_allclose(pullback(V).data, 3 * X**2 * V)
    np.testing.assert_allclose(pullback().data, 3 * X**2)
    with pytest.raises(ValueError, match=r"vjp: .* \(3,\).* \(2,\)"):
        pullback(np.ones(2))


def test_vjp_of_several_arguments():
    _, pullback = vjp(lambda a, b, c: a * b, X, V, X)
    ga, gb, gc = pullback(np.ones(3))
    np.testing.assert_allclose(ga.data, V)
    np.testing.assert_allclose(gb.data, X)
    np.testing.assert_array_equal(gc.data, np.zeros(3))


def test_vjp_can_be_recorded():
    x, u = dz.Variable(X), dz.Variable(V)
    y, pullback = vjp(lambda x: x**3, x, create_graph=True)
    gx = pullback(u)
    np.testing.assert_allclose(grad(F.sum(gx), [x, u])[0].data, 6 * X * V)
    np.testing.assert_allclose(grad(F.sum(gx), [x, u])[1].data, 3 * X**2)
    np.testing.assert_allclose(grad(F.sum(y), x).data, 3 * X**2)


def test_jvp_agrees_with_the_jacobian():
    def f(x):
        return F.matmul(np.arange(6.0).reshape(2, 3), F.sin(x) * x)

    y, tangent = jvp(f, X, V)
    np.testing.assert_allclose(y.data, f(dz.Variable(X)).data)
    np.testing.assert_allclose(tangent.data, jacobian(f, X).data @ V)


def test_jvp_of_several_arguments():
    y, tangent = jvp(lambda a, b, c: a * b, [X, V, X], [V, X, X])
    np.testing.assert_allclose(tangent.data, V * V + X * X)
    assert tangent.shape == y.shape


def test_jvp_of_the_identity_and_of_a_line():
    np.testing.assert_allclose(jvp(lambda x: x, X, V)[1].data, V)
    np.testing.assert_allclose(jvp(lambda x: 2 * x + 1, X, V)[1].data, 2 * V)


def test_jvp_where_no_path_leads_to_the_argument_is_zero():
    w = dz.Variable(X)
    _, tangent = jvp(lambda x: w * 2, X, V)
    np.testing.assert_array_equal(tangent.data, np.zeros(3))


def test_jvp_can_be_recorded():
    x, v = dz.Variable(X), dz.Variable(V)
    _, tangent = jvp(lambda x: x**3, x, v, create_graph=True)
    gx, gv = grad(F.sum(tangent), [x, v])
    np.testing.assert_allclose(gx.data, 6 * X * V)
    np.testing.assert_allclose(gv.data, 3 * X**2)


# ---- what all of them promise -----------------------------------------------

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
