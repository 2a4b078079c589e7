"""Updates: accumulated, clipped, by every optimizer and schedule; what stops them."""

import functools
import warnings

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.core import Config
from dezero.models import Sequential
from dezero.optimizers import (
    LBFGS,
    SGD,
    Adam,
    ClipGrad,
    CosineLR,
    ExponentialLR,
    GradientNoise,
    OneCycleLR,
    ReduceLROnPlateau,
    WeightDecay,
)
from dezero.training import evaluate

rng = np.random.default_rng(0)
X = rng.standard_normal((22, 3))
T = X @ np.array([[1.0], [-2.0], [0.5]]) + 0.1 * rng.standard_normal((22, 1))

fit = functools.partial(dz.fit, progress=False)


def linear(seed=0):
    np.random.seed(seed)
    return L.Linear(1, dtype=np.float64, in_size=3)


def batches(size, x=X, t=T):
    return [(x[i : i + size], t[i : i + size]) for i in range(0, len(x), size)]


def weights(model):
    return [p.data.copy() for p in model.params()]


def same(a, b):
    for x, y in zip(weights(a), weights(b), strict=True):
        np.testing.assert_array_equal(x, y)


# ---- accumulation and clipping ---------------------------------------------------


@pytest.mark.parametrize("optimizer", [SGD(lr=0.1), Adam(lr=0.1), LBFGS(iterations=2)])
@pytest.mark.parametrize("size", [2, 3, 4, 5])  # into 22: even and uneven batches
def test_accumulated_batches_are_one_large_batch(optimizer, size):
    def run(loader, accumulate):
        model = linear()
        history = fit(
            model,
            loader,
            F.mean_squared_error,
            optimizer.setup(model),
            epochs=2,
            accumulate=accumulate,
            metrics=[F.mean_absolute_error],
        )
        return model, history

    small, history = run(batches(size), 3)
    large, expected = run(batches(3 * size), 1)
    for x, y in zip(weights(small), weights(large), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-12)
    for name in "loss", "mean_absolute_error":
        np.testing.assert_allclose(history[name], expected[name], rtol=1e-11)


def test_accumulation_keeps_dtypes():
    model = L.Linear(1, dtype=np.float16)
    loader = batches(5, X.astype(np.float16), T.astype(np.float16))
    fit(model, loader, F.mean_squared_error, SGD(), accumulate=2)
    assert {p.grad.dtype for p in model.params()} == {np.dtype(np.float16)}


def test_accumulation_with_a_loss_that_has_an_axis():
    a, b = linear(), linear()
    mse = F.mean_squared_error
    fit(a, batches(4), lambda y, t: F.reshape(mse(y, t), (1,)), SGD(), accumulate=2)
    fit(b, batches(4), mse, SGD(), accumulate=2)
    same(a, b)


def test_clipping_is_the_last_hook_for_as_long_as_training_runs():
    decay = WeightDecay(0.1)
    a, b = linear(), linear()
    one = SGD(lr=1.0).setup(a).add_hook(decay)
    other = SGD(lr=1.0).setup(b).add_hook(decay).add_hook(ClipGrad(0.01))
    fit(a, batches(11), F.mean_squared_error, one, clip_norm=0.01)
    fit(b, batches(11), F.mean_squared_error, other)
    same(a, b)
    assert one.hooks == [decay]
    difference = weights(a)[0] - weights(linear())[0]
    assert 0 < np.linalg.norm(difference) < 0.021

    with pytest.raises(ZeroDivisionError):
        fit(a, batches(11), lambda y, t: 1 / 0, one, clip_norm=1)
    assert one.hooks == [decay]


def test_a_hook_that_draws_has_its_state_in_no_other_place():
    noise = GradientNoise()
    fit(linear(), batches(11), F.mean_squared_error, SGD().add_hook(noise), clip_norm=1)
    assert noise.t == 2


# ---- optimizers and schedules ----------------------------------------------------


def test_gradients_of_what_is_not_updated_do_not_pile_up():
    model = Sequential(L.Linear(4, dtype=np.float64), L.Linear(1, dtype=np.float64))
    model(X)
    optimizer = SGD().setup(model[1])
    fit(model, [(X, T)], F.mean_squared_error, optimizer, epochs=1)
    once = model[0].W.grad.data.copy()
    model.cleargrads()
    fit(model, [(X, T)] * 2, F.mean_squared_error, SGD(lr=0.0).setup(model[1]))
    assert np.linalg.norm(model[0].W.grad.data) < 1.5 * np.linalg.norm(once)


def test_lbfgs_gets_the_loss_as_a_function():
    a, b = linear(), linear()
    optimizer = LBFGS(iterations=3).setup(b)
    history = fit(
        a,
        [(X, T)],
        F.mean_squared_error,
        LBFGS(iterations=3),
        epochs=3,
        metrics=[F.mean_absolute_error],
    )
    losses, off = [], []
    for _ in range(3):
        losses.append(float(F.mean_squared_error(b(X), T)))
        off.append(float(F.mean_absolute_error(b(X), T)))
        optimizer.update(lambda: F.mean_squared_error(b(X), T))
    same(a, b)
    assert history["loss"] == losses and history["mean_absolute_error"] == off


