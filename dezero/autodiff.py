"""Derivatives as functions: gradients, Jacobians, Hessians and products with them.

They return what they find and touch no ``.grad``. :func:`grad` differentiates a graph
that is already there; the others take a function ``f`` from Variables to a Variable,
give it its arguments as Variables of their own, and differentiate the graph that it
builds, inside ``no_grad`` too.

A result is a constant unless ``create_graph=True``: then it is recorded, and can be
differentiated by whatever it was computed from.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from dezero import cuda
from dezero.core import (
    ArrayLike,
    Identity,
    Variable,
    _make_seed,
    as_variable,
    run_backward,
    using_config,
)
from dezero.functions.joining import stack
from dezero.functions.shape import reshape

Variables = Variable | Sequence[Variable]
Values = ArrayLike | Sequence[ArrayLike]

_recording = using_config("enable_backprop", True)  # as a decorator

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
        A function of ``f``'s arguments: the chosen ones are given to ``f`` as
        Variables, the others as they are. It returns (value, gradient), or (value,
        tuple of gradients) for a sequence of positions; a gradient has its argument's
        shape.

    Raises:
        RuntimeError: The value depends on no argument.
        TypeError: A chosen argument is missing or is no floating array; ``f`` returns
            something else than a Variable.
        ValueError: The value has more than one element.
    """
    single = not isinstance(argnums, Sequence)
    positions = list(argnums) if isinstance(argnums, Sequence) else [argnums]

    @functools.wraps(f)
    @_recording
    def value_and_gradient(*args: Any, **kwargs: Any) -> tuple[Variable, Any]:
        for i in positions:
            if not -len(args) <= i < len(args):
                raise TypeError(
                    f"value_and_grad: expected a positional argument {i} to "
                    f"differentiate by, got {len(args)} arguments"
                )
        name = "value_and_grad"
        chosen = [args[i] for i in positions]
        xs = _arguments(name, chosen, create_graph, positions)
        given = list(args)
        for i, x in zip(positions, xs, strict=True):
            given[i] = x
        y = _call(name, f, given, kwargs)
        _check_one_element(name, y)
        gxs = grad(y, xs, None, create_graph, create_graph, allow_unused=True)
        gxs = tuple([_or_zeros(g, x) for g, x in zip(gxs, xs, strict=True)])
        return y if create_graph else y.detach(), gxs[0] if single else gxs

    return value_and_gradient


@_recording
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
    vs = _arguments("vjp", xs, create_graph)
    y = _call("vjp", f, vs)

    @_recording
    def pullback(gy: ArrayLike | None = None) -> Any:
        seed = _make_seed("vjp", y, gy)
        gxs = grad(y, vs, seed, create_graph, allow_unused=True)
        gxs = tuple([_or_zeros(g, x) for g, x in zip(gxs, vs, strict=True)])
        return gxs[0] if len(gxs) == 1 else gxs

    return y if create_graph else y.detach(), pullback


@_recording
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
    points = _arguments("jvp", _as_list(xs), create_graph)
    directions = _directions("jvp", points, _as_list(vs))
    y = _call("jvp", f, points)
    u = Variable(cuda.get_array_module(y.data).zeros_like(y.data), requires_grad=True)
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
    return y if create_graph else y.detach(), _or_zeros(tangent, y)


@_recording
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
    vs = _arguments("jacobian", xs, create_graph)
    y = _call("jacobian", f, vs)
    blocks = _rows(y, vs, create_graph)
    return blocks[0] if len(blocks) == 1 else tuple(blocks)


@_recording
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
    (v,), (gx,) = _gradient("hessian", f, [x], create_graph)
    return _rows(gx, [v], create_graph)[0]


@_recording
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
    points, gxs = _gradient("hvp", f, _as_list(xs), create_graph)
    directions = _directions("hvp", points, _as_list(vs))
    hvs = grad(gxs, points, directions, create_graph, create_graph, allow_unused=True)
    hvs = tuple([_or_zeros(g, x) for g, x in zip(hvs, points, strict=True)])
    return hvs if isinstance(xs, (list, tuple)) else hvs[0]


