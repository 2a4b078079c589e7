"""Every schedule against its formula, written out in NumPy, over 200 steps."""

import inspect
import json
import pickle

import numpy as np
import pytest

from dezero import optimizers
from dezero.core import Parameter
from dezero.optimizers import (
    SGD,
    Adam,
    CosineLR,
    ExponentialLR,
    LinearLR,
    MultiStepLR,
    OneCycleLR,
    Optimizer,
    ReduceLROnPlateau,
    Schedule,
    StepLR,
)

T = np.arange(201)
BASE = 0.3


def steps(step_size, gamma=0.1):
    return BASE * gamma ** np.floor(T / step_size)


def multi_steps(milestones, gamma=0.1):
    passed = (T[:, None] >= np.array(milestones)).sum(axis=1)
    return BASE * gamma**passed


def exponential(gamma):
    return BASE * np.cumprod(np.r_[1.0, np.full(200, gamma)])


def linear(start_factor=1 / 3, end_factor=1.0, total_iters=5):
    return BASE * np.interp(T, [0, total_iters], [start_factor, end_factor])


def cosine(period, warmup=0, min_lr=0.0, restarts=False, growth=1):
    rates = list(BASE * np.arange(1, warmup + 1) / (warmup + 1))
    while len(rates) < len(T):
        u = np.arange(period)
        wave = 0.5 * (BASE - min_lr) * (1 + np.cos(np.pi * u / period))
        rates += list(min_lr + wave)
        period *= growth
        if not restarts:
            rates += [min_lr] * len(T)
    return np.array(rates[: len(T)])


def one_cycle(total_steps, pct_start=0.3, div_factor=25.0, final_div_factor=1e4):
    first, last = BASE / div_factor, BASE / div_factor / final_div_factor
    top = max(pct_start * total_steps - 1, 0)
    up = (1 - np.cos(np.pi * T / top)) / 2 if top else np.ones(len(T))
    down = np.clip((T - top) / (total_steps - 1 - top), 0, 1)
    falling = last + (BASE - last) * (1 + np.cos(np.pi * down)) / 2
    return np.where(T < top, first + (BASE - first) * up, falling)


CASES = [
    (StepLR, steps, {"step_size": 1}),
    (StepLR, steps, {"step_size": 30, "gamma": 0.5}),
    (MultiStepLR, multi_steps, {"milestones": [20, 100, 50, 100]}),
    (MultiStepLR, multi_steps, {"milestones": [7], "gamma": 2.0}),
    (ExponentialLR, exponential, {"gamma": 0.97}),
    (LinearLR, linear, {}),
    (LinearLR, linear, {"start_factor": 1, "end_factor": 0, "total_iters": 150}),
    (CosineLR, cosine, {"period": 200}),
    (CosineLR, cosine, {"period": 100, "warmup": 20, "min_lr": 0.01}),
    (CosineLR, cosine, {"period": 30, "warmup": 5, "restarts": True}),
    (CosineLR, cosine, {"period": 1, "restarts": True, "growth": 2, "min_lr": 0.1}),
    (OneCycleLR, one_cycle, {"total_steps": 201}),
    (OneCycleLR, one_cycle, {"total_steps": 150, "pct_start": 0.5, "div_factor": 10}),
    (OneCycleLR, one_cycle, {"total_steps": 100, "pct_start": 0.0}),
    (OneCycleLR, one_cycle, {"total_steps": 2, "final_div_factor": 1.0}),
]
every_schedule = pytest.mark.parametrize(("schedule", "formula", "options"), CASES)


def optimizer(lr=BASE):
    return SGD(lr=lr).setup([Parameter(np.ones(1))])


@every_schedule
def test_rates(schedule, formula, options):
    sgd = optimizer()
    s = schedule(sgd, **options)
    rates = [sgd.lr]
    for _ in range(200):
        assert s.step() == sgd.lr
        rates.append(sgd.lr)
    np.testing.assert_allclose(rates, formula(**options), rtol=1e-10, atol=1e-15)


