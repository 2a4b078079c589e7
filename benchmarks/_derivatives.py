"""What a case gives with DeZero and with torch, and how much these differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import dezero as dz

if TYPE_CHECKING:
    from torch_cases.case import Case


def greatest_difference(
    ours: Sequence[np.ndarray], theirs: Sequence[np.ndarray]
) -> float:
    """The greatest of the relative differences of arrays, pair by pair."""
    return max(
        [relative_difference(a, b) for a, b in zip(ours, theirs, strict=True)],
        default=0.0,
    )


def relative_difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The greatest difference, relative to the greatest element of ``theirs``.

    Beside zeros alone it is absolute. It is infinite where one side has infinity or NaN
    and the other has not the same infinity.

    Raises:
        ValueError: The shapes or the dtypes differ.
    """
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        raise ValueError(
            f"expected {theirs.dtype} of shape {theirs.shape}, as torch gives, got "
            f"{ours.dtype} of shape {ours.shape}"
        )
    ours, theirs = ours.astype(float), theirs.astype(float)
    finite = np.isfinite(ours) & np.isfinite(theirs)
    if not np.array_equal(ours[~finite], theirs[~finite]):
        return float("inf")
    ours, theirs = ours[finite], theirs[finite]
    scale = np.abs(theirs).max(initial=0.0) or 1.0
    return float(np.abs(ours - theirs).max(initial=0.0) / scale)


class Ours:
    """One computation with DeZero, and its derivatives, as arrays."""

    def __init__(self, case: Case) -> None:
        make = dz.Variable if case.order else dz.as_variable
        self.xs = [make(x.copy()) for x in case.inputs]
        self.ys = as_list(case.ours(*self.xs))

    def values(self) -> list[np.ndarray]:
        return [y.data for y in self.ys]

    def gradients(self, gys: list[np.ndarray], recorded: bool) -> list[np.ndarray]:
        self.gys = [dz.Variable(gy.copy()) for gy in gys]
        self.gxs = dz.grad(
            self.ys, self.xs, self.gys, create_graph=recorded, allow_unused=True
        )
        return self._arrays(self.gxs, self.xs)

    def seconds(self, directions: list[np.ndarray]) -> list[np.ndarray]:
        given = zip(self.gxs, directions, strict=True)
        pairs = [(g, v) for g, v in given if g is not None and g.requires_grad]
        wanted = [*self.xs, *self.gys]
        gs = [None] * len(wanted)
        if pairs:
            gs = dz.grad(*zip_apart(pairs, wanted), allow_unused=True)
        return self._arrays(gs, wanted)

    @staticmethod
    def _arrays(gs: Iterable[Any], xs: Iterable[Any]) -> list[np.ndarray]:
        pairs = zip(gs, xs, strict=True)
        return [np.zeros(x.shape) if g is None else g.data for g, x in pairs]


class Theirs:
    """The same with torch."""

    def __init__(self, case: Case) -> None:
        import torch

        self.grad = torch.autograd.grad
        self.tensor = torch.tensor
        needed = case.order > 0
        self.xs = [torch.tensor(x, requires_grad=needed) for x in case.inputs]
        self.ys = as_list(case.theirs(*self.xs))

    def values(self) -> list[np.ndarray]:
        return [y.numpy(force=True) for y in self.ys]

    def gradients(self, gys: list[np.ndarray]) -> list[np.ndarray]:
        self.gys = [self.tensor(gy, requires_grad=True) for gy in gys]
        given = zip(self.ys, self.gys, strict=True)
        pairs = [(y, gy) for y, gy in given if y.requires_grad]
        self.gxs = self.grad(
            *zip_apart(pairs, self.xs), create_graph=True, allow_unused=True
        )
        return self._arrays(self.gxs, self.xs)

    def seconds(self, directions: list[np.ndarray]) -> list[np.ndarray]:
        given = zip(self.gxs, map(self.tensor, directions), strict=True)
        pairs = [(g, v) for g, v in given if g is not None and g.requires_grad]
        wanted = [*self.xs, *self.gys]
        gs = [None] * len(wanted)
        if pairs:
            gs = self.grad(*zip_apart(pairs, wanted), allow_unused=True)
        return self._arrays(gs, wanted)

    @staticmethod
    def _arrays(gs: Iterable[Any], xs: Iterable[Any]) -> list[np.ndarray]:
        pairs = zip(gs, xs, strict=True)
        return [
            np.zeros(x.shape) if g is None else g.numpy(force=True) for g, x in pairs
        ]


def as_list(ys: Any) -> list[Any]:
    """One result or several, as a list."""
    return list(ys) if isinstance(ys, (tuple, list)) else [ys]


def zip_apart(pairs: list[tuple[Any, Any]], wanted: list[Any]) -> tuple[Any, ...]:
    """Outputs, inputs and incoming gradients, as both libraries take them."""
    return [y for y, _ in pairs], wanted, [gy for _, gy in pairs]
