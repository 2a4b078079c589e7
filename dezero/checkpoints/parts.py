"""The objects of a training run: their states, and the way back if loading fails."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Parameter, Variable, as_variable
from dezero.layers import Layer
from dezero.optimizers import Optimizer


def has_state(x: object) -> bool:
    """Can its state be saved and loaded?"""
    methods = hasattr(x, "state_dict") and hasattr(x, "load_state_dict")
    return methods and not isinstance(x, type)


def turn(part: object) -> int:
    """When to load it: models give the shapes to what optimizers and averages load."""
    return 0 if isinstance(part, Layer) else 1 if isinstance(part, Optimizer) else 2


def state_of(part: Any) -> Any:
    """The state of an object; of a Layer also what it carries from call to call."""
    if not isinstance(part, Layer):
        return part.state_dict()
    carried = {
        name: {k: x.data for k, x in _carried_by(layer).items()}
        for name, layer in part.named_layers()
    }
    carried = {name: own for name, own in carried.items() if own}
    return {"weights": part.state_dict(), "carried": carried}


def load_state(part: Any, state: Any) -> None:
    """Bring an object to where :func:`state_of` saw it."""
    if not isinstance(part, Layer):
        part.load_state_dict(state)
        return
    function = f"load_checkpoint: {type(part).__name__}"
    if not isinstance(state, dict) or set(state) != {"weights", "carried"}:
        raise ValueError(f"{function}: expected the state of a Layer, got another")
    layers, carried = dict(part.named_layers()), state["carried"]
    odd = [
        f"{name}/{k}".lstrip("/")
        for name, own in carried.items()
        for k in own
        if name not in layers or not _may_carry(layers[name], k)
    ]
    if odd:
        raise ValueError(
            f"{function}: expected layers that carry what they carried when they were "
            f"saved, got others without {', '.join(odd)}"
        )
    part.load_state_dict(state["weights"])
    for name, layer in layers.items():
        _carry(layer, carried.get(name, {}))


def _carried_by(layer: Layer) -> dict[str, Variable]:
    """The Variables of a layer that are no Parameters, such as h of an RNN."""
    return {
        name: x
        for name, x in vars(layer).items()
        if isinstance(x, Variable)
        and not isinstance(x, Parameter)
        and x.data is not None
        and not name.startswith("_")
    }


def _may_carry(layer: Layer, name: str) -> bool:
    old = getattr(layer, name, None)
    is_carried = old is None or name in _carried_by(layer)
    return is_carried and not name.startswith("_")


def _carry(layer: Layer, arrays: dict[str, Any]) -> None:
    """Let a layer carry these arrays, where its parameters are, and nothing else."""
    on_gpu = any(
        p.data is not None and cuda.get_array_module(p.data) is not np
        for p in layer.params()
    )
    for name in _carried_by(layer):
        if name not in arrays:
            setattr(layer, name, None)
    for name, x in arrays.items():
        data = cuda.as_cupy(x) if on_gpu else x
        old = _carried_by(layer).get(name)
        if old is not None and old.creator is None:
            old.data = data  # an optimizer may know it
        else:
            setattr(layer, name, as_variable(data))


def undoing(part: Any) -> Callable[[], None]:
    """What brings an object back to where it is now."""
    steps = []
    if not isinstance(part, Layer) or _has_own_state_dict(part):
        steps.append(_undoing_state(part))
    if isinstance(part, Layer):
        steps.append(_undoing_data(part))

    def undo() -> None:
        for step in steps:
            step()

    return undo


def _has_own_state_dict(layer: Layer) -> bool:
    return type(layer).load_state_dict is not Layer.load_state_dict


def _undoing_state(part: Any) -> Callable[[], None]:
    state = part.state_dict()
    if not isinstance(part, (Optimizer, Layer)):  # those give copies
        state = copy.deepcopy(state)
    attributes = dict(getattr(part, "__dict__", {}))

    def undo() -> None:
        # What is inside of attributes first, then which attributes there are.
        try:
            part.load_state_dict(state)
        finally:
            _set_attributes(part, attributes)

    return undo


def _undoing_data(model: Layer) -> Callable[[], None]:
    # Loading gives new arrays to the same objects and leaves the old arrays alone.
    layers = [(layer, dict(vars(layer))) for _, layer in model.named_layers()]
    variables: list[Variable] = list(model.params())
    for layer, _ in layers:
        variables += _carried_by(layer).values()
    data = [(x, x.data) for x in variables]

    def undo() -> None:
        for layer, attributes in layers:
            _set_attributes(layer, attributes)
        for x, array in data:
            x.data = array

    return undo


def _set_attributes(x: Any, attributes: dict[str, Any]) -> None:
    if attributes:
        vars(x).clear()
        vars(x).update(attributes)
