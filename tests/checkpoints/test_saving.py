"""What a checkpoint has in it, and in which order it is loaded; files it is not."""

import os
import random

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import cuda, optimizers
from dezero.checkpoints import load_checkpoint, save_checkpoint
from dezero.models import MLP, Sequential
from dezero.serializers import load_npz, save_npz

from .runs import Run, X, random_numbers, refused, same


@pytest.mark.parametrize("saved", ["run", "run.npz"])
@pytest.mark.parametrize("loaded", ["run", "run.npz"])
@pytest.mark.parametrize("kind", [str, lambda path: path], ids=["str", "Path"])
def test_plain_data_comes_back(tmp_path, saved, loaded, kind):
    data = {
        "epoch": 3,
        "best": float("inf"),
        "history": {"loss": [1.0, 0.5], "lr": (0.1,)},
        "note": None,
        "table": np.arange(3),
        "path": "a/b",
        "dtype": np.float32(1),
    }
    save_checkpoint(kind(tmp_path / saved), **data)
    assert same(load_checkpoint(kind(tmp_path / loaded)), data)
    assert os.listdir(tmp_path) == ["run.npz"]


def test_saving_does_not_disturb(tmp_path):
    dz.seed(1)
    run = Run()
    run.train(3)
    before, numbers = run.end(), random_numbers()
    run.save(tmp_path / "run")
    assert same((run.end(), random_numbers()), (before, numbers))
    first = (tmp_path / "run.npz").read_bytes()
    run.save(tmp_path / "run")
    assert (tmp_path / "run.npz").read_bytes() == first


def test_random_states(tmp_path):
    dz.seed(5)
    random.gauss(0, 1), np.random.standard_normal()  # one of two is left over
    save_checkpoint(tmp_path / "run")
    expected = random_numbers()
    dz.seed(6)
    load_checkpoint(tmp_path / "run")
    assert random_numbers() == expected


def test_models_are_loaded_before_what_needs_their_shapes(tmp_path):
    run = Run()
    run.train(2)
    run.save(tmp_path / "run")
    for order in "amo", "oma", "aom", "moa":
        model = Sequential(L.Linear(4), L.BatchNorm(), L.Dropout(0.2), L.Linear(2))
        average = optimizers.ExponentialMovingAverage(model, 0.9)
        parts = {"a": ("average", average), "m": ("model", model)}
        parts["o"] = ("average2", optimizers.ExponentialMovingAverage(model, 0.9))
        save_checkpoint(
            tmp_path / "two", model=run.model, average=run.average, average2=run.average
        )
        load_checkpoint(tmp_path / "two", **dict(parts[k] for k in order))
        assert same(average.state_dict(), run.average.state_dict())


def test_a_lazy_optimizer_too(tmp_path):
    model = MLP((4, 2))
    optimizer = optimizers.Adam().setup(model)
    save_checkpoint(tmp_path / "start", optimizer=optimizer, model=model)
    F.sum(model(X)).backward()
    optimizer.update()
    save_checkpoint(tmp_path / "later", optimizer=optimizer, model=model)
    other = MLP((4, 2))
    fresh = optimizers.Adam().setup(other)
    load_checkpoint(tmp_path / "start", optimizer=fresh, model=other)
    assert all(p.data is None for name, p in other.named_params() if name[-1] == "W")
    load_checkpoint(tmp_path / "later", optimizer=fresh, model=other)
    assert same(fresh.state_dict(), optimizer.state_dict())
    assert same(other.state_dict(), model.state_dict())
    message = "MLP.load_state_dict: .* l0/W .*got one not known yet"
    with pytest.raises(ValueError, match=message):
        load_checkpoint(tmp_path / "start", optimizer=fresh, model=other)


@pytest.mark.parametrize("rule", [optimizers.Adam, optimizers.RMSprop])
def test_switched_on_just_before(tmp_path, rule):
    def start(switched):
        dz.seed(0)
        model = MLP((4, 2))
        return model, rule(**switched).setup(model)

    def step(model, optimizer):
        model.cleargrads()
        F.sum(model(X) ** 2).backward()
        optimizer.update()

    is_adam = rule is optimizers.Adam
    switched = {"amsgrad": True} if is_adam else {"centered": True, "momentum": 0.5}
    model, optimizer = start({})
    step(model, optimizer)
    vars(optimizer).update(switched)
    save_checkpoint(tmp_path / "run", model=model, optimizer=optimizer)
    other, resumed = start(switched)
    load_checkpoint(tmp_path / "run", model=other, optimizer=resumed)
    for _ in range(3):
        step(model, optimizer)
        step(other, resumed)
    assert same(other.state_dict(), model.state_dict())


def test_the_data_alone(tmp_path):
    Run().save(tmp_path / "run", epoch=3)
    assert load_checkpoint(tmp_path / "run", strict=False) == {"epoch": 3, "steps": 0}


