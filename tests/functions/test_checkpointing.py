import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import dezero.functions as F
from dezero import Config, Parameter, Variable, no_grad, using_config
from dezero.autodiff import grad
from dezero.core import test_mode as in_test_mode
from dezero.testing import Case, arrays


def hidden(x, W):
    """W is known to the inner function without being an argument."""
    return F.checkpoint(lambda x: F.tanh(F.matmul(x, F.exp(W))), x)


def hidden_result(x, W):
    V = F.sin(W)
    return F.checkpoint(lambda x: F.matmul(F.tanh(x), V) * F.sum(V), x)


def several(x, W):
    y, _, z = F.checkpoint(lambda x, n: (x * W, n, F.sum(x) + F.exp(W)), x, 3)
    return y, z


def nested(x, W):
    def inner(h):
        V = F.tanh(W)
        return F.checkpoint(lambda h: F.sin(F.matmul(h, V)), h) + h

    return F.checkpoint(lambda x: inner(inner(x)), x)


CASES = [
    Case(
        lambda x, W: F.checkpoint(lambda x, W: F.tanh(F.matmul(x, W)), x, W),
        arrays((2, 3)),
        arrays((3, 2)),
        reference=lambda x, W: np.tanh(x @ W),
        order=3,
        name="checkpoint",
    ),
    Case(
        hidden,
        arrays((2, 3), high=1.0, low=-1.0),
        arrays((3, 2), high=1.0, low=-1.0),
        reference=lambda x, W: np.tanh(x @ np.exp(W)),
        order=3,
        name="checkpoint",
    ),
    Case(
        hidden_result,
        arrays((2, 3)),
        arrays((3, 2)),
        reference=lambda x, W: np.tanh(x) @ np.sin(W) * np.sin(W).sum(),
        name="checkpoint",
    ),
    Case(
        several,
        arrays((2, 3)),
        arrays((2, 3)),
        reference=lambda x, W: (x * W, x.sum() + np.exp(W)),
        name="checkpoint",
    ),
    Case(nested, arrays((2, 3)), arrays((3, 3)), name="checkpoint"),
]


def differing(make):
    """A call whose backward finds f to do something else than at first."""
    x, W = Variable(np.ones(3)), Variable(np.ones(3))
    return lambda: F.checkpoint(make(W), x).backward()


def another_variable(W):
    choices = [W, Variable(np.ones(3))]
    turns = [1, 0]
    return lambda x: x * choices[turns.pop()]


def another_shape(W):
    shapes = [(1, 3), (3,)]
    return lambda x: F.reshape(x, shapes.pop())


def variable_of_a_loop():
    x, W = Variable(np.ones(3)), Variable(np.full(3, 0.5))
    h = F.sin(x)
    for _ in range(3):
        h = F.checkpoint(lambda x: x * h * W, x)  # noqa: B023  # this is the fault
    h.backward()


def stateful():
    kept = []

    def f(x):
        kept.append(x * kept[-1] if kept else x)
        return F.exp(kept[-1])

    F.checkpoint(f, Variable(np.ones(3))).backward()


ERRORS = [
    (
        variable_of_a_loop,
        RuntimeError,
        r"checkpoint: .*same Variables and functions .*the variable of a loop",
    ),
    (stateful, RuntimeError, r"checkpoint: .*f must keep no Variables"),
    (
        lambda: F.checkpoint(lambda x: {"y": x}, Variable(np.ones(2))),
        TypeError,
        r"checkpoint: expected f to return .*, got dict$",
    ),
    (
        lambda: F.checkpoint(lambda x: (x, "y"), Variable(np.ones(2))),
        TypeError,
        r"checkpoint: expected f to return .*, got str in it",
    ),
    (
        differing(another_variable),
        RuntimeError,
        r"checkpoint: expected f to use the same Variables",
    ),
    (
        differing(another_shape),
        RuntimeError,
        r"checkpoint: expected f to return the same .*\(3,\).*\(1, 3\)",
    ),
    (
        lambda: F.checkpoint(None, Variable(np.ones(2))),
        TypeError,
        r"checkpoint: expected a function as f, got NoneType",
    ),
]


def network(depth=4, width=8):
    rng = np.random.RandomState(0)
    Ws = [Parameter(rng.randn(width, width) / width**0.5) for _ in range(depth)]
    bs = [Parameter(rng.randn(width)) for _ in range(depth)]

    def layer(W, b):
        def f(h):
            y = F.dropout(F.tanh(F.linear(h, F.transpose(W), b)), 0.3)
            return y * F.sigmoid(y) + h

        return f

    return [layer(W, b) for W, b in zip(Ws, bs, strict=True)], Ws + bs


def step(call, layers, x, create_graph=False):
    np.random.seed(3)
    for f in layers:
        x = call(f, x)
    loss = F.sum(x * x)
    loss.backward(create_graph=create_graph)
    return loss


def plain(f, *xs):
    return f(*xs)


