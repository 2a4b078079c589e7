"""Saving and loading what an optimizer remembers of its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array

if TYPE_CHECKING:
    from dezero.optimizers.base import Optimizer

PARTS = {
    "type": str,
    "hyperparameters": dict,
    "groups": list,
    "params": list,
    "state": dict,
    "hooks": dict,
}


def working_dtype(data: Array) -> np.dtype:
    """The dtype to compute in: half precision would lose eps and small steps."""
    return np.dtype(np.float32) if data.dtype == np.float16 else data.dtype


def hyperparameters(optimizer: object) -> dict[str, Any]:
    """The numbers and switches of a rule: its public attributes that are such."""
    return {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in vars(optimizer).items()
        if _is_number(value) and not name.startswith("_") and name != "check_finite"
    }


def state_dict(optimizer: Optimizer) -> dict[str, Any]:
    """The work of :meth:`Optimizer.state_dict`."""
    named = optimizer.named_params()
    states = {name: optimizer._state.get(p) for name, p in named.items()}
    return {
        "type": type(optimizer).__name__,
        "hyperparameters": hyperparameters(optimizer),
        "groups": [_own(group) for group in optimizer.groups],
        "params": list(named),
        "state": {
            name: {k: _copied(x) for k, x in state.items()}
            for name, state in states.items()
            if state is not None
        },
        "hooks": {i: hook.state_dict() for i, hook in _hooks(optimizer).items()},
    }


def load_state_dict(optimizer: Optimizer, saved: dict[str, Any]) -> None:
    """The work of :meth:`Optimizer.load_state_dict`."""
    function = f"{type(optimizer).__name__}.load_state_dict"
    named = optimizer.named_params()
    if not isinstance(saved, dict) or any(
        not isinstance(saved.get(name), kind) for name, kind in PARTS.items()
    ):
        raise TypeError(
            f"{function}: expected a dict that state_dict gave, "
            f"got {type(saved).__name__} without all of its parts"
        )
    problems = _misfits(optimizer, saved, named)
    if not problems:
        new, problems = _fitting(optimizer, saved, named)
    if problems:
        raise ValueError(
            f"{function}: expected the state of this optimizer, got another; "
            + "; ".join(problems)
        )
    for i, hook in _hooks(optimizer).items():
        hook.load_state_dict(saved["hooks"][i])
    vars(optimizer).update(saved["hyperparameters"])
    for group, own in zip(optimizer.groups, saved["groups"], strict=True):
        group.update(own)
    optimizer._state = new


def _misfits(
    optimizer: Optimizer, saved: dict[str, Any], named: dict[str, Variable]
) -> list[str]:
    """What differs in names and numbers."""
    problems = []
    if saved["type"] != type(optimizer).__name__:
        problems.append(f"its rule is {saved['type']}")
    for what, here, there in (
        ("hyperparameters", hyperparameters(optimizer), saved["hyperparameters"]),
        ("parameters", named, saved["params"]),
        ("hooks with a state", _hooks(optimizer), saved["hooks"]),
    ):
        if missing := [str(name) for name in here if name not in there]:
            problems.append(f"{what} missing: {', '.join(missing)}")
        if unexpected := [str(name) for name in there if name not in here]:
            problems.append(f"{what} unexpected: {', '.join(unexpected)}")
    numbers = saved["hyperparameters"]
    if odd := [name for name, value in numbers.items() if not _is_number(value)]:
        problems.append(f"hyperparameters that are no numbers: {', '.join(odd)}")
    if strange := [name for name in saved["state"] if name not in saved["params"]]:
        problems.append(f"state of unknown parameters: {', '.join(strange)}")
    own = [sorted(_own(group)) for group in optimizer.groups]
    saved_own = [sorted(numbers) for numbers in saved["groups"]]
    if own != saved_own:
        problems.append(f"groups with numbers of their own: {saved_own}, not {own}")
    return problems


def _fitting(
    optimizer: Optimizer, saved: dict[str, Any], named: dict[str, Variable]
) -> tuple[dict[Variable, dict[str, Any]], list[str]]:
    """The state in copies, each where its parameter is, and what does not fit."""
    new: dict[Variable, dict[str, Any]] = {}
    problems = []
    group_of = optimizer._group_of()
    place = {id(group): i for i, group in enumerate(optimizer.groups)}
    for name, state in saved["state"].items():
        p = named[name]
        if p.data is None:  # its shape is checked at the first update
            new[p] = {k: _copied(x) for k, x in state.items()}
            continue
        own = saved["groups"][place[id(group_of[p])]]
        with optimizer._using({**saved["hyperparameters"], **own}):
            expected = optimizer.init_state(_like(p))
        late = getattr(optimizer, "made_late", ())
        if missing := [k for k in expected if k not in state and k not in late]:
            problems.append(f"{name}: without {', '.join(missing)}")
            continue
        new[p] = {}
        for k, x in state.items():
            if not cuda.is_array(x):
                new[p][k] = x
            elif x.shape != p.shape:
                problems.append(f"{name}: {k} expected {p.shape}, got {x.shape}")
            else:
                dtype = getattr(expected.get(k), "dtype", working_dtype(p.data))
                xp = cuda.get_array_module(p.data)
                with cuda.on_device_of(p.data):
                    new[p][k] = xp.array(x, dtype=dtype, order="C")
    return new, problems


def _own(group: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in group.items() if name != "params"}


def _hooks(optimizer: Optimizer) -> dict[str, Any]:
    """Those with something to remember, by their place as text."""
    hooks = enumerate(optimizer.hooks)
    return {str(i): hook for i, hook in hooks if hasattr(hook, "state_dict")}


def _is_number(value: object) -> bool:
    return isinstance(value, (bool, int, float, np.number))


def _copied(x: Any) -> Any:
    return np.array(cuda.as_numpy(x), order="C") if cuda.is_array(x) else x


def _like(p: Variable) -> Array:
    xp = cuda.get_array_module(p.data)
    with cuda.on_device_of(p.data):
        return xp.zeros(p.shape, working_dtype(p.data))