@every_schedule
@pytest.mark.parametrize("store", [lambda x: x, lambda x: json.loads(json.dumps(x))])
def test_a_schedule_goes_on(schedule, formula, options, store):
    a, b = optimizer(), optimizer(lr=7.0)
    s = schedule(a, **options)
    for _ in range(50):
        s.step()
    again = schedule(b, **{**options, "gamma": 0.5} if "gamma" in options else options)
    again.load_state_dict(store(s.state_dict()))
    assert a.lr == b.lr
    for _ in range(60):
        assert s.step() == again.step()


@every_schedule
def test_a_schedule_and_its_optimizer_are_pickled_together(schedule, formula, options):
    s = schedule(optimizer(), **options)
    s.step()
    again = pickle.loads(pickle.dumps(s))
    s.step()
    again.step()
    assert again.optimizer.lr == s.optimizer.lr


def test_groups_keep_their_proportions():
    params = [Parameter(np.ones(1)) for _ in range(3)]
    groups = [
        {"params": [params[0]], "lr": 0.5},
        {"params": [params[1]]},
        {"params": [params[2]], "lr": 4.0},
    ]
    sgd = SGD(lr=1.0).setup(groups)
    s = StepLR(sgd, 1, gamma=0.5)
    s.step()
    assert sgd.lr == 0.5
    assert [group.get("lr") for group in sgd.groups] == [0.25, None, 2.0]
    sgd.setup(params)
    with pytest.raises(RuntimeError, match="StepLR: expected setup to come before"):
        s.step()


def test_the_first_rate_is_set_at_once():
    sgd = optimizer(lr=1.0)
    CosineLR(sgd, period=10, warmup=3)
    assert sgd.lr == 0.25


def test_the_other_name_of_the_rate_follows():
    adam = Adam(alpha=1.0).setup([Parameter(np.ones(1))])
    ExponentialLR(adam, 0.5).step()
    assert adam.alpha == 0.5


def test_a_base_below_the_lowest_rate_stays():
    sgd = optimizer(lr=0.001)
    s = CosineLR(sgd, period=4, min_lr=0.01)
    assert {s.step() for _ in range(5)} == {0.001}


def test_a_schedule_of_ones_own():
    class Halving(Schedule):
        def rate(self, base, t):
            return base / (1 + t)

    sgd = optimizer(lr=1.0)
    s = Halving(sgd)
    assert [s.step() for _ in range(3)] == [1 / 2, 1 / 3, 1 / 4]
    with pytest.raises(TypeError, match="Schedule: expected a method rate, found none"):
        Schedule(sgd)


# ---- plateaus -----------------------------------------------------------------------


def rates_for(values, **options):
    sgd = optimizer(lr=1.0)
    s = ReduceLROnPlateau(sgd, factor=0.5, **options)
    return [s.step(value) for value in values]


def test_a_plateau_reduces_after_patience():
    assert rates_for([3, 3, 3, 3, 3], patience=1) == [1, 1, 0.5, 0.5, 0.25]
    assert rates_for([3, 2, 1, 1, 1], patience=1) == [1, 1, 1, 1, 0.5]
    assert rates_for([3, 3, 3], patience=0) == [1, 0.5, 0.25]
    assert rates_for([3] * 12)[-2:] == [1, 0.5]


def test_a_plateau_of_what_should_rise():
    assert rates_for([1, 2, 3, 3], mode="max", patience=0) == [1, 1, 1, 0.5]
    assert rates_for([-3, -2, -2], mode="max", patience=0) == [1, 1, 0.5]


def test_too_little_is_not_better():
    values = [100, 99.5, 98]
    assert rates_for(values, patience=0, threshold=0.01) == [1, 0.5, 0.5]
    values = [-100, -100.5, -102]  # of negative measures too
    assert rates_for(values, patience=0, threshold=0.01) == [1, 0.5, 0.5]
    assert rates_for([1, 1.005], mode="max", patience=0, threshold=0.01) == [1, 0.5]


