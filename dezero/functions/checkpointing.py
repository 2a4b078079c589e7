"""Computing again instead of keeping: less memory for more time."""

import contextlib
import pickle
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from dezero import cuda
from dezero.core import Config, Function, Variable, run_backward, using_config

__all__ = ["Checkpoint", "checkpoint"]


class Gate(Function):
    """``y = x``, where a graph inside ends and the graph outside goes on."""

    reads_inputs = False
    reads_outputs = False

    def forward(self, x):
        return x

    def backward(self, gy):
        return gy


class Checkpoint(Function):
    reads_outputs = False
    fresh_gradients = True

    def __init__(self, f, args, count, inside, temporary, numbers, ys):
        self.f = f
        self.args = args  # of f; None stands for the next of the inputs
        self.count = count  # how many inputs are arguments, before those f found itself
        self.inside = inside  # the kinds of Functions of its graph, as a hash
        self.temporary = temporary  # how many leaves f makes for its own use
        self.numbers = numbers
        self.train = Config.train
        self.ys = ys

    def forward(self, *xs):
        ys, self.ys = self.ys, None
        return ys

    def backward(self, *gys):
        create_graph = Config.enable_backprop
        inside: list[Any] = []  # what stands for each input in the graph inside
        gates = []
        lent = []  # results of other functions that f found itself, and their gates
        with using_config("enable_backprop", True):
            for i, x in enumerate(self.inputs):
                found = i >= self.count
                if not x.requires_grad or (found and x.creator is None):
                    inside.append(x)  # a constant, or a leaf: it ends there anyway
                    continue
                inside.append(Gate()(x))
                gates.append(inside[i].creator)
                if found:
                    lent.append((x, gates[-1]))
        # Behind a closed gate there is nothing: the pass inside must end at each, even
        # if one input was computed from another.
        edges = [gate._edges for gate in gates]
        for gate in gates:
            gate._edges = [None]
        try:
            ys = self._again(inside[: self.count], lent)
            self._check(ys, gys, gates)
            needs = self.needs_grad
            wanted = [x for x, need in zip(inside, needs, strict=True) if need]
            table = run_backward(ys, gys, wanted, create_graph, create_graph)
        finally:
            for gate, edge in zip(gates, edges, strict=True):
                gate._edges = edge
        return tuple([table.get(x) for x in inside])

    def _again(self, arguments, lent):
        """The outputs of f once more, recorded up to the gates."""
        rest = iter(arguments)
        args = [next(rest) if x is None else x[0] for x in self.args]
        ends = [(x, x.creator, x._index) for x, _ in lent]
        for x, gate in lent:
            x.creator, x._index = gate, 0
        try:
            with (
                using_config("enable_backprop", True),
                using_config("train", self.train),
                self.numbers.again(),
            ):
                ys = _as_list(self.f(*args))
        finally:
            for x, creator, index in ends:
                x.creator, x._index = creator, index
        return [y for y in ys if _is_recorded(y)]

    def _check(self, ys, gys, gates):
        """Refuse what would lose a gradient: f did something else this time."""
        shapes = [y.shape for y in ys]
        if shapes != [gy.shape for gy in gys]:
            raise RuntimeError(
                "checkpoint: expected f to return the same when it is run again, "
                f"shapes {[gy.shape for gy in gys]}, got {shapes}"
            )
        known = {x for x in self.inputs if x.creator is None}
        uses = _uses(ys, gates)
        leaves = {edge for _, edge in uses if isinstance(edge, Variable)}
        inside = hash(tuple([type(f) for f, _ in uses]))
        if len(leaves - known) > self.temporary or self.inside != inside:
            raise RuntimeError(
                "checkpoint: expected f to use the same Variables and functions when "
                "it is run again, got others; f must keep no Variables from one call "
                "to the next, and what changes after the call, such as the variable of "
                "a loop, must be an argument"
            )


def checkpoint(f: Callable[..., Any], *xs: Any) -> Any:
    """``f(*xs)``, with only the inputs kept: backward runs ``f`` a second time.

    What ``f`` computes on the way is freed when it returns, and computed again when the
    backward pass arrives, one checkpoint at a time: a network of n equal parts, each in
    a checkpoint, keeps n inputs and the inside of one part. Gradients are those of
    ``f(*xs)``, bit for bit: ``f`` sees the random numbers and the mode (training or
    test) of its first run. (On a GPU, ``f`` draws from a generator of its own, seeded
    from the global one.) They can be differentiated again. Parameters and results of
    other functions that ``f`` knows without being given them get their gradients too.
    Chen et al. 2016, "Training deep nets with sublinear memory cost".

    ``f`` must do the same each time. What it changes elsewhere changes twice, such as
    the running statistics of a batch normalization. Under ``no_grad`` this is a plain
    call.

    Args:
        f: Returns a Variable, or a tuple or list of them. A layer, for one.
        *xs: The arguments of ``f``: Variables, and whatever else it takes.

    Returns:
        What ``f`` returns.

    Raises:
        RuntimeError: In backward: ``f`` returned other shapes, or used other Variables,
            than the first time.
        TypeError: ``f`` cannot be called, or returned something else.
    """
    if not callable(f):
        raise TypeError(f"checkpoint: expected a function as f, got {type(f).__name__}")
    if not Config.enable_backprop:
        return f(*xs)
    numbers = _RandomNumbers(xs)
    # Through gates, so that a use of f's arguments differs from another of the same
    # Variables, which f may know from elsewhere.
    args = [Gate()(x) if _is_recorded(x) else x for x in xs]
    gates = {x.creator for x, given in zip(args, xs, strict=True) if x is not given}
    with numbers.first():
        result = f(*args)
    ys = _as_list(result)
    recorded = [i for i, y in enumerate(ys) if _is_recorded(y)]
    if not recorded:
        return result
    arrays = tuple([ys[i].data for i in recorded])
    uses = _weak_uses([ys[i] for i in recorded], gates)
    kind = type(result)
    ys = [None if i in recorded else y for i, y in enumerate(ys)]
    del result, args, gates
    # The graph inside is gone. A Variable that is still there belongs to others.
    uses = [use for use in uses if use.user is None or use.user() is None]
    inside = hash(tuple([use.kind for use in uses]))
    used = {id(use.used): (use.used(), use.is_leaf) for use in uses if use.used}
    outside = [x for x, _ in used.values() if x is not None]
    temporary = sum([is_leaf and x is None for x, is_leaf in used.values()])
    given = [x for x in xs if isinstance(x, Variable)]
    kept = [None if isinstance(x, Variable) else (x,) for x in xs]
    node = Checkpoint(f, kept, len(given), inside, temporary, numbers, arrays)
    outputs = node(*given, *outside)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    for i, y in zip(recorded, outputs, strict=True):
        ys[i] = y
    if kind not in (tuple, list):
        return ys[0]
    return kind(ys)


