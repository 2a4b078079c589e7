"""Weights of several layers in one array, for one product of matrices instead."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import dezero.functions as F
from dezero import cuda
from dezero.core import Config, Parameter, Variable
from dezero.cuda import Array


class SideBySide:
    """Weights that lie side by side in one array, and what the steps get of them.

    So the sublayers of a step share the memory of their weights, and all steps of a
    sequence one Variable: joining them at each step would take longer than the step,
    and so would taking the gradient of each step apart.
    """

    def __init__(self, parts: list[Parameter]) -> None:
        arrays = [p.data for p in parts]
        xp = cuda.get_array_module(arrays[0])
        self._parts = parts
        self._whole = xp.concatenate(arrays, axis=-1)
        self._views = xp.split(self._whole, len(parts), axis=-1)
        for p, view in zip(parts, self._views, strict=True):
            p.data = view
        # A weak reference: what outlives its graph, F.checkpoint takes for an input.
        # With its switches in one tuple: several threads may call the layer.
        self._last: tuple[Callable[[], Variable | None], list[bool]] = _nothing, []

    def holds(self, parts: list[Parameter]) -> bool:
        """Are these the weights, with the arrays they had?"""
        known = zip(parts, self._parts, self._views, strict=True)
        return all([p is q and p.data is view for p, q, view in known])

    def joined(self, anew: bool) -> Variable:
        """The weights as one Variable.

        Args:
            anew: Whether a graph begins here. What follows then has no step of before
                in its graph, and who looks on sees the weights being used.
        """
        switches = [Config.enable_backprop, *[p.requires_grad for p in self._parts]]
        last, switches_then = self._last
        joined = last()
        if joined is None or anew or switches != switches_then:
            joined = _Joined(self._whole)(*self._parts)
            self._last = weakref.ref(joined), switches
        return joined


def _nothing() -> None:
    return None


class _Joined(F.Concatenate):
    """Concatenate leaves that lie side by side in ``whole``, without a copy.

    It stands for the weights themselves, of steps past and to come: ``unchain`` and
    ``retain_graph=False`` at one step leave it as it is, as they leave a Parameter. It
    keeps nothing alive but the weights.
    """

    def __init__(self, whole: Array) -> None:
        super().__init__(-1)
        self.whole = whole

    def forward(self, *parts: Array) -> Array:
        size = parts[0].shape[-1]
        self.bounds = [size * i for i in range(1, len(parts))]
        return self.whole

    def _cut_output(self, index: int) -> None:
        pass

    def _release(self) -> None:
        pass
