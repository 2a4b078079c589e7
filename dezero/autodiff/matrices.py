"""Jacobians and Hessians as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dezero import cuda
from dezero.autodiff.arguments import arguments, call, or_zeros, recording
from dezero.autodiff.gradients import grad, gradient_of
from dezero.core import ArrayLike, Variable, as_variable
from dezero.functions.joining import stack
from dezero.functions.shape import reshape


@recording
def jacobian(
    f: Callable[..., Variable], *xs: ArrayLike, create_graph: bool = False
) -> Any:
    """The Jacobian ``J[i, j] = dy_i / dx_j``, one backward pass per element of ``y``.

    Args:
        f: A function from as many Variables as there are ``xs`` to a Variable.
        xs: The points, floating arrays or Variables.
        create_graph: Record the result.

    Returns:
        A Variable of shape ``y.shape + x.shape``; a tuple of them for several ``xs``,
        with zeros where ``y`` does not depend on one of them.

    Raises:
        RuntimeError: ``f``'s result does not depend on any argument.
        TypeError: An argument is no floating array, or ``f`` returns no Variable.
    """
    vs = arguments("jacobian", xs, create_graph)
    y = call("jacobian", f, vs)
    blocks = _rows(y, vs, create_graph)
    return blocks[0] if len(blocks) == 1 else tuple(blocks)


@recording
def hessian(
    f: Callable[[Variable], Variable], x: ArrayLike, create_graph: bool = False
) -> Variable:
    """The Hessian ``H[i, j] = d²y / dx_i dx_j`` of a function with one result element.

    It is the Jacobian of the gradient: one backward pass per element of ``x``.

    Args:
        f: A function from a Variable to a Variable with one element.
        x: The point, a floating array or Variable.
        create_graph: Record the result.

    Returns:
        Variable of shape ``x.shape + x.shape``.

    Raises:
        RuntimeError: ``f``'s result does not depend on ``x``.
        TypeError: ``x`` is no floating array, or ``f`` returns no Variable.
        ValueError: ``f``'s result has more than one element.
    """
    (v,), (gx,) = gradient_of("hessian", f, [x], create_graph)
    return _rows(gx, [v], create_graph)[0]


def _rows(
    y: Variable, xs: Sequence[Variable], create_graph: bool
) -> tuple[Variable, ...]:
    """The Jacobian of ``y`` by each ``x``, of shape y.shape + x.shape."""
    xp = cuda.get_array_module(y.data)
    rows: list[Any] = []
    for i in range(y.size):
        one = xp.zeros(y.shape, y.dtype)
        one.reshape(-1)[i] = 1
        rows.append(grad(y, xs, one, create_graph, allow_unused=True))
    blocks = []
    for j, x in enumerate(xs):
        column = [or_zeros(row[j], x) for row in rows]
        if not column:  # an empty y
            block = as_variable(xp.zeros((0,), x.dtype))
        elif create_graph:
            block = stack(column)
        else:
            block = as_variable(xp.stack([g.data for g in column]))
        blocks.append(reshape(block, y.shape + x.shape))
    return tuple(blocks)
