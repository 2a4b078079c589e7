"""Gradients of a fused function that shall be differentiable: recompute it in parts."""

from collections.abc import Callable, Sequence
from typing import Any

from dezero.core import Identity, Variable, run_backward


def recorded_gradients(
    compose: Callable[..., tuple[Variable, ...]],
    inputs: Sequence[Variable | None],
    needs_grad: Sequence[bool],
    gys: Sequence[Variable],
) -> tuple[Variable | None, ...]:
    """The gradients of ``compose(*inputs)``, recorded, by the inputs that need one.

    A fused backward uses arrays that its forward kept: constants, as far as the graph
    knows. Where the gradient is to be differentiated in turn, the same outputs put
    together from functions have the same gradients, and know how to go on.
    """
    # Copies, for one input may have been computed from another: the path between them
    # is not ours.
    copies: list[Any] = [
        Identity()(x) if need else x for x, need in zip(inputs, needs_grad, strict=True)
    ]
    ys = compose(*copies)
    wanted = [x for x, need in zip(copies, needs_grad, strict=True) if need]
    table = run_backward(ys, gys, wanted, create_graph=True)
    return tuple([table.get(x) for x in copies])
