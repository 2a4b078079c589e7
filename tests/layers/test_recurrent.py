"""RNN, LSTM and GRU, step by step."""

import gc
import tracemalloc

import numpy as np
import pytest

import dezero as dz
import dezero.functions as F
import dezero.layers as L
from dezero.core import Function, Variable, no_grad

STEPS = pytest.mark.parametrize("cls", [L.RNN, L.LSTM, L.GRU])
GATED = pytest.mark.parametrize("cls", [L.LSTM, L.GRU])


def step(N=3, size=2, dtype=np.float32):
    return np.random.randn(N, size).astype(dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def perturb(layer):
    for p in layer.params():
        p.data = p.data + 0.1 * np.random.randn(*p.shape).astype(p.dtype)


def test_rnn_formula():
    layer = L.RNN(4, in_size=2)
    perturb(layer)
    h = np.zeros((3, 4))
    for x in [step() for _ in range(3)]:
        y = layer(x)
        x2h, h2h = layer.x2h, layer.h2h
        h = np.tanh(x @ x2h.W.data + x2h.b.data + h @ h2h.W.data)
        np.testing.assert_allclose(y.data, h, rtol=1e-5, atol=1e-6)
        assert y is layer.h


def test_lstm_formula():
    layer = L.LSTM(4, in_size=2)
    perturb(layer)
    h = c = np.zeros((3, 4))

    def gate(name):
        x2, h2 = getattr(layer, "x2" + name), getattr(layer, "h2" + name)
        return x @ x2.W.data + x2.b.data + h @ h2.W.data

    for x in [step() for _ in range(3)]:
        y = layer(x)
        f, i, o = [sigmoid(gate(name)) for name in "fio"]
        c = f * c + i * np.tanh(gate("u"))
        h = o * np.tanh(c)
        np.testing.assert_allclose(y.data, h, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(layer.c.data, c, rtol=1e-5, atol=1e-6)
        assert y is layer.h


def test_gru_formula():
    layer = L.GRU(4, in_size=2)
    perturb(layer)
    h = np.zeros((3, 4))

    def gate(v, name):
        sub = getattr(layer, name)
        return v @ sub.W.data + sub.b.data

    for x in [step() for _ in range(3)]:
        y = layer(x)
        r = sigmoid(gate(x, "x2r") + gate(h, "h2r"))
        z = sigmoid(gate(x, "x2z") + gate(h, "h2z"))
        n = np.tanh(gate(x, "x2n") + r * gate(h, "h2n"))
        h = (1 - z) * n + z * h
        np.testing.assert_allclose(y.data, h, rtol=1e-5, atol=1e-6)


def test_names_of_weights():
    def names(layer):
        return [name for name, _ in layer.named_params()]

    assert names(L.RNN(4)) == ["x2h/W", "x2h/b", "h2h/W"]
    assert names(L.LSTM(4)) == [
        *["x2f/W", "x2f/b", "x2i/W", "x2i/b", "x2o/W", "x2o/b", "x2u/W", "x2u/b"],
        *["h2f/W", "h2i/W", "h2o/W", "h2u/W"],
    ]
    assert len(names(L.GRU(4))) == 12


@STEPS
def test_in_size(cls):
    for layer in cls(6), cls(6, in_size=2), cls(6, 2):
        for _ in range(3):
            assert layer(step()).shape == (3, 6)
    x2 = [sub for name, sub in vars(layer).items() if name.startswith("x2")]
    h2 = [sub for name, sub in vars(layer).items() if name.startswith("h2")]
    assert {sub.W.shape for sub in x2} == {(2, 6)}
    assert {sub.W.shape for sub in h2} == {(6, 6)}


@STEPS
def test_reset_state(cls):
    layer, x = cls(4), step()
    assert layer.h is None
    first = layer(x).data
    assert not np.array_equal(layer(x).data, first)
    layer.reset_state()
    assert layer.h is None
    np.testing.assert_array_equal(layer(x).data, first)
    layer.reset_state()
    assert layer(step(N=5)).shape == (5, 4)


@STEPS
def test_a_state_of_the_users(cls):
    layer, x = cls(4), step()
    layer(x)
    states = {name: getattr(layer, name).detach() for name in layer.states}
    want = layer(x).data
    for name, state in states.items():
        setattr(layer, name, state)
    np.testing.assert_array_equal(layer(x).data, want)


@STEPS
def test_updates_between_steps_count(cls):
    np.random.seed(0)
    layer, x = cls(4), step()
    layer(x)
    states = [getattr(layer, name).data.copy() for name in layer.states]
    for p in layer.params():
        p.data *= 0.5  # in place, as optimizers do
    got = layer(x).data
    fresh = cls(4, in_size=2)
    for p, q in zip(fresh.params(), layer.params(), strict=True):
        p.data = q.data.copy()
    for name, state in zip(layer.states, states, strict=True):
        setattr(fresh, name, Variable(state))
    np.testing.assert_array_equal(got, fresh(x).data)


@STEPS
def test_weights_that_are_replaced_count(cls):
    layer, x = cls(4), step()
    layer(x)
    for p in layer.params():
        p.data = np.zeros_like(p.data)
    layer.reset_state()
    np.testing.assert_array_equal(layer(x).data, np.zeros((3, 4)))
    layer.reset_state()
    sub = layer.x2u if cls is L.LSTM else layer.x2n if cls is L.GRU else layer.x2h
    sub.b.data[...] = 1
    assert layer(x).data.all()


@STEPS
def test_tied_gates(cls):
    layer, other = cls(4, in_size=2), cls(4, in_size=2)
    if cls is not L.RNN:
        a, b = ("x2f", "x2i") if cls is L.LSTM else ("x2r", "x2z")
        getattr(layer, b).W = getattr(layer, a).W
    for name, sub in vars(layer).items():
        if name.startswith("h2"):
            getattr(other, name).W = sub.W
    x = step()
    for _ in range(2):
        layer.reset_state()
        other.reset_state()
        y = layer(x) + other(x)
        layer.cleargrads()
        y.sum().backward()
        for p in [*layer.params(), *other.params()]:
            p.data -= 0.1 * p.grad.data
    names = ("x2", "h2")
    for net in layer, other:
        clean = cls(4, in_size=2)
        for name, sub in vars(net).items():
            if name.startswith(names):
                getattr(clean, name).W.data = sub.W.data.copy()
                if sub.b is not None:
                    getattr(clean, name).b.data = sub.b.data.copy()
        net.reset_state()
        np.testing.assert_array_equal(net(x).data, clean(x).data)


@STEPS
@pytest.mark.parametrize("retain_graph", [True, False])
def test_several_passes_over_one_sequence_each(cls, retain_graph):
    layer, x = cls(4, in_size=2), [step() for _ in range(4)]
    gradients = []
    for _ in range(3):
        layer.reset_state()
        layer.cleargrads()
        for v in x:
            y = layer(v)
        y.sum().backward(retain_graph=retain_graph)
        gradients.append([p.grad.data.copy() for p in layer.params()])
    for g in gradients[1:]:
        for a, b in zip(g, gradients[0], strict=True):
            np.testing.assert_array_equal(a, b)
    assert all(a.any() for a in gradients[0])


@STEPS
@pytest.mark.parametrize("retain_graph", [True, False])
def test_truncated_backward_stops_at_the_cut(cls, retain_graph):
    layer, x = cls(4, in_size=2), step()
    layer.detach_state()  # there is none yet

    def gradients():
        layer.cleargrads()
        y = layer(x) + layer(x)
        y.sum().backward(retain_graph=retain_graph)
        return y, [p.grad.data.copy() for p in layer.params()]

    y, _ = gradients()
    if retain_graph:
        y.unchain_backward()
    else:
        layer.detach_state()
    states = {name: getattr(layer, name).data.copy() for name in layer.states}
    _, got = gradients()
    for name, state in states.items():
        setattr(layer, name, Variable(state).detach())
    _, want = gradients()
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@STEPS
def test_memory_is_flat_over_truncated_sequences(cls):
    layer, xs = cls(16), [step(8, 4) for _ in range(5)]

    def passes(n):
        for _ in range(n):
            loss = 0
            for x in xs:
                loss = loss + F.sum(layer(x))
            layer.cleargrads()
            loss.backward()
            loss.unchain_backward()
            for p in layer.params():
                p.data -= 0.001 * p.grad.data

    gc.collect()
    gc.disable()
    try:
        tracemalloc.start()
        passes(80)  # until Python's own pools have the size they need
        before, _ = tracemalloc.get_traced_memory()
        passes(80)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert after - before < 80 * xs[0].nbytes


@STEPS
def test_without_a_graph(cls):
    layer = cls(4)
    with no_grad():
        for _ in range(2):
            y = layer(step())
    assert not y.requires_grad
    y = layer(step())
    y.sum().backward()
    assert all(p.grad is not None for p in layer.params())


@STEPS
def test_frozen_and_thawed_weights(cls):
    layer = cls(4, in_size=2)
    layer(step())
    p = next(layer.params())
    p.requires_grad = False
    layer(step()).sum().backward()
    assert p.grad is None
    p.requires_grad = True
    layer.cleargrads()
    layer(step()).sum().backward()
    assert p.grad is not None


def joins(y):
    """The nodes behind y at which weights were joined."""
    found, stack, seen = [], [y.creator], set()
    while stack:
        f = stack.pop()
        f = f[0] if isinstance(f, tuple) else f
        if isinstance(f, Function) and f not in seen:
            seen.add(f)
            stack += f._edges
            found += [f] if isinstance(f, F.Concatenate) else []
    return found


@GATED
def test_weights_are_joined_once_for_a_sequence(cls):
    layer, n = cls(4, in_size=2), 3 if cls is L.LSTM else 4
    assert len(joins([layer(step()) for _ in range(5)][-1])) == n
    layer.reset_state()
    other = [layer(step()) for _ in range(3)][-1]
    assert len(joins(other)) == n
    layer.detach_state()
    assert not set(joins(layer(step()))) & set(joins(other))


@STEPS
@pytest.mark.parametrize("between", ["unchain", "detach", "free"])
def test_losses_of_parts_of_a_sequence_have_gradients_of_their_own(cls, between):
    layer, xs = cls(4, in_size=2), [step() for _ in range(2)]
    first = F.sum(layer(xs[0]))
    state = {name: getattr(layer, name).data.copy() for name in layer.states}
    if between != "unchain":
        layer.detach_state()
    second = F.sum(layer(xs[1]))
    if between == "unchain":
        first.unchain_backward()  # cuts the state, and not the weights of the second
    elif between == "free":
        first.backward(retain_graph=False)
    layer.cleargrads()
    second.backward()
    got = [p.grad.data.copy() for p in layer.params()]
    layer.cleargrads()
    for name, s in state.items():
        setattr(layer, name, Variable(s, requires_grad=False))
    F.sum(layer(xs[1])).backward()
    for g, p in zip(got, layer.params(), strict=True):
        np.testing.assert_array_equal(g, p.grad.data)


@GATED
def test_computed_weights_get_their_gradient_and_stay_as_they_are(cls):
    layer = cls(4, in_size=2)
    name = "x2" + layer.gates[0]
    W = getattr(layer, name).W
    computed = getattr(layer, name).W = W * 2.0
    data = computed.data
    F.sum(layer(step())).backward()
    assert computed.data is data and W.grad is not None


@GATED
def test_those_who_look_on_see_each_sequence(cls):
    layer, x = cls(4, in_size=2), step()
    optimizer = dz.optimizers.SGD(0.1).setup(layer)
    for _ in range(3):
        layer.detach_state()
        with dz.detect_anomaly():  # updates in place are no changes behind its back
            loss = F.sum(layer(x)) + F.sum(layer(x))
            layer.cleargrads()
            loss.backward(retain_graph=False)
            optimizer.update()
    W = getattr(layer, "x2" + layer.gates[0]).W

    def without_graph():
        layer.reset_state()
        return F.sum(Variable(layer(x).data))

    report = dz.explain_grad(W, without_graph)
    assert not report.reaches and report.reason != "unused"


@STEPS
@pytest.mark.parametrize("is_warm", [False, True])
def test_sequences_in_a_checkpoint(cls, is_warm):
    layer, x = cls(3), step(4, 5)

    def last(x):
        layer.reset_state()
        for _ in range(3):
            h = layer(x)
        for name in layer.states:  # as reset_state does
            setattr(layer, name, None)
        return h

    if is_warm:
        last(x)
    grads = []
    for run in last, lambda x: F.checkpoint(last, x):
        layer.cleargrads()
        (run(Variable(x)) + run(Variable(x))).backward()
        grads.append([p.grad.data for p in layer.params()])
    for g, want in zip(*grads, strict=True):
        np.testing.assert_allclose(g, want, rtol=1e-5, atol=1e-6)


def test_a_bias_in_some_gates_only():
    layer = L.LSTM(4)
    layer.x2i.b = layer.x2f.b = None
    message = "LSTM: expected b in all of x2i, x2f, x2u, x2o or in none, got it in some"
    with pytest.raises(ValueError, match=message):
        layer(step())
    layer.x2u.b = layer.x2o.b = None
    assert layer(step()).shape == (3, 4)


def test_gates_of_different_dtypes():
    layer, x = L.LSTM(4, in_size=2), step()
    want = layer(x).data
    layer.reset_state()
    layer.x2i.W.data = layer.x2i.W.data.astype(np.float64)
    np.testing.assert_allclose(layer(x).data, want, rtol=1e-6, atol=1e-7)
    assert layer.x2f.W.dtype == np.float32
    assert layer.x2i.W.dtype == np.float64


@STEPS
def test_weights_of_the_state_of_another_shape(cls):
    layer = cls(4)
    gate = "h2" + layer.gates[-1]
    getattr(layer, gate).W.data = np.zeros((4, 3), np.float32)
    message = rf": expected {gate}/W of shape \(4, 4\), got \(4, 3\)"
    with pytest.raises(ValueError, match=message):
        layer(step())


@STEPS
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda cls: cls(4)(np.ones(3, np.float32)),
            ValueError,
            r": expected x of shape \(N, in_size\), one step, got \(3,\)",
        ),
        (
            lambda cls: cls(4, in_size=2)(step(3, 5)),
            ValueError,
            r"Linear\(4, in_size=2\): expected x of shape \(\.\.\., 2\), got \(3, 5\)",
        ),
        (
            lambda cls: [layer := cls(4), layer(step(3)), layer(step(2))],
            ValueError,
            r": expected a batch of 3, as in the state h of shape \(3, 4\), got x of "
            r"shape \(2, 2\); call reset_state\(\) before a new sequence",
        ),
        (lambda cls: cls(0), ValueError, ": expected hidden_size to be at least 1"),
        (lambda cls: cls("4"), TypeError, ": expected hidden_size to be an integer"),
        (lambda cls: cls(4, dtype=int), TypeError, "expected a floating dtype"),
    ],
)
def test_errors(cls, call, error, message):
    with pytest.raises(error, match=message):
        call(cls)