def _is_recorded(x: Any) -> bool:
    return isinstance(x, Variable) and x.requires_grad


def _as_list(result: Any) -> list[Any]:
    """What f returned, as a list."""
    ys = list(result) if type(result) in (tuple, list) else [result]
    harmless = (Variable, int, float, np.generic, type(None))  # what holds no other
    for y in ys:
        if not isinstance(y, harmless) and not cuda.is_array(y):
            raise TypeError(
                "checkpoint: expected f to return a Variable, or a tuple or list of "
                f"Variables, got {type(y).__name__}"
                + (" in it" if y is not result else "")
            )
    return ys


# =============================================================================
# What f uses without being given it
# =============================================================================


def _function_of(edge: Any) -> Any:
    return edge[0] if type(edge) is tuple else edge


def _uses(ys: Sequence[Variable], gates: Any) -> list[tuple[Any, Any]]:
    """The graph of ``ys`` as pairs: a Function (or None) and an edge that it has.

    It ends at leaves and ``gates``. An edge is what Function._edges says.
    """
    uses: list[tuple[Any, Any]] = []
    for y in ys:
        edge = (y.creator, y._index) if y.creator is not None and y._index else None
        uses.append((None, edge or y.creator or y))
    seen = set(gates)
    for _, edge in uses:  # grows as we go
        f = _function_of(edge)
        if isinstance(f, Function) and f not in seen:
            seen.add(f)
            uses += [(f, e) for e in f._edges or () if e is not None]
    return uses


class _Use(NamedTuple):
    """That a Function uses a Variable. Weak references: the graph will be freed."""

    user: Any  # None if certainly f's own
    kind: type  # of the user
    used: Any  # likewise
    is_leaf: bool


def _weak_uses(ys: Sequence[Variable], gates: set[Any]) -> list[_Use]:
    """The graph of ``ys`` as far as f, and what f knows from elsewhere, may reach.

    What depends on an argument is f's own. Of the rest, what is alive after the graph
    is freed belongs to others.
    """
    uses = _uses(ys, gates)
    edges: dict[Any, list[Any]] = {}
    for f, edge in uses:
        edges.setdefault(f, []).append(edge)
    own = set(gates) | {None}
    users = [f for f in edges if f is not None]
    for f in sorted(users, key=lambda f: f.generation):  # inputs before outputs
        if any([_function_of(edge) in own for edge in edges[f]]):
            own.add(f)
    result = []
    for f, edge in uses:
        user = None if f in own else weakref.ref(f)
        maker = _function_of(edge)
        is_leaf = isinstance(edge, Variable)
        used = None
        if is_leaf:
            used = weakref.ref(edge)
        elif maker not in own:
            used = maker.outputs[edge[1] if type(edge) is tuple else 0]
        result.append(_Use(user, type(f), used, is_leaf))
    return result


# =============================================================================
# The same random numbers
# =============================================================================


class _RandomNumbers:
    """The random numbers of a first run of f, for a second one.

    NumPy's state can be read and set. That of a GPU cannot be read: there, f draws
    from a generator of its own, seeded from NumPy's.
    """

    def __init__(self, xs: Sequence[Any]) -> None:
        self.xp: Any = np
        for x in xs:
            xp = cuda.get_array_module(x)
            self.xp = self.xp if xp is np else xp
        self.state: Any = None  # of NumPy; None if f draws no numbers there
        self.seed = None
        if self.xp is not np:
            # Drawn here: to read a number of a GPU's, it would have to be waited for.
            self.seed = np.random.randint(2**31 - 1)

    @contextlib.contextmanager
    def first(self) -> Iterator[None]:
        """See with which state f starts."""
        state = np.random.get_state(legacy=False)
        with self._seeded():
            yield
        # To set a state takes longer than many an f: only where it is needed.
        if pickle.dumps(state) != pickle.dumps(np.random.get_state(legacy=False)):
            self.state = state

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """The same numbers; afterwards all is as it was."""
        if self.state is None:
            with self._seeded():
                yield
            return
        old = np.random.get_state(legacy=False)
        np.random.set_state(self.state)
        try:
            with self._seeded():
                yield
        finally:
            np.random.set_state(old)

    @contextlib.contextmanager
    def _seeded(self) -> Iterator[None]:
        """On a GPU, a generator of f's own."""
        if self.seed is None:
            yield
            return
        random = self.xp.random
        old = random.get_random_state()
        random.set_random_state(random.RandomState(self.seed))
        try:
            yield
        finally:
            random.set_random_state(old)
