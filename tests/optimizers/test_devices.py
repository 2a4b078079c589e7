"""On a GPU: the same numbers, and state that follows the parameters there."""

import copy

import numpy as np
import pytest

import dezero.functions as F
from dezero import cuda
from dezero.core import Parameter
from dezero.optimizers import (
    LBFGS,
    SGD,
    AdaDelta,
    AdaGrad,
    Adam,
    AdamW,
    ClipGrad,
    ClipGradValue,
    ExponentialMovingAverage,
    GradientNoise,
    Lion,
    MomentumSGD,
    RMSprop,
    WeightDecay,
)

pytestmark = pytest.mark.gpu

RULES = [
    SGD(0.1),
    MomentumSGD(0.1, nesterov=True),
    Lion(0.1, weight_decay=0.1),
    AdaGrad(0.1),
    AdaDelta(),
    RMSprop(0.1, momentum=0.5, centered=True, eps=0.1),
    Adam(0.1, amsgrad=True),
    AdamW(0.1),
]


def pair(dtype=np.float32):
    """Two parameters of the same numbers: one stays here, one goes to the GPU."""
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(dtype)
    here, there = Parameter(x.copy()), Parameter(x.copy())
    there.to_gpu()
    return here, there


def same(here, there, tolerance=1e-5):
    a, b = (cuda.as_numpy(p.data) for p in (here, there))
    assert a.dtype == b.dtype
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def set_gradients(params, seed):
    g = np.random.default_rng(seed).standard_normal((3, 4))
    for p in params:
        xp = cuda.get_array_module(p.data)
        p.grad = xp.asarray(g.astype(p.dtype))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_same_steps_state_and_moves(rule, dtype):
    params = pair(dtype)
    optimizers = [copy.deepcopy(rule).setup([p]) for p in params]
    tolerance = 1e-5 if dtype == np.float32 else 1e-2
    for step in range(6):
        if step == 3:  # both change places
            params[0].to_gpu()
            params[1].to_cpu()
        if step == 5:  # and go on from what the other remembers
            saved = [optimizer.state_dict() for optimizer in optimizers]
            for optimizer, state in zip(optimizers, reversed(saved), strict=True):
                optimizer.load_state_dict(state)
        set_gradients(params, step)
        for optimizer in optimizers:
            optimizer.check_finite = True
            optimizer.update()
        assert cuda.get_array_module(params[0].data) is not cuda.get_array_module(
            params[1].data
        )
        same(*params, tolerance)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_many_parameters_at_once(rule):
    rng = np.random.default_rng(0)
    shapes = [(3, 4), (), (5000,), (0, 2), (7,)] * 20
    xs = [np.asarray(rng.standard_normal(s)).astype(np.float32) for s in shapes]
    here, there = ([Parameter(x.copy()) for x in xs] for _ in range(2))
    for p in there:
        p.to_gpu()
    averages = []
    for params in (here, there):
        optimizer = copy.deepcopy(rule).setup(params)
        for hook in (WeightDecay(0.01), ClipGrad(5.0), ClipGradValue(1.0)):
            optimizer.add_hook(hook)
        averages.append(ExponentialMovingAverage(params, decay=0.5))
        averages[-1].update()
        for step in range(3):
            rng = np.random.default_rng(step)
            for p in params:
                g = np.asarray(rng.standard_normal(p.shape)).astype(np.float32)
                p.grad = cuda.get_array_module(p.data).asarray(g)
            optimizer.update()
            averages[-1].update()
    for a, b in zip(here, there, strict=True):
        same(a, b, 2e-5)
    averages = [average.state_dict()["averages"] for average in averages]
    for name, a in averages[0].items():
        np.testing.assert_allclose(averages[1][name], a, rtol=2e-5, atol=2e-5)


def test_state_can_be_moved():
    here, there = pair()
    optimizers = [Adam(0.1).setup([p]) for p in (here, there)]
    for step in range(3):
        if step:
            assert optimizers[0].to_gpu() is optimizers[0]
            assert optimizers[1].to_cpu() is optimizers[1]
            kinds = [
                cuda.get_array_module(optimizer._state[p]["m"]) is np
                for optimizer, p in zip(optimizers, (here, there), strict=True)
            ]
            assert kinds == [False, True]
        set_gradients((here, there), step)
        for optimizer in optimizers:
            optimizer.update()  # the state follows the parameter again
    same(here, there)


@pytest.mark.parametrize(
    "hook", [WeightDecay(0.1), ClipGrad(0.5), ClipGradValue(0.5), GradientNoise(0.0)]
)
def test_hooks(hook):
    params = pair()
    set_gradients(params, 0)
    for p in params:
        SGD(0.1).setup([p]).add_hook(hook).update()
    same(*params)


def test_averages_follow():
    params = pair()
    averages = [ExponentialMovingAverage([p], decay=0.5) for p in params]
    for step in range(4):
        if step == 2:
            params[0].to_gpu()
            params[1].to_cpu()
        for p, average in zip(params, averages, strict=True):
            p.data = p.data * 0.5
            average.update()
    averages[1].load_state_dict(averages[0].state_dict())
    for average in averages:
        average.copy_to_target()
    same(*params)


def test_lbfgs():
    params = pair(np.float64)
    for p in params:
        optimizer = LBFGS(iterations=5).setup([p])
        for _ in range(3):
            optimizer.update(lambda: F.sum((p**2 - 1.0) ** 2))  # noqa: B023 - called at once
    same(*params)
