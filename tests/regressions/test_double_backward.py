"""Gradients of gradients, as gradient penalties need them."""

import numpy as np

import dezero as dz
import dezero.functions as F
import dezero.layers as L


def penalty(f, *arrays):
    """sum((d sum(f) / d first)**2) and its gradients, by two backward passes."""
    vs = [dz.Variable(a.copy()) for a in arrays]
    y = f(*vs)
    y.backward(create_graph=True)
    g = vs[0].grad
    for v in vs:
        v.cleargrad()
    p = F.sum(g * g)
    p.backward()
    return float(p.data), [None if v.grad is None else v.grad.data for v in vs]


def check(f, *arrays):
    """Compare the gradients of the penalty with differences along a direction."""
    rng = np.random.default_rng(0)
    eps = 1e-5
    _, grads = penalty(f, *arrays)
    for k, a in enumerate(arrays):
        d = rng.normal(size=a.shape)
        high = [b + eps * d if i == k else b for i, b in enumerate(arrays)]
        low = [b - eps * d if i == k else b for i, b in enumerate(arrays)]
        numerical = (penalty(f, *high)[0] - penalty(f, *low)[0]) / (2 * eps)
        analytical = 0.0 if grads[k] is None else (grads[k] * d).sum()
        np.testing.assert_allclose(analytical, numerical, rtol=1e-4, atol=1e-6)


# The gradient penalty of a critic that convolves.
def test_convolution():
    rng = np.random.default_rng(1)
    x, w = rng.normal(size=(2, 2, 4, 4)), rng.normal(size=(3, 2, 3, 3))
    check(lambda x, w: F.sum(F.tanh(F.conv2d(x, w, stride=1, pad=1))), x, w)


# The same for the gradient by the filter, which was no function of Variables.
def test_convolution_filter():
    rng = np.random.default_rng(7)
    x, w = rng.normal(size=(1, 2, 4, 4)), rng.normal(size=(2, 2, 3, 3))
    check(lambda w, x: F.sum(F.tanh(F.conv2d(x, w, stride=1, pad=1))), w, x)


# Batch normalization took its deviation for a constant; the result was silently wrong.
def test_batch_normalization():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(5, 3))
    c = rng.normal(size=(5, 3))

    def f(x):
        bn = L.BatchNorm()
        return F.sum(F.tanh(bn(x)) * c)

    check(f, x)
