"""Saving and loading the place in a pass at which a loader stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dezero.dataloaders.loader import DataLoader

_PARTS = {
    "iteration": 0,
    "data_size": 0,
    "batch_size": 0,
    "order": 1,
    "generator_keys": 1,
    "generator_position": 0,
}


def state_dict(loader: DataLoader) -> dict[str, Any]:
    """The work of :meth:`DataLoader.state_dict`."""
    state: dict[str, Any] = {
        "iteration": loader.iteration,
        "data_size": loader.data_size,
        "batch_size": int(loader.batch_size),
    }
    if loader._pass.index is not None:
        state["order"] = loader._pass.index.copy()
    if loader._generator is not None:
        _, keys, position, *_ = loader._generator.get_state(legacy=True)
        state["generator_keys"], state["generator_position"] = keys, position
    return state


def load_state_dict(loader: DataLoader, state: Mapping[str, Any]) -> None:
    """The work of :meth:`DataLoader.load_state_dict`."""
    function = f"{type(loader).__name__}.load_state_dict"
    _require_parts(function, state)
    for key in "data_size", "batch_size":
        if int(state[key]) != getattr(loader, key):
            raise ValueError(
                f"{function}: expected {key} {getattr(loader, key)}, "
                f"got {int(state[key])}"
            )
    if ("generator_keys" in state) != (loader._generator is not None):
        has = ["no seed", "a seed"]["generator_keys" in state]
        raise ValueError(
            f"{function}: expected the state of a loader "
            f"with{'out' if loader._generator is None else ''} a seed, got one of {has}"
        )
    iteration = int(state["iteration"])
    if not 0 <= iteration <= loader.max_iter:
        raise ValueError(
            f"{function}: expected an iteration in [0, {loader.max_iter}], "
            f"got {iteration}"
        )
    index = None
    if "order" in state:
        n = loader.data_size
        index = np.array(state["order"], dtype=np.int64)
        if index.shape != (n,) or not np.all((index >= 0) & (index < n)):
            raise ValueError(
                f"{function}: expected an order of {n} indices of items, got one of "
                f"shape {index.shape} with {index.min(initial=0)} to "
                f"{index.max(initial=0)}"
            )
    if loader._generator is not None:
        keys = np.asarray(state["generator_keys"], dtype=np.uint32)
        position = int(state["generator_position"])
        if keys.shape != (624,) or not 0 <= position <= 624:
            raise ValueError(
                f"{function}: expected 624 generator_keys and a generator_position "
                f"among them, got shape {keys.shape} and {position}"
            )
        loader._generator.set_state(("MT19937", keys, position, 0, 0.0))
    loader.reset()
    loader._pass.iteration, loader._pass.index = iteration, index
    loader._resumes = True


def _require_parts(function: str, state: Any) -> None:
    """Refuse what cannot be the state of any loader."""
    expected = f"{function}: expected a dict that state_dict gave, got"
    if not isinstance(state, Mapping):
        raise TypeError(f"{expected} {type(state).__name__}")
    needed = ["iteration", "data_size", "batch_size"]
    if "generator_keys" in state:
        needed.append("generator_position")
    if missing := [key for key in needed if key not in state]:
        raise ValueError(f"{expected} one without {', '.join(missing)}")
    for key, ndim in _PARTS.items():
        x = np.asarray(state.get(key, np.zeros([0] * ndim, int)))
        if x.ndim != ndim or x.dtype.kind not in "iu":
            what = "an integer" if ndim == 0 else "a row of integers"
            raise ValueError(
                f"{function}: expected {what} for {key}, got {state[key]!r}"
            )
