"""Rules, parameters and steps for the tests of optimizers on the device."""

import numpy as np

import dezero.optimizers as O
from dezero import cuda
from dezero.core import Parameter

from .transfers import transfers

RULES = {
    "SGD": lambda: O.SGD(0.1),
    "MomentumSGD": lambda: O.MomentumSGD(0.1, nesterov=True),
    "Lion": lambda: O.Lion(0.1, weight_decay=0.1),
    "AdaGrad": lambda: O.AdaGrad(0.1),
    "AdaDelta": lambda: O.AdaDelta(),
    "RMSprop": lambda: O.RMSprop(0.1, momentum=0.5, centered=True, eps=0.1),
    "Adam": lambda: O.Adam(0.1),
    "AMSGrad": lambda: O.Adam(0.1, amsgrad=True),
    "AdamW": lambda: O.AdamW(0.1),
}


def parameters(gpu, dtype=np.float32):
    rng = np.random.default_rng(0)
    params = [Parameter(rng.standard_normal(s).astype(dtype)) for s in ((3, 4), 5, ())]
    if gpu:
        for p in params:
            p.to_gpu()
    return params


def train(optimizer, params, steps=4, after=lambda: None):
    """Weights after some updates, and what all but the first of them moved."""
    rng = np.random.default_rng(1)
    for step in range(steps):
        for p in params:
            g = np.asarray(rng.standard_normal(p.shape)).astype(p.dtype)
            p.grad = cuda.get_array_module(p).asarray(g)
        with transfers() as moved:
            optimizer.update()
            after()
        assert not step or not moved.lines, moved
    return [cuda.as_numpy(p) for p in params]


def same(here, there, tolerance=1e-6):
    for a, b in zip(here, there, strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
