"""What a profile measures, on a clock that only moves when a test says so."""

import threading
import types

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero import Function, Parameter, Variable, cuda
from dezero.diagnostics import profile, profile_recording
from dezero.optimizers import LBFGS, SGD


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(profile_recording, "perf_counter", clock)
    return clock


class Slow(Function):
    """``y = 2 x`` in 3 seconds; backward takes 5."""

    clock: Clock

    def forward(self, x):
        self.clock.now += 3
        return 2 * x

    def backward(self, gy):
        self.clock.now += 5
        return 2 * gy


class Outer(Slow):
    """The same by way of Slow, and a second more; backward too."""

    def forward(self, x):
        self.clock.now += 1
        return Slow()(x).data

    def backward(self, gy):
        self.clock.now += 1
        return Slow()(gy)


@pytest.fixture(autouse=True)
def on_clock(clock):
    Slow.clock = clock


def variable(*shape, dtype=np.float32):
    return Variable(np.ones(shape, dtype))


def by_name(rows):
    return {row.name: row for row in rows}


def check_sums(p):
    rows = p.rows
    assert sum(row.seconds for row in rows) + p.rest == pytest.approx(p.seconds)
    assert sum(row.own for row in rows) + p.rest == pytest.approx(p.seconds)
    for row in rows:
        assert min(row.forward, row.backward, row.own, row.output, row.kept) >= 0


# ---- times -------------------------------------------------------------------------


def test_forward_backward_and_the_rest(clock):
    with profile() as p:
        clock.now += 7
        y = Slow()(Slow()(variable(4)))
        y.backward()
    rows = by_name(p.rows)
    row = rows["Slow"]
    assert (row.calls, row.forward, row.backward) == (2, 6, 10)
    assert row.seconds == row.own == 16
    assert (p.seconds, p.rest, p.overhead) == (23, 7, 0)
    check_sums(p)


def test_a_function_that_calls_others_has_their_time(clock):
    with profile() as p:
        Outer()(variable(4)).backward()
    rows = by_name(p.rows)
    outer, slow = rows["Outer"], rows["Slow"]
    assert (outer.calls, outer.forward, outer.backward, outer.own) == (1, 4, 4, 2)
    assert (slow.calls, slow.forward, slow.backward, slow.own) == (2, 0, 0, 6)
    assert [row.name for row in p.rows][:2] == ["Outer", "Slow"]
    check_sums(p)


def test_second_derivatives(clock):
    x = variable(4)
    with profile() as p:
        y = Outer()(x)
        (y * y).backward(create_graph=True)  # calls Slow, which is recorded
        x.grad.backward()
    rows = by_name(p.rows)
    assert rows["Outer"].backward == 8  # it is in both passes
    assert rows["Slow"].backward == 5
    check_sums(p)


def test_a_sum_of_gradients_is_a_call_in_backward(clock):
    x = variable(4)
    with profile() as p:
        (Slow()(x) + Slow()(x)).backward(create_graph=True)
    add = by_name(p.rows)["Add"]
    assert add.calls == 2  # that of the test, and that of the engine
    check_sums(p)


def test_the_time_of_measuring_is_nobodys(clock, monkeypatch):
    def slow_lines(limit):
        clock.now += 100
        return ["line"]

    monkeypatch.setattr(profile_recording, "user_lines", slow_lines)
    with profile() as p:
        Outer()(variable(4)).backward()
        clock.now += 2
    rows = by_name(p.rows)
    assert (rows["Outer"].forward, rows["Outer"].own) == (4, 2)
    assert (p.seconds, p.rest, p.overhead) == (10, 2, 200)  # Slow has Outer's line;
    # the other one looked up is that of the copy that the engine makes for the leaf
    check_sums(p)


def test_raw_arrays_and_scalars_are_one_call(clock):
    x = np.ones(4, np.float32)
    with profile() as p:
        Slow()(x)
        Slow()(2.0)
        F.add(Variable(x), 1.0)
    rows = by_name(p.rows)
    assert (rows["Slow"].calls, rows["Slow"].forward) == (2, 6)
    assert rows["Add"].calls == 1


