"""What fit refuses: before it trains where that is possible, and in which words."""

import functools

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import DataLoader
from dezero.core import Parameter, Variable
from dezero.datasets import Spiral, TensorDataset
from dezero.optimizers import LBFGS, SGD, Adam, ReduceLROnPlateau, StepLR
from dezero.training import evaluate

X = np.random.default_rng(0).standard_normal((6, 3))
T = X[:, :1] * 2
MSE = F.mean_squared_error
calls = []


def linear():
    return L.Linear(1, dtype=np.float64)


def fit(model=None, loader=None, loss=MSE, optimizer=None, **options):
    return dz.fit(
        linear() if model is None else model,
        [(X, T)] if loader is None else loader,
        loss,
        SGD() if optimizer is None else optimizer,
        **{"progress": False, **options},
    )


def counted(y, t):
    calls.append(1)
    return MSE(y, t)


def unnamed(y, t):
    return 0.0


unnamed.__name__ = "lr"

BEFORE = [  # found before the first step
    (lambda: fit(3), TypeError, "model to be a Layer or a function of x, got int"),
    (lambda: fit(L.Linear), TypeError, "the class Linear; write Linear"),
    (lambda: fit(loss=3), TypeError, r"loss to be a function of \(y, t\), got int"),
    (lambda: fit(loss=F.Sin), TypeError, r"loss to be a function .* the class Sin"),
    (lambda: fit(optimizer=SGD), TypeError, "an Optimizer, got the class SGD"),
    (lambda: fit(optimizer=counted), TypeError, "an Optimizer, got function"),
    (lambda: fit(np.sin), RuntimeError, r"was set up, or a model .*; write SGD\(\).s"),
    (lambda: fit(lambda x: x), RuntimeError, "neither"),
    (lambda: fit(epochs=-1), ValueError, "epochs >= 0, got -1"),
    (lambda: fit(epochs=1.0), TypeError, "epochs to be an integer, got float"),
    (lambda: fit(epochs=True), TypeError, "epochs to be an integer, got bool"),
    (lambda: fit(accumulate=0), ValueError, "accumulate >= 1, got 0"),
    (lambda: fit(patience=0), ValueError, "patience >= 1, got 0"),
    (lambda: fit(patience=None, accumulate="2"), TypeError, "accumulate .* got str"),
    (lambda: fit(clip_norm=0), ValueError, "clip_norm above 0, got 0"),
    (lambda: fit(clip_norm=np.nan), ValueError, "clip_norm above 0, got nan"),
    (lambda: fit(clip_norm="1"), TypeError, "clip_norm to be a number, got str"),
    # loaders
    (
        lambda: fit(loader=3),
        TypeError,
        "loader to be a DataLoader or a list of batches",
    ),
    (lambda: fit(loader="abc"), TypeError, "list of batches, got str"),
    (lambda: fit(loader={"x": X, "t": T}), TypeError, "list of batches, got dict"),
    (lambda: fit(loader=Spiral()), TypeError, r"got the dataset Spiral; write DataLo"),
    (lambda: fit(loader=(X, T)), TypeError, r"tuple of arrays; write \[\(x, t\)\]"),
    (lambda: fit(loader=X), TypeError, r"got an array; write \[\(x, t\)\] for one"),
    (lambda: fit(loader=Variable(X)), TypeError, "list of batches, got Variable"),
    (lambda: fit(loader=[]), ValueError, "loader with batches, got an empty one"),
    (lambda: fit(validation=[]), ValueError, "validation with batches, got an empty"),
    (lambda: fit(validation=(X, T)), TypeError, "validation to be .* tuple of arrays"),
    (
        lambda: fit(loader=(b for b in [(X, T)]), epochs=2),
        TypeError,
        "in every epoch, got a generator, which is used up by the first",
    ),
    (
        lambda: fit(loader=zip([X], [T], strict=True), epochs=2),
        TypeError,
        "a zip, which is used up",
    ),
    (
        lambda: fit(validation=iter([]), epochs=2),
        TypeError,
        "which is used up by the first",
    ),
    # metrics, monitor, schedule
    (
        lambda: fit(metrics=3),
        TypeError,
        r"dict or list of functions, got int; write me",
    ),
    (
        lambda: fit(metrics=F.accuracy),
        TypeError,
        r"got function; write metrics=\[F.acc",
    ),
    (
        lambda: fit(metrics=[3]),
        TypeError,
        r"metrics to be functions of \(y, t\), got i",
    ),
    (lambda: fit(metrics={"m": 3}), TypeError, "metrics to be functions .* got int"),
    (
        lambda: fit(metrics=[lambda y, t: 0]),
        ValueError,
        "metrics with names, got one w",
    ),
    (lambda: fit(metrics=[functools.partial(MSE)]), ValueError, "metrics with names"),
    (lambda: fit(metrics={3: MSE}), ValueError, "metrics with names"),
    (lambda: fit(metrics=[MSE, MSE]), ValueError, "name of its own, got 'mean_squared"),
    (lambda: fit(metrics={"loss": MSE}), ValueError, "name of its own, got 'loss'"),
    (lambda: fit(metrics=[unnamed]), ValueError, "a name of its own, got 'lr'"),
    (lambda: fit(metrics={"validation_a": MSE}), ValueError, "got 'validation_a'"),
    (
        lambda: fit(monitor="accuracy", metrics=[MSE]),
        ValueError,
        "monitor to be one of loss, mean_squared_error, got 'accuracy'",
    ),
    (
        lambda: fit(monitor="validation_loss"),
        ValueError,
        r"one of loss, got 'validation_loss' \(.* if validation= is given\)",
    ),
    (
        lambda: fit(monitor="mean_squared_error", metrics=[MSE]),
        ValueError,
        "mode 'min' or 'max' for 'mean_squared_error', got none",
    ),
    (
        lambda: fit(mode="best"),
        ValueError,
        "mode 'min' or 'max' for 'loss', got 'best'",
    ),
    (lambda: fit(schedule_every="batch"), ValueError, "'epoch' or 'step', got 'batch'"),
    (lambda: fit(schedule=StepLR), TypeError, "a Schedule, .* got the class StepLR"),
    (lambda: fit(schedule=3), TypeError, "a Schedule, made with .*, got int"),
    (lambda: fit(schedule=StepLR(SGD(), 2)), ValueError, "a schedule of the optimizer"),
    (lambda: plateau(schedule_every="step"), ValueError, "every='epoch' with ReduceL"),
    (lambda: plateau(mode="max"), ValueError, "ReduceLROnPlateau with mode 'max', as"),
    # the rest
    (
        lambda: fit(callbacks=3),
        TypeError,
        "callbacks to be a list of functions .* int$",
    ),
    (lambda: fit(callbacks=print), TypeError, r"got builtin.*; write callbacks=\[f\]"),
    (lambda: fit(callbacks=[3]), TypeError, "got int among them"),
    (lambda: fit(best=3), TypeError, "best to be the path of a file, got int"),
    (lambda: fit(csv=""), ValueError, "csv to be the path of a file, got ''"),
    (lambda: fit(log_dir=""), ValueError, "log_dir to be the path"),
    (
        lambda: fit(np.sin, optimizer=of_array(), best="x"),
        TypeError,
        "Layer.* for best",
    ),
    (
        lambda: fit(np.sin, optimizer=of_array(), checkpoint="x"),
        TypeError,
        "model to be a Layer, whose weights have names, for checkpoint, got ufunc",
    ),
]


