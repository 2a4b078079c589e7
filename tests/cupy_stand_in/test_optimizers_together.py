"""Updates of many parameters take few launches, and do the same."""

import numpy as np
import pytest

import dezero.optimizers as O
from dezero import cuda
from dezero.core import Parameter
from dezero.kernels import optimizers as kernels
from dezero.kernels.multi_tensor import MultiTensorKernel
from dezero.optimizers.gathering import ends_with_launch

from .optimizing import RULES, parameters, same, train
from .transfers import transfers

# More than one launch takes, and of every kind.
SHAPES = [(3, 4), (5,), (), (0, 2), (2100,), (1,)] * 15
KINDS = [np.float32, np.float16, np.float64]


def many(gpu, mixed=False):
    """Parameters; if they are mixed, of all dtypes and in all layouts."""
    rng = np.random.default_rng(0)
    params = []
    for i, shape in enumerate(SHAPES):
        x = np.asarray(rng.standard_normal(shape))
        x = x.astype(KINDS[i // 6 % 3] if mixed else np.float32)
        params.append(Parameter(cuda.as_cupy(x) if gpu else x))
        if mixed and i % 12 == 6:  # a matrix by columns
            params[-1].data = params[-1].data.T.copy().T
    return params


def give_gradients(params, seed, mixed=False):
    rng = np.random.default_rng(seed)
    for i, p in enumerate(params):
        g = np.asarray(rng.standard_normal(p.shape))
        g = g.astype(KINDS[i // 7 % 3] if mixed else p.dtype)
        p.grad = cuda.get_array_module(p.data).asarray(g)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_many_parameters(rule, mixed, launched):
    results = []
    for gpu in (False, True):
        params = many(gpu, mixed)
        optimizer = RULES[rule]().setup(params)
        optimizer.add_hook(O.WeightDecay(0.01)).add_hook(O.ClipGrad(5.0))
        for step in range(3):
            give_gradients(params, step, mixed)
            with transfers() as moved:
                optimizer.update()
            assert not step or not moved.lines, moved
        results.append([cuda.as_numpy(p) for p in params])
    for p, here, there in zip(params, *results, strict=True):
        tolerance = 3e-3 if p.dtype == np.float16 else 1e-6
        same([here], [there], tolerance)
    if not mixed:
        # 75 with elements; the sums of squares and their root, and 2 for all others
        assert len(launched) == 3 * (2 + 2 + 1 + 2 + 2)
        assert [name.startswith("many") for name in launched].count(False) == 3


def test_seventy_parameters_with_adam(launched):
    rng = np.random.default_rng(0)
    params = [Parameter(rng.random((3, n + 1), np.float32)) for n in range(70)]
    for p in params:
        p.to_gpu()
        p.grad = p.data * 0.5
    O.Adam().setup(params).update()
    assert launched == ["many adam"]


def test_averages_and_bounds_of_many(launched):
    results = []
    for gpu in (False, True):
        params = many(gpu, mixed=True)
        average = O.ExponentialMovingAverage(params, decay=0.75)
        average.update()
        give_gradients(params, 0)
        O.SGD(0.5).setup(params).add_hook(O.ClipGradValue(0.25)).update()
        average.update()
        results.append(average.state_dict()["averages"])
    for here, there in zip(*[x.values() for x in results], strict=True):
        same([here], [there], 1e-6 if here.dtype == np.float64 else 1e-4)
    # once for each dtype
    names = [name for name in launched if name.startswith("many")]
    assert {n: names.count(n) for n in names} == {
        "many bounded": 3,
        "many sgd": 3,
        "many averaged": 3,
    }


def test_groups_and_counts_are_each_parameters_own(launched):
    """Numbers by group, and another t where a gradient was missing once."""
    results = []
    for gpu in (False, True):
        params = many(gpu)
        groups = [{"params": params[:40]}, {"params": params[40:], "lr": 0.5}]
        optimizer = O.Adam(0.1).setup(groups)
        for step in range(3):
            give_gradients(params, step)
            if step == 1:
                for p in params[:10]:
                    p.cleargrad()
            optimizer.update()
        assert [optimizer.state(p)["t"] for p in (params[0], params[11])] == [2, 3]
        results.append([cuda.as_numpy(p) for p in params])
    same(*results)
    assert len(launched) == 2 + 2 + 3


class Clipping(O.SGD):
    """Weights stay within 0.5."""

    def update_one(self, param):
        super().update_one(param)
        xp = cuda.get_array_module(param.data)
        param.data = xp.clip(param.data, -0.5, 0.5)


def test_a_rule_that_goes_on_after_its_launch(launched):
    results = []
    for gpu in (False, True):
        params = many(gpu)
        optimizer = Clipping(0.1).setup(params)
        for step in range(2):
            give_gradients(params, step)
            optimizer.update()
        results.append([cuda.as_numpy(p) for p in params])
    same(*results)
    assert max([abs(x).max() for x in results[1] if x.size]) == 0.5
    assert len(launched) == 2 * len(SHAPES)
    assert set(launched) == {"sgd"}


def test_update_one_by_itself_launches_at_once(launched):
    p, *_ = parameters(True)
    p.grad = p.data
    optimizer = O.SGD(0.5).setup([p])
    before = cuda.as_numpy(p)
    optimizer.update_one(p)
    np.testing.assert_array_equal(cuda.as_numpy(p), before / 2)
    assert launched == ["sgd"]


def test_an_error_on_the_way():
    """Those before it are changed, as one after the other; and nothing waits."""
    results = []
    for gpu in (False, True):
        params = parameters(gpu)
        optimizer = O.Adam(0.1).setup(params)
        train(optimizer, params, steps=1)
        params[1].data = params[1].data[:2]
        for p in params:
            p.grad = p.data.copy()
        with pytest.raises(ValueError, match=r"parameter 1 to keep its shape \(5,\)"):
            optimizer.update()
        assert optimizer._waiting is None
        results.append([cuda.as_numpy(p) for p in params])
        assert [optimizer.state(p)["t"] for p in (params[0], params[2])] == [2, 1]
    same(*results)


def test_a_refused_update_launches_nothing(launched):
    params = parameters(True)
    optimizer = O.SGD(0.1).setup(params)
    for p in params:
        p.grad = p.data
    params[2].grad = np.ones((), np.float32)
    with pytest.raises(TypeError, match="gradient of parameter 2 to be an array"):
        optimizer.update()
    assert not launched


def test_parameters_that_share_memory():
    results = []
    for gpu in (False, True):
        (p, *_) = parameters(gpu)
        params = [p, Parameter(p.data[1:])]
        optimizer = O.MomentumSGD(0.1).setup(params)
        train(optimizer, params)
        results.append([cuda.as_numpy(x) for x in params])
    same(*results)


class Forgetful(O.MomentumSGD):
    """Its velocity is held by nobody but the launch."""

    @ends_with_launch
    def update_one(self, param):
        velocity = cuda.get_array_module(param.data).zeros_like(param.data)
        numbers = float(self.lr), float(self.momentum), False
        self.launch(kernels.momentum_sgd, param, [velocity], *numbers)


def test_arrays_that_only_the_launch_holds(launched):
    """They live until then: the stand-in refuses the addresses of others."""
    params = many(True)
    optimizer = Forgetful(0.5).setup(params)
    before = [cuda.as_numpy(p) for p in params]
    for p in params:
        p.grad = p.data.copy()
    optimizer.update()
    same([x * np.float32(0.5) for x in before], [cuda.as_numpy(p) for p in params])
    assert launched == ["many momentum_sgd"] * 2


def test_parameters_on_two_devices(cupy, monkeypatch):
    """Each launch is made while the device of its arrays is the current one."""
    devices = []
    launch = MultiTensorKernel.launch

    def record(self, blocks, arguments):
        devices.append(cupy.cuda.runtime.getDevice())
        launch(self, blocks, arguments)

    monkeypatch.setattr(MultiTensorKernel, "launch", record)
    params = []
    for i in range(4):
        with cupy.cuda.Device(i % 2):
            params.append(Parameter(cupy.ones(3, np.float32)))
            params[-1].grad = cupy.ones(3, np.float32)
    O.SGD(0.5).setup(params).update()
    for i, p in enumerate(params):
        assert cuda.device_of(p) == f"cuda:{i % 2}"
        with cupy.cuda.Device(i % 2):
            np.testing.assert_array_equal(cuda.as_numpy(p), [0.5] * 3)
    assert devices == [0, 1]


def test_launched_alone_on_the_second_device(launched, cupy):
    params = []
    for _ in range(2):
        with cupy.cuda.Device(1):
            params.append(Parameter(cupy.ones((3, 2), np.float32).T))
            params[-1].grad = cupy.ones((2, 3), np.float32)
    O.SGD(0.5).setup(params).update()
    assert launched == ["sgd", "sgd"]
    for p in params:
        np.testing.assert_array_equal(cuda.as_numpy(p), np.full((2, 3), 0.5))


@pytest.mark.parametrize("rule", RULES)
def test_state_on_two_devices(rule, cupy):
    """It is made, saved and loaded where each parameter is."""
    params = []
    for i in range(4):
        with cupy.cuda.Device(i % 2):
            params.append(Parameter(cupy.ones(3, np.float32)))
            params[-1].grad = cupy.ones(3, np.float32)
    optimizer = RULES[rule]().setup(params)
    average = O.ExponentialMovingAverage(params)
    for _ in range(2):
        optimizer.update()
        average.update()
        optimizer.load_state_dict(optimizer.state_dict())
        average.load_state_dict(average.state_dict())
        with average.applied():
            for i, p in enumerate(params):
                assert cuda.device_of(p) == f"cuda:{i % 2}"
    for i, p in enumerate(params):
        arrays = [x for x in optimizer.state(p).values() if cuda.is_array(x)]
        for x in [p, average._averages[p], *arrays]:
            assert cuda.device_of(x) == f"cuda:{i % 2}"
    first, second = [cuda.as_numpy(p) for p in params[:2]]
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("rule", "switch"),
    [("Adam", {"amsgrad": True}), ("RMSprop", {"centered": True, "momentum": 0.5})],
)
def test_state_made_late_on_the_second_device(rule, switch, cupy):
    with cupy.cuda.Device(1):
        p = Parameter(cupy.ones(3, np.float32))
        p.grad = cupy.ones(3, np.float32)
    optimizer = getattr(O, rule)().setup([p])
    optimizer.update()
    vars(optimizer).update(switch)
    optimizer.update()
    arrays = [x for x in optimizer.state(p).values() if cuda.is_array(x)]
    assert len(arrays) == 3
    assert {cuda.device_of(x) for x in arrays} == {"cuda:1"}


def test_gradients_on_two_sides():
    here, there = parameters(False)[0], parameters(True)[0]
    for p in (here, there):
        p.grad = p.data
    message = "ClipGrad: expected all arguments on one device, got cpu, cuda:0"
    with pytest.raises(TypeError, match=message):
        O.ClipGrad(1.0)([here, there])
