"""The objects of a run: all of them are loaded or none; what layers carry."""

import copy
import os
import random

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import optimizers
from dezero.checkpoints import load_checkpoint, save_checkpoint
from dezero.core import Parameter, Variable
from dezero.dataloaders import DataLoader
from dezero.datasets import TensorDataset
from dezero.layers import Layer
from dezero.models import MLP, Sequential
from dezero.serializers import load_npz, save_npz
from dezero.transforms import Mixup

from .runs import Run, T, X, refused, same


class Own:
    """An object of the user's, which can be made to fail."""

    def __init__(self, fail=None):
        self.x, self.items, self.fail = 1.0, [1], fail

    def state_dict(self):
        return {"x": self.x, "items": self.items}

    def load_state_dict(self, state):
        self.items[:] = state["items"]
        self.y = np.random.rand(), random.random()
        if self.fail is not None:
            raise self.fail
        self.x = state["x"]


class Silent:
    """An object of the user's that has no state yet."""

    def state_dict(self):
        raise OSError("mine")

    def load_state_dict(self, state):
        raise AssertionError("it cannot go back, and so must not be loaded")


class Slots:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x

    def state_dict(self):
        return {"x": self.x}

    def load_state_dict(self, state):
        self.x = state["x"]


@pytest.mark.parametrize("steps", [0, 3, 6])
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_objects_that_fail_take_all_others_back(tmp_path, steps, kind):
    dz.seed(0)
    error = kind("mine")
    run, own, slots = Run(), Own(), Slots(2)
    run.train(5)
    own.x, own.items = 2.0, [1, 2]
    others = {"aa": Slots(3), "own": own, "slots": slots}
    save_checkpoint(tmp_path / "run", **run.parts(), **others)
    run, own = Run(), Own(error)
    if steps:
        run.train(steps)
    first, last = Slots(5), Slots(6)
    others = {"aa": first, "own": own, "slots": last}
    caught = refused(tmp_path / "run", kind, "mine", run, **others)
    assert caught is error
    assert (own.x, own.items, first.x, last.x) == (1.0, [1], 5, 6)
    assert not hasattr(own, "y")
    assert "load_checkpoint: own could not be loaded" in caught.__notes__[0]
    # its going back fails too, for that calls the same method
    assert caught.__notes__[1:] == ["load_checkpoint: own could not go back: mine"]


def test_a_broken_pass_is_not_resumed_by_a_failure(tmp_path):
    run = Run(seed=3)
    run.train(2)
    run.save(tmp_path / "run")
    other = Run(seed=4)
    for _ in other.loader:
        break
    with pytest.raises(ValueError, match="missing in the file: own"):
        load_checkpoint(tmp_path / "run", **other.parts(), own=Own())
    fail = Own(ValueError("mine"))
    save_checkpoint(tmp_path / "run", **run.parts(), own=Own())
    expected = copy.deepcopy(other.loader)
    with pytest.raises(ValueError, match="mine"):
        load_checkpoint(tmp_path / "run", **other.parts(), own=fail)
    assert [t.tolist() for _, t in other.loader] == [t.tolist() for _, t in expected]


def test_wrong_parts(tmp_path):
    run = Run()
    run.train(3)
    run.save(tmp_path / "run")
    other = Run()
    message = (
        r"^load_checkpoint: expected the parts in '.*run', got others; missing in the "
        r"file: own, another$"
    )
    others = {"own": Own(), "another": Slots(1)}
    refused(tmp_path / "run", ValueError, message, other, **others)
    parts = other.parts()
    del parts["loader"], parts["average"]
    with pytest.raises(ValueError, match="others; not given: average, loader$"):
        load_checkpoint(tmp_path / "run", **parts)
    message = "missing in the file: net; not given: average, mixup, .*, model$"
    with pytest.raises(ValueError, match=message):
        load_checkpoint(tmp_path / "run", net=other.model)
    with pytest.raises(ValueError, match="missing in the file: net$"):
        load_checkpoint(tmp_path / "run", strict=False, net=other.model)


