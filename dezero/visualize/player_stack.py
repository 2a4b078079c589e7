"""What goes wrong when the work list of a backward pass is a plain stack."""

from __future__ import annotations

from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Function, Variable, _constant, _Like, no_grad
from dezero.visualize.player_graph import PlayerGraph, Step, Value
from dezero.visualize.player_recording import Contribution, Pop, Recording, array_of
from dezero.visualize.player_values import Snapshot


def record_stack(graph: PlayerGraph, seed: Variable) -> tuple[Recording, bool]:
    """Run the same Functions from a plain stack: last in, first out.

    Each gradient that arrives puts the Function of its Value on the stack, and the one
    on top runs with whatever sum there is. Where two paths meet, a Function runs before
    its gradient is complete, and again for each one that arrives: earlier contributions
    are passed on twice.

    Nothing here is made up: each step calls the recorded Function's own backward.

    Returns:
        The recording, and whether it came to an end. Functions can run once per path,
        and paths double at each diamond: it is stopped when it has taken four times as
        many turns as there are Functions, and twenty.
    """
    run = _Run(graph)
    pop = Pop(None)
    run.contribute(pop, graph.end.key, graph.end, seed.data, seed.data, 0)
    pop.left = run.waiting()
    pops = [pop]
    limit = 4 * len(graph.steps) + 20
    with no_grad(), np.errstate(all="ignore"):
        while run.stack and len(pops) <= limit:
            pops.append(run.turn())
    gradients = {
        graph.by_key[key]: Snapshot.of(array_of(gx))
        for key, gx in run.table.items()
        if isinstance(key, Variable)
    }
    return Recording(pops, gradients, run.arrived), not run.stack


class _Run:
    def __init__(self, graph: PlayerGraph) -> None:
        self.graph = graph
        self.stack: list[Function] = []
        self.table: dict[Any, Any] = {}  # sums stay: nobody knows when they are done
        self.arrived: dict[tuple[Value, bool], int] = {}

    def waiting(self) -> list[Step]:
        """The stack, its top first."""
        return [self.graph.of[f] for f in reversed(self.stack)]

    def turn(self) -> Pop:
        """Take the Function on top, and run it with the gradients that are there."""
        waiting = self.waiting()
        f = self.stack.pop()
        step = self.graph.of[f]
        gys = tuple([self._sum(value) for value in step.outputs])
        pop = Pop(step, waiting, [Snapshot.of(gy.data) for gy in gys])
        pop.left = self.waiting()
        for leaf, gx in f._at_cuts(gys):
            if leaf.requires_grad:
                value = self.graph.by_key[leaf]
                self.contribute(pop, leaf, value, gx.data, gx.data, 0)
        if f._edges:
            node, _alive = f._with_outputs() if f.reads_outputs else (f, None)
            # Zeros for what was unchained, as in the engine; arrays of their own, since
            # these sums live on.
            gys = tuple([_constant(gy.data.copy()) for gy in f._past_cuts(gys)])
            self._spread(pop, step, node.backward(*gys))
        return pop

    def _sum(self, value: Value) -> Variable:
        gy = self.table.get(value.key)
        if gy is None:
            like: Any = self.table[_any_key(value, self.table)]
            xp = cuda.get_array_module(like.data)
            gy = _constant(xp.zeros(value.shape, value.dtype))
        return gy

    def _spread(self, pop: Pop, step: Step, gxs: Any) -> None:
        f = step.f
        gxs = gxs if isinstance(gxs, (tuple, list)) else (gxs,)
        pop.returned = [None if gx is None else Snapshot.of(array_of(gx)) for gx in gxs]
        for i, (edge, gx) in enumerate(zip(f._edges, gxs, strict=True)):
            value = step.inputs[i]
            if edge is None or gx is None or value is None:
                continue
            gx = f._as_gradient(gx)
            like = edge.data if isinstance(edge, Variable) else _Like(edge)
            new = f.fit_gradient(gx, like)
            self.contribute(pop, edge, value, gx.data, new.data, i)

    def contribute(
        self, pop: Pop, key: Any, value: Value, given: Any, new: Any, place: int
    ) -> None:
        """Add a gradient to a sum, and put the Function behind it on the stack."""
        old = self.table.get(key)
        xp = cuda.get_array_module(new)
        total = new.copy() if old is None else xp.asarray(old.data + new)
        self.table[key] = _constant(total)
        at_leaf = isinstance(key, Variable)
        arrived = self.arrived.get((value, at_leaf), 0) + 1
        self.arrived[value, at_leaf] = arrived
        pop.sums.append(
            Contribution(
                value,
                Snapshot.of(given),
                None if old is None else Snapshot.of(old.data),
                Snapshot.of(new),
                Snapshot.of(total),
                arrived,
                place,
                at_leaf,
            )
        )
        f = key[0] if type(key) is tuple else key
        if isinstance(f, Function):
            self.stack.append(f)
            pop.pushed.append(self.graph.of[f])
        pop.left = self.waiting()


def _any_key(value: Value, table: dict[Any, Any]) -> Any:
    """The key of an output of the same Function that has a gradient."""
    assert value.maker is not None
    return next(v.key for v in value.maker.outputs if v.key in table)
