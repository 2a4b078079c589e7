"""Saving and loading the objects of a training run, all of them or none."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from dezero import serializers
from dezero.checkpoints.packing import pack, unpack
from dezero.checkpoints.parts import has_state, load_state, state_of, turn, undoing

# The array of this name holds the version of the format.
_MARK = "dezero checkpoint"
VERSION = 1


def save_checkpoint(path: serializers.Path, /, **parts: Any) -> None:
    """Write all that a training run needs to go on later as if it had never stopped.

    ::

        model, loader = MLP((100, 10)), DataLoader(dataset, 32)
        optimizer = Adam().setup(model)
        run = dict(model=model, optimizer=optimizer, loader=loader)
        start = 0
        if os.path.exists("run.npz"):
            start = dz.load_checkpoint("run.npz", **run)["epoch"]
        for epoch in range(start, 10):
            for x, t in loader:  # goes on in the middle of an epoch if it was there
                loss = F.softmax_cross_entropy(model(x), t)
                model.cleargrads()
                loss.backward()
                optimizer.update()
                dz.save_checkpoint("run.npz", **run, epoch=epoch)

    The file takes the place of an older one only when it is complete: whenever the
    process is killed, one of the two is there, whole. Saving does not disturb the run:
    no random number is drawn.

    What has the methods ``state_dict`` and ``load_state_dict`` is saved by its state:
    a model, optimizer with its hooks, schedule, loader, average, a transform with a
    seed or a Compose of such, and objects of your own. Of a Layer these are the
    Parameters and what it carries from call to call: its other Variables, such as h and
    c of an LSTM, without the graph behind them. Gradients are not saved: save after an
    update. The states of ``random`` and ``np.random`` always are. CuPy cannot tell its
    own; where the GPU draws (dropout), ``dz.seed`` with another number at each epoch
    makes a run repeat from there.

    All else must be plain data: None, bool, int, float, str, bytes, NumPy arrays,
    scalars and random generators (``np.random.Generator``, ``RandomState``), and lists,
    tuples and dicts with str keys of these.

    Args:
        path: ``.npz`` is added where it is missing.
        **parts: What to save, by names of your choice.

    Raises:
        OSError: It cannot be written there; the old file stays.
        TypeError: Something is neither of these.
        ValueError: Data is nested too deeply or contains itself, an object has the
            name ``strict``, or ``path`` names no file.
    """
    stateful = {name: x for name, x in parts.items() if has_state(x)}
    if "strict" in stateful:
        raise ValueError(
            "save_checkpoint: expected another name for an object than strict, which "
            "is an argument of load_checkpoint"
        )
    content = {
        "random": _random_states(),
        **{
            f"state of {name}": _asked("save_checkpoint", name, state_of, x)
            for name, x in stateful.items()
        },
        **{f"value of {name}": x for name, x in parts.items() if name not in stateful},
    }
    arrays = pack("save_checkpoint", content)
    serializers.save_npz(path, {_MARK: np.array(VERSION), **arrays})


def load_checkpoint(
    path: serializers.Path, /, *, strict: bool = True, **parts: Any
) -> dict[str, Any]:
    """Bring objects, and the random states, to where :func:`save_checkpoint` saw them.

    The objects are made as they were made for the run that was saved, and given by the
    same names, in any order: models are loaded first, then optimizers, then the rest.
    If anything fails, all of them stay as they were, and so do the random states.

    Args:
        path: As given to :func:`save_checkpoint`, with or without ``.npz``.
        strict: Whether all objects in the file must be given. Without, the others are
            passed over and the random states stay as they are: to use a model or to
            look at the plain data, rather than to go on with a run.
        **parts: The objects to bring there.

    Returns:
        The plain data in the file by name, with the types it had. An array of a GPU
        has come to the CPU.

    Raises:
        FileNotFoundError: There is no such file.
        TypeError: A part that is given has no state.
        ValueError: The file is damaged, no checkpoint, or of a later version; it has
            other parts than are given; or a state does not fit its object.
    """
    saved = _read(path)
    for name, x in parts.items():
        if not has_state(x):
            raise TypeError(
                "load_checkpoint: expected objects with state_dict and "
                f"load_state_dict, got {type(x).__name__} as {name}; plain data is "
                "returned"
            )
    states = _named(saved, "state of ")
    problems = {
        "missing in the file": [name for name in parts if name not in states],
        "not given": [name for name in states if name not in parts and strict],
    }
    if any(problems.values()):
        lists = [f"{kind}: {', '.join(v)}" for kind, v in problems.items() if v]
        raise ValueError(
            f"load_checkpoint: expected the parts in {os.fsdecode(path)!r}, got "
            f"others; {'; '.join(lists)}"
        )
    names = sorted(parts, key=lambda name: turn(parts[name]))
    random_states = _random_states()
    undo = {  # before anything changes
        name: _asked("load_checkpoint", name, undoing, parts[name]) for name in names
    }
    tried = ["the random states"]
    try:
        for name in names:
            tried.append(name)
            load_state(parts[name], states[name])
        if strict:
            _set_random_states(saved["random"], random, np.random)
    except BaseException as error:
        error.add_note(f"load_checkpoint: {tried[-1]} could not be loaded")
        for name in tried[1:]:
            try:
                undo[name]()
            except BaseException as another:  # the others go back all the same
                error.add_note(f"load_checkpoint: {name} could not go back: {another}")
        _set_random_states(random_states, random, np.random)
        raise
    return _named(saved, "value of ")


def _read(path: serializers.Path) -> dict[str, Any]:
    """What is in a file, checked as far as it can be without the objects."""
    arrays = serializers.load_npz(path)
    expected = "load_checkpoint: expected a file that save_checkpoint wrote"
    given = repr(os.fsdecode(path))
    if _MARK not in arrays or arrays[_MARK].shape or arrays[_MARK].dtype.kind != "i":
        raise ValueError(
            f"{expected}, got {given} with other arrays; model.load_weights(path) "
            "reads weights"
        )
    if arrays[_MARK] > VERSION:
        raise ValueError(
            f"{expected}, got {given} of version {arrays[_MARK]}, later than "
            f"{VERSION}; a later version of dezero reads it"
        )
    try:
        saved = unpack(arrays)
        bits = np.random.get_state(legacy=False)["bit_generator"]
        scratch = np.random.RandomState(getattr(np.random, bits)(0))
        _set_random_states(saved["random"], random.Random(), scratch)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"{expected}, got {given}: {error!r}") from error
    return saved


def _asked(function: str, name: str, ask: Callable[[Any], Any], part: Any) -> Any:
    """What ``ask`` says of an object; an error says which object it was."""
    try:
        return ask(part)
    except BaseException as error:
        error.add_note(f"{function}: {name} could not tell its state")
        raise


def _named(saved: dict[str, Any], kind: str) -> dict[str, Any]:
    return {k.removeprefix(kind): x for k, x in saved.items() if k.startswith(kind)}


def _random_states() -> dict[str, Any]:
    version, keys, gauss = random.getstate()
    own = {"version": version, "keys": np.array(keys, np.uint32), "gauss": gauss}
    return {"random": own, "numpy": np.random.get_state(legacy=False)}


def _set_random_states(saved: dict[str, Any], own: Any, numpy: Any) -> None:
    state = saved["random"]
    own.setstate((state["version"], tuple(state["keys"].tolist()), state["gauss"]))
    numpy.set_state(saved["numpy"])
