"""Gradients: of a graph that is already there, and of a function."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from dezero.autodiff.arguments import (
    Values,
    Variables,
    arguments,
    call,
    check_one_element,
    or_zeros,
    recording,
)
from dezero.core import Variable, _make_seed, run_backward

# =============================================================================
# Of a graph
# =============================================================================


def grad(
    outputs: Variables,
    inputs: Variables,
    grad_outputs: Values | None = None,
    create_graph: bool = False,
    retain_graph: bool = True,
    allow_unused: bool = False,
) -> Any:
    """Gradient of ``outputs`` by ``inputs``: ``gx = sum_k gy_k · dy_k/dx``.

    Only Functions on a path from an output to an input run, and no ``.grad`` changes.

    Args:
        outputs: A Variable or a sequence of them.
        inputs: A Variable or a sequence of them: leaves or results in the middle.
        grad_outputs: The gradient ``gy`` to start with, one per output and of its
            shape; None, here or in the sequence, stands for ones.
        create_graph: Record the pass, so that the gradients can be differentiated.
        retain_graph: Keep the graph for another pass.
        allow_unused: Give None for an input that the outputs do not depend on.

    Returns:
        One Variable of the shape of ``inputs``, or a tuple of them if ``inputs`` is a
        sequence. Their memory is their own.

    Raises:
        RuntimeError: The outputs do not depend on an input, or their graph was freed.
        TypeError: An output or an input is not a Variable.
        ValueError: ``grad_outputs`` has the wrong number or a wrong shape.
    """
    ys = _variables("outputs", outputs)
    xs = _variables("inputs", inputs)
    if not ys:
        raise ValueError("grad: expected at least one output, got none")
    seeds = _seeds(ys, outputs, grad_outputs)
    live = [(y, gy) for y, gy in zip(ys, seeds, strict=True) if y.requires_grad]
    wanted = [x for x in xs if x.requires_grad]
    table: dict[Variable, Variable] = {}
    if live and wanted:
        table = run_backward(
            [y for y, _ in live],
            [gy for _, gy in live],
            wanted,
            create_graph=create_graph,
            retain_graph=retain_graph,
        )
    if not allow_unused:
        for i, x in enumerate(xs):
            if x not in table:
                place = "inputs" if isinstance(inputs, Variable) else f"inputs[{i}]"
                raise RuntimeError(_unused(place, x, bool(live)))
    if isinstance(inputs, Variable):
        return table.get(inputs)
    return tuple([table.get(x) for x in xs])


def _variables(argument: str, given: Any) -> list[Variable]:
    if isinstance(given, Variable):
        return [given]
    if not isinstance(given, (list, tuple)):
        raise TypeError(
            f"grad: expected {argument} to be a Variable or a list of Variables, "
            f"got {type(given).__name__}"
        )
    for i, x in enumerate(given):
        if not isinstance(x, Variable):
            raise TypeError(
                f"grad: expected {argument}[{i}] to be a Variable, "
                f"got {type(x).__name__}"
            )
    return list(given)


def _seeds(ys: list[Variable], outputs: Any, grad_outputs: Any) -> list[Variable]:
    if isinstance(outputs, Variable) and not isinstance(grad_outputs, (list, tuple)):
        grad_outputs = [grad_outputs]
    elif grad_outputs is None:
        grad_outputs = [None] * len(ys)
    if not isinstance(grad_outputs, (list, tuple)):
        raise TypeError(
            "grad: expected grad_outputs to be a list, as outputs is, "
            f"got {type(grad_outputs).__name__}"
        )
    if len(grad_outputs) != len(ys):
        raise ValueError(
            f"grad: expected {len(ys)} grad_outputs, one per output, "
            f"got {len(grad_outputs)}"
        )
    return [_make_seed("grad", y, gy) for y, gy in zip(ys, grad_outputs, strict=True)]


def _unused(place: str, x: Variable, outputs_are_live: bool) -> str:
    name = f" ({x.name!r})" if x.name else ""
    if not outputs_are_live:
        why = (
            "the outputs require no gradient: they were computed under no_grad, or "
            "from constants only, or they were detached"
        )
    elif not x.requires_grad:
        why = (
            "it requires no gradient: it is a constant (a raw array is one; "
            "Variable(array) is not), or it was computed under no_grad or detached"
        )
    else:
        why = (
            "no path leads from them to it: it was not used, or what was used is a "
            "copy, its raw data, or a result of it that was detached"
        )
    return (
        f"grad: expected outputs that depend on every input, but they do not depend on "
        f"{place}{name}: {why}; allow_unused=True gives None instead"
    )


# =============================================================================
# Of a function
# =============================================================================


def value_and_grad(
    f: Callable[..., Variable],
    argnums: int | Sequence[int] = 0,
    create_graph: bool = False,
) -> Callable[..., tuple[Variable, Any]]:
    """A function that returns ``f``'s value and its gradient ``df/dx`` together.

    ``loss, gW = value_and_grad(f)(W)``

    Args:
        f: A function that returns a Variable with one element.
        argnums: Position of the argument to differentiate by, or a sequence of them.
        create_graph: Record both results.

    Returns:
        A function of ``f``'s arguments. The chosen ones are given to ``f`` as
        Variables, the others as they are. It returns (value, gradient), or (value,
        tuple of gradients) for a sequence of positions; a gradient has its argument's
        shape.

    Raises:
        RuntimeError: The value depends on no argument.
        TypeError: A chosen argument is missing or is no floating array; ``f`` returns
            something else than a Variable.
        ValueError: The value has more than one element, or ``argnums`` names an
            argument twice.
    """
    single = not isinstance(argnums, Sequence)
    try:
        given: Any = [argnums] if single else argnums
        positions = [operator.index(i) for i in given]
    except TypeError:
        raise TypeError(
            "value_and_grad: expected an integer or a sequence of integers as argnums, "
            f"got {argnums!r}"
        ) from None

    @functools.wraps(f)
    @recording
    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Variable, Any]:
        for i in positions:
            if not -len(args) <= i < len(args):
                raise TypeError(
                    f"value_and_grad: expected a positional argument {i} to "
                    f"differentiate by, got {len(args)} arguments"
                )
        name = "value_and_grad"
        if len({i % len(args) for i in positions}) < len(positions):
            raise ValueError(
                f"{name}: expected different positions in argnums, got {argnums}"
            )
        chosen = [args[i] for i in positions]
        xs = arguments(name, chosen, create_graph, positions)
        mixed = list(args)
        for i, x in zip(positions, xs, strict=True):
            mixed[i] = x
        y = call(name, f, mixed, kwargs)
        check_one_element(name, y)
        gxs = grad(y, xs, None, create_graph, create_graph, allow_unused=True)
        gxs = tuple([or_zeros(g, x) for g, x in zip(gxs, xs, strict=True)])
        return y if create_graph else y.detach(), gxs[0] if single else gxs

    return value_and_gradient


def gradient_of(
    function: str, f: Callable[..., Variable], given: Any, create_graph: bool
) -> tuple[list[Variable], list[Variable]]:
    """The arguments of ``f`` and the gradient by each, recorded."""
    xs = arguments(function, given, create_graph)
    y = call(function, f, xs)
    check_one_element(function, y)
    gxs = grad(y, xs, create_graph=True, allow_unused=True)
    return xs, [or_zeros(g, x) for g, x in zip(gxs, xs, strict=True)]
