"""Moving what optimizers and averages remember to a GPU and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dezero import cuda
from dezero.cuda import Array

if TYPE_CHECKING:
    from dezero.optimizers.base import Optimizer

Move = Callable[[Array], Array]


def moved(memory: dict[Any, Any], move: Move) -> dict[Any, Any]:
    """A copy of a dict, and of dicts in it, with all arrays moved."""
    return {
        key: moved(x, move)
        if isinstance(x, dict)
        else move(x)
        if cuda.is_array(x)
        else x
        for key, x in memory.items()
    }


def move_optimizer(optimizer: Optimizer, method: str, move: Move) -> None:
    """The work of ``to_gpu`` and ``to_cpu``, whichever ``method`` is.

    A hook that has a method of that name is moved by it. The optimizer's own state is
    replaced last: whatever fails before leaves it as it was.
    """
    state = moved(optimizer._state, move)
    for hook in optimizer.hooks:
        own = getattr(hook, method, None)
        if callable(own):
            own()
    optimizer._state, optimizer._scratch = state, {}
