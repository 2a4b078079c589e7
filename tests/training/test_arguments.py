"""What fit refuses: before it trains where that is possible, and in which words."""

import functools

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import DataLoader
from dezero.core import Parameter, Variable
from dezero.datasets import ConcatDataset, Spiral, Subset, TensorDataset
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
    (lambda: fit(clip_norm=1j), TypeError, "clip_norm to be a number, got complex"),
    (lambda: fit(clip_norm=np.complex64(1)), TypeError, "a number, got complex64"),
    (lambda: fit(clip_norm=10**400), ValueError, "a finite clip_norm above 0, got 100"),
    (lambda: fit(clip_norm=np.inf), ValueError, "a finite clip_norm above 0, got inf"),
    (lambda: fit(check_finite="no"), TypeError, "check_finite to be True or .* str$"),
    (lambda: fit(progress="bar"), TypeError, "progress to be True or False, got str$"),
    (lambda: fit(progress=2), TypeError, "progress to be True or False, got int$"),
    (
        lambda: fit(restore_best="best.npz"),
        TypeError,
        "restore_best to be True or False, got str; best= names a file$",
    ),
    # loaders
    (
        lambda: fit(loader=3),
        TypeError,
        "loader to be a DataLoader or a list of batches",
    ),
    (lambda: fit(loader="abc"), TypeError, "list of batches, got str"),
    (lambda: fit(loader={"x": X, "t": T}), TypeError, "list of batches, got dict"),
    (lambda: fit(loader=Spiral()), TypeError, r"got the dataset Spiral; write DataLo"),
    (lambda: fit(loader=Spiral), TypeError, "a list of batches, got the class Spiral$"),
    (lambda: fit(loader=DataLoader), TypeError, "got the class DataLoader$"),
    (lambda: fit(loader=list), TypeError, "got the class list$"),
    (
        lambda: fit(loader=TensorDataset(X, T)),
        TypeError,
        "dataset TensorDataset; write",
    ),
    (
        lambda: fit(validation=Subset(TensorDataset(X, T), [1])),
        TypeError,
        r"validation to be .* dataset Subset; write DataLoader\(Subset\(...\), batch_",
    ),
    (
        lambda: fit(loader=ConcatDataset([TensorDataset(X, T)])),
        TypeError,
        "got the dataset ConcatDataset; write",
    ),
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
        lambda: fit(loader=[{0: X, "t": T}]),
        TypeError,
        "dicts of inputs by name, got the key 0$",
    ),
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
        lambda: fit(metrics={"m": lambda y, t: np.array("a")}),
        TypeError,
        "the metric 'm' to give a number, got one of dtype <U1$",
    ),
    (
        lambda: fit(metrics={"m": lambda y, t: np.complex64(1)}),
        TypeError,
        "the metric 'm' to give a number, got one of dtype complex64$",
    ),
    (
        lambda: fit(metrics={"m": lambda y, t: np.array(None)}),
        TypeError,
        "the metric 'm' to give a number, got one of dtype object$",
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


class Unknown:
    """A loader that has ``__len__`` and knows no length, as some of PyTorch's."""

    def __iter__(self):
        return iter([(X, T), (X, T)])

    def __len__(self):
        raise TypeError("of unknown length")


def test_a_loader_whose_length_is_not_known():
    assert len(fit(loader=Unknown(), epochs=2)["loss"]) == 2
    assert evaluate(linear(), Unknown(), MSE)["loss"] > 0


@pytest.mark.parametrize(
    "batch",
    [
        ((X, X), T),
        ({"a": None, "b": X}, T),
        (X[:, None], {"a": (None, np.array(3)), "b": T}),  # rows of what has an axis
        ((X, X), {"a": {"b": T}}),
        (X, [2.0] * 6),
    ],
)
def test_rows_of_nested_batches(batch):
    def fake(y, t):
        return F.sum(y)

    def model(x):
        return F.sum(w)

    w = Parameter(np.ones(2))
    loader = [batch, (X[:2], T[:2])]  # a loss of 2 for all 8 items
    found = {"rows": lambda y, t: 6.0 if t is batch[1] else 2.0}
    optimizer = SGD(lr=0.0).setup([w])
    history = fit(model, loader, fake, optimizer, metrics=found)
    assert history["loss"] == [2.0] and history["rows"] == [(6 * 6 + 2 * 2) / 8]


def test_a_folder_in_the_place_of_the_file_of_arrays(tmp_path):
    (tmp_path / "run.npz").mkdir()
    for name in "best", "checkpoint":
        with pytest.raises(IsADirectoryError, match=rf"{name} to be a .*run\.npz'$"):
            fit(**{name: tmp_path / "run"})
    fit(csv=tmp_path / "run")  # whose name stays as it is


@pytest.mark.parametrize(
    "first, second, paths",
    [
        ("best", "checkpoint", ("run", "run.npz")),
        ("best", "checkpoint", ("run", "link/run")),
        ("best", "csv", ("run.safetensors", "run.safetensors")),
        ("checkpoint", "csv", ("run", "run.npz")),
        ("checkpoint", "csv", ("run.safetensors", "run.safetensors.npz")),
    ],
)
def test_files_that_would_replace_each_other(tmp_path, first, second, paths):
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    message = f"^fit: expected {first} and {second} to be two files, got .* for both$"
    with pytest.raises(ValueError, match=message):
        fit(**{first: tmp_path / paths[0], second: tmp_path / paths[1]})


def test_files_whose_names_differ_in_the_end(tmp_path):
    history = fit(
        best=tmp_path / "run.safetensors",
        checkpoint=tmp_path / "run.safetensors.csv",
        csv=tmp_path / "run",
        epochs=1,
    )
    assert history["epoch"] == [1]
    names = {"run", "run.safetensors", "run.safetensors.csv.npz"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_a_folder_for_events_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="log_dir to be a folder, got the fi"):
        fit(log_dir=tmp_path / "file")


def test_a_format_whose_package_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match="safetensors for best=.*pip install safet"):
        fit(best=tmp_path / "best.safetensors")
    fit(checkpoint=tmp_path / "run.safetensors")  # an .npz file all the same
    assert (tmp_path / "run.safetensors.npz").exists()


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
        (
            (L.Linear, [(X, T)], MSE),
            TypeError,
            r"evaluate: expected model .* got the class Linear; write Linear\(\)$",
        ),
        ((None, [(X, T)], MSE), TypeError, "evaluate: .* function of x, got NoneType$"),
        ((linear(), [(X, T)], "mse"), TypeError, r"evaluate: .* \(y, t\), got str$"),
        ((linear(), [(X, T)], F.Sin), TypeError, r"\(y, t\), got the class Sin$"),
        ((linear(), [3], MSE), TypeError, r"evaluate: expected batches \(x, t\)"),
    ],
)
def test_evaluate(arguments, error, text):
    with pytest.raises(error, match=text):
        evaluate(*arguments)