def of_array():
    return SGD().setup([Parameter(np.ones(3))])


def plateau(**options):
    optimizer = SGD()
    return fit(optimizer=optimizer, schedule=ReduceLROnPlateau(optimizer), **options)


@pytest.mark.parametrize("call, error, text", BEFORE)
def test_before_training(call, error, text):
    with pytest.raises(error, match=f"^fit: expected .*{text}"):
        call()


AFTER = [  # found where it happens
    (lambda: fit(loader=[X]), TypeError, r"arrays|batches"),
    (
        lambda: fit(loader=[[X]]),
        TypeError,
        r"batches \(x, t\), .* got list of length 1",
    ),
    (lambda: fit(loader=[3]), TypeError, r"batches \(x, t\), .* got int"),
    (
        lambda: fit(loader=iter([X])),
        TypeError,
        r"\(x0, x1, ..., t\) or dicts with the key 't', got ndarray",
    ),
    (lambda: fit(loader=[{"x": X, "y": T}]), TypeError, "with the keys 'x', 'y'"),
    (lambda: fit(loader=[{"t": T}]), TypeError, "dict with the keys 't'"),
    (
        lambda: fit(loader=[(X[0], 2)]),
        ValueError,
        "one row per item, got a single numb",
    ),
    (lambda: fit(loader=[(X[0], T[0, 0])]), ValueError, "got a single number in one"),
    (lambda: fit(loader=[("a", "b")]), TypeError, "batches of arrays, got one without"),
    (lambda: fit(loader=[(X[:0], T[:0])]), ValueError, "with items, got none in epoch"),
    (
        lambda: fit(loader=iter([])),
        ValueError,
        "loader to give batches in epoch 1, got",
    ),
    (lambda: fit(validation=iter([])), ValueError, "validation to give batches with i"),
    (lambda: fit(loss=lambda y, t: 1.0), TypeError, r"loss\(y, t\) to give a Variable"),
    (
        lambda: fit(loss=lambda y, t: y - t),
        ValueError,
        r"one number, the mean over the batch, got the shape \(6, 1\)",
    ),
    (
        lambda: fit(loss=lambda y, t: MSE(y.detach(), t)),
        RuntimeError,
        "a loss that depends on parameters, got one without a graph",
    ),
    (
        lambda: fit(optimizer=SGD().setup(linear())),
        RuntimeError,
        "parameters of the optimizer, got gradients for none .* another model",
    ),
    (
        lambda: fit(metrics={"m": lambda y, t: "good"}),
        TypeError,
        "the metric 'm' to give a number, got str",
    ),
    (
        lambda: fit(metrics={"m": lambda y, t: y}),
        ValueError,
        r"the metric 'm' to give one number, got the shape \(6, 1\)",
    ),
]


