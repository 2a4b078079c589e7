"""grad and value_and_grad."""

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
from dezero.autodiff import grad, value_and_grad
from dezero.testing import numerical_gradient

X = np.array([0.3, -1.2, 2.0])
V = np.array([1.0, 0.5, -2.0])


def variable(*values):
    return dz.Variable(np.array(values, dtype=np.float64))


def rosenbrock(x):
    return F.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


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


def test_value_and_grad():
    value, gx = value_and_grad(rosenbrock)(X)
    assert float(value) == pytest.approx(float(rosenbrock(dz.Variable(X))))
    expected = numerical_gradient(rosenbrock, X)
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
    with pytest.raises(
        ValueError, match=r"value_and_grad: .* different positions .* got \(0, -2\)"
    ):
        value_and_grad(lambda x, y: F.sum(x * y), argnums=(0, -2))(X, X)
    for argnums in ("x", 1.0, (0, None)):
        with pytest.raises(TypeError, match="value_and_grad: .* integers as argnums"):
            value_and_grad(lambda x, y: F.sum(x * y), argnums=argnums)
    with pytest.raises(TypeError, match="floating argument 1, got dtype int64"):
        value_and_grad(lambda x, y: F.sum(x * y), argnums=1)(X, np.arange(3))


def test_inner_derivative_does_not_see_outside_uses_of_the_argument():
    # d/dx [x · d/dz (x · z) at z = x] = d/dx x² = 2x: the inner x is a constant there
    def outer(x):
        _, inner = value_and_grad(lambda z: x * z, create_graph=True)(x)
        return x * inner

    _, gx = value_and_grad(outer)(3.0)
    assert float(gx) == 6