def test_under_no_grad(clock):
    with profile() as p, dz.no_grad():
        Slow()(variable(4))
    row = by_name(p.rows)["Slow"]
    assert (row.calls, row.forward, row.kept) == (1, 3, 0)


def test_an_object_that_is_called_again(clock):
    f = Slow()
    x = variable(4)
    with profile() as p:
        y = f(x)
        z = f(y)
        z.backward()
    row = by_name(p.rows)["Slow"]
    assert (row.calls, row.forward, row.backward) == (2, 6, 10)
    assert x.grad.data.tolist() == [4] * 4


def test_a_function_that_fails_is_counted(clock):
    class Fails(Function):
        def forward(self, x):
            clock.now += 2
            raise KeyError("on purpose")

    class FailsLater(Slow):
        def backward(self, gy):
            clock.now += 4
            raise KeyError("on purpose")

    with profile() as p:
        with pytest.raises(KeyError, match="on purpose"):
            Fails()(variable(4))
        with pytest.raises(KeyError, match="on purpose"):
            FailsLater()(variable(4)).backward()
        Slow()(variable(4))
    rows = by_name(p.rows)
    assert (rows["Fails"].calls, rows["Fails"].forward) == (1, 2)
    assert rows["FailsLater"].backward == 4
    assert rows["Slow"].forward == 3
    check_sums(p)


def test_what_a_class_may_be(clock):
    class Slots(Slow):
        __slots__ = ("factor",)

        def __init__(self):
            self.factor = 2

        def backward(self, gy):
            assert type(self) is Slots
            return super().backward(gy)

    class Registered(Slow):
        def __init_subclass__(cls, **options):
            raise AssertionError("no subclasses, please")

    with profile() as p:
        y = Registered()(Slots()(variable(4)))
        y.backward()
    rows = by_name(p.rows)
    assert rows["Slots"].backward == rows["Registered"].backward == 5


# ---- blocks ------------------------------------------------------------------------


def test_blocks_one_after_the_other_add_up(clock):
    p = profile()
    for _ in range(3):
        clock.now += 50  # outside
        with p:
            Slow()(variable(4))
            clock.now += 1
    assert by_name(p.rows)["Slow"].calls == 3
    assert (p.seconds, p.rest) == (12, 3)


def test_a_backward_in_a_later_block_is_measured_and_one_outside_is_not(clock):
    p = profile()
    with p:
        y = Slow()(variable(4))
    y.backward()
    assert by_name(p.rows)["Slow"].backward == 0
    with p:
        y.backward()
    assert by_name(p.rows)["Slow"].backward == 5
    check_sums(p)


def test_a_profile_in_a_profile(clock):
    with profile() as outer:
        with profile() as inner:
            y = Slow()(variable(4))
            y.backward()
        Slow()(variable(4))
    assert by_name(inner.rows)["Slow"].seconds == 8
    row = by_name(outer.rows)["Slow"]
    assert (row.calls, row.forward, row.backward) == (2, 6, 5)
    check_sums(outer)
    check_sums(inner)


def test_threads_have_blocks_of_their_own(clock):
    p = profile()
    with p:
        y = Slow()(variable(4))

        def unseen():
            Slow()(variable(4))
            y.backward()

        def seen():
            with p:
                unseen()

        for target in unseen, seen:
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
    row = by_name(p.rows)["Slow"]
    assert (row.calls, row.forward, row.backward) == (2, 6, 5)


def test_gradients_are_the_same_bits():
    def gradients():
        np.random.seed(0)
        model = L.Linear(3)
        x = Variable(np.random.randn(5, 4).astype(np.float32))
        y = F.sum(F.tanh(model(x)) ** 2 / F.exp(x[:, :3]))
        y.backward(create_graph=True)
        F.sum(x.grad**3).backward()
        return [v.grad.data.tobytes() for v in (x, *model.params())]

    with profile():
        found = gradients()
    assert found == gradients()