@pytest.mark.parametrize("call, error, text", AFTER)
def test_in_training(call, error, text):
    with pytest.raises(error, match=f"^fit: expected .*{text}"):
        call()


def test_lbfgs_and_another_model():
    with pytest.raises(RuntimeError, match="gradients for none of them"):
        fit(optimizer=LBFGS().setup(linear()))


def test_an_iterator_of_ones_own_that_is_used_up():
    class Once:
        def __init__(self):
            self.batches = iter([(X, T)])

        def __iter__(self):
            return self

        def __next__(self):
            return next(self.batches)

    model = linear()
    with pytest.raises(ValueError, match="in epoch 2, got none; a generator can be lo"):
        fit(model, Once(), epochs=2)
    with pytest.raises(ValueError, match="validation to give .*; a generator can be l"):
        fit(model, validation=Once(), epochs=2)


@pytest.mark.parametrize("name", ["best", "checkpoint", "csv"])
def test_files_are_looked_at_before_training(tmp_path, name):
    calls.clear()
    with pytest.raises(FileNotFoundError, match=f"folder of {name} to be there, got"):
        fit(loss=counted, **{name: tmp_path / "missing" / "file"})
    with pytest.raises(IsADirectoryError, match=f"expected {name} to be a file, got"):
        fit(loss=counted, **{name: tmp_path})
    assert calls == []


def test_a_folder_for_events_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="log_dir to be a folder, got the fi"):
        fit(log_dir=tmp_path / "file")


def test_a_format_whose_package_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="safetensors for best=.*pip install safet"):
        fit(best=tmp_path / "best.safetensors")


def test_a_refusal_leaves_everything_as_it_was(tmp_path):
    model, path = linear(), tmp_path / "history.csv"
    path.write_text("mine")
    optimizer = Adam().setup(model)
    loader = DataLoader(TensorDataset(X, T), 2)
    next(loader)
    with pytest.raises(TypeError):
        fit(model, loader, optimizer=optimizer, csv=path, clip_norm=1, callbacks=[3])
    assert model.W.data is None and not optimizer.hooks and loader.iteration == 1
    assert path.read_text() == "mine"


@pytest.mark.parametrize(
    "arguments, error, text",
    [
        (
            (linear, Spiral(), MSE),
            TypeError,
            "evaluate: expected loader .* dataset Spir",
        ),
        (
            (linear(), [], MSE),
            ValueError,
            "evaluate: expected loader with batches, got",
        ),
        (
            (linear(), iter([]), MSE),
            ValueError,
            "evaluate: expected loader to give bat",
        ),
        ((linear(), [(X, T)], MSE, 3), TypeError, "evaluate: expected metrics to be a"),
        ((linear(), [3], MSE), TypeError, r"evaluate: expected batches \(x, t\)"),
    ],
)
def test_evaluate(arguments, error, text):
    with pytest.raises(error, match=text):
        evaluate(*arguments)
