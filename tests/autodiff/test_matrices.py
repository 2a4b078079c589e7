"""jacobian and hessian."""

import numpy as np

import dezero as dz
import dezero.functions as F
from dezero.autodiff import grad, hessian, jacobian

X = np.array([0.3, -1.2, 2.0])
V = np.array([1.0, 0.5, -2.0])


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
