"""Values and derivatives at chosen points, for tests of what happens at the edges."""

import numpy as np
import pytest

import dezero.functions as F
from dezero import Variable


def gradients_at(f, *xs, gy=None, dtype=float):
    xs = [Variable(np.array(x, dtype=dtype)) for x in xs]
    f(*xs).backward(grad=None if gy is None else np.array(gy, dtype=dtype))
    return [x.grad.data.tolist() for x in xs]


@pytest.fixture
def derivatives():
    """``derivatives(f, *arrays)``: f at the arrays and its first derivatives.

    Each is the derivative of a weighted sum of those before it.
    """

    def derivatives(f, *arrays, order=3):
        xs = [Variable(a) for a in arrays]
        ys = [f(*xs)]
        results = [ys[0].data]
        for _ in range(order):
            weights = [np.linspace(0.5, 1.5, y.size).reshape(y.shape) for y in ys]
            total = sum(F.sum(y * w) for y, w in zip(ys, weights, strict=True))
            for x in xs:
                x.cleargrad()
            total.backward(create_graph=True)
            # A straight line has no second derivative.
            zeros = [Variable(np.zeros_like(x.data)) for x in xs]
            ys = [
                zero if x.grad is None else x.grad
                for x, zero in zip(xs, zeros, strict=True)
            ]
            results += [y.data for y in ys]
        return results

    return derivatives


@pytest.fixture
def slopes():
    """``slopes(f, *xs)``: the gradients of f by all its inputs, lists of numbers."""
    return gradients_at


@pytest.fixture
def slope():
    """``slope(f, x)``: the gradient of f by its only input, a list of numbers."""
    return lambda f, x, **kwargs: gradients_at(f, x, **kwargs)[0]


@pytest.fixture
def second_slopes():
    """``second_slopes(f, x)``: the second derivatives of an elementwise f."""

    def second_slopes(f, x):
        x = Variable(np.array(x, dtype=float))
        f(x).backward(create_graph=True)
        gx = x.grad
        x.cleargrad()
        gx.backward()
        return x.grad.data.tolist()

    return second_slopes
