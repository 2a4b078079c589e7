import tracemalloc

import numpy as np
import pytest
from hypothesis import strategies as st

import dezero as dz
import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays


@st.composite
def sequences(draw, states=1, gates=1, biases=1, time=True):
    """x, the first states, Wx, Wh and biases."""
    T, N, I, H = draw(st.tuples(*[st.integers(1, 3)] * 4))
    x = (T, N, I) if time else (N, I)
    weights = [(I, gates * H), (H, gates * H), *[(gates * H,)] * biases]
    shapes = [x, *[(N, H)] * states, *weights]
    return tuple([draw(arrays(shape=shape)) for shape in shapes])


def padding(x, *others):
    """Nothing, lengths, or a mask."""
    T, N = x.shape[:2]
    lengths = st.lists(st.integers(0, T), min_size=N, max_size=N).map(np.array)
    holes = st.integers(0, 255).map(
        lambda seed: np.random.RandomState(seed).rand(T, N) < 0.7
    )
    return st.one_of(
        st.just({}),
        st.fixed_dictionaries({"lengths": lengths}),
        st.fixed_dictionaries({"mask": holes}),
    )


def over_time(step):
    """The sequence that repeats ``step(x, state, *weights)``."""

    def sequence(x, h, *weights, lengths=None, mask=None):
        T, N = x.shape[:2]
        if lengths is not None:
            mask = np.arange(T)[:, None] < lengths
        ys = np.zeros((T, *h.shape))
        for t in range(T):
            new = step(x[t], h, *weights)
            keep = np.ones(N, bool) if mask is None else mask[t]
            h = np.where(keep[:, None], new, h)
            ys[t, keep] = h[keep]
        return ys, h

    return sequence


def rnn_step(x, h, Wx, Wh, b):
    return np.tanh(x @ Wx + h @ Wh + b)


CASES = [
    Case(F.rnn, sequences(), reference=over_time(rnn_step), options=padding),
    Case(F.rnn_cell, sequences(time=False), reference=rnn_step),
]


def example(T=4, N=3, I=2, H=2, dtype="f8"):
    rng = np.random.RandomState(0)
    shapes = (T, N, I), (N, H), (I, H), (H, H), (H,)
    return [rng.randn(*shape).astype(dtype) for shape in shapes]


def plain(x, h, Wx, Wh, b):
    ys = []
    for t in range(len(x)):
        h = F.tanh(F.matmul(x[t], Wx) + F.matmul(h, Wh) + b)
        ys.append(h)
    return F.stack(ys), h


