"""Which Layer a Function was called in, from a run of a model or from its weights."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

from dezero import cuda
from dezero.core import Function, Variable, using_config
from dezero.diagnostics.calls import watch_calls
from dezero.layers import Layer
from dezero.testing.states import pinned_random_state
from dezero.visualize.graph_nodes import Knowledge, Scope, functions_in_order


def run_model(
    model: Layer, inputs: tuple[Any, ...], options: dict[str, Any]
) -> tuple[list[Variable], Knowledge]:
    """Call a copy of ``model`` and note which Functions run inside which layer.

    Returns:
        The Variables that it returned, and what was learnt.

    Raises:
        TypeError: It returned no Variable.
    """
    model = copy.deepcopy(model)
    known = Knowledge()
    open_scopes: list[Scope] = []
    for name, layer in model.named_layers():
        if name:
            _watch(layer, name, open_scopes, known)

    def watcher(call: Callable[..., Any], f: Function, *xs: Any) -> Any:
        ys = call(f, *xs)
        y = ys[0] if isinstance(ys, tuple) else ys
        creator = y.creator
        if creator is not None:
            # A call with raw arrays calls itself with constants: the outer one is the
            # last to be noted, with what the user gave.
            known.scopes[creator] = tuple(open_scopes)
            known.inputs[creator] = xs
        return ys

    given = [_as_input(x) for x in inputs]
    for x, name in zip(given, _argument_names(model, len(given)), strict=True):
        if isinstance(x, Variable):
            known.names[x] = x.name or name
        else:
            known.arrays[id(x)] = x, name
    with (
        pinned_random_state(),
        using_config("enable_backprop", True),
        watch_calls(watcher),
    ):
        outputs = variables_in(model(*given, **options))
    if not outputs:
        raise TypeError(
            f"draw_model: expected {type(model).__name__} to return Variables, got none"
        )
    known.names.update({p: name for name, p in model.named_params()})
    return outputs, known


def _as_input(x: Any) -> Any:
    """Arrays of floats as Variables: their arrows stay, whatever a Function keeps."""
    return Variable(x) if cuda.is_array(x) and x.dtype.kind == "f" else x


def _argument_names(model: Layer, count: int) -> list[str]:
    try:
        parameters = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [p.name for p in parameters if p.kind in plain]
    return [names[i] if i < len(names) else f"x{i}" for i in range(count)]


def _watch(layer: Any, name: str, open_scopes: list[Scope], known: Knowledge) -> None:
    """Open a scope whenever ``layer`` is called from now on.

    Python looks ``__call__`` up in the class, so this one object gets a class of its
    own; it is a copy, which nobody else sees.
    """
    cls: Any = type(layer)

    def call(self: Any, *inputs: Any, **options: Any) -> Any:
        scope = Scope(name, cls.__name__)
        open_scopes.append(scope)
        known.readers += [(x, scope) for x in inputs if id(x) in known.arrays]
        try:
            return cls.__call__(self, *inputs, **options)
        finally:
            open_scopes.pop()

    watched = type(cls.__name__, (cls,), {"__call__": call})
    object.__setattr__(layer, "__class__", watched)


def variables_in(outputs: Any) -> list[Variable]:
    """The Variables in what a model returned, each once."""
    found: dict[Variable, None] = {}
    stack = [outputs]
    while stack:
        item = stack.pop()
        if isinstance(item, Variable):
            found[item] = None
        elif isinstance(item, dict):
            stack += reversed(list(item.values()))
        elif isinstance(item, (tuple, list)):
            stack += reversed(item)
    return list(found)


def know_model(outputs: list[Variable], model: Layer) -> Knowledge:
    """What the weights of ``model`` tell about a graph that was recorded before.

    They get the names that they have there, and a Function that reads weights of one
    layer alone is drawn in its frame.
    """
    known = Knowledge({p: name for name, p in model.named_params()})
    scopes = {name: Scope(name, type(m).__name__) for name, m in model.named_layers()}
    roots = [y.creator for y in outputs if y.creator is not None]
    for f in functions_in_order(roots):
        names = [known.names.get(e) for e in f._edges or () if isinstance(e, Variable)]
        owners = {name.rpartition("/")[0] for name in names if name}
        if len(owners) == 1:
            parts = owners.pop().split("/")
            paths = ["/".join(parts[: i + 1]) for i in range(len(parts))]
            known.scopes[f] = tuple([scopes[p] for p in paths if p and p in scopes])
    return known