def test_gradients_are_those_of_the_plain_call_bit_for_bit():
    layers, parameters = network()
    x = Variable(np.random.RandomState(1).randn(5, 8))
    results = []
    for call in (plain, F.checkpoint):
        for v in (x, *parameters):
            v.cleargrad()
        loss = step(call, layers, x)
        after = np.random.rand()  # the random numbers go on in the same place
        grads = [v.grad.data for v in (x, *parameters)]
        results.append([loss.data, np.array(after), *grads])
    for a, b in zip(*results, strict=True):
        assert np.array_equal(a, b)


def test_second_derivatives_with_dropout():
    layers, parameters = network(depth=2)
    x = Variable(np.random.RandomState(1).randn(5, 8))
    results = []
    for call in (plain, F.checkpoint):
        for v in (x, *parameters):
            v.cleargrad()
        step(call, layers, x, create_graph=True)
        penalty = sum(F.sum(v.grad**2) for v in (x, *parameters))
        for v in (x, *parameters):
            v.cleargrad()
        penalty.backward()
        results.append([v.grad.data for v in (x, *parameters)])
    for a, b in zip(*results, strict=True):
        assert np.allclose(a, b, rtol=1e-12, atol=1e-13)


def test_backward_leaves_random_numbers_as_they_are():
    x = Variable(np.ones(100))
    y = F.checkpoint(lambda x: F.dropout(x) * x, x)
    np.random.seed(5)
    expected = np.random.rand()
    np.random.seed(5)
    y.backward()
    assert np.random.rand() == expected


def test_the_mode_is_that_of_the_call():
    x = Variable(np.ones(1000))
    modes = []

    def f(x):
        modes.append(Config.train)
        return F.dropout(x) * x

    with in_test_mode():
        y = F.checkpoint(f, x)
    y.backward()
    assert modes == [False, False] and (x.grad.data == 2).all()
    y = F.checkpoint(f, x)
    with in_test_mode():
        y.backward()
    assert modes[2:] == [True, True]


