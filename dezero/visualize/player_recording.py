"""The backward pass of the engine, observed while it runs on a copy of the graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any

import numpy as np

from dezero import cuda
from dezero.core import Function, Variable, _constant, run_backward
from dezero.cuda import Array
from dezero.visualize.player_freed import Held
from dezero.visualize.player_graph import PlayerGraph, Step, Value
from dezero.visualize.player_values import Snapshot, same


@dataclass
class Contribution:
    """A gradient that reaches a Value, and the sum that it becomes part of.

    Attributes:
        value: Where it goes.
        given: What backward returned; differs from ``new`` if it was broadcast.
        old: The sum before; None for the first to arrive.
        new: What was added.
        total: The sum after.
        arrived: How many have arrived, this one included.
        place: Which input of the Function the gradient belongs to.
        at_leaf: Whether it ends there.
    """

    value: Value
    given: Snapshot
    old: Snapshot | None
    new: Snapshot
    total: Snapshot
    arrived: int
    place: int
    at_leaf: bool


@dataclass
class Pop:
    """One turn of the loop.

    Attributes:
        step: The Function that ran; None for the seed, before the first turn.
        waiting: The work list before it was taken out, next one first.
        incoming: The gradient of each output.
        returned: The gradient by each input; None where backward returned none.
        sums: What each gradient was added to, in order.
        pushed: The Functions that came into the work list.
        left: The work list afterwards, next one first.
        freed: Values whose arrays nothing in the graph needs any more.
        passes: Without a gradient for the outputs that were unchained.
        changed: The outputs whose gradient is not what had arrived: some backward wrote
            into an array that it had handed on, or had been given.
    """

    step: Step | None
    waiting: list[Step] = field(default_factory=list)
    incoming: list[Snapshot] = field(default_factory=list)
    returned: list[Snapshot | None] = field(default_factory=list)
    sums: list[Contribution] = field(default_factory=list)
    pushed: list[Step] = field(default_factory=list)
    left: list[Step] = field(default_factory=list)
    freed: list[Value] = field(default_factory=list)
    changed: list[Value] = field(default_factory=list)


@dataclass
class Recording:
    """A whole pass.

    Attributes:
        pops: The seed, then one for each Function that ran.
        gradients: What the pass brought to each leaf.
        expected: How many contributions each Value got in all. A Value that was
            unchained has two sums: one before its Function, and one as a leaf (True).
    """

    pops: list[Pop]
    gradients: dict[Value, Snapshot]
    expected: dict[tuple[Value, bool], int]


def record(graph: PlayerGraph, seed: Variable) -> Recording:
    """Run a backward pass over a copy of the graph, and write down what happens."""
    recorder = _Recorder(graph)
    y = _constant(graph.y.data)
    y.creator = recorder.copies[graph.steps[-1].f]
    y._index = graph.y._index
    y.requires_grad = True
    recorder.start(seed)
    with np.errstate(all="ignore"):
        table = run_backward([y], [seed], retain_graph=False)
    return recorder.finish(table)


class _Recorder:
    """Follows the engine from inside the Functions that it calls.

    What the engine keeps for itself (its heap, its table of sums) is followed here with
    the same arithmetic, and compared with the engine's own at each step.
    """

    def __init__(self, graph: PlayerGraph) -> None:
        self.graph = graph
        self.copies = _copied(graph, self)
        self._steps = {f: graph.of[old] for old, f in self.copies.items()}
        self._pops: list[Pop] = []
        self._heap: list[tuple[int, int, Function]] = []
        self._count = 0
        self._table: dict[Any, Array] = {}
        self._arrived: dict[tuple[Value, bool], int] = {}
        self._held = Held(graph)
        self._popped: Function | None = None  # the one whose turn it is

    # ---- called in the order of events -------------------------------------------

    def start(self, seed: Variable) -> None:
        """The gradient that the pass begins with."""
        pop = Pop(None)
        self._pops.append(pop)
        y = self.graph.y
        copy: Any = self.copies[self.graph.steps[-1].f]
        key = (copy, y._index) if y._index else copy
        gy = array_of(seed)
        self._contribute(pop, key, self.graph.end, gy, gy, 0)
        pop.left = self._queue()

    def pop(self, f: Function, gys: tuple[Variable, ...]) -> Pop:
        """The engine took a Function out of its queue, and the sums for its outputs."""
        if self._popped is f:
            return self._pops[-1]
        self._popped = f
        waiting = self._queue()
        expected = heappop(self._heap)[2] if self._heap else None
        if expected is not f:
            raise AssertionError("the order of the engine is not the one recorded")
        pop = Pop(self._steps[f], waiting, [Snapshot.of(gy.data) for gy in gys])
        self._pops.append(pop)
        for i, gy in enumerate(gys):
            arrived = self._table.pop((f, i) if i else f, None)
            if arrived is not None and not same(arrived, gy.data):
                pop.changed.append(pop.step.outputs[i])  # type: ignore[union-attr]
        pop.left = self._queue()
        return pop

    def contribute(self, f: Function, edge: Any, place: int, gx: Any, new: Any) -> None:
        """The engine added a gradient to the sum of an edge, or began one."""
        pop = self._pops[-1]
        value = self._value(edge)
        self._contribute(pop, edge, value, array_of(gx), array_of(new), place)
        pop.left = self._queue()

    def release(self, f: Function) -> None:
        """The engine freed what the Function had recorded."""
        self._pops[-1].freed = self._held.release(self._steps[f])

    def end_of_turn(self) -> None:
        """Another turn begins, or the pass ends."""
        self._popped = None

    def finish(self, table: dict[Variable, Variable]) -> Recording:
        """The pass is over; ``table`` is what it found."""
        if self._heap:
            raise AssertionError("the engine left a Function in its queue")
        gradients = {
            self.graph.by_key[x]: Snapshot.of(gx.data) for x, gx in table.items()
        }
        return Recording(self._pops, gradients, self._arrived)

    # ---- the engine's own state --------------------------------------------------

    def _contribute(
        self, pop: Pop, key: Any, value: Value, given: Array, new: Array, place: int
    ) -> None:
        old = self._table.get(key)
        total = new.copy() if old is None else np.asarray(old + new)
        self._table[key] = total
        at_leaf = isinstance(key, Variable)
        arrived = self._arrived.get((value, at_leaf), 0) + 1
        self._arrived[value, at_leaf] = arrived
        pop.sums.append(
            Contribution(
                value,
                Snapshot.of(given),
                None if old is None else Snapshot.of(old),
                Snapshot.of(new),
                Snapshot.of(total),
                arrived,
                place,
                at_leaf,
            )
        )
        f = key[0] if type(key) is tuple else key
        if isinstance(f, Function) and all([f is not g for _, _, g in self._heap]):
            heappush(self._heap, (-self._steps[f].generation, self._count, f))
            self._count += 1
            pop.pushed.append(self._steps[f])

    def _value(self, edge: Any) -> Value:
        if isinstance(edge, Variable):
            return self.graph.by_key[edge]
        f, i = edge if type(edge) is tuple else (edge, 0)
        return self._steps[f].outputs[i]

    def _queue(self) -> list[Step]:
        return [self._steps[f] for _, _, f in sorted(self._heap, key=lambda e: e[:2])]


# =============================================================================
# The copy of the graph
# =============================================================================


def _copied(graph: PlayerGraph, recorder: _Recorder) -> dict[Function, Function]:
    """A copy of each Function, with edges among the copies, that tells the recorder.

    The user's graph is not touched, even if something fails or another thread is in it;
    and the copies can be freed as a pass without ``retain_graph`` frees them.
    """
    copies: dict[Any, Any] = {}
    for step in graph.steps:
        copy = step.f._clone()
        if copy._edges:
            copy._edges = [_moved(edge, copies) for edge in copy._edges]
        copy.__class__ = _watched(type(step.f), recorder, copy)
        copies[step.f] = copy
    return copies


def _moved(edge: Any, copies: dict[Any, Any]) -> Any:
    if type(edge) is tuple:
        return copies[edge[0]], edge[1]
    return copies.get(edge, edge)  # a leaf or None stays


def _watched(cls: Any, recorder: _Recorder, node: Function) -> Any:
    """A class of its own for ``node``, since Python looks methods up in the class."""
    gradient: list[Any] = [None, None]  # being added by the engine; what it was fit to

    def backward(self: Any, *gys: Any) -> Any:
        recorder.pop(node, gys)
        gxs = cls.backward(self, *gys)
        gxs = tuple(gxs) if isinstance(gxs, (tuple, list)) else (gxs,)
        recorder._pops[-1].returned = [
            None if gx is None else Snapshot.of(array_of(gx)) for gx in gxs
        ]
        return _Told(gxs, told)

    def told(gxs: tuple[Any, ...]) -> Iterator[Any]:
        # The engine takes one gradient, adds it, and comes back for the next one.
        for i, gx in enumerate(gxs):
            gradient[:] = gx, gx
            yield gx
            if gx is not None and node._edges[i] is not None:
                recorder.contribute(node, node._edges[i], i, gx, gradient[1])
        gradient[:] = None, None
        recorder.end_of_turn()

    def fit_gradient(self: Any, gx: Any, x: Any) -> Any:
        fitted = cls.fit_gradient(self, gx, x)
        if gradient[0] is not None:
            gradient[1] = fitted
        return fitted

    def at_cuts(self: Any, gys: tuple[Any, ...]) -> Any:
        recorder.pop(node, gys)
        ends = cls._at_cuts(self, gys)
        for leaf, gx in ends:
            if leaf.requires_grad:
                recorder.contribute(node, leaf, 0, gx, gx)
        if len(self._cut_outputs) == len(gys):
            recorder.end_of_turn()
        return ends

    def release(self: Any) -> None:
        recorder.release(node)
        cls._release(self)

    members = {
        "backward": backward,
        "fit_gradient": fit_gradient,
        "_at_cuts": at_cuts,
        "_release": release,
        "__module__": cls.__module__,
        "__doc__": cls.__doc__,
    }
    return type(cls.__name__, (cls,), members)


class _Told(list):
    """Gradients that tell when each of them is taken."""

    def __init__(self, gxs: tuple[Any, ...], told: Any) -> None:
        super().__init__(gxs)
        self._told = told

    def __iter__(self) -> Iterator[Any]:
        return self._told(tuple(self[:]))


def array_of(gx: Any) -> Array:
    """The numbers of a gradient, on the CPU."""
    return np.asarray(cuda.as_numpy(gx.data if isinstance(gx, Variable) else gx))
