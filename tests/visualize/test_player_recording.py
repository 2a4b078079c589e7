"""What the player records is what the engine does: its queue, its sums, its order."""

import gc
import sys
import weakref

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.core import Function, Variable, _make_seed, run_backward
from dezero.visualize.player_graph import PlayerGraph
from dezero.visualize.player_recording import record
from dezero.visualize.player_stack import record_stack
from dezero.visualize.player_values import close, same


class SumAndDifference(Function):
    """Each gradient goes both ways."""

    def forward(self, a, b):
        return a + b, a - b

    def backward(self, g, h):
        return g + h, g - h


def variable(*numbers, dtype=np.float64, name=None):
    data = np.array(numbers[0] if len(numbers) == 1 else numbers, dtype)
    return Variable(data, name=name)


def diamond():
    x = variable(2.0, name="x")
    a = x**2
    return a**2 + a**2


def mlp_loss():
    np.random.seed(0)
    model = dz.models.MLP((3, 1), activation=F.tanh)
    x, t = np.random.rand(4, 2), np.random.rand(4, 1)
    return F.mean_squared_error(model(x), t)


def second_derivative():
    x = variable(1.5, name="x")
    y = F.sin(x) * x**3
    return dz.grad(y, x, create_graph=True)


def gradient_after_backward():
    x = variable(0.5, 1.5, name="x")
    F.sum(F.exp(x) * x).backward(create_graph=True)
    return F.sum(x.grad**2)


def several_outputs():
    a, b = variable(1.0, 2.0), variable(3.0, 5.0)
    p, q = SumAndDifference()(a, b)
    r, _unused = SumAndDifference()(p, q * q)
    return F.sum(r * p)


def second_of_several_outputs():
    a, b = variable(1.0, 2.0), variable(3.0, 5.0)
    return SumAndDifference()(a * b, b)[1]


def shared_variable():
    x = variable(3.0)
    return x * x * x + x


def broadcasting():
    x, b = variable([[1.0, 2.0], [3.0, 4.0]]), variable(0.5, 0.25)
    return F.sum((x + b) * b)


def constants():
    x = variable(1.0, 2.0)
    return F.sum(x * np.array([3.0, 4.0]) + 1.0) / 2.0


def integers():
    x = variable(3, dtype=np.int64)
    return x * x + x


def half_precision():
    x = variable(1.0, 2.0, dtype=np.float16)
    return F.mean(F.exp(x) * x + x)


def mixed_precision():
    x = variable(1.0, 2.0, dtype=np.float32)
    return F.sum(F.cast(x, np.float64) * np.array([0.1, 0.2]) + x)


def not_finite():
    x = variable(0.0, np.inf, np.nan)
    return F.sum(x * 2.0 + x)


def unchained():
    x = variable(2.0)
    y = x**2
    z = y * 3.0 + y
    y.unchain()
    return z * y + x


def partly_unchained():
    a, b = variable(1.0), variable(2.0)
    p, q = SumAndDifference()(a, b)
    z = p * q
    q.unchain()
    return z


def frozen_since():
    x, y = variable(1.0), variable(2.0)
    z = x * y + x
    x.requires_grad = False
    return z


def seeded():
    y = diamond()
    y.grad = np.array(0.5)
    return y


def not_a_number():
    return F.exp(variable([[1.0, 2.0], [0.0, 1.0]]))


def recomputed():
    x = variable(0.5, 1.0)
    return F.sum(F.checkpoint(lambda x: F.sin(x) * x, x) * x)


def recurrent():
    np.random.seed(0)
    layer = L.RNN(2, in_size=2)
    h = None
    for _ in range(3):
        h = layer(np.ones((1, 2), np.float32))
    return F.sum(h * h)