def test_nan_is_never_better_and_infinity_may_be_left():
    nan, inf = np.nan, np.inf
    assert rates_for([nan, 1, nan, 1], patience=0) == [0.5, 0.5, 0.25, 0.125]
    assert rates_for([inf, 1, 1], patience=0) == [1, 1, 0.5]
    assert rates_for([inf, inf], patience=0) == [1, 0.5]


def test_cooldown_and_the_lowest_rate():
    options = {"patience": 0, "cooldown": 2}
    assert rates_for([1] * 6, **options) == [1, 0.5, 0.5, 0.5, 0.25, 0.25]
    assert rates_for([1] * 4, patience=0, min_lr=0.4) == [1, 0.5, 0.4, 0.4]


def test_a_plateau_goes_on():
    s = ReduceLROnPlateau(optimizer(), patience=2)
    s.step(np.array(1.0))
    s.step(Parameter(np.array(1.0)))
    again = ReduceLROnPlateau(optimizer())
    again.load_state_dict(json.loads(json.dumps(s.state_dict())))
    for _ in range(7):
        assert s.step(1.0) == again.step(1.0)
    assert s.reductions == 2


def plateaus(
    values,
    mode="min",
    factor=0.1,
    patience=10,
    threshold=1e-4,
    cooldown=0,
    min_lr=0.0,
):
    """The rates after each of the values, from BASE, by looking back."""
    sign = 1 if mode == "min" else -1
    rates, lr, last, counts_from = [], BASE, 0, 0
    best = values[0]
    for t, value in enumerate(values):
        if sign * (best - value) > threshold * abs(best) or t == 0:
            best, last = value, t
        # Steps without anything better, since the last time it was better or cooled.
        if t - max(last, counts_from - 1) > patience:
            lr = max(lr * factor, min_lr)
            counts_from = t + 1 + cooldown
        rates.append(lr)
    return rates


PLATEAUS = [
    {},
    {"factor": 0.5, "patience": 7, "threshold": 0.05},
    {"factor": 0.7, "patience": 3, "cooldown": 9},
    {"factor": 0.9, "patience": 0, "cooldown": 1, "min_lr": 0.04},
    {"mode": "max", "factor": 0.8, "patience": 2, "threshold": 0.2},
    {"mode": "max", "factor": 0.0, "patience": 50, "min_lr": 0.01},
]


@pytest.mark.parametrize("options", PLATEAUS)
@pytest.mark.parametrize("offset", [0.0, 3.0, -3.0])
def test_200_steps_of_a_noisy_measure(options, offset):
    t = np.arange(1, 201)
    values = offset + 0.3 * np.random.default_rng(0).standard_normal(200)
    values += (1 if options.get("mode") != "max" else -1) / t**0.5
    sgd = optimizer()
    s = ReduceLROnPlateau(sgd, **options)
    expected = plateaus(values, **options)
    assert len(set(expected)) > 1
    for value, rate in zip(values, expected, strict=True):
        assert s.step(value) == sgd.lr == pytest.approx(rate, rel=1e-12, abs=0)


def test_every_schedule_and_option_has_200_steps_that_are_not_of_the_default():
    cases = [(schedule, options) for schedule, _, options in CASES]
    cases += [(ReduceLROnPlateau, options) for options in PLATEAUS]
    exported = {getattr(optimizers, name) for name in optimizers.__all__}
    schedules = {x for x in exported if issubclass(x, Schedule)} - {Schedule}
    assert {schedule for schedule, _ in cases} == schedules
    for schedule in schedules:
        for name, x in inspect.signature(schedule).parameters.items():
            given = [o[name] for s, o in cases if s is schedule and name in o]
            assert name == "optimizer" or any(v != x.default for v in given), name