@pytest.mark.parametrize(
    "name, part, error, message",
    [
        (
            "model",
            lambda run: MLP((4, 2)),
            ValueError,
            "MLP.load_state_dict: expected the weights .* missing: l1/W, l1/b; unexp",
        ),
        (
            "optimizer",
            lambda run: optimizers.SGD().setup(run.model),
            ValueError,
            "SGD.load_state_dict: expected the state .* its rule is Adam; ",
        ),
        (
            "schedule",
            lambda run: optimizers.CosineLR(run.optimizer, 3),
            ValueError,
            "CosineLR.load_state_dict: expected the state of this",
        ),
        (
            "loader",
            lambda run: DataLoader(TensorDataset(X, T), 5),
            ValueError,
            "DataLoader.load_state_dict: expected batch_size 5, got 4",
        ),
        (
            "average",
            lambda run: optimizers.ExponentialMovingAverage(MLP((4, 2))),
            ValueError,
            "ExponentialMovingAverage.load_state_dict: expected the averages of these",
        ),
        (
            "average",
            lambda run: run.model,
            ValueError,
            "load_checkpoint: Sequential: expected the state of a Layer, got another",
        ),
        (
            "mixup",
            lambda run: Mixup(2),
            ValueError,
            "Mixup.load_state_dict: expected the state of a transform with no seed",
        ),
        (
            "optimizer",
            lambda run: optimizers.Adam(),
            RuntimeError,
            r"Adam: expected setup\(model\) to come first",
        ),
    ],
)
def test_objects_of_another_kind(tmp_path, name, part, error, message):
    run = Run()
    run.train(4)
    run.save(tmp_path / "run")
    other = Run()
    other.train(2)
    refused(tmp_path / "run", error, message, other, **{name: part(other)})


def test_plain_data_is_not_given_to_load(tmp_path):
    save_checkpoint(tmp_path / "run", epoch=1)
    message = (
        "load_checkpoint: expected objects with state_dict and load_state_dict, got "
        "int as epoch; plain data is returned"
    )
    with pytest.raises(TypeError, match=message):
        load_checkpoint(tmp_path / "run", epoch=1)
    with pytest.raises(TypeError, match="got type as model"):
        load_checkpoint(tmp_path / "run", model=MLP)


def test_what_cannot_be_saved_leaves_the_old_file(tmp_path):
    save_checkpoint(tmp_path / "run", epoch=1)
    with pytest.raises(TypeError, match=r"save_checkpoint: .* got set in value of x$"):
        save_checkpoint(tmp_path / "run", epoch=2, x={1})
    own = Own()
    own.x = {1}
    message = r"save_checkpoint: .* got set in state of own\['x'\]$"
    with pytest.raises(TypeError, match=message):
        save_checkpoint(tmp_path / "run", own=own)
    with pytest.raises(ValueError, match="save_checkpoint: expected another name .* s"):
        save_checkpoint(tmp_path / "run", strict=own)
    with pytest.raises(ValueError, match="expected the path of a file, got"):
        save_checkpoint(f"{tmp_path}/", own=Own())
    assert load_checkpoint(tmp_path / "run") == {"epoch": 1}
    assert os.listdir(tmp_path) == ["run.npz"]
    save_checkpoint(tmp_path / "run", strict=True)
    assert load_checkpoint(tmp_path / "run") == {"strict": True}


# ---- layers that carry something ----------------------------------------------------


@pytest.mark.parametrize("kind", [L.RNN, L.LSTM, L.GRU])
def test_recurrent_layers_go_on_in_the_middle_of_a_sequence(tmp_path, kind):
    x = np.random.default_rng(0).standard_normal((12, 2, 3)).astype(np.float32)

    def start():
        model = Sequential(kind(4), L.Linear(1))
        return model, optimizers.Adam(0.01).setup(model)

    def go_on(model, optimizer, first, last):
        loss = 0
        for i in range(first, last):
            loss = loss + F.sum(model(x[i]) ** 2)
            if i % 3 == 2:  # truncated backpropagation through time
                model.cleargrads()
                loss.backward()
                loss.unchain_backward()
                optimizer.update()
                loss = 0

    def end(model, optimizer):
        return model.state_dict(), optimizer.state_dict(), model[0].h.data

    dz.seed(0)
    whole = start()
    go_on(*whole, 0, 12)
    for stop in 3, 6, 9:
        dz.seed(0)
        model, optimizer = start()
        go_on(model, optimizer, 0, stop)
        save_checkpoint(tmp_path / "run", model=model, optimizer=optimizer)
        model, optimizer = start()
        load_checkpoint(tmp_path / "run", model=model, optimizer=optimizer)
        go_on(model, optimizer, stop, 12)
        assert same(end(model, optimizer), end(*whole))