def test_a_schedule_per_epoch():
    optimizer = SGD(lr=0.8)
    schedule = ExponentialLR(optimizer, 0.5)
    model = linear()
    history = fit(
        model,
        batches(11),
        F.mean_squared_error,
        optimizer,
        epochs=3,
        schedule=schedule,
        accumulate=2,
    )
    assert history["lr"] == [0.8, 0.4, 0.2] and optimizer.lr == 0.1


@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize(
    "make",
    [
        lambda optimizer: OneCycleLR(optimizer, total_steps=12),
        lambda optimizer: CosineLR(optimizer, period=8, warmup=3),
    ],
)
def test_a_schedule_per_step(make, accumulate):
    optimizer, other = SGD(lr=0.1), SGD(lr=0.1)
    expected = make(other)
    history = fit(
        linear(),
        batches(6),  # 4 batches
        F.mean_squared_error,
        optimizer,
        epochs=3,
        schedule=make(optimizer),
        schedule_every="step",
        accumulate=accumulate,
    )
    steps = 4 // accumulate
    rates = [expected.rate(0.1, t) for t in range(3 * steps + 1)]
    assert history["lr"] == rates[steps - 1 :: steps]
    assert optimizer.lr == rates[-1]


def test_a_plateau_looks_at_the_monitored_number():
    values = iter([5.0, 4.0, 4.0, 4.0, 3.0])
    optimizer = SGD(lr=1.0)
    history = fit(
        linear(),
        batches(22),
        F.mean_squared_error,
        optimizer,
        epochs=5,
        metrics={"m": lambda y, t: next(values)},
        monitor="m",
        mode="min",
        schedule=ReduceLROnPlateau(optimizer, patience=1, factor=0.5),
    )
    assert history["lr"] == [1.0, 1.0, 1.0, 1.0, 0.5]


# ---- losses that are no numbers any more -----------------------------------------


def exploding(y, t):
    return F.mean_squared_error(y, t) * (np.nan if np.any(t == T[12]) else 1.0)


@pytest.mark.parametrize("check_finite", [None, True])
@pytest.mark.parametrize("optimizer", [SGD(lr=0.1), LBFGS(iterations=1)])
def test_a_loss_that_is_not_finite(check_finite, optimizer):
    a, b = linear(), linear()
    fit(a, batches(5)[:2], F.mean_squared_error, optimizer.setup(a))
    with pytest.raises(FloatingPointError, match="got nan in epoch 1, step 3; .* as b"):
        fit(b, batches(5), exploding, optimizer.setup(b), check_finite=check_finite)
    same(a, b)


def diverging(dtype=np.float32):
    """A model and batches with which SGD of a large step soon overflows."""
    np.random.seed(0)
    model = L.Linear(1, dtype=dtype, in_size=3)
    return model, batches(5, X.astype(dtype), T.astype(dtype))


@pytest.mark.parametrize(
    ("dtype", "lr"), [(np.float16, 1e3), (np.float32, 1e6), (np.float64, 1e30)]
)
def test_of_a_training_that_diverges_one_error_is_all_one_sees(dtype, lr):
    # Warnings are errors here: one of NumPy's would come in its place.
    model, loader = diverging(dtype)
    with pytest.raises(FloatingPointError, match="fit: expected a finite loss, got"):
        fit(model, loader, F.mean_squared_error, SGD(lr), epochs=9)


def test_an_overflow_with_a_finite_loss_is_warned_of():
    model, loader = diverging()

    def loss(y, t):
        return F.mean_squared_error(y, t) + 1 / F.exp(1e6 * F.sum(t * t))

    with pytest.warns(RuntimeWarning, match="^overflow encountered$") as found:
        history = fit(model, loader[:1], loss, SGD(1e-3))
    assert np.isfinite(history["loss"]).all()
    assert "exponential" in found[0].filename  # the line of the function, as ever


def test_with_looking_switched_off_overflows_are_warned_of():
    model, loader = diverging()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fit(model, loader, F.mean_squared_error, SGD(1e6), epochs=9, check_finite=False)
    assert str(seen[0].message).startswith("overflow encountered")


def test_trials_of_a_line_search_may_overflow_silently():
    w = dz.Parameter(np.array([1.2]))

    def loss(y, t):  # 1e100 at 1.2, infinite at 0.2, where the first trial is
        return F.mean(F.exp(1150 * (y - t)) + F.exp(1150 * (t - y)))

    ones = np.ones((2, 1))
    history = fit(lambda x: x * w, [(ones, ones)], loss, LBFGS(iterations=2).setup([w]))
    assert history["loss"][0] > 1e99
    assert abs(w.data[0] - 1) < 0.2


def test_in_an_accumulated_group_too():
    model = linear()
    with pytest.raises(FloatingPointError, match="epoch 1, step 1"):
        fit(model, batches(5), exploding, SGD(), accumulate=3)
    same(model, linear())


def test_looking_can_be_switched_off():
    history = fit(linear(), batches(5), exploding, SGD(), check_finite=False, epochs=2)
    assert np.isnan(history["loss"]).all()


# ---- evaluate --------------------------------------------------------------------


def test_evaluate():
    model = Sequential(L.Dropout(0.5), linear())
    found = evaluate(model, batches(5), F.mean_squared_error, [F.mean_absolute_error])
    y = model[1](X).data
    assert found == pytest.approx(
        {"loss": np.mean((y - T) ** 2), "mean_absolute_error": np.mean(abs(y - T))}
    )
    assert Config.train and Config.enable_backprop
