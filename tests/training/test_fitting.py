"""fit: the numbers of the explicit loop, its history, and what batches may be."""

import functools

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import DataLoader
from dezero.core import Config, Parameter
from dezero.datasets import TensorDataset
from dezero.models import MLP, Sequential
from dezero.optimizers import (
    SGD,
    Adam,
    Optimizer,
)

rng = np.random.default_rng(0)
X = rng.standard_normal((22, 3))
T = X @ np.array([[1.0], [-2.0], [0.5]]) + 0.1 * rng.standard_normal((22, 1))
CLASSES = (X[:, 0] > 0).astype(np.int64)

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


def by_hand(model, loader, loss, optimizer, epochs):
    losses = []
    for _ in range(epochs):
        total = items = 0
        for x, t in loader:
            y = loss(model(x), t)
            model.cleargrads()
            y.backward()
            optimizer.update()
            total += float(y) * len(t)
            items += len(t)
        losses.append(total / items)
    return losses


# ---- the loop --------------------------------------------------------------------


def test_the_bits_of_the_explicit_loop():
    def run(train):
        dz.seed(3)
        model = Sequential(L.Linear(8), L.Dropout(0.3), F.relu, L.Linear(2))
        loader = DataLoader(TensorDataset(X.astype(np.float32), CLASSES), 5)
        return model, train(model, loader, F.softmax_cross_entropy, Adam(lr=0.01))

    a, losses = run(lambda m, d, f, opt: by_hand(m, d, f, opt.setup(m), epochs=4))
    b, history = run(functools.partial(fit, epochs=4))
    assert history["loss"] == losses
    same(a, b)


def test_the_history():
    history = fit(
        linear(),
        batches(5),
        F.mean_squared_error,
        SGD(lr=0.05),
        epochs=2,
        validation=batches(22),
        metrics={"off": F.mean_absolute_error},
    )
    assert list(history) == [
        "epoch",
        "loss",
        "off",
        "validation_loss",
        "validation_off",
        "lr",
        "seconds",
    ]
    assert history["epoch"] == [1, 2] and history["lr"] == [0.05, 0.05]
    assert all([type(v) is float for k in list(history)[1:] for v in history[k]])
    assert all([seconds > 0 for seconds in history["seconds"]])


def test_an_optimizer_without_a_rate_has_no_column_of_it():
    class Signs(Optimizer):
        def update_one(self, param):
            param.data = param.data - 0.01 * np.sign(param.grad.data)

    assert "lr" not in fit(linear(), batches(5), F.mean_squared_error, Signs())


def test_means_count_every_item_once():
    model = linear()
    weights_before = weights(model)
    history = fit(  # a rate of zero: the loss of the same weights
        model,
        batches(5),  # 5, 5, 5, 5, 2
        F.mean_squared_error,
        SGD(lr=0.0),
        validation=batches(7),
        metrics=[F.mean_absolute_error],
    )
    same(model, linear())
    y = X @ weights_before[0] + weights_before[1]
    assert history["loss"] == pytest.approx([np.mean((y - T) ** 2)], rel=1e-14)
    off = pytest.approx([np.mean(abs(y - T))], rel=1e-14)
    assert history["mean_absolute_error"] == off
    assert history["validation_mean_absolute_error"] == off


def test_validation_is_in_test_mode_and_without_a_graph():
    seen = []

    class Watching(L.Linear):
        def forward(self, x):
            seen.append((len(x), Config.train, Config.enable_backprop))
            return super().forward(x)

    fit(
        Watching(1, dtype=np.float64),
        batches(11),
        F.mean_squared_error,
        SGD(),
        validation=[(X, T)],
    )
    assert seen == [(11, True, True), (11, True, True), (22, False, False)]


def test_a_callback_that_leaves_the_switches_otherwise():
    seen = []

    def switch(history):
        Config.train = Config.enable_backprop = False

    def loss(y, t):
        seen.append((Config.train, Config.enable_backprop))
        return F.mean_squared_error(y, t)

    fit(linear(), batches(22), loss, SGD(), epochs=2, callbacks=[switch])
    assert seen == [(True, True)] * 2
    assert (Config.train, Config.enable_backprop) == (True, True)


@pytest.mark.parametrize("answer, epochs", [(True, 1), (np.True_, 1), (np.False_, 3)])
def test_an_answer_that_ends_the_training(answer, epochs):
    options = {"epochs": 3, "callbacks": [lambda history: answer]}
    history = fit(linear(), batches(22), F.mean_squared_error, SGD(), **options)
    assert len(history["epoch"]) == epochs
    options["callbacks"] = None
    history = fit(linear(), batches(22), F.mean_squared_error, SGD(), **options)
    assert len(history["epoch"]) == 3


def test_config_is_restored():
    def failing(y, t):
        raise LookupError

    with dz.no_grad(), dz.test_mode():
        fit(linear(), batches(22), F.mean_squared_error, SGD())  # trains all the same
        assert (Config.train, Config.enable_backprop) == (False, False)
        with pytest.raises(LookupError):
            fit(linear(), batches(22), failing, SGD())
        assert (Config.train, Config.enable_backprop) == (False, False)
    with pytest.raises(LookupError):
        fit(
            linear(),
            batches(22),
            F.mean_squared_error,
            SGD(),
            metrics={"m": lambda y, t: failing(y, t) if not Config.train else 0},
            validation=batches(22),
        )
    assert (Config.train, Config.enable_backprop) == (True, True)


def test_no_epochs():
    model = linear()
    history = fit(model, batches(5), F.mean_squared_error, SGD(), epochs=0)
    assert history == {"epoch": [], "loss": [], "lr": [], "seconds": []}
    same(model, linear())


