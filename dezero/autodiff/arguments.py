"""What the functional forms do with the function they get and its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dezero.core import ArrayLike, Identity, Variable, as_variable, using_config
from dezero.functions.arithmetic import zeros_like

Variables = Variable | Sequence[Variable]
Values = ArrayLike | Sequence[ArrayLike]

recording = using_config("enable_backprop", True)  # as a decorator


def as_list(xs: Values) -> Sequence[ArrayLike]:
    """One value as a list of it; a list or tuple as it is."""
    return xs if isinstance(xs, (list, tuple)) else [xs]


def arguments(
    function: str,
    given: Sequence[ArrayLike],
    create_graph: bool,
    positions: Sequence[int] | None = None,
) -> list[Variable]:
    """What ``f`` gets: Variables that no other path of a graph reaches.

    Were ``f`` given the caller's own Variable, everything that ``f`` closes over and
    that was computed from that Variable would count as depending on the argument.

    Raises:
        TypeError: There is none, or one is no floating array.
        ValueError: One is a Variable without data.
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


def call(
    function: str,
    f: Callable[..., Variable],
    args: Sequence[Any],
    kwargs: dict[str, Any] | None = None,
) -> Variable:
    """``f(*args)``, checked to be a Variable that depends on something.

    Raises:
        RuntimeError: It is a constant.
        TypeError: It is no Variable.
    """
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


def check_one_element(function: str, y: Variable) -> None:
    """Check that ``y`` can have a gradient.

    Raises:
        ValueError: It has not just one element.
    """
    if y.size != 1:
        raise ValueError(
            f"{function}: expected a result of f with one element, "
            f"got shape {y.shape}; jacobian and vjp take any shape"
        )


def directions_of(
    function: str, xs: Sequence[Variable], vs: Sequence[ArrayLike]
) -> list[Variable]:
    """``vs`` as Variables, checked to be one of the shape of each of ``xs``.

    Raises:
        ValueError: Their number or a shape is another.
    """
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


def or_zeros(gx: Variable | None, x: Variable) -> Variable:
    """``gx``, or zeros like ``x`` where no gradient came."""
    return zeros_like(x) if gx is None else gx
