"""The helpers under the names that DeZero scripts know."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import utils
from dezero.core import Function, Variable


def test_sum_to():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(utils.sum_to(x, (1, 3)), [[3.0, 5.0, 7.0]])
    np.testing.assert_array_equal(utils.sum_to(x, (2, 1)), [[3.0], [12.0]])
    np.testing.assert_array_equal(utils.sum_to(x, ()), 15.0)
    assert type(utils.sum_to(x, ())) is np.ndarray
    np.testing.assert_array_equal(utils.sum_to(x, (2, 3)), x)
    assert utils.sum_to(x.astype(np.float32), (3,)).dtype == np.float32
    with pytest.raises(ValueError, match="sum_to"):
        utils.sum_to(x, (4,))


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (-1, 0), 1])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("kind", [Variable, np.asarray])
def test_reshape_sum_backward(axis, keepdims, kind):
    x = np.ones((2, 3, 4))
    gy = kind(np.asarray(x.sum(axis=axis, keepdims=keepdims)))
    y = utils.reshape_sum_backward(gy, x.shape, axis, keepdims)
    assert type(y) is type(gy)
    assert y.shape == x.sum(axis=axis, keepdims=True).shape


def test_reshape_sum_backward_of_a_0d_array():
    gy = np.array(1.0)
    assert utils.reshape_sum_backward(gy, (), None, False) is gy


@pytest.mark.parametrize(
    ("axis", "shape"),
    [(None, [1, 1, 1]), (0, [1, 3, 4]), (-1, [2, 3, 1]), ((0, -2), [1, 1, 4])],
)
def test_max_backward_shape(axis, shape):
    x = np.ones((2, 3, 4))
    assert utils.max_backward_shape(x, axis) == shape
    assert utils.max_backward_shape(Variable(x), axis) == shape


def test_logsumexp():
    x = np.random.randn(2, 3)
    for axis in 0, 1, -1, (0, 1):
        want = np.log(np.exp(x).sum(axis=axis, keepdims=True))
        np.testing.assert_allclose(utils.logsumexp(x, axis=axis), want)
    np.testing.assert_allclose(
        utils.logsumexp(x), np.log(np.exp(x).sum(axis=1, keepdims=True))
    )
    large = np.array([[1e4, 1e4], [-1e4, -1e4]], np.float32)
    y = utils.logsumexp(large)
    assert y.dtype == np.float32
    np.testing.assert_allclose(y, large[:, :1] + np.log(2), rtol=1e-6)


def test_numerical_grad():
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    grad = utils.numerical_grad(lambda x, n, by=1: x**n * by, x, 3, by=2)
    np.testing.assert_allclose(grad, 6 * x**2, rtol=1e-8)
    np.testing.assert_array_equal(x, [[1.0, 2.0], [3.0, 4.0]])
    single = Variable(np.array([1.0, 2.0], np.float32))
    grad = utils.numerical_grad(F.sin, single)
    assert grad.dtype == np.float64
    np.testing.assert_allclose(grad, np.cos([1.0, 2.0]), rtol=1e-8)
    np.testing.assert_allclose(utils.numerical_grad(F.sin, np.array([1])), np.cos([1]))
    np.testing.assert_allclose(utils.numerical_grad(F.sin, np.array(1.0)), np.cos(1))


class WrongSin(Function):
    def forward(self, x):
        return np.sin(x)

    def backward(self, gy):
        return gy * F.sin(self.inputs[0])


def test_gradient_check(capsys):
    x = Variable(np.random.randn(2, 3).astype(np.float32))
    assert utils.gradient_check(F.sin, x) is True
    assert x.dtype == np.float32
    assert x.grad is None
    assert utils.gradient_check(F.sin, np.array(1))
    assert utils.gradient_check(lambda x, n, by=1: x**n * by, x.data, 3, by=2)
    assert capsys.readouterr().out == ""
    assert utils.gradient_check(lambda x: WrongSin()(x), x) is False
    out = capsys.readouterr().out
    assert out.startswith("gradient_check: the gradients differ")
    assert str(np.cos(x.data.astype(np.float64)))[:8] in out
    assert utils.gradient_check(lambda x: WrongSin()(x), x, atol=10.0)
    assert utils.gradient_check(lambda x: WrongSin()(x), x, rtol=1e9)


def test_gradient_check_draws_the_same_random_numbers():
    np.random.seed(0)
    want = np.random.rand()
    np.random.seed(0)
    assert utils.gradient_check(F.dropout, np.ones(100))
    assert np.random.rand() == want


def test_array_equal():
    x = np.array([1.0, 2.0])
    assert utils.array_equal(x, Variable(x.copy())) is True
    assert utils.array_equal(x, x + 1e-12) is False
    assert utils.array_equal(x, x[:1]) is False
    assert utils.array_equal(1, np.array(1))


def test_array_allclose():
    x = np.array([1.0, 2.0])
    assert utils.array_allclose(Variable(x), x + 5e-5) is True
    assert utils.array_allclose(x, x + 5e-4) is False
    assert utils.array_allclose(x, x + 5e-4, rtol=1e-2)
    assert utils.array_allclose(x, x + 5e-4, atol=1e-2)


def test_pair():
    assert utils.pair(3) == (3, 3)
    assert utils.pair(np.int64(3)) == (3, 3)
    assert utils.pair((1, 2)) == (1, 2)


@pytest.mark.parametrize("x", [(1, 2, 3), 1.5, [1, 2], None])
def test_pair_refuses(x):
    with pytest.raises(ValueError, match="pair: expected an integer or a pair, got"):
        utils.pair(x)
