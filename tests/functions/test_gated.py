import numpy as np
import pytest
from hypothesis import strategies as st

import dezero as dz
import dezero.functions as F
from dezero.core import Variable
from dezero.testing import Case, arrays


@st.composite
def sequences(draw, states, gates, biases=1, time=True):
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


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step(x, h, c, Wx, Wh, b):
    i, f, g, o = np.split(x @ Wx + h @ Wh + b, 4, axis=1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_step(x, h, Wx, Wh, b, bh):
    (ar, az, an), (ur, uz, un) = np.split(x @ Wx + b, 3, 1), np.split(h @ Wh + bh, 3, 1)
    r, z = sigmoid(ar + ur), sigmoid(az + uz)
    return ((1 - z) * np.tanh(an + r * un) + z * h,)


def over_time(step, states):
    """The sequence that repeats ``step(x, *states, *weights)``."""

    def sequence(x, *args, lengths=None, mask=None):
        T, N = x.shape[:2]
        now, weights = args[:states], args[states:]
        if lengths is not None:
            mask = np.arange(T)[:, None] < lengths
        ys = np.zeros((T, *now[0].shape))
        for t in range(T):
            keep = np.ones((N, 1), bool) if mask is None else mask[t][:, None]
            new = step(x[t], *now, *weights)
            now = [np.where(keep, n, s) for n, s in zip(new, now, strict=True)]
            ys[t] = np.where(keep, now[0], 0)
        return (ys, *now)

    return sequence


CASES = [
    Case(F.lstm, sequences(2, 4), reference=over_time(lstm_step, 2), options=padding),
    Case(
        F.gru,
        sequences(1, 3, 2),
        reference=over_time(gru_step, 1),
        options=padding,
    ),
    Case(F.lstm_cell, sequences(2, 4, time=False), reference=lstm_step),
    Case(
        F.gru_cell,
        sequences(1, 3, 2, time=False),
        reference=lambda *xs: gru_step(*xs)[0],
    ),
]


def example(f, T=4, N=3, I=2, H=2):
    rng = np.random.RandomState(0)
    G = 4 if f is F.lstm else 3
    shapes = [(T, N, I), (N, H), (I, G * H), (H, G * H), (G * H,)]
    if f is F.lstm:
        shapes.insert(2, (N, H))
    else:
        shapes.append((G * H,))
    return [rng.randn(*shape) for shape in shapes]


def plain_lstm(x, h, c, Wx, Wh, b):
    ys = []
    for t in range(len(x)):
        i, f, g, o = F.split(F.matmul(x[t], Wx) + F.matmul(h, Wh) + b, 4, axis=1)
        c = F.sigmoid(f) * c + F.sigmoid(i) * F.tanh(g)
        h = F.sigmoid(o) * F.tanh(c)
        ys.append(h)
    return F.stack(ys), h, c


def plain_gru(x, h, Wx, Wh, b, bh):
    ys = []
    for t in range(len(x)):
        ar, az, an = F.split(F.matmul(x[t], Wx) + b, 3, axis=1)
        ur, uz, un = F.split(F.matmul(h, Wh) + bh, 3, axis=1)
        z = F.sigmoid(az + uz)
        h = (1 - z) * F.tanh(an + F.sigmoid(ar + ur) * un) + z * h
        ys.append(h)
    return F.stack(ys), h


BOTH = pytest.mark.parametrize(
    ("f", "plain"), [(F.lstm, plain_lstm), (F.gru, plain_gru)]
)


@BOTH
def test_equals_its_parts_up_to_second_order(f, plain):
    found = []
    for function in (f, plain):
        xs = [Variable(a) for a in example(f)]
        ys = function(*xs)
        loss = F.sum(F.sin(ys[0])) + sum([F.sum(h * h * h) for h in ys[1:]])
        fused = dz.grad(loss, xs)
        first = dz.grad(loss, xs, create_graph=True)
        second = dz.grad(sum([F.sum(g**3) for g in first]), xs)
        found.append([v.data for v in (*ys, *fused, *first, *second)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12)


@BOTH
@pytest.mark.parametrize("create_graph", [False, True])
def test_outputs_may_be_unused(f, plain, create_graph):
    xs = [Variable(a) for a in example(f)]
    for i in range(len(f(*xs))):
        losses = [F.sum(F.sin(function(*xs)[i])) for function in (f, plain)]
        pairs = [dz.grad(loss, xs, create_graph=create_graph) for loss in losses]
        for a, b in zip(*pairs, strict=True):
            np.testing.assert_allclose(a.data, b.data, rtol=1e-11, atol=1e-13)


@BOTH
def test_steps_make_the_sequence(f, plain):
    x, *rest = example(f)
    ys = f(x, *rest)
    n = len(ys) - 1
    states, weights = rest[:n], rest[n:]
    cell = F.lstm_cell if f is F.lstm else F.gru_cell
    for t in range(len(x)):
        states = cell(x[t], *states, *weights)
        states = states if isinstance(states, tuple) else (states,)
        np.testing.assert_allclose(states[0].data, ys[0].data[t], rtol=1e-12)
    for a, b in zip(states, ys[1:], strict=True):
        np.testing.assert_allclose(a.data, b.data, rtol=1e-12)


@BOTH
@pytest.mark.parametrize("create_graph", [False, True])
def test_nothing_passes_through_padding(f, plain, create_graph):
    x, *rest = example(f)
    lengths = np.array([4, 2, 0])
    outside = np.arange(4)[:, None] >= lengths
    x[outside] = np.nan  # not looked at
    xs = [Variable(a) for a in (x, *rest)]
    y, *ends = f(*xs, lengths=lengths)
    assert (y.data[outside] == 0).all()
    for end, start in zip(ends, rest, strict=False):
        np.testing.assert_array_equal(end.data[2], start[2])
    loss = F.sum(y * y) + sum([F.sum(end) for end in ends])
    gs = dz.grad(loss, xs, create_graph=create_graph)
    assert all([np.isfinite(g.data).all() for g in gs])
    assert (gs[0].data[outside] == 0).all()
    n = len(ends)
    total = 0
    for i, T in enumerate(lengths):  # as if each were alone
        alone = [s[i : i + 1] for s in rest[:n]]
        y1, *_ = f(x[:T, i : i + 1], *alone, *xs[1 + n :])
        np.testing.assert_allclose(y.data[:T, i : i + 1], y1.data, rtol=1e-12)
        total = total + F.sum(y1 * y1)
    weights = xs[1 + n :]
    pairs = zip(dz.grad(F.sum(y * y), weights), dz.grad(total, weights), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a.data, b.data, rtol=1e-10, atol=1e-13)


@BOTH
@pytest.mark.parametrize("sizes", [(0, 2, 3, 2), (2, 0, 3, 2), (2, 2, 0, 2), (1,) * 4])
def test_sizes(f, plain, sizes):
    T, N, I, H = sizes
    xs = [Variable(a) for a in example(f, *sizes)]
    y, *ends = f(*xs)
    assert y.shape == (T, N, H) and ends[0].shape == (N, H)
    (F.sum(y) + F.sum(ends[0])).backward()
    assert all([v.grad.shape == v.shape for v in xs if v.grad is not None])
    if T == 0:
        np.testing.assert_array_equal(ends[0].data, xs[1].data)
        np.testing.assert_array_equal(xs[1].grad.data, np.ones((N, H)))


def test_none_stands_for_zeros():
    x, h, c, Wx, Wh, b = example(F.lstm)
    expected = F.lstm(x, 0 * h, 0 * c, Wx, Wh, 0 * b)
    for a, e in zip(F.lstm(x, None, None, Wx, Wh), expected, strict=True):
        np.testing.assert_array_equal(a.data, e.data)
    x, h, Wx, Wh, b, bh = example(F.gru)
    expected = F.gru(x, 0 * h, Wx, Wh, b, 0 * bh)
    for a, e in zip(F.gru(x, None, Wx, Wh, b), expected, strict=True):
        np.testing.assert_array_equal(a.data, e.data)


@BOTH
def test_huge_numbers_saturate(f, plain):
    x, *rest = example(f)
    for dtype in ("f2", "f4", "f8"):
        xs = [Variable(a.astype(dtype)) for a in (x * 1e4, *rest)]
        y, *_ = f(*xs)
        y.backward()
        for v in xs:
            assert np.isfinite(v.grad.data).all() and v.grad.dtype == dtype
        assert np.isfinite(y.data).all() and y.dtype == dtype


@BOTH
def test_a_later_pass_is_the_same(f, plain):
    # What forward kept is not used up by backward.
    xs = [Variable(a) for a in example(f)]
    y = f(*xs)[0]
    first = [g.data for g in dz.grad(F.sum(y * y), xs)]
    for a, b in zip(dz.grad(F.sum(y * y), xs), first, strict=True):
        np.testing.assert_array_equal(a.data, b)


x, h, c, Wx, Wh, b = example(F.lstm)
gx, gh, gWx, gWh, gb, _ = example(F.gru)
ERRORS = [
    (
        lambda: F.lstm(x, h, c, gWx, Wh, b),
        ValueError,
        r"lstm: expected x \(T, N, I\), Wx \(I, 4H\) and Wh \(H, 4H\), got x of shape "
        r"\(4, 3, 2\), Wx of shape \(2, 6\) and Wh of shape \(2, 8\)",
    ),
    (
        lambda: F.lstm(x, h, c[:1], Wx, Wh, b),
        ValueError,
        r"lstm: expected c of shape \(3, 2\) or None, got \(1, 2\)",
    ),
    (
        lambda: F.lstm(x, h, c, Wx, Wh, gb),
        ValueError,
        r"lstm: expected b of shape \(8,\) or None, got \(6,\)",
    ),
    (
        lambda: F.lstm(x, h, c, Wx, Wh, b, lengths=[9, 9, 9]),
        ValueError,
        r"lstm: expected N = 3 lengths in \[0, 4\], got \[9 9 9\]",
    ),
    (
        lambda: F.gru(x, h, Wx, gWh, gb),
        ValueError,
        r"gru: expected x \(T, N, I\), Wx \(I, 3H\) and Wh \(H, 3H\), got x of shape ",
    ),
    (
        lambda: F.gru(gx, gh, gWx, gWh, gb, bh=b),
        ValueError,
        r"gru: expected bh of shape \(6,\) or None, got \(8,\)",
    ),
    (
        lambda: F.lstm_cell(x, h, c, Wx, Wh, b),
        ValueError,
        r"lstm_cell: expected x of shape \(N, I\), got \(4, 3, 2\)",
    ),
    (
        lambda: F.gru_cell(x, h, gWx, gWh),
        ValueError,
        r"gru_cell: expected x of shape \(N, I\), got \(4, 3, 2\)",
    ),
    (
        lambda: F.gru_cell(x[0], h[:2], gWx, gWh),
        ValueError,
        r"gru_cell: expected h of shape \(3, 2\) or None, got \(2, 2\)",
    ),
]