# =============================================================================
# Their common parts
# =============================================================================


def _as_list(xs: Values) -> Sequence[ArrayLike]:
    return xs if isinstance(xs, (list, tuple)) else [xs]


def _arguments(
    function: str,
    given: Sequence[ArrayLike],
    create_graph: bool,
    positions: Sequence[int] | None = None,
) -> list[Variable]:
    """What ``f`` gets: Variables that no other path of a graph reaches.

    Were ``f`` given the caller's own Variable, everything that ``f`` closes over and
    that was computed from that Variable would count as depending on the argument.
    """
    if not given:
        raise TypeError(f"{function}: expected a point to differentiate at, got none")
    xs = []
    for i, x in enumerate(given):
        x = as_variable(x)
        if x.data is None:
            raise ValueError(
                f"{function}: expected data in argument {i}, got a Variable without "
                "any: a layer makes its parameters when it is first called"
            )
        if x.dtype.kind != "f":
            place = i if positions is None else positions[i]
            raise TypeError(
                f"{function}: expected a floating argument {place}, "
                f"got dtype {x.dtype}; write x.astype(np.float64)"
            )
        if create_graph and x.requires_grad:
            xs.append(Identity()(x))
        else:
            xs.append(Variable(x.data, x.name, requires_grad=True))
    return xs


def _call(
    function: str,
    f: Callable[..., Variable],
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
) -> Variable:
    y = f(*args, **(kwargs or {}))
    if not isinstance(y, Variable):
        raise TypeError(
            f"{function}: expected f to return a Variable, got {type(y).__name__}; "
            "an array or a number has left the graph"
        )
    if not y.requires_grad:
        raise RuntimeError(
            f"{function}: expected a result of f that depends on its arguments, "
            "got a constant; was it computed from raw data (x.data), under no_grad, "
            "detached, or by an inner derivative without create_graph=True?"
        )
    return y


def _check_one_element(function: str, y: Variable) -> None:
    if y.size != 1:
        raise ValueError(
            f"{function}: expected a result of f with one element, "
            f"got shape {y.shape}; jacobian and vjp take any shape"
        )


def _directions(
    function: str, xs: Sequence[Variable], vs: Sequence[ArrayLike]
) -> list[Variable]:
    if len(vs) != len(xs):
        raise ValueError(
            f"{function}: expected {len(xs)} vectors in vs, one per argument, "
            f"got {len(vs)}"
        )
    directions = []
    for i, (x, v) in enumerate(zip(xs, vs, strict=True)):
        v = as_variable(v)
        if v.shape != x.shape:
            raise ValueError(
                f"{function}: expected vector {i} of shape {x.shape}, as its argument "
                f"has, got {v.shape}"
            )
        directions.append(v)
    return directions


def _gradient(
    function: str, f: Callable[..., Variable], given: Any, create_graph: bool
) -> tuple[list[Variable], list[Variable]]:
    """The arguments of ``f`` and the gradient by each, recorded."""
    xs = _arguments(function, given, create_graph)
    y = _call(function, f, xs)
    _check_one_element(function, y)
    gxs = grad(y, xs, create_graph=True, allow_unused=True)
    return xs, [_or_zeros(g, x) for g, x in zip(gxs, xs, strict=True)]


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
        column = [_or_zeros(row[j], x) for row in rows]
        if not column:  # an empty y
            block = as_variable(xp.zeros((0,), x.dtype))
        elif create_graph:
            block = stack(column)
        else:
            block = as_variable(xp.stack([g.data for g in column]))
        blocks.append(reshape(block, y.shape + x.shape))
    return tuple(blocks)


def _or_zeros(gx: Variable | None, x: Variable) -> Variable:
    if gx is not None:
        return gx
    return as_variable(cuda.get_array_module(x.data).zeros_like(x.data))
