"""The larger, the smaller, the chosen: functions that pick among their inputs."""

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import ArrayLike, Variable, as_variable
from dezero.functions.elementwise import Elementwise
from dezero.functions.safe import SafeMul

__all__ = [
    "Clip",
    "Maximum",
    "Minimum",
    "Where",
    "clip",
    "maximum",
    "minimum",
    "where",
]


class Maximum(Elementwise):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x0, x1):
        return cuda.get_array_module(x0).maximum(x0, x1)

    def backward(self, gy):
        x0, x1 = self.inputs
        need0, need1 = self.needs_grad
        return (
            SafeMul()(_share(x0.data, x1.data, gy), gy) if need0 else None,
            SafeMul()(_share(x1.data, x0.data, gy), gy) if need1 else None,
        )


def maximum(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """The larger of two, element by element: ``y = max(x0, x1)``; NaN if one is NaN.

    The larger one gets the gradient; where both are equal, each gets half of it.

    Args:
        x0: Any shape.
        x1: Any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape.
    """
    return Maximum()(x0, x1)


class Minimum(Elementwise):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x0, x1):
        return cuda.get_array_module(x0).minimum(x0, x1)

    def backward(self, gy):
        x0, x1 = self.inputs
        need0, need1 = self.needs_grad
        return (
            SafeMul()(_share(x1.data, x0.data, gy), gy) if need0 else None,
            SafeMul()(_share(x0.data, x1.data, gy), gy) if need1 else None,
        )


def minimum(x0: ArrayLike, x1: ArrayLike) -> Variable:
    """The smaller of two, element by element: ``y = min(x0, x1)``; NaN if one is NaN.

    The smaller one gets the gradient; where both are equal, each gets half of it.

    Args:
        x0: Any shape.
        x1: Any shape that broadcasts with that of ``x0``.

    Returns:
        Variable of the broadcast shape.
    """
    return Minimum()(x0, x1)


def _share(above, below, gy):
    """1 where ``above > below``, 1/2 where they are equal, else 0."""
    share = _as_weight(above > below, gy)
    tie = above == below
    xp = cuda.get_array_module(tie)
    if xp is not np or tie.any():  # a GPU would have to be waited for
        share = xp.where(tie, share.dtype.type(0.5), share)
    return share


def _as_weight(mask, gy):
    """A boolean array as zeros and ones of the dtype of ``gy``, if that is floating."""
    xp = cuda.get_array_module(gy.data)
    return xp.asarray(mask, dtype=gy.dtype if gy.dtype.kind == "f" else float)


class Where(Elementwise):
    reads_inputs = False
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, condition):
        self.condition = condition

    def forward(self, x0, x1):
        return cuda.get_array_module(x0).where(self.condition, x0, x1)

    def backward(self, gy):
        # A choice again, not a product with a mask: inf or NaN times 0 would be NaN.
        need0, need1 = self.needs_grad
        return (
            Where(self.condition)(gy, 0) if need0 else None,
            Where(self.condition)(0, gy) if need1 else None,
        )


def where(condition: ArrayLike, x0: ArrayLike, x1: ArrayLike) -> Variable:
    """A choice, element by element: ``x0`` where the condition is true, else ``x1``.

    The value that was not chosen gets the gradient 0, whatever it is: inf and NaN too.

    Args:
        condition: Boolean array or Variable of any shape. No gradient goes there.
        x0: Any shape that broadcasts with that of ``condition``.
        x1: Any shape that broadcasts with both.

    Returns:
        Variable of the broadcast shape.

    Raises:
        TypeError: ``condition`` is not boolean.
    """
    condition = as_variable(condition).data
    if condition.dtype.kind != "b":
        raise TypeError(
            "where: expected a boolean condition, such as x > 0, "
            f"got dtype {condition.dtype}"
        )
    return Where(condition)(x0, x1)


class Clip(Elementwise):
    reads_outputs = False
    fresh_gradients = True

    def forward(self, x, x_min, x_max):
        return cuda.get_array_module(x).clip(x, x_min, x_max)

    def backward(self, gy):
        x, x_min, x_max = [x if x is None else x.data for x in self.inputs]
        need, need_min, need_max = self.needs_grad
        low = x_min is not None and x < x_min
        raised = x if x_min is None else cuda.get_array_module(x).maximum(x, x_min)
        high = x_max is not None and raised > x_max
        return (
            SafeMul()(1 - _as_weight(low | high, gy), gy) if need else None,
            SafeMul()(_as_weight(low > high, gy), gy) if need_min else None,
            SafeMul()(_as_weight(high, gy), gy) if need_max else None,
        )


def clip(x: ArrayLike, x_min: Any = None, x_max: Any = None) -> Variable:
    """``x`` held between two bounds: ``y = min(max(x, x_min), x_max)``.

    The slope is 1 inside and at the bounds themselves, 0 outside. A bound that is a
    Variable gets the gradient from where it took the place of ``x``.

    Args:
        x: Any shape.
        x_min: Lower bound: a number, any shape that broadcasts with that of ``x``, or
            None for no bound.
        x_max: Upper bound, likewise.

    Returns:
        Variable of the broadcast shape; ``x`` itself if there is no bound.

    Raises:
        ValueError: Both bounds are numbers and the lower one is larger.
    """
    if x_min is None and x_max is None:
        return as_variable(x)
    numbers = [isinstance(b, (int, float, np.generic)) for b in (x_min, x_max)]
    if all(numbers) and x_min > x_max:
        raise ValueError(f"clip: expected x_min <= x_max, got {x_min} and {x_max}")
    return Clip()(x, x_min, x_max)