def test_beside_anomaly_mode_and_checkpoints(clock):
    x = variable(4)
    with dz.detect_anomaly(), profile() as p, dz.detect_anomaly():
        y = F.checkpoint(lambda x: Slow()(F.tanh(x)), x)
        y.backward()
    rows = by_name(p.rows)
    assert rows["Slow"].calls == 2  # backward computes it anew
    assert x.grad is not None
    check_sums(p)


# ---- updates and layers ------------------------------------------------------------


class SlowSGD(SGD):
    clock: Clock

    def update_one(self, param):
        self.clock.now += 2
        super().update_one(param)


class Hurried(SlowSGD):
    def update(self):
        self.clock.now += 1
        super().update()


@pytest.mark.parametrize(("cls", "seconds"), [(SlowSGD, 4), (Hurried, 5)])
def test_updates_have_a_row(clock, cls, seconds):
    SlowSGD.clock = clock
    model = L.Linear(2, in_size=3)
    optimizer = cls(0.1).setup(model)
    with profile() as p:
        F.sum(model(variable(2, 3))).backward()
        optimizer.update()
    row = by_name(p.rows)[f"{cls.__name__}.update"]
    assert (row.calls, row.seconds, row.own) == (1, seconds, seconds)
    assert row.forward == row.backward == 0
    check_sums(p)


def test_functions_that_an_update_calls_are_their_own_time(clock):
    class Model(L.Layer):
        def __init__(self):
            self.w = Parameter(np.ones(1))

    model = Model()
    optimizer = LBFGS().setup(model)

    def loss():
        clock.now += 10
        return F.sum(Slow()(model.w) ** 2)

    with profile() as p:
        optimizer.update(loss)
    rows = by_name(p.rows)
    assert rows["Slow"].forward == 3 * rows["Slow"].calls > 0
    assert rows["LBFGS.update"].seconds == 10 * rows["Slow"].calls
    check_sums(p)


class Block(L.Layer):
    def __init__(self):
        self.inner = L.Linear(3, in_size=3)
        self.own = Overriding()

    def forward(self, x):
        return Slow()(self.own(self.inner(x)))


class Overriding(L.Layer):
    def __call__(self, x):
        return Slow()(x)


def test_layers_have_rows(clock):
    model, other = Block(), L.Linear(2, in_size=3)
    with profile(model) as p:
        other(Slow()(model(variable(2, 3)))).backward()
    rows = by_name(p.layers)
    assert set(rows) == {"Block", "inner", "own"}
    assert (rows["Block"].calls, rows["own"].calls) == (1, 1)
    assert (rows["Block"].forward, rows["Block"].backward) == (3, 5)
    assert (rows["own"].forward, rows["own"].backward) == (3, 5)
    assert rows["inner"].output >= 4 * 2 * 3
    assert by_name(p.rows)["Slow"].seconds == 24
    check_sums(p)


def test_layers_made_between_blocks_are_found(clock):
    model = Block()
    p = profile(model)
    model.more = Overriding()
    with p:
        model.more(variable(2, 3))
    assert by_name(p.layers)["more"].forward == 3


def test_without_a_model_there_are_no_layers(clock):
    with profile() as p:
        Block()(variable(2, 3))
    assert p.layers == []


def test_classes_are_as_before(clock):
    watched = [
        (Function, "__call__"),
        (Variable, "backward"),
        (L.Layer, "__call__"),
        (Overriding, "__call__"),
        (Hurried, "update"),
        (SGD.__mro__[1], "update"),
    ]
    before = [vars(cls)[name] for cls, name in watched]
    with pytest.raises(KeyError), profile(Block()):
        assert [vars(cls)[name] for cls, name in watched] != before
        raise KeyError
    assert [vars(cls)[name] for cls, name in watched] == before


# ---- bytes -------------------------------------------------------------------------


def test_bytes_of_results_without_views(clock):
    x = variable(4, 8)
    with profile() as p:
        y = F.reshape(F.exp(x), (32,))
        F.transpose(F.reshape(y, (4, 8)))
    rows = by_name(p.rows)
    assert rows["Exp"].output == 4 * 32
    assert rows["Reshape"].output == rows["Transpose"].output == 0


