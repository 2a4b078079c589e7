"""The same axes in another order."""

from collections.abc import Sequence

from dezero.core import ArrayLike, Function, Variable, as_variable
from dezero.functions.shape import as_axes, as_axis

__all__ = [
    "Transpose",
    "moveaxis",
    "swapaxes",
    "transpose",
]


class Transpose(Function):
    reads_inputs = False
    reads_outputs = False

    def __init__(self, axes):
        self.axes = axes

    def forward(self, x):
        return x.transpose(self.axes)

    def backward(self, gy):
        return transpose(gy, sorted(range(len(self.axes)), key=self.axes.__getitem__))


def transpose(x: ArrayLike, axes: Sequence[int] | None = None) -> Variable:
    """The axes of ``x`` in another order: ``y.shape[i] == x.shape[axes[i]]``.

    Args:
        x: Any shape.
        axes: A permutation of the axes; by default they are reversed.

    Returns:
        Variable with a view of the data; ``x`` itself if the order stays.

    Raises:
        ValueError: ``axes`` does not name every axis once.
    """
    x = as_variable(x)
    ndim = x.ndim
    if axes is None:
        order = tuple(range(ndim - 1, -1, -1))
    else:
        order = as_axes("transpose", axes, x.shape)
        if len(order) != ndim:
            raise ValueError(
                f"transpose: expected each of {ndim} axes once, got {axes} for an "
                f"array of shape {x.shape}"
            )
    return x if order == tuple(range(ndim)) else Transpose(order)(x)


def swapaxes(x: ArrayLike, axis1: int, axis2: int) -> Variable:
    """Exchange two axes of ``x``.

    Args:
        x: Any shape.
        axis1: One axis.
        axis2: The other; the same one leaves ``x`` as it is.

    Returns:
        Variable with a view of the data.

    Raises:
        ValueError: There is no such axis.
    """
    x = as_variable(x)
    i, j = (as_axis("swapaxes", axis, x.shape) for axis in (axis1, axis2))
    order = list(range(x.ndim))
    order[i], order[j] = j, i
    return transpose(x, order)


def moveaxis(
    x: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> Variable:
    """Move axes to other places; the rest keep their order.

    Args:
        x: Any shape.
        source: The axis or axes to move.
        destination: Where each of them stands in the result.

    Returns:
        Variable with a view of the data.

    Raises:
        ValueError: An axis does not exist or is there twice, or the two differ in
            length.
    """
    x = as_variable(x)
    come = as_axes("moveaxis", source, x.shape)
    go = as_axes("moveaxis", destination, x.shape)
    if len(come) != len(go):
        raise ValueError(
            f"moveaxis: expected as many destinations as sources, got {source} and "
            f"{destination}"
        )
    order = [i for i in range(x.ndim) if i not in come]
    for place, axis in sorted(zip(go, come, strict=True)):
        order.insert(place, axis)
    return transpose(x, order)
