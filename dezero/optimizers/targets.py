"""What an optimizer works on: a Layer, an iterable of Parameters, or groups of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dezero.core import Variable


def as_target(function: str, target: Any) -> Any:
    """``target`` itself if it is a Layer, which may grow later; else a list.

    Args:
        function: Who asks, for messages.
        target: A Layer (whatever has ``params()``) or an iterable of Parameters.

    Raises:
        TypeError: ``target`` is neither.
        ValueError: ``target`` has no parameters.
    """
    if not hasattr(target, "params") or isinstance(target, type):
        target = _listed(function, target)
    if not members(target):
        raise ValueError(
            f"{function}: expected parameters, got {type(target).__name__} without any"
        )
    return target


def has_groups(target: Any) -> bool:
    """Does ``target`` have dicts in it, which would be groups?"""
    several = isinstance(target, (list, tuple))
    return several and any(isinstance(x, dict) for x in target)


def as_groups(
    function: str, target: Any, number: Callable[[str, Any], Any]
) -> list[dict[str, Any]]:
    """The groups in new dicts, checked.

    Args:
        function: Who asks, for messages.
        target: A list of dicts.
        number: Checks a value by name and gives what to keep of it.

    Raises:
        TypeError: Something is no group, or has no target.
        ValueError: A group has no parameters, or a parameter is in two of them.
    """
    groups = []
    seen: dict[Variable, int] = {}
    for i, group in enumerate(target):
        if not isinstance(group, dict) or "params" not in group:
            got = "a dict without it" if isinstance(group, dict) else "something else"
            raise TypeError(
                f"{function}: expected every group to be a dict with the key "
                f"'params', got {got} at place {i}"
            )
        checked = {"params": as_target(function, group["params"])}
        for p in dict.fromkeys(members(checked["params"])):
            if p in seen:
                raise ValueError(
                    f"{function}: expected every parameter in one group, got one of "
                    f"group {seen[p]} in group {i} too"
                )
            seen[p] = i
        own = {name: number(name, x) for name, x in group.items() if name != "params"}
        groups.append({**checked, **own})
    return groups


def members(target: Any) -> list[Variable]:
    """The parameters of a target, perhaps some of them more than once."""
    return target if isinstance(target, list) else list(target.params())


def named_members(target: Any) -> list[tuple[str, Variable]]:
    """The same, each once, with the names of a Layer, else numbered from ``"0"``."""
    if hasattr(target, "named_params"):
        return list(target.named_params())
    once = dict.fromkeys(members(target))
    return [(str(i), p) for i, p in enumerate(once)]


def _listed(function: str, target: Any) -> list[Variable]:
    wanted = "expected a Layer or an iterable of Parameters"
    if isinstance(target, Variable):
        raise TypeError(
            f"{function}: {wanted}, got a single {type(target).__name__}; "
            f"write {function.split('.')[-1]}([p])"
        )
    try:
        params = list(target)
    except TypeError:
        is_class = isinstance(target, type)
        got = f"the class {target.__name__}" if is_class else type(target).__name__
        raise TypeError(f"{function}: {wanted}, got {got}") from None
    for p in params:
        if not isinstance(p, Variable):
            raise TypeError(f"{function}: {wanted}, got {type(p).__name__} among them")
    return params