def test_equals_its_parts_up_to_second_order():
    found = []
    for f in (F.rnn, plain):
        xs = [Variable(a) for a in example()]
        y, h = f(*xs)
        loss = F.sum(F.sin(y)) + F.sum(h * h)
        fused = dz.grad(loss, xs)
        first = dz.grad(loss, xs, create_graph=True)
        second = dz.grad(sum([F.sum(g**3) for g in first]), xs)
        found.append([v.data for v in (y, h, *fused, *first, *second)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


def test_second_derivative_where_one_input_comes_from_another():
    # Recomputing must not follow the path from x to h, which is not the function's.
    def f(x, Wx, Wh, b):
        y, h = F.rnn(x, F.sin(x[0]), Wx, Wh, b)
        return F.sum(y * y)

    x, _, Wx, Wh, b = example()
    dz.testing.check_gradients(f, x, Wx, Wh, b).assert_ok()


@pytest.mark.parametrize("used", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("create_graph", [False, True])
def test_outputs_may_be_unused(used, create_graph):
    xs = [Variable(a) for a in example()]
    ys = F.rnn(*xs)
    expected = plain(*xs)
    losses = [sum([F.sum(F.sin(v[i])) for i in used]) for v in (ys, expected)]
    pairs = [dz.grad(loss, xs, create_graph=create_graph) for loss in losses]
    for a, b in zip(*pairs, strict=True):
        np.testing.assert_allclose(a.data, b.data, rtol=1e-11, atol=1e-13)


def test_nothing_passes_through_padding():
    x, h, Wx, Wh, b = example()
    lengths = np.array([4, 2, 0])
    outside = np.arange(4)[:, None] >= lengths
    x[outside] = np.nan  # not looked at
    xs = [Variable(a) for a in (x, h, Wx, Wh, b)]
    y, end = F.rnn(*xs, lengths=lengths)
    assert (y.data[outside] == 0).all()
    np.testing.assert_array_equal(end.data[2], h[2])
    np.testing.assert_array_equal(end.data[1], y.data[1, 1])
    gy = np.ones(y.shape)
    gy[outside] = np.inf
    for create_graph in (False, True):
        for v in xs:
            v.cleargrad()
        y.backward(grad=gy if not create_graph else np.ones(y.shape))
        assert all([np.isfinite(v.grad.data).all() for v in xs])
        assert (xs[0].grad.data[outside] == 0).all()
    for n, i in zip(lengths, range(3), strict=True):  # as if each were alone
        alone, _ = F.rnn(x[:n, i : i + 1], h[i : i + 1], Wx, Wh, b)
        np.testing.assert_allclose(y.data[:n, i : i + 1], alone.data, rtol=1e-12)


def test_lengths_may_be_a_list_or_a_variable():
    xs = example()
    lengths = [4, 2, 0]
    expected = F.rnn(*xs, mask=np.arange(4)[:, None] < lengths)
    for given in (lengths, tuple(lengths), Variable(np.array(lengths))):
        for a, b in zip(F.rnn(*xs, lengths=given), expected, strict=True):
            np.testing.assert_array_equal(a.data, b.data)


def test_none_stands_for_zeros():
    x, h, Wx, Wh, b = example()
    zero_h, zero_b = np.zeros_like(h), np.zeros_like(b)
    xs = [Variable(a) for a in (x, Wx, Wh)]
    for create_graph in (False, True):
        y, end = F.rnn(xs[0], None, *xs[1:])
        z, _ = F.rnn(xs[0], zero_h, *xs[1:], zero_b)
        np.testing.assert_array_equal(y.data, z.data)
        pairs = [dz.grad(F.sum(v), xs, create_graph=create_graph) for v in (y, z)]
        for a, b in zip(*pairs, strict=True):
            np.testing.assert_allclose(a.data, b.data, rtol=1e-12)


@pytest.mark.parametrize("sizes", [(0, 2, 3, 2), (2, 0, 3, 2), (2, 2, 0, 2), (1,) * 4])
@pytest.mark.parametrize("create_graph", [False, True])
def test_sizes(sizes, create_graph):
    T, N, I, H = sizes
    xs = [Variable(a) for a in example(*sizes)]
    y, h = F.rnn(*xs)
    assert y.shape == (T, N, H) and h.shape == (N, H)
    for out in (y, h):
        gs = dz.grad(F.sum(out), xs[1:], create_graph=create_graph, allow_unused=True)
        assert all([g is None or np.isfinite(g.data).all() for g in gs])
    if T == 0:
        np.testing.assert_array_equal(h.data, xs[1].data)
        h.backward()
        np.testing.assert_array_equal(xs[1].grad.data, np.ones((N, H)))


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_precision_over_many_steps(dtype):
    xs = [Variable(a * dtype(1) if callable(dtype) else a) for a in example(50)]
    low = [Variable(v.data.astype(dtype)) for v in xs]
    results = []
    for vs in (xs, low):
        y, h = F.rnn(*vs)
        F.sum(h).backward()
        results.append((y, h, *[v.grad for v in vs]))
    for a, b in zip(*results, strict=True):
        assert b.dtype == dtype
        np.testing.assert_allclose(b.data, a.data, rtol=0.1, atol=0.05)


def test_dtypes_meet():
    x, h, Wx, Wh, b = example(dtype="f4")
    y, _ = F.rnn(x, h, Wx, Wh, b.astype("f8"))
    assert y.dtype == np.float64
    y, h = F.rnn(np.ones((2, 3, 2), int), None, Wx.astype("f8"), Wh.astype("f8"))
    assert y.dtype == h.dtype == np.float64


x, h, Wx, Wh, b = example()
ERRORS = [
    (
        lambda: F.rnn(x[0], h, Wx, Wh, b),
        ValueError,
        r"rnn: expected x \(T, N, I\), Wx \(I, H\) and Wh \(H, H\), got x of shape "
        r"\(3, 2\), Wx of shape \(2, 2\) and Wh of shape \(2, 2\)",
    ),
    (lambda: F.rnn(x, h, Wx[:1], Wh, b), ValueError, r"rnn: .* Wx of shape \(1, 2\)"),
    (lambda: F.rnn(x, h, Wx, Wh[:1], b), ValueError, r"rnn: .* Wh of shape \(1, 2\)"),
    (lambda: F.rnn(x, h, Wx, Wh[0], b), ValueError, r"rnn: .* Wh of shape \(2,\)"),
    (
        lambda: F.rnn(x, h[:2], Wx, Wh, b),
        ValueError,
        r"rnn: expected h of shape \(3, 2\) or None, got \(2, 2\)",
    ),
    (
        lambda: F.rnn(x, h, Wx, Wh, b[:1]),
        ValueError,
        r"rnn: expected b of shape \(2,\) or None, got \(1,\)",
    ),
    (
        lambda: F.rnn(x, h, Wx, Wh, b, lengths=np.ones(3)),
        TypeError,
        r"rnn: expected integer lengths, got dtype float64",
    ),
    (
        lambda: F.rnn(x, h, Wx, Wh, b, lengths=np.array([1, 5, 0])),
        ValueError,
        r"rnn: expected N = 3 lengths in \[0, 4\], got \[1 5 0\]",
    ),
    (lambda: F.rnn(x, h, Wx, Wh, b, [1, -1, 0]), ValueError, r"rnn: .* got \[ 1 -1"),
    (lambda: F.rnn(x, h, Wx, Wh, b, [1, 2]), ValueError, r"rnn: .* got \[1 2\]"),
    (
        lambda: F.rnn(x, h, Wx, Wh, b, mask=np.ones((4, 3))),
        TypeError,
        r"rnn: expected a boolean mask, got dtype float64",
    ),
    (
        lambda: F.rnn(x, h, Wx, Wh, b, mask=np.ones((3, 4), bool)),
        ValueError,
        r"rnn: expected mask of shape \(4, 3\), got \(3, 4\)",
    ),
    (
        lambda: F.rnn(x, h, Wx, Wh, b, [1, 2, 3], np.ones((4, 3), bool)),
        ValueError,
        r"rnn: expected lengths or mask, got both",
    ),
    (
        lambda: F.rnn_cell(x, h, Wx, Wh, b),
        ValueError,
        r"rnn_cell: expected x of shape \(N, I\), got \(4, 3, 2\)",
    ),
    (lambda: F.rnn_cell(x[0], h[:1], Wx, Wh), ValueError, r"rnn_cell: expected h of"),
    (lambda: F.rnn(None, h, Wx, Wh, b), TypeError, r"rnn: .*array as x, got None"),
    (lambda: F.rnn(x, h, None, Wh, b), TypeError, r"rnn: .*array as Wx, got None"),
    (
        lambda: F.rnn_cell(x[0], h, Wx, None),
        TypeError,
        r"rnn_cell: expected an array as Wh, got None",
    ),
]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool, np.int64])
def test_integers_count_as_double_precision(dtype):
    x = np.arange(12).reshape(3, 2, 2).astype(dtype)
    W = np.eye(2).astype(dtype)
    ys = F.rnn(x, None, W, W)
    for y, same in zip(ys, F.rnn(x.astype(float), None, W, W), strict=True):
        assert y.dtype == np.float64
        np.testing.assert_array_equal(y.data, same.data)


def test_a_state_that_is_kept_does_not_keep_the_gates():
    x, W = Variable(np.random.randn(500, 10, 10)), Variable(np.eye(10))
    tracemalloc.start()
    try:
        y, h = F.rnn(x, None, W, W)
        h.backward(retain_graph=False)
        x.cleargrad()
        W.cleargrad()
        del y
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert h.shape == (10, 10)
    assert held < 100_000  # those of all steps are 400 kB, and so are all states
