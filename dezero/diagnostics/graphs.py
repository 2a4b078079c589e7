"""The recorded graph as data: what is in it, where it ends, what gradients pass."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Function, Variable, no_grad, run_backward
from dezero.diagnostics.measures import is_finite


class Graph:
    """What gradients from ``loss`` would go through.

    Attributes:
        loss: Where they start.
        functions: Those recorded, the last one first.
        leaves: Each leaf, and (the Function, the place) where it goes in first; (None,
            0) for a loss that is one.
        constants: (Function, place, Variable) of each input that takes no gradient and
            was kept.
        hidden: (Function, place) of each such input that was not kept.
        freed: Functions that an earlier pass released.
        cut: Functions with an output that was unchained.
    """

    def __init__(self, loss: Variable) -> None:
        self.loss = loss
        self.functions: list[Function] = []
        self.leaves: dict[Variable, tuple[Function | None, int]] = {}
        self.constants: list[tuple[Function, int, Variable]] = []
        self.hidden: list[tuple[Function, int]] = []
        self.freed: list[Function] = []
        self.cut: list[Function] = []
        if loss.creator is None:
            self.leaves[loss] = None, 0
            return
        seen: dict[Function, None] = {loss.creator: None}
        stack = [loss.creator]
        while stack:
            for edge in stack.pop()._edges or ():
                f = function_of(edge)
                if isinstance(f, Function) and f not in seen:
                    seen[f] = None
                    stack.append(f)
        self.functions = sorted(seen, key=lambda f: -f.generation)
        for f in self.functions:
            self._look_at(f)

    def _look_at(self, f: Function) -> None:
        if f._cut_outputs:
            self.cut.append(f)
        elif not f._edges:
            self.freed.append(f)
        for i, edge in enumerate(f._edges or ()):
            if isinstance(edge, Variable):
                self.leaves.setdefault(edge, (f, i))
            elif edge is None:
                x = f.inputs[i] if f.inputs is not None else None
                if isinstance(x, Variable):
                    self.constants.append((f, i, x))
                elif f.inputs is None:
                    self.hidden.append((f, i))

    def path(self, x: Variable) -> list[Function] | None:
        """The shortest chain of Functions down to ``x``; None if there is none."""
        if x is self.loss:
            return []
        if not self.functions:
            return None
        target = x if x.creator is None else (x.creator, x._index)
        top = self.functions[0]
        above: dict[Function, Function | None] = {top: None}
        queue = [top]
        for f in queue:  # grows as we go
            edges = f._edges or ()
            if any([_same(edge, target) for edge in edges]):
                chain: list[Function] = []
                at: Function | None = f
                while at is not None:
                    chain.append(at)
                    at = above[at]
                return chain[::-1]
            for edge in edges:
                g = function_of(edge)
                if isinstance(g, Function) and g not in above:
                    above[g] = f
                    queue.append(g)
        return None


def function_of(edge: Any) -> Any:
    """The Function that an edge leads to; a leaf or None as they are."""
    return edge[0] if type(edge) is tuple else edge


def _same(edge: Any, target: Any) -> bool:
    if isinstance(target, Variable):
        return edge is target
    f, index = target
    other = edge if type(edge) is tuple else (edge, 0)
    return other[0] is f and other[1] == index


# =============================================================================
# What arrives
# =============================================================================


@dataclass(frozen=True)
class Arrival:
    """The gradient that a pass brings.

    Attributes:
        gradient: The array; None if no backward on the way returned one.
        node: Where it was lost, or became zero or not finite, if that can be said.
        error: What the pass raised.
    """

    gradient: Any = None
    node: Function | None = None
    error: Exception | None = None


def arriving(graph: Graph, loss: Variable, x: Variable) -> Arrival:
    """Run a pass from ``loss`` to ``x`` that touches no ``.grad``."""
    seed = _seed(loss)
    try:
        with np.errstate(all="ignore"):
            gradient = run_backward([loss], [seed], [x]).get(x)
            if gradient is not None:
                g = gradient.data
                if is_finite(g) and bool((g != 0).any()):
                    return Arrival(g)
            node = _where_lost(graph, loss, seed, x)
    except Exception as error:  # a Function of the user's may raise anything
        return Arrival(error=error)
    return Arrival(None if gradient is None else gradient.data, node)


def _seed(loss: Variable) -> Variable:
    """What backward() starts with: ones, or a gradient that the user assigned."""
    if loss._seeded and loss._grad is not None and loss.creator is not None:
        return loss._grad
    # As the engine does: signed ones for an unsigned result.
    dtype = np.int64 if loss.dtype.kind in "ub" else loss.dtype
    ones = cuda.get_array_module(loss.data).ones(loss.shape, dtype)
    return Variable(ones, requires_grad=False)


def _where_lost(
    graph: Graph, loss: Variable, seed: Variable, x: Variable
) -> Function | None:
    """The last Function with a useful gradient coming in and none going on to ``x``."""
    # Stand-ins for all results on the way, of which most are gone: the pass finds them
    # by the Function that made them, and says what arrived there.
    on_the_way = _leading_to(graph, x)
    stand_ins: dict[Any, Variable] = {}
    for f in on_the_way:
        several = type(f._output_refs) is tuple
        shapes = f._output_shape if several else (f._output_shape,)
        dtypes = f._output_dtype if several else (f._output_dtype,)
        for i, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True)):
            y = Variable(np.broadcast_to(np.zeros((), dtype), shape))
            y.creator, y._index = f, i
            stand_ins[f, i] = y
    wanted = [*stand_ins.values(), x]
    table = run_backward([loss], [seed], wanted)
    goal = x if x.creator is None else stand_ins.get((x.creator, x._index), x)
    table = {**table, x: table[goal]} if goal in table else table

    def state(y: Variable) -> str:
        if y not in table:
            return "none"
        g = table[y].data
        if not is_finite(g):
            return "not finite"
        return "fine" if (g != 0).any() else "zero"

    xp = cuda.get_array_module(seed)
    for f in reversed(on_the_way):  # the one nearest to x comes first
        if f is x.creator:
            continue
        gys = [y for (g, _), y in stand_ins.items() if g is f]
        arrived = [state(y) for y in gys]
        if "fine" not in arrived or "not finite" in arrived:
            continue
        onward = []  # which of its inputs lead to x, and what is summed up there
        for i, edge in enumerate(f._edges or ()):
            key = edge if type(edge) is tuple else (edge, 0)
            if edge is x or key in stand_ins:
                onward.append((i, state(x if edge is x else stand_ins[key])))
        if "fine" in [found for _, found in onward]:
            continue
        # A sum may be zero because contributions cancel. So f itself is asked.
        gxs = _own_gradients(
            f, [table[y] if y in table else _zeros(xp, y) for y in gys]
        )
        if not any([_is_useful(gxs[i]) for i, _ in onward]):
            return f
    return None


def _own_gradients(f: Function, gys: list[Variable]) -> list[Any]:
    """What the backward of ``f`` makes of the gradients ``gys``."""
    node, _alive = f._with_outputs() if f.reads_outputs else (f, None)
    with no_grad():
        gxs = node.backward(*gys)
    return list(gxs) if isinstance(gxs, (tuple, list)) else [gxs]


def _zeros(xp: Any, y: Variable) -> Variable:
    return Variable(xp.zeros(y.shape, y.dtype), requires_grad=False)


def _is_useful(gx: Any) -> bool:
    if gx is None:
        return False
    g = gx.data if isinstance(gx, Variable) else gx
    return is_finite(g) and bool((g != 0).any())


def _leading_to(graph: Graph, x: Variable) -> list[Function]:
    """The Functions of the graph from which a gradient may get to ``x``."""
    target = x if x.creator is None else (x.creator, x._index)
    leading: dict[Function, None] = {}
    for f in reversed(graph.functions):  # inputs before outputs
        if f is x.creator:
            leading[f] = None
        for edge in f._edges or ():
            if _same(edge, target) or function_of(edge) in leading:
                leading[f] = None
    return [f for f in graph.functions if f in leading]


# =============================================================================
# What else is alive
# =============================================================================


@dataclass(frozen=True)
class Use:
    """A result that depends on a Variable.

    Attributes:
        function: The Function that made it; None for the Variable itself.
        x: The result, if it is alive.
        data: Its array.
        shape: Its shape.
    """

    function: Function | None
    x: Variable | None
    data: Any
    shape: tuple[int, ...]


def live_uses(x: Variable) -> list[Use]:
    """All that is alive of the results that depend on ``x``, the first ones first.

    A result may be gone while its Function keeps the array for backward.
    """
    functions: list[Function] = []
    variables: list[Variable] = []
    for item in gc.get_objects():
        kind = type(item)  # item.__class__ may be anything, of a proxy for one
        if issubclass(kind, Function):
            functions.append(item)
        elif issubclass(kind, Variable):
            variables.append(item)
    target = x if x.creator is None else (x.creator, x._index)
    depends: dict[Function, None] = {}
    for f in sorted(functions, key=lambda f: f.generation):
        for edge in f._edges or ():
            if _same(edge, target) or function_of(edge) in depends:
                depends[f] = None
                break
    uses = [
        Use(y.creator, y, y.data, y.shape)
        for y in variables
        if y.creator in depends and y.data is not None
    ]
    alive = {id(use.data) for use in uses}
    for f in depends:
        kept = f._output_data
        for data in kept if type(kept) is tuple else (kept,):
            if data is not None and id(data) not in alive:
                uses.append(Use(f, None, data, data.shape))
    order = {f: i for i, f in enumerate(depends)}
    return sorted(uses, key=lambda use: order[use.function] if use.function else -1)
