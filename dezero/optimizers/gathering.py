"""Launches that wait for each other, and become few."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from dezero import cuda
from dezero.core import Variable
from dezero.cuda import Array
from dezero.kernels import Kernel, multi_tensor

Method = TypeVar("Method", bound=Callable[..., Any])
_ending_with_launch: set[Callable[..., Any]] = set()


def ends_with_launch(update_one: Method) -> Method:
    """Say of an ``update_one`` that on a GPU it does nothing after its launch.

    Then the launches of all parameters may wait for each other and become few. A
    subclass that overrides it (to clip the new weights, say) has to say so for itself.
    """
    _ending_with_launch.add(update_one)
    return update_one


class Gathering:
    """Launches of rules: each at once, or many together at the end of an update."""

    _waiting: list[multi_tensor.Call] | None = None

    def launch(
        self, kernel: Kernel, param: Variable, states: list[Array], *numbers: Any
    ) -> None:
        """Run a rule on a GPU, where a launch does what the blocks do on a CPU.

        In an update of many parameters it waits for the others, if the rule says that
        it may: see :func:`ends_with_launch`.

        Args:
            kernel: Takes the gradient and the numbers, and changes the rest.
            param: With a gradient of its shape.
            states: Arrays of its shape, from :meth:`state`.
            *numbers: What the rule needs besides.
        """
        assert param.grad is not None
        arguments = param.grad.data, *numbers, param.data, *states
        if self._waiting is None:
            kernel(*arguments)
        else:
            self._waiting.append((kernel, arguments))

    @contextmanager
    def gathering(self, update_one: Callable[..., Any]) -> Iterator[None]:
        """Inside, the launches of ``update_one`` wait, if it lets them.

        Those that wait when the block is left, be it by an error, are made then.
        """
        function = getattr(update_one, "__func__", None)
        self._waiting = [] if function in _ending_with_launch else None
        try:
            yield
        finally:
            waiting, self._waiting = self._waiting, None
            if waiting:
                multi_tensor.run(waiting)


class Together:
    """New gradients from the old ones, on a GPU, in few launches."""

    def __init__(self) -> None:
        self._calls: list[multi_tensor.Call] = []
        self._new: list[tuple[Variable, Array]] = []

    def add(self, param: Variable, kernel: Kernel, *arguments: Any) -> None:
        """Let ``kernel`` make a gradient like the one that ``param`` has."""
        assert param.grad is not None
        g = param.grad.data
        new = cuda.get_array_module(g).empty(g.shape, g.dtype)
        self._calls.append((kernel, (*arguments, new)))
        self._new.append((param, new))

    def run(self) -> None:
        """Make them, and then assign them."""
        multi_tensor.run(self._calls)
        for p, new in self._new:
            p.grad = new


def is_simple(x: Array) -> bool:
    """Is it a floating array on a GPU, with its elements one after the other?"""
    return (
        not isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.flags.c_contiguous
    )