@pytest.mark.gpu
def test_on_a_gpu(tmp_path):
    def start():
        model = Sequential(L.LSTM(4), L.BatchNorm(), L.Linear(1))
        model(X)
        model.to_gpu()
        model[0].reset_state()
        optimizer = optimizers.Adam().setup(model)
        average = optimizers.ExponentialMovingAverage(model)
        return {"model": model, "optimizer": optimizer, "average": average}

    def go_on(model, optimizer, average, steps):
        for _ in range(steps):
            loss = F.sum(model(cuda.as_cupy(X)) ** 2)
            model.cleargrads()
            loss.backward()
            loss.unchain_backward()
            optimizer.update()
            average.update()

    def end(model, optimizer, average):
        states = [x.state_dict() for x in (model, optimizer, average)]
        return states, cuda.as_numpy(model[0].h), cuda.as_numpy(model[0].c)

    dz.seed(0)
    first = start()
    go_on(**first, steps=3)
    table = cuda.as_cupy(np.arange(3))
    save_checkpoint(tmp_path / "run", **first, table=table)
    second = start()
    rest = load_checkpoint(tmp_path / "run", **second)
    assert same(rest, {"table": np.arange(3)})
    assert same(end(**second), end(**first))
    assert cuda.get_array_module(second["model"][0].h) is not np
    for parts in first, second:
        go_on(**parts, steps=2)
    for x, y in zip(*[p["model"].params() for p in (first, second)], strict=True):
        assert cuda.get_array_module(y.data) is not np
        np.testing.assert_allclose(
            cuda.as_numpy(x), cuda.as_numpy(y), rtol=1e-5, atol=1e-6
        )
    # into a model on the CPU, and back
    fresh = Sequential(L.LSTM(4), L.BatchNorm(), L.Linear(1))
    load_checkpoint(tmp_path / "run", strict=False, model=fresh)
    assert isinstance(fresh[0].h.data, np.ndarray)
    state = first["model"].state_dict()
    assert all(isinstance(x, np.ndarray) for x in state.values())
    second["model"].load_state_dict({k: cuda.as_cupy(x) for k, x in state.items()})
    assert same(second["model"].state_dict(), state)


def test_a_model_alone_to_be_used(tmp_path):
    run = Run()
    run.train(2)
    run.save(tmp_path / "run", epoch=7)
    other = Run().model
    numbers = random_numbers()
    rest = load_checkpoint(tmp_path / "run", strict=False, model=other)
    assert rest == {"epoch": 7, "steps": 2}
    assert same(other.state_dict(), run.model.state_dict())
    assert random_numbers() == numbers


# ---- files that are not what they should be -----------------------------------------

EXPECTED = "load_checkpoint: expected a file that save_checkpoint wrote, got '.*run'"


def test_there_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="run"):
        load_checkpoint(tmp_path / "run")


def test_files_of_weights_and_of_later_versions(tmp_path):
    run = Run()
    run.save(tmp_path / "run")
    arrays = load_npz(tmp_path / "run")
    run.model.save_weights(tmp_path / "run")
    refused(
        tmp_path / "run",
        ValueError,
        rf"{EXPECTED} with other arrays; model.load_weights\(path\) reads weights$",
        run,
    )
    save_npz(tmp_path / "run", {**arrays, "dezero checkpoint": np.array(2)})
    message = f"{EXPECTED} of version 2, later than 1; a later version of dezero reads"
    refused(tmp_path / "run", ValueError, message, run)
    for odd in np.array("1"), np.array([1]):
        save_npz(tmp_path / "run", {**arrays, "dezero checkpoint": odd})
        refused(
            tmp_path / "run",
            ValueError,
            r"with other arrays; model.load_weights\(path\) reads weights$",
            run,
        )
    for name in "structure", "0":
        rest = {k: x for k, x in arrays.items() if k != name}
        save_npz(tmp_path / "run", rest)
        refused(tmp_path / "run", ValueError, rf"{EXPECTED}: KeyError\('{name}'\)", run)
    save_npz(tmp_path / "run", {**arrays, "structure": np.zeros(3, np.uint8)})
    refused(tmp_path / "run", ValueError, f"{EXPECTED}: JSONDecodeError", run)


def test_damaged_files(tmp_path):
    run = Run()
    run.train(3)
    run.save(tmp_path / "run")
    whole = (tmp_path / "run.npz").read_bytes()
    run.train(5)
    rng = np.random.default_rng(0)
    for size in rng.integers(0, len(whole), 8):
        (tmp_path / "run.npz").write_bytes(whole[:size])
        refused(tmp_path / "run", ValueError, "load_npz: expected a whole .npz", run)
    message = "load_(npz|checkpoint): expected a "
    found = 0
    for _ in range(25):
        flipped = bytearray(whole)
        flipped[rng.integers(len(whole))] ^= 1 << rng.integers(8)
        (tmp_path / "run.npz").write_bytes(flipped)
        try:
            load_checkpoint(tmp_path / "run", **Run().parts())
        except ValueError:
            refused(tmp_path / "run", ValueError, message, run)
            found += 1
    assert found > 15  # some bytes of a zip file mean nothing


def test_another_global_generator(tmp_path):
    save_checkpoint(tmp_path / "run")
    usual = np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.PCG64(1))
    try:
        with pytest.raises(ValueError, match=f"{EXPECTED}: ValueError.*PCG64"):
            load_checkpoint(tmp_path / "run")
        save_checkpoint(tmp_path / "run")
        expected = np.random.rand()
        load_checkpoint(tmp_path / "run")
        assert np.random.rand() == expected
    finally:
        np.random.set_bit_generator(usual)