def peak_of(call, layers, x):
    gc.collect()
    tracemalloc.start()
    np.random.seed(0)
    y = x
    for f in layers:
        y = call(f, y)
    held = tracemalloc.get_traced_memory()[0]
    F.sum(y).backward(retain_graph=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held, peak


def test_memory_falls():
    def f(h):
        for _ in range(5):
            h = F.sin(h) * F.exp(-h)
        return h

    x = Variable(np.random.RandomState(0).rand(100, 1000))  # 0.8 MB
    held, peak = peak_of(plain, [f] * 20, x)
    held_here, peak_here = peak_of(F.checkpoint, [f] * 20, x)
    assert held_here < 21 * 0.8e6 * 1.05  # one array per part
    assert held > 10 * held_here
    assert peak > 5 * peak_here


def test_nothing_is_left_behind():
    W = Variable(np.ones((3, 3)))
    x = Variable(np.ones((2, 3)))
    gc.collect()
    gc.disable()
    try:
        inside = []

        def f(x):
            h = F.matmul(x, W)
            inside.append(weakref.ref(h))
            return F.tanh(h)

        y = F.checkpoint(f, x)
        assert inside[0]() is None
        y.backward(create_graph=True)
        del y
        x.cleargrad()
        W.cleargrad()
        assert [r() for r in inside] == [None, None]
    finally:
        gc.enable()


def test_without_recording_it_is_a_plain_call():
    x = Variable(np.ones(3))
    with no_grad():
        y = F.checkpoint(lambda x: {"y": x * 2}, x)["y"]
    assert not y.requires_grad
    y = F.checkpoint(lambda x: x * 2, x.detach())
    assert not y.requires_grad and y.creator is None


def test_arguments_and_results_keep_their_kind():
    x = Variable(np.ones(3))
    constant = Variable(np.zeros(2), requires_grad=False)
    seen = []

    def f(*args):
        seen.append(args[1:])
        return [args[0] * 2, None, args[3], constant]

    raw = np.ones(3)
    ys = F.checkpoint(f, x, None, "text", raw, constant)
    assert type(ys) is list
    assert ys[1] is None and ys[2] is raw and ys[3] is constant
    ys[0].backward()
    assert len(seen) == 2 and x.grad.data.tolist() == [2.0] * 3
    for args in seen:
        assert args[:2] == (None, "text") and args[2] is raw
    (y,) = F.checkpoint(lambda x: (x * 2,), x)
    assert y.shape == (3,)


def test_one_variable_in_two_places_and_known_besides():
    x = Variable(np.array([2.0, 3.0]))
    F.checkpoint(lambda a, b: a * b * x, x, x).backward()
    assert x.grad.data.tolist() == [12.0, 27.0]
    h = x * 1.0
    x.cleargrad()
    F.checkpoint(lambda a: a * a * h, h).backward()
    assert x.grad.data.tolist() == [12.0, 27.0]


def test_one_argument_computed_from_another_and_from_what_f_knows():
    x, W = Variable(np.array(2.0)), Variable(np.array(3.0))

    def loss(call):
        h = x * W
        k = h * W
        m = k * x
        return call(lambda a, b: a * b * k * m * W, h, m)

    results = []
    for call in (plain, F.checkpoint):
        x.cleargrad()
        W.cleargrad()
        loss(call).backward(create_graph=True)
        first = x.grad, W.grad
        results.append([*[g.item() for g in first]])
        x.cleargrad()
        W.cleargrad()
        (first[0] * first[1]).backward()
        results[-1] += [x.grad.item(), W.grad.item()]
    assert np.allclose(*results, rtol=1e-14)


def test_a_result_that_is_an_argument_or_a_parameter():
    x, W = Variable(np.ones(2)), Variable(np.ones(2))
    y, z, v = F.checkpoint(lambda x: (x, W, x * W), x)
    (y * 2 + z * 3 + v * 5).backward()
    assert x.grad.data.tolist() == [7.0, 7.0]
    assert W.grad.data.tolist() == [8.0, 8.0]


def test_results_of_others_are_reached_by_grad():
    x = Variable(np.array([2.0]))
    h = x * 3
    y = F.checkpoint(lambda x: x * h, x)
    assert [g.item() for g in grad(y, [h, x])] == [2.0, 12.0]
    assert grad(y, h).item() == 2.0
    assert h.creator is not None


def test_a_chain_through_what_f_knows():
    x, W = Variable(np.full((1, 2), 0.3)), Variable(np.eye(2) * 0.9)

    def chain(call):
        h = x
        for _ in range(4):
            h = call(lambda x, h=h: F.tanh(F.matmul(h, W) + x), x)
        return h

    results = []
    for call in (plain, F.checkpoint):
        y = chain(call)
        results += [[g.data for g in grad(y, wanted)] for wanted in ([x, W], [W, x])]
        results[-1].reverse()
        results.append([grad(y, v).data for v in (x, W)])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert np.allclose(a, b, rtol=1e-14)


def test_leaves_that_f_makes_for_itself_do_no_harm():
    x = Variable(np.ones(3))

    def f(x):
        return x * Variable(np.full(3, 4.0)) * x

    for create_graph in (False, True):
        x.cleargrad()
        F.checkpoint(f, x).backward(create_graph=create_graph)
        assert x.grad.data.tolist() == [8.0] * 3


def test_what_f_keeps_is_joined_to_the_graph():
    x = Variable(np.ones(3))
    kept = []

    def f(x):
        kept.append(x * 3)
        return kept[-1] * x

    y = F.checkpoint(f, x)
    (F.sum(y) + F.sum(kept[0])).backward()
    assert x.grad.data.tolist() == [9.0] * 3


def test_one_parameter_in_many_checkpoints():
    W = Variable(np.array([[0.5]]))
    h = x = Variable(np.array([[1.0]]))
    for _ in range(3):
        h = F.checkpoint(lambda h: F.matmul(h, W), h)
    h.backward()
    assert W.grad.item() == 3 * 0.25 and x.grad.item() == 0.125


def test_an_exception_leaves_gradients_and_settings_as_they_were():
    x = Variable(np.ones(3))
    h = x * 2
    runs = []

    def f(x):
        runs.append(1)
        if len(runs) == 2:
            np.random.rand()
            raise ArithmeticError("second run")
        return F.dropout(x) * h

    y = F.checkpoint(f, x) + F.exp(x)
    x.grad = np.full(3, 7.0)
    creator = h.creator
    state = np.random.get_state()[1:3]
    with using_config("train", False), pytest.raises(ArithmeticError):
        y.backward()
    assert x.grad.data.tolist() == [7.0] * 3
    assert h.creator is creator and Config.enable_backprop and Config.train
    assert all(map(np.array_equal, state, np.random.get_state()[1:3]))
    y.backward()  # a third run, which works
    assert len(runs) == 3


def test_two_passes_and_a_freed_graph():
    x = Variable(np.array([1.0, 2.0]))
    y = F.checkpoint(lambda x: x * x, x)
    y.backward()
    y.backward(retain_graph=False)
    assert x.grad.data.tolist() == [4.0, 8.0]
    with pytest.raises(RuntimeError, match="freed"):
        y.backward()


def test_a_layer_of_no_arguments():
    W = Variable(np.array([1.0, 2.0]))
    F.checkpoint(lambda: W * W).backward()
    assert W.grad.data.tolist() == [2.0, 4.0]


class FakeRandom:
    """The part of a GPU library's random numbers that cannot be read, only set."""

    RandomState = np.random.RandomState

    def __init__(self):
        self.state = np.random.RandomState(0)

    def get_random_state(self):
        return self.state

    def set_random_state(self, state):
        self.state = state

    def randint(self, low, high):
        return self.state.randint(low, high)


def test_a_library_whose_random_state_cannot_be_read(monkeypatch):
    from dezero import cuda

    class Library:
        random = FakeRandom()

    real = cuda.get_array_module
    monkeypatch.setattr(
        cuda, "get_array_module", lambda x: Library if x == "there" else real(x)
    )
    drawn = []

    def f(x, where):
        drawn.append(Library.random.state.rand())
        return x * drawn[-1]

    x = Variable(np.ones(1))
    state = Library.random.state
    F.checkpoint(f, x, "there").backward()
    assert drawn[0] == drawn[1] == x.grad.item()
    assert Library.random.state is state
    F.checkpoint(f, x, "there")
    assert drawn[2] != drawn[0]