# ---- errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda o: StepLR(None, 1), TypeError, "StepLR: expected an Optimizer .* lr"),
        (lambda o: StepLR(Optimizer(), 1), TypeError, "with a learning rate lr, got"),
        (lambda o: StepLR(o, 0), ValueError, "StepLR: expected step_size of at least"),
        (lambda o: StepLR(o, 1.5), TypeError, "step_size to be an integer, got float"),
        (lambda o: StepLR(o, True), TypeError, "step_size to be an integer, got bool"),
        (lambda o: StepLR(o, 1, -1), ValueError, r"expected gamma in \[0, inf\)"),
        (lambda o: MultiStepLR(o, [0]), ValueError, "milestones of at least 1, got 0"),
        (lambda o: MultiStepLR(o, [1.5]), TypeError, "MultiStepLR: .* an integer"),
        (lambda o: MultiStepLR(o, [1], -1), ValueError, "MultiStepLR: .* gamma"),
        (lambda o: ExponentialLR(o, -1), ValueError, "ExponentialLR: expected gamma"),
        (lambda o: LinearLR(o, -1), ValueError, "LinearLR: expected start_factor in"),
        (lambda o: LinearLR(o, 1, -1), ValueError, "LinearLR: expected end_factor in"),
        (lambda o: LinearLR(o, 1, 1, 0), ValueError, "expected total_iters of at lea"),
        (lambda o: CosineLR(o, 0), ValueError, "CosineLR: expected period of at least"),
        (lambda o: CosineLR(o, 1, -1), ValueError, "expected warmup of at least 0"),
        (lambda o: CosineLR(o, 1, min_lr=-1), ValueError, "CosineLR: expected min_lr"),
        (lambda o: CosineLR(o, 1, growth=0), ValueError, "expected growth of at least"),
        (lambda o: OneCycleLR(o, 1), ValueError, "expected total_steps of at least 2"),
        (lambda o: OneCycleLR(o, 9, 1), ValueError, r"expected pct_start in \[0, 1\)"),
        (lambda o: OneCycleLR(o, 9, 0, 0.5), ValueError, r"div_factor in \[1, inf\)"),
        (lambda o: OneCycleLR(o, 9, 0, 1, 0), ValueError, r"final_div_factor in \[1, "),
        (
            lambda o: ReduceLROnPlateau(o, "mean"),
            ValueError,
            "ReduceLROnPlateau: expected mode 'min' or 'max', got 'mean'",
        ),
        (lambda o: ReduceLROnPlateau(o, factor=1), ValueError, r"factor in \[0, 1\)"),
        (lambda o: ReduceLROnPlateau(o, patience=-1), ValueError, "patience of at l"),
        (lambda o: ReduceLROnPlateau(o, threshold=-1), ValueError, "threshold in"),
        (lambda o: ReduceLROnPlateau(o, cooldown=-1), ValueError, "cooldown of at l"),
        (lambda o: ReduceLROnPlateau(o, min_lr=-1), ValueError, r"min_lr in \[0, inf"),
        (
            lambda o: ReduceLROnPlateau(o).step(),
            TypeError,
            r"ReduceLROnPlateau.step: expected the measure .* write step\(loss\)",
        ),
    ],
)
def test_wrong_values(make, error, message):
    sgd = optimizer()
    with pytest.raises(error, match=message):
        make(sgd)
    assert sgd.lr == BASE


def test_the_state_of_another_schedule():
    s = StepLR(optimizer(), 3)
    before = s.state_dict()
    with pytest.raises(TypeError, match="StepLR.load_state_dict: expected a dict that"):
        s.load_state_dict(None)
    other = {"type": "Other", "t": 3, "bases": [1.0, 2.0], "gamma": 1.0, "x": 1}
    message = (
        r"StepLR.load_state_dict: .* got another; missing: step_size; unexpected: x; "
        "of the type Other; of 2 learning rates, not 1$"
    )
    with pytest.raises(ValueError, match=message):
        s.load_state_dict(other)
    assert s.state_dict() == before
