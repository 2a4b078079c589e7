"""Updates on the device: the same numbers, and the host learns none of them."""

import numpy as np
import pytest

import dezero.optimizers as O
from dezero import cuda

from .optimizing import RULES, parameters, same, train
from .transfers import transfers

HOOKS = {
    "WeightDecay": lambda: O.WeightDecay(0.1),
    "ClipGrad": lambda: O.ClipGrad(0.5),
    "a norm below": lambda: O.ClipGrad(1e3),
    "ClipGradValue": lambda: O.ClipGradValue(0.5),
    "no noise": lambda: O.GradientNoise(0.0),
}
SCHEDULES = {
    "StepLR": lambda o: O.StepLR(o, 2),
    "MultiStepLR": lambda o: O.MultiStepLR(o, [1, 3]),
    "ExponentialLR": lambda o: O.ExponentialLR(o, 0.9),
    "LinearLR": lambda o: O.LinearLR(o, 0.1, 1.0, 3),
    "CosineLR": lambda o: O.CosineLR(o, period=4, warmup=1),
    "OneCycleLR": lambda o: O.OneCycleLR(o, 4),
}


def both(make, **options):
    """The weights that training here and there ends with."""
    results = []
    for gpu in (False, True):
        params = parameters(gpu, options.get("dtype", np.float32))
        optimizer, after = make(params)
        results.append(train(optimizer, params, after=after))
        if gpu:
            assert all([cuda.device_of(p) == "cuda:0" for p in params])
    return results


def nothing():
    pass


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("rule", RULES)
def test_rules(rule, dtype):
    results = both(lambda params: (RULES[rule]().setup(params), nothing), dtype=dtype)
    same(*results, 1e-3 if dtype == np.float16 else 1e-6)


@pytest.mark.parametrize("hook", HOOKS)
def test_hooks(hook):
    def make(params):
        return O.Adam(0.1).setup(params).add_hook(HOOKS[hook]()), nothing

    same(*both(make))


@pytest.mark.parametrize("hook", HOOKS)
def test_hooks_on_gradients_of_another_kind(hook):
    """By columns, of integers, and of another dtype than the parameter."""
    results = []
    for gpu in (False, True):
        params = parameters(gpu)
        for p, dtype in zip(params, ("f", "i", "d"), strict=True):
            g = np.arange(p.size, dtype=dtype).reshape(p.shape[::-1]) + 1
            p.grad = cuda.get_array_module(p.data).asarray(g).T
        HOOKS[hook]()(params)
        # a norm below leaves integers here alone, there it is not known
        results.append([cuda.as_numpy(p.grad).astype(float) for p in params])
    same(*results)


@pytest.mark.parametrize("hook", HOOKS)
def test_hooks_on_gradients_of_booleans(hook):
    results = []
    for gpu in (False, True):
        p, *_ = parameters(gpu)
        p.grad = p.data > 0
        HOOKS[hook]()([p])
        results.append([cuda.as_numpy(p.grad).astype(float)])
    same(*results)


def test_a_norm_that_is_infinite_clips_nothing():
    for gpu in (False, True):
        p, *_ = parameters(gpu)
        p.grad = cuda.get_array_module(p).full((3, 4), np.inf, np.float32)
        O.ClipGrad(1.0)([p])
        assert np.isinf(cuda.as_numpy(p.grad)).all()


def test_squares_beyond_double_precision():
    p, *_ = parameters(True)
    p.grad = cuda.get_array_module(p).full((3, 4), 1e200)
    O.ClipGrad(1.0)([p])
    assert (cuda.as_numpy(p.grad) == 1e200).all()


def test_squares_beyond_single_precision():
    results = []
    for gpu in (False, True):
        p, *_ = parameters(gpu)
        p.grad = cuda.get_array_module(p).full((3, 4), 1e30, np.float32)
        O.ClipGrad(1.0)([p])
        results.append([cuda.as_numpy(p.grad)])
    same(*results)
    np.testing.assert_allclose(results[0][0], 12**-0.5, rtol=1e-6)


def test_gradients_that_are_not_finite(launched):
    params = parameters(True)
    optimizer = O.SGD(0.1).setup(params)
    optimizer.check_finite = True
    for p in params:
        p.grad = cuda.as_cupy(np.ones(p.shape, np.float32))
    with transfers() as moved:
        optimizer.update()
    assert (moved.to_host, moved.to_device) == (1, 0), moved
    assert launched == ["many nonfinite", "many sgd"]
    params[1].grad = params[1].grad.data * np.float32(np.nan)
    with pytest.raises(ValueError, match="NaN in that of parameter 1$"):
        optimizer.update()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules(schedule):
    def make(params):
        optimizer = O.MomentumSGD(0.1).setup(params)
        return optimizer, SCHEDULES[schedule](optimizer).step

    same(*both(make))


def test_averages():
    def make(params):
        average = O.ExponentialMovingAverage(params, decay=0.5)
        return O.SGD(0.1).setup(params), average.update

    same(*both(make))


def test_state_moves_along():
    params, others = parameters(False), parameters(True)
    optimizer, other = (O.Adam(0.1).setup(p) for p in (params, others))
    train(optimizer, params), train(other, others)
    for p in params:
        p.to_gpu()
    for p in others:
        p.to_cpu()
    with transfers():
        for step in range(2):
            same(*[[cuda.as_numpy(p) for p in ps] for ps in (params, others)])
            for p in [*params, *others]:
                g = np.full(p.shape, step + 0.5, np.float32)
                p.grad = cuda.get_array_module(p).asarray(g)
            optimizer.update(), other.update()
    for p in params:
        assert {cuda.device_of(x) for x in arrays_of(optimizer, p)} == {"cuda:0"}
    for p in others:
        assert {cuda.device_of(x) for x in arrays_of(other, p)} == {"cpu"}


def arrays_of(optimizer, p):
    return [x for x in optimizer.state(p).values() if cuda.is_array(x)]