def test_metrics_give_variables_arrays_or_numbers():
    history = fit(
        linear(),
        batches(11),
        F.mean_squared_error,
        SGD(),
        metrics={
            "variable": lambda y, t: F.sum(y * 0) + 1.0,
            "array": lambda y, t: np.array([2.0]),
            "scalar": lambda y, t: np.float32(3),
            "number": lambda y, t: 4,
            "truth": lambda y, t: np.bool_(True),
        },
    )
    named = ("variable", "array", "scalar", "number", "truth")
    assert [history[name] for name in named] == [[1.0], [2.0], [3.0], [4.0], [1.0]]


def test_metrics_record_nothing():
    seen = []

    def metric(y, t):
        z = y * 2
        seen.append(z.requires_grad)
        return F.sum(z)

    fit(linear(), batches(22), F.mean_squared_error, SGD(), metrics=[metric])
    assert seen == [False]


# ---- batches ---------------------------------------------------------------------


class Two(L.Layer):
    """A model of two inputs."""

    def __init__(self):
        super().__init__()
        self.a, self.b = linear(1), linear(2)

    def forward(self, x, z):
        return self.a(x) + self.b(z)


def test_tuples_and_dicts():
    z = X[:, ::-1].copy()
    models = [Two(), Two()]
    fit(models[0], [(X, z, T)], F.mean_squared_error, SGD(), epochs=2)
    fit(models[1], [{"z": z, "t": T, "x": X}], F.mean_squared_error, SGD(), epochs=2)
    same(*models)
    assert not np.array_equal(weights(models[0])[0], weights(Two())[0])


def test_a_batch_without_a_target():
    model = linear()
    history = fit(model, [(X, None)], lambda y, t: F.mean(y**2), SGD(lr=0.0))
    assert history["loss"] == pytest.approx([np.mean(model(X).data ** 2)])


def test_a_target_of_several_parts_counts_by_the_input():
    loader = [(X[:20], (T[:20], 1.0)), (X[20:], (T[20:], 3.0))]
    history = fit(linear(), loader, lambda y, t: F.mean(y * 0) + t[1], SGD(), epochs=1)
    assert history["loss"] == pytest.approx([(20 * 1.0 + 2 * 3.0) / 22])


def test_a_function_for_a_model():
    W = Parameter(np.zeros((3, 1)))
    history = fit(
        lambda x: F.matmul(x, W),
        batches(11),
        F.mean_squared_error,
        SGD(lr=0.1).setup([W]),
        epochs=5,
        restore_best=True,
    )
    assert history["loss"][-1] < history["loss"][0] / 3


def test_a_loader_of_ones_own_may_be_its_own_iterator():
    class Own:
        def __iter__(self):
            self.left = batches(11)
            return self

        def __next__(self):
            if not self.left:
                self.left = batches(11)  # and go on, as if nothing was
                raise StopIteration
            return self.left.pop(0)

    a, b = linear(), linear()
    fit(a, Own(), F.mean_squared_error, SGD(), epochs=3, accumulate=3)
    fit(b, batches(11), F.mean_squared_error, SGD(), epochs=3, accumulate=3)
    same(a, b)


def test_a_generator_does_for_one_epoch():
    a, b = linear(), linear()
    fit(a, iter(batches(11)), F.mean_squared_error, SGD())
    fit(b, batches(11), F.mean_squared_error, SGD())
    same(a, b)


# ---- callbacks -------------------------------------------------------------------


def test_callbacks_see_the_history_and_can_end_the_training():
    seen = []

    def look(history):
        seen.append(dict(history, seconds=None, loss=len(history["loss"])))
        return "nothing that counts"

    def stop(history):
        return history["epoch"][-1] == 2

    history = fit(
        linear(),
        batches(22),
        F.mean_squared_error,
        SGD(lr=0.5),
        epochs=9,
        callbacks=[look, stop],
    )
    assert history["epoch"] == [1, 2]
    assert seen[0]["epoch"] is seen[1]["epoch"] is history["epoch"]
    assert [one["loss"] for one in seen] == [1, 2]


# ---- on a GPU --------------------------------------------------------------------


@pytest.mark.gpu
def test_the_same_training_on_a_gpu():
    def run(gpu):
        dz.seed(0)
        model = MLP((8, 2), activation=F.relu)
        model(X[:1].astype(np.float32))
        data = TensorDataset(X.astype(np.float32), CLASSES)
        if gpu:
            model.to_gpu()
        history = fit(
            model,
            DataLoader(data, 5, shuffle=False, gpu=gpu),
            F.softmax_cross_entropy,
            Adam(lr=0.01),
            epochs=5,
            validation=DataLoader(data, 22, shuffle=False, gpu=gpu),
            metrics=[F.accuracy],
            accumulate=2,
            clip_norm=1.0,
            restore_best=True,
        )
        return {name: values for name, values in history.items() if name != "seconds"}

    here, there = run(False), run(True)
    for name, values in here.items():
        np.testing.assert_allclose(values, there[name], rtol=1e-4, atol=1e-5)


@pytest.mark.gpu
@pytest.mark.parametrize("check_finite", [None, True])
def test_a_loss_that_is_not_finite_on_a_gpu(check_finite):
    model = L.Linear(1, dtype=np.float64, in_size=3)
    model.to_gpu()
    loader = DataLoader(TensorDataset(X, T * np.nan), 11, gpu=True)
    where = "epoch 1, step 1" if check_finite else "epoch 1; the weights are lost"
    with pytest.raises(FloatingPointError, match=where):
        fit(model, loader, F.mean_squared_error, SGD(), check_finite=check_finite)
