"""Optimisers and hooks."""

import numpy as np

import dezero.functions as F
from dezero import Model, Parameter, optimizers


class Pair(Model):
    def __init__(self, a, b):
        super().__init__()
        self.a = Parameter(np.array(a))
        self.b = Parameter(np.array(b))


# A + b gave both parameters one gradient object;
# weight decay of a then leaked into b.
def test_weight_decay_of_added_parameters():
    net = Pair([1.0], [10.0])
    (net.a + net.b).backward()
    opt = optimizers.SGD(1.0).setup(net)
    opt.add_hook(optimizers.WeightDecay(0.1))
    opt.update()
    np.testing.assert_allclose(net.a.data, [1.0 - (1.0 + 0.1)])
    np.testing.assert_allclose(net.b.data, [10.0 - (1.0 + 1.0)])


# Weight decay had the wrong sign.
def test_weight_decay_shrinks():
    net = Pair([2.0], [3.0])
    F.sum(net.a * 0.0 + net.b * 0.0).backward()
    opt = optimizers.SGD(0.5).setup(net)
    opt.add_hook(optimizers.WeightDecay(0.2))
    opt.update()
    np.testing.assert_allclose([net.a.data[0], net.b.data[0]], [1.8, 2.7])


# An optimiser for a list of parameters of two networks.
def test_setup_with_a_list_of_parameters():
    p, q = Parameter(np.array([1.0])), Parameter(np.array([2.0]))
    (p * q).backward()
    opt = optimizers.SGD(0.1).setup([p, q])
    opt.update()
    np.testing.assert_allclose([p.data[0], q.data[0]], [0.8, 1.9])


# The freezing hook removed the gradient after the list of parameters had been made.
def test_frozen_parameters():
    net = Pair([1.0], [1.0])
    (net.a * net.b).backward()
    opt = optimizers.SGD(0.1).setup(net)
    opt.add_hook(optimizers.FreezeParam(net.a))
    opt.update()
    np.testing.assert_allclose([net.a.data[0], net.b.data[0]], [1.0, 0.9])