def test_a_state_that_was_reset_is_reset(tmp_path):
    model = Sequential(L.LSTM(4))
    model(X)
    model[0].reset_state()
    save_checkpoint(tmp_path / "run", model=model)
    model(X)
    load_checkpoint(tmp_path / "run", model=model)
    assert model[0].h is None and model[0].c is None


class Carrying(Layer):
    def __init__(self):
        self.W = Parameter(np.zeros(2))
        self.scale = Variable(np.ones(2))
        self.last = None
        self._private = Variable(np.ones(1))


def test_other_variables_of_layers(tmp_path):
    model = Carrying()
    model.scale.data = np.full(2, 3.0)
    model.last = model.scale * 2
    save_checkpoint(tmp_path / "run", model=model)
    other = Carrying()
    scale = other.scale
    load_checkpoint(tmp_path / "run", model=other)
    assert other.scale is scale and scale.data.tolist() == [3, 3]
    assert scale.requires_grad
    assert other.last.data.tolist() == [6, 6] and other.last.creator is None
    before = other.last
    load_checkpoint(tmp_path / "run", model=model)  # replaces what has a graph
    assert model.last.creator is None and other.last is before
    # a failure leaves all of it
    scale.data = np.full(2, 4.0)
    save_checkpoint(tmp_path / "run", model=model, own=Own())
    with pytest.raises(ValueError, match="mine"):
        load_checkpoint(tmp_path / "run", model=other, own=Own(ValueError("mine")))
    assert other.scale is scale and scale.data.tolist() == [4, 4]
    assert other.last is before


@pytest.mark.parametrize("change", ["forward", "W", "_private"])
def test_what_layers_do_not_carry(tmp_path, change):
    model = Carrying()
    model.last = Variable(np.ones(1))
    save_checkpoint(tmp_path / "run", model=model)
    arrays = load_npz(tmp_path / "run")
    text = arrays["structure"].tobytes().replace(b'"last"', f'"{change}"'.encode())
    arrays["structure"] = np.frombuffer(text, np.uint8)
    save_npz(tmp_path / "run", arrays)
    message = (
        "load_checkpoint: Carrying: expected layers that carry what they carried when "
        f"they were saved, got others without {change}\n"
    )
    with pytest.raises(ValueError, match=message):
        load_checkpoint(tmp_path / "run", model=Carrying())


class WithCounter(Layer):
    """A model whose state is more than its weights."""

    def __init__(self, fail=False):
        self.W = Parameter(np.zeros(2))
        self.counts, self.fail = [0], fail

    def state_dict(self):
        return {"weights": super().state_dict(), "counts": list(self.counts)}

    def load_state_dict(self, state, strict=True):
        self.counts[:] = state["counts"]
        return super().load_state_dict(state["weights"], strict)


def test_a_layer_with_a_state_of_its_own(tmp_path):
    model = WithCounter()
    model.counts[0] = 5
    save_checkpoint(tmp_path / "run", model=model, own=Own())
    other = WithCounter()
    with pytest.raises(ValueError, match="mine"):
        load_checkpoint(tmp_path / "run", model=other, own=Own(ValueError("mine")))
    assert other.counts == [0]
    load_checkpoint(tmp_path / "run", model=other, own=Own())
    assert other.counts == [5]


def test_objects_that_cannot_tell_their_state_are_named(tmp_path):
    run, silent = Run(), Silent()
    with pytest.raises(OSError, match="mine") as caught:
        save_checkpoint(tmp_path / "run", **run.parts(), silent=silent)
    assert caught.value.__notes__ == [
        "save_checkpoint: silent could not tell its state"
    ]
    assert not list(tmp_path.iterdir())
    save_checkpoint(tmp_path / "run", **run.parts(), silent=Slots(1))
    run.train(2)
    refused(tmp_path / "run", OSError, "mine", run, silent=silent)
    with pytest.raises(OSError, match="mine") as caught:
        load_checkpoint(tmp_path / "run", **run.parts(), silent=silent)
    assert caught.value.__notes__ == [
        "load_checkpoint: silent could not tell its state"
    ]
