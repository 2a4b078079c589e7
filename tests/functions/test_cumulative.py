"""Running sums and products, and products of all elements."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable
from dezero.functions.cumulative import Scan
from dezero.testing import Case, arrays, axis, axis_and_keepdims

CASES = [
    Case(F.cumsum, arrays(), reference=np.cumsum, options=axis),
    Case(F.cumprod, arrays(), reference=np.cumprod, options=axis),
    Case(F.prod, arrays(), reference=np.prod, options=axis_and_keepdims),
]

ERRORS = [
    (lambda: F.cumsum(np.ones(3), 1), ValueError, r"cumsum: .* axis 1 .* \(3,\)"),
    (lambda: F.cumprod(np.ones(3), 1), ValueError, r"cumprod: .* axis 1 .* \(3,\)"),
    (lambda: F.prod(np.ones(3), 1), ValueError, r"prod: .* axis 1 .* \(3,\)"),
]


def hessian(f, x):
    """Gradient and matrix of second derivatives of f at x."""
    x = Variable(np.array(x, dtype=float))
    f(x).backward(create_graph=True)
    gx = x.grad
    rows = []
    for i in range(x.size):
        x.cleargrad()
        gx.backward(grad=np.eye(x.size)[i])
        rows.append(x.grad.data.tolist())
    return gx.data.tolist(), rows


def test_prod_with_zeros():
    assert hessian(F.prod, [0, 2, 3]) == ([6, 0, 0], [[0, 3, 2], [3, 0, 0], [2, 0, 0]])
    assert hessian(F.prod, [2, 0, 0]) == ([0, 0, 0], [[0, 0, 0], [0, 0, 2], [0, 2, 0]])
    assert hessian(F.prod, [0, 0, 0]) == ([0, 0, 0], [[0] * 3] * 3)


def test_cumprod_with_zeros():
    # y = x0 + x0 x1 + x0 x1 x2
    def f(x):
        return F.sum(F.cumprod(x))

    assert hessian(f, [2, 0, 3]) == ([1, 8, 0], [[0, 4, 0], [4, 0, 2], [0, 2, 0]])
    assert hessian(f, [0, 0, 3]) == ([1, 0, 0], [[0, 4, 0], [4, 0, 0], [0, 0, 0]])


def test_products_of_nothing():
    assert F.prod(np.empty(0)).data == 1
    assert F.prod(np.empty((0, 2)), axis=0).data.tolist() == [1, 1]
    for f in F.prod, F.cumprod, F.cumsum:
        x = Variable(np.empty((2, 0)))
        f(x, axis=1).backward()
        assert x.grad.shape == (2, 0)


def test_0d():
    for f in F.prod, F.cumprod, F.cumsum:
        x = Variable(np.array(3.0))
        y = f(x)
        y.backward()
        assert y.shape == (() if f is F.prod else (1,))
        assert (y.data, x.grad.data) == (3, 1)


def test_integers_and_half_precision():
    assert F.prod(np.array([2, 3])).data == 6
    assert F.cumsum(np.array([1, 2])).dtype == np.array([1, 2]).dtype
    x = Variable(np.array([2, 3]))
    F.prod(x).backward()
    assert x.grad.data.tolist() == [3, 2]
    steps = np.full(4096, 0.1, dtype=np.float16)
    np.testing.assert_allclose(F.cumsum(steps).data[-1], 409.6, rtol=1e-3)


def test_cumulative_functions_along_every_axis_of_three():
    x = np.arange(24.0).reshape(2, 3, 4)
    for f, reference in (F.cumsum, np.cumsum), (F.cumprod, np.cumprod):
        assert f(x).data.tolist() == reference(x).tolist()
        for i in range(-3, 3):
            assert f(x, i).data.tolist() == reference(x, axis=i).tolist()


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9])
def test_scan_is_the_recurrence(n, reverse):
    a, b = np.random.RandomState(n).randn(2, 3, n)
    y = b.copy()
    for t in range(1, n):
        if reverse:
            y[:, n - 1 - t] += a[:, n - t] * y[:, n - t]
        else:
            y[:, t] += a[:, t] * y[:, t - 1]
    np.testing.assert_allclose(Scan(reverse)(a, b).data, y, rtol=1e-12)


def test_long_products_keep_their_gradient():
    x = np.linspace(0.9, 1.1, 1000)
    x[[10, 500]] = [-1.0, 2.0]
    v = Variable(x)
    F.prod(v).backward()
    np.testing.assert_allclose(v.grad.data, x.prod() / x, rtol=1e-11)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("f", [F.prod, lambda x: F.cumprod(x)[-1]])
def test_an_infinite_derivative_beside_a_zero_stays_alone(slope, f):
    assert slope(f, [0, 1e200, 1e200, 1e200]) == [np.inf, 0, 0, 0]


def test_products_in_half_precision_may_leave_its_range_on_the_way():
    x = Variable(np.array([300, 300, 1e-2, 1e-2, 1e-2], np.float16))
    y = F.prod(x)
    y.backward()
    assert y.dtype == x.grad.dtype == np.float16
    wide = Variable(x.data.astype(float))
    F.prod(wide).backward()
    np.testing.assert_allclose(y.data, wide.data.prod(), rtol=1e-3)
    np.testing.assert_allclose(x.grad.data, wide.grad.data, rtol=1e-3)


def test_links_that_carry_nothing_may_overflow():
    links = np.array([1e200, 0, 1e200, 1e200, 1e200])
    with np.errstate(over="ignore"):
        y = Scan()(links, np.array([1.0, 0, 0, 0, 1]))
    assert y.data.tolist() == [1, 0, 0, 0, 1]
