"""hvp, vjp and jvp."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.autodiff import grad, hessian, hvp, jacobian, jvp, vjp

X = np.array([0.3, -1.2, 2.0])
V = np.array([1.0, 0.5, -2.0])


def rosenbrock(x):
    return F.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_hvp_agrees_with_the_hessian():
    Hv = hvp(rosenbrock, X, V)
    np.testing.assert_allclose(Hv.data, hessian(rosenbrock, X).data @ V)


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