def test_bytes_kept_are_those_that_functions_made(clock):
    x, w = variable(4, 8), variable(8, 2)
    with profile() as p:
        y = F.exp(x)  # keeps its result
        F.matmul(y, w)  # keeps both, but y is counted, and w is there anyway
        F.relu(y)  # keeps something of its own
    rows = by_name(p.rows)
    assert rows["Exp"].kept == 4 * 32
    assert rows["MatMul"].kept == 0
    assert 0 < rows["ReLU"].kept <= 4 * 32
    assert p.peak_kept == 4 * 32 + rows["ReLU"].kept


def test_the_peak_is_that_of_one_time(clock):
    x = variable(100)
    with profile() as p:
        for _ in range(5):
            F.sum(F.exp(x)).backward(retain_graph=False)
    assert by_name(p.rows)["Exp"].kept == 5 * 400
    assert p.peak_kept == 400


def test_no_array_is_kept_alive(clock):
    x = variable(100)
    with profile() as p:
        y = F.exp(x)
        assert p._recorder.kept.now == 400
        del y
    assert p._recorder.kept.now == 0


def test_float64_out_of_float32_is_noted(clock):
    x = variable(4)
    with profile() as p:
        F.mul(x, np.ones(4))
        F.add(x, 1.0)
        F.sum(Variable(np.ones(4)))
    assert {cls.__name__: n for cls, (n, _) in p._recorder.widened.items()} == {
        "Mul": 1
    }


# ---- events ------------------------------------------------------------------------


def test_events_tell_shapes_bytes_and_lines(clock):
    model = Block()
    with profile(model) as p:
        y = model(variable(2, 3))
        y.backward()
    events = {(e.kind, e.name, e.args.get("layer")): e for e in p._recorder.events}
    event = events["forward", "Slow", "Block"]
    assert event.args["inputs"] == event.args["outputs"] == [(2, 3)]
    assert event.args["bytes"] == 24
    assert ": return Slow()(self.own(self.inner(x)))" in event.args["line"]
    assert event.end - event.start == 3
    back = events["backward", "Slow", "Block"]
    assert back.args["line"] == event.args["line"]
    assert back.args["inputs"] == back.args["outputs"] == [(2, 3)]
    assert events["layer", "own", None].args["class"] == "Overriding"
    assert ("pass", "backward pass", "") in events
    assert event.thread == threading.get_native_id()


def test_the_number_of_events_is_bounded(clock, monkeypatch):
    monkeypatch.setattr(profile_recording, "MAX_EVENTS", 3)
    with profile() as p:
        for _ in range(5):
            Slow()(variable(4))
    assert len(p._recorder.events) == 3 and p._recorder.left_out == 2
    assert by_name(p.rows)["Slow"].calls == 5


# ---- devices -----------------------------------------------------------------------


@pytest.mark.parametrize("synchronize", [False, True])
def test_synchronize_waits_before_and_after_each_call(clock, monkeypatch, synchronize):
    waits = []
    stream = types.SimpleNamespace(synchronize=lambda: waits.append(clock.now))
    device = types.SimpleNamespace(
        cuda=types.SimpleNamespace(get_current_stream=lambda: stream)
    )
    # Arrays of a device, as far as the profile asks.
    monkeypatch.setattr(
        profile_recording,
        "cuda",
        types.SimpleNamespace(
            get_array_module=lambda x: device, is_array=cuda.is_array
        ),
    )
    with profile(synchronize=synchronize) as p:
        Slow()(variable(4)).backward()
    assert p.synchronize is synchronize
    assert waits[:4] == ([0, 3, 3, 8] if synchronize else [])
    assert set(waits[4:]) <= {8}


def test_numpy_needs_no_waiting(clock):
    with profile(synchronize=True) as p:
        Slow()(variable(4)).backward()
    assert by_name(p.rows)["Slow"].seconds == 8
