"""Products with Jacobians and Hessians, without the matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dezero.autodiff.arguments import (
    Values,
    arguments,
    as_list,
    call,
    directions_of,
    or_zeros,
    recording,
)
from dezero.autodiff.gradients import grad, gradient_of
from dezero.core import ArrayLike, Variable, _make_seed
from dezero.functions.arithmetic import zeros_like


@recording
def vjp(
    f: Callable[..., Variable], *xs: ArrayLike, create_graph: bool = False
) -> tuple[Variable, Callable[..., Any]]:
    """Value and pullback: ``gy ↦ gy · J`` with ``J = df/dx``, one backward pass a call.

    Args:
        f: A function from as many Variables as there are ``xs`` to a Variable.
        xs: The points, floating arrays or Variables.
        create_graph: Record the value and what the pullback returns.

    Returns:
        (y, pullback). ``pullback(gy)`` takes a gradient of the shape of ``y`` (ones, if
        it is left out) and returns a Variable of the shape of ``x``, or a tuple for
        several ``xs``. It can be called again.

    Raises:
        RuntimeError: ``f``'s result does not depend on any argument.
        TypeError: An argument is no floating array, or ``f`` returns no Variable.
    """
    vs = arguments("vjp", xs, create_graph)
    y = call("vjp", f, vs)

    @recording
    def pullback(gy: ArrayLike | None = None) -> Any:
        seed = _make_seed("vjp", y, gy)
        gxs = grad(y, vs, seed, create_graph, allow_unused=True)
        gxs = tuple([or_zeros(g, x) for g, x in zip(gxs, vs, strict=True)])
        return gxs[0] if len(gxs) == 1 else gxs

    return y if create_graph else y.detach(), pullback


@recording
def jvp(
    f: Callable[..., Variable], xs: Values, vs: Values, create_graph: bool = False
) -> tuple[Variable, Variable]:
    """Value and directional derivative ``J · v``, that is ``d/dt f(x + t·v)`` at t = 0.

    The gradient ``g(u) = u · J`` is linear in ``u``, so differentiating ``g · v`` by
    ``u`` gives ``J · v``: two backward passes, whatever the size of ``J``.

    Args:
        f: A function from as many Variables as there are ``xs`` to a Variable.
        xs: The point, a floating array or Variable; a list for several arguments.
        vs: The direction, of the shape of ``xs``; a list likewise.
        create_graph: Record both results.

    Returns:
        (y, tangent), two Variables of the shape of ``f``'s result.

    Raises:
        RuntimeError: ``f``'s result does not depend on any argument.
        TypeError: An argument is no floating array, or ``f`` returns no Variable.
        ValueError: ``vs`` has another length or other shapes than ``xs``.
    """
    points = arguments("jvp", as_list(xs), create_graph)
    directions = directions_of("jvp", points, as_list(vs))
    y = call("jvp", f, points)
    u = Variable(zeros_like(y).data, requires_grad=True)
    gxs = grad(y, points, u, create_graph=True, allow_unused=True)
    pairs = [(g, v) for g, v in zip(gxs, directions, strict=True) if g is not None]
    tangent = None
    if pairs:
        tangent = grad(
            [g for g, _ in pairs],
            u,
            [v for _, v in pairs],
            create_graph=create_graph,
            retain_graph=create_graph,
            allow_unused=True,
        )
    return y if create_graph else y.detach(), or_zeros(tangent, y)


@recording
def hvp(
    f: Callable[..., Variable], xs: Values, vs: Values, create_graph: bool = False
) -> Any:
    """Hessian-vector product ``H · v``, without the Hessian: two backward passes.

    Args:
        f: A function from as many Variables as there are ``xs`` to a Variable with one
            element.
        xs: The point, a floating array or Variable; a list for several arguments.
        vs: The vector, of the shape of ``xs``; a list likewise.
        create_graph: Record the result.

    Returns:
        Variable of the shape of ``xs``; a tuple of them if ``xs`` is a list.

    Raises:
        RuntimeError: ``f``'s result does not depend on any argument.
        TypeError: An argument is no floating array, or ``f`` returns no Variable.
        ValueError: ``f``'s result has more than one element, or ``vs`` has another
            length or other shapes than ``xs``.
    """
    points, gxs = gradient_of("hvp", f, as_list(xs), create_graph)
    directions = directions_of("hvp", points, as_list(vs))
    hvs = grad(gxs, points, directions, create_graph, create_graph, allow_unused=True)
    hvs = tuple([or_zeros(g, x) for g, x in zip(hvs, points, strict=True)])
    return hvs if isinstance(xs, (list, tuple)) else hvs[0]