GRAPHS = [
    diamond,
    mlp_loss,
    second_derivative,
    gradient_after_backward,
    several_outputs,
    second_of_several_outputs,
    shared_variable,
    broadcasting,
    constants,
    integers,
    half_precision,
    mixed_precision,
    not_finite,
    unchained,
    partly_unchained,
    frozen_since,
    seeded,
    not_a_number,
    recomputed,
    recurrent,
]


def seed_of(y):
    return _make_seed("test", y, y._grad if y._seeded else None)


def recorded(y):
    graph = PlayerGraph(y, {})
    return graph, record(graph, seed_of(y))


# ---- an independent observation --------------------------------------------------


class Look(list):
    """What run_backward extends at each pop; it looks at the variables of the loop."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __iadd__(self, pairs):
        loop = sys._getframe(1).f_locals
        self.seen.append(
            {
                "f": loop["f"],
                "heap": [
                    (-minus, f)
                    for minus, _, f in sorted(loop["heap"], key=lambda e: e[:2])
                ]
                + [(0, f) for f in loop["last"]],
                "gys": [gy.data.copy() for gy in loop["gys"]],
                "table": {key: e[0].data.copy() for key, e in loop["table"].items()},
            }
        )
        return self


def observed(y):
    look = Look()
    with np.errstate(all="ignore"):
        table = run_backward([y], [seed_of(y)], kept=look)
    return look.seen, table


def assert_is(snapshot, x):
    x = np.asarray(x)
    assert (snapshot.shape, snapshot.dtype) == (x.shape, x.dtype.name)
    if x.size <= 12:
        np.testing.assert_array_equal(snapshot.values, x)


@pytest.mark.parametrize("make", GRAPHS)
def test_each_turn_is_the_engine_s(make):
    y = make()
    graph, recording = recorded(y)
    seen, table = observed(y)
    assert recording.pops[0].step is None
    assert len(recording.pops) == len(seen) + 1
    sums = {}  # by Value and whether it is a leaf's, as the recording tells it

    def keep(pop):
        for c in pop.sums:
            old = sums.get((c.value, c.at_leaf))
            assert (c.old is None) == (old is None)
            assert old is None or same(c.old.values, old.values)
            sums[c.value, c.at_leaf] = c.total

    keep(recording.pops[0])
    for pop, seen_ in zip(recording.pops[1:], seen, strict=True):
        assert pop.step.f is seen_["f"]
        assert pop.waiting[0] is pop.step
        waiting = [(step.generation, step.f) for step in pop.waiting[1:]]
        assert waiting == seen_["heap"]
        for snapshot, gy in zip(pop.incoming, seen_["gys"], strict=True):
            assert_is(snapshot, gy)
        for value in pop.step.outputs:
            sums.pop((value, False), None)
        assert not pop.changed
        engine = {
            (graph.by_key[key], isinstance(key, Variable)): total
            for key, total in seen_["table"].items()
        }
        assert sums.keys() == engine.keys()
        for key, total in engine.items():
            assert_is(sums[key], total)
        keep(pop)
    assert recording.pops[-1].left == []
    found = {graph.by_key[x]: gx.data for x, gx in table.items()}
    assert recording.gradients.keys() == found.keys()
    for value, gx in found.items():
        assert_is(recording.gradients[value], gx)


@pytest.mark.parametrize("make", GRAPHS)
def test_the_queue_afterwards_is_the_one_before_the_next(make):
    _, recording = recorded(make())
    for pop, following in zip(recording.pops, recording.pops[1:], strict=False):
        assert pop.left == following.waiting
        assert set(pop.pushed) <= set(pop.left)


@pytest.mark.parametrize("make", GRAPHS)
def test_the_graph_is_left_as_it_was(make):
    y = make()
    graph = PlayerGraph(y, {})
    leaves = [v.key for v in graph.values if isinstance(v.key, Variable)]
    grads = [x.grad for x in leaves]
    before = [(type(s.f), dict(vars(s.f))) for s in graph.steps]
    grad, is_seeded = y._grad, y._seeded
    record(graph, seed_of(y))
    record_stack(graph, seed_of(y))
    for step, (cls, state) in zip(graph.steps, before, strict=True):
        assert type(step.f) is cls
        assert vars(step.f).keys() == state.keys()
        assert all(vars(step.f)[name] is state[name] for name in state)
    assert all(x.grad is g for x, g in zip(leaves, grads, strict=True))
    assert y._grad is grad
    assert y._seeded is is_seeded
    # And it goes through as if nothing had been there.
    with np.errstate(all="ignore"):
        y.backward()


def test_numbers_of_the_diamond():
    _, recording = recorded(diamond())
    names = [pop.step.name for pop in recording.pops[1:]]
    assert names == ["Add", "Pow", "Pow", "Pow"]
    second, third = recording.pops[2:4]
    assert [(c.old, c.total.text(), c.arrived) for c in second.sums] == [(None, "8", 1)]
    (c,) = third.sums
    assert (c.old.text(), c.new.text(), c.total.text()) == ("8", "8", "16")
    assert recording.expected[c.value, False] == 2
    assert [s.text() for s in recording.gradients.values()] == ["64"]


def test_what_broadcasting_made_of_a_gradient():
    _, recording = recorded(broadcasting())
    shapes = [(c.given.shape, c.new.shape) for pop in recording.pops for c in pop.sums]
    assert ((2, 2), (2,)) in shapes


def test_lost_values_are_computed_again():
    graph = PlayerGraph(diamond(), {})
    assert [v.data is None for v in graph.values] == [False] * len(graph.values)
    texts = [str(v.data) for v in graph.values]
    assert texts == ["2.0", "4.0", "16.0", "16.0", "32.0"]


def test_dropout_is_not_run_again():
    x = variable(1.0, 2.0)
    y = F.sum(F.dropout(x + x) + x)
    state = np.random.get_state()[1].copy()
    graph = PlayerGraph(y, {})
    assert (np.random.get_state()[1] == state).all()
    lost = [v.maker.name for v in graph.values if v.data is None]
    assert "Dropout" in lost


def test_a_gradient_changed_in_place_is_told():
    class Doubling(Function):
        def forward(self, x):
            return x * 1

        def backward(self, gy):
            kept.data *= 2
            return gy

    class Keeping(Function):
        def forward(self, x, y):
            return x + y

        def backward(self, gy):
            nonlocal kept
            kept = dz.as_variable(gy.data.copy())
            return kept, gy

    kept = None
    x = variable(3.0)
    y = Keeping()(x * 2.0, Doubling()(F.sin(F.sin(x))))
    _, recording = recorded(y)
    names = [v.maker.name for pop in recording.pops for v in pop.changed]
    assert names == ["Mul"]


def test_an_error_in_backward_comes_through_and_changes_nothing():
    class Broken(Function):
        def forward(self, x):
            return x * 1

        def backward(self, gy):
            raise KeyError("mine")

    x = variable(1.0)
    y = Broken()(x) * x
    before = [type(f) for f in (y.creator,)]
    with pytest.raises(KeyError, match="mine"):
        recorded(y)
    assert [type(f) for f in (y.creator,)] == before
    assert x.grad is None


def test_a_wrong_count_of_gradients_is_the_engine_s_error():
    class TooMany(Function):
        def forward(self, x):
            return x * 1

        def backward(self, gy):
            return gy, gy

    with pytest.raises(ValueError, match=r"TooMany.backward: expected 1 gradients"):
        recorded(TooMany()(variable(1.0)))


def test_a_freed_graph_is_the_engine_s_error():
    y = diamond()
    y.backward(retain_graph=False)
    with pytest.raises(RuntimeError, match="was freed by an earlier pass"):
        recorded(y)


# ---- what is freed ---------------------------------------------------------------


def test_freed_arrays_are_those_that_die():
    def chain():
        x = variable(2.0, name="x")
        a = x**2
        b = a * a
        return F.sum(F.reshape(b**2 + a * x, (1,)) ** 2), x

    y, x = chain()
    graph, recording = recorded(y)
    data = {v.name: v.data for v in graph.values if v.kind == "result"}
    owners = {n: d if d.base is None else d.base for n, d in data.items()}
    freed = [[v.name for v in pop.freed] for pop in recording.pops[1:]]
    refs = {n: weakref.ref(d) for n, d in owners.items() if n != graph.end.name}
    kept = {n for names in freed for n in names}
    assert len(kept) >= 3
    del graph, recording, data, owners
    gc.collect()

    class Deaths(list):
        def __iadd__(self, pairs):
            self.append({n for n in kept if refs[n]() is None})
            return self

    deaths = Deaths()
    run_backward([y], [seed_of(y)], retain_graph=False, kept=deaths)
    dead = set()
    for at_pop, names in zip(deaths, freed, strict=True):
        assert at_pop == dead  # what the turns before this one freed
        dead |= set(names)
    assert x.grad is None


# ---- the plain stack -------------------------------------------------------------


def stacked(y):
    graph = PlayerGraph(y, {})
    right = record(graph, seed_of(y))
    return graph, right, *record_stack(graph, seed_of(y))


def wrong_by_hand(y):
    """The textbook loop with a plain stack, written on Variables, for one output."""
    grads = {y: np.ones_like(y.data)}
    stack = [y.creator]
    while stack:
        f = stack.pop()
        (out,) = [ref() for ref in f.outputs]
        gxs = f.backward(dz.as_variable(grads[out]))
        gxs = gxs if isinstance(gxs, tuple) else (gxs,)
        for x, gx in zip(f.inputs, gxs, strict=True):
            gx = gx if isinstance(gx, np.ndarray) else gx.data
            grads[x] = grads[x] + gx if x in grads else gx
            if x.creator is not None:
                stack.append(x.creator)
    return grads


def test_a_plain_stack_gets_the_diamond_wrong():
    graph, right, wrong, complete = stacked(diamond())
    assert complete
    assert [s.text() for s in right.gradients.values()] == ["64"]
    assert [s.text() for s in wrong.gradients.values()] == ["96"]
    runs = [pop.step.id for pop in wrong.pops[1:]]
    assert len(runs) == 5  # one of the four ran twice
    assert len(set(runs)) == 4


def test_a_plain_stack_as_written_by_hand():
    x = variable(1.5)
    a = x * x
    b = a * x
    c = b * a
    y = c * b
    _, right, wrong, complete = stacked(y)
    assert complete
    by_hand = wrong_by_hand(y)[x]
    (gx,) = wrong.gradients.values()
    np.testing.assert_array_equal(gx.values, by_hand)
    assert not close(gx, next(iter(right.gradients.values())))


@pytest.mark.parametrize("make", [mlp_loss, constants, not_a_number, seeded])
def test_a_plain_stack_and_a_queue_agree_where_no_paths_meet(make):
    if make is seeded:
        y = variable(2.0) ** 2 * 3.0
        y.grad = np.array(0.25)
    else:
        y = make()
    _, right, wrong, _ = stacked(y)
    assert wrong.gradients.keys() == right.gradients.keys()
    for value, gx in right.gradients.items():
        assert close(gx, wrong.gradients[value])


def test_a_plain_stack_is_stopped_where_paths_double():
    y = variable(1.0)
    for _ in range(12):
        y = y + y * 0.5
    graph, _, wrong, complete = stacked(y)
    assert not complete
    assert len(wrong.pops) == 4 * len(graph.steps) + 21


@pytest.mark.parametrize("make", GRAPHS)
def test_a_plain_stack_runs_on_every_graph(make):
    graph, _, wrong, _ = stacked(make())
    for pop, following in zip(wrong.pops, wrong.pops[1:], strict=False):
        assert pop.left == following.waiting
        assert following.waiting[0] is following.step
    assert set(wrong.gradients) <= set(graph.values)
