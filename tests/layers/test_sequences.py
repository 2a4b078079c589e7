"""Recurrent layers over whole sequences: stacked, in both directions."""

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero.core import Variable, test_mode

CLASSES = pytest.mark.parametrize("cls", [L.SequenceRNN, L.SequenceLSTM, L.SequenceGRU])


def sequence(T=6, N=3, size=4):
    return np.random.randn(T, N, size).astype(np.float32)


def test_names_and_shapes_of_weights():
    layer = L.SequenceGRU(5, num_layers=2, bidirectional=True, in_size=4)
    shapes = {name: p.shape for name, p in layer.named_params()}
    assert shapes == {
        f"{direction}/{i}/{name}": shape
        for direction in ("forwards", "backwards")
        for i, size in ((0, 4), (1, 10))
        for name, shape in {
            "Wx": (size, 15),
            "Wh": (5, 15),
            "b": (15,),
            "bh": (15,),
        }.items()
    }


def test_initial_distribution():
    np.random.seed(0)
    layer = L.SequenceLSTM(100, in_size=400)
    np.testing.assert_allclose(layer.forwards[0].Wx.data.std(), 1 / 20, rtol=1e-2)
    np.testing.assert_allclose(layer.forwards[0].Wh.data.std(), 1 / 10, rtol=2e-2)
    assert not layer.forwards[0].b.data.any()


def test_one_layer_is_the_function():
    x = sequence()
    layer = L.SequenceLSTM(5)
    y, h, c = layer(x)
    want = F.lstm(x, None, None, *layer.forwards[0].weights())
    np.testing.assert_array_equal(y.data, want[0].data)
    np.testing.assert_array_equal(h.data, want[1].data[None])
    np.testing.assert_array_equal(c.data, want[2].data[None])


def test_a_step_at_a_time_gives_the_same():
    whole, steps, x = L.SequenceLSTM(5, in_size=4), L.LSTM(5, in_size=4), sequence()
    weights = whole.forwards[0]
    for i, gate in enumerate("ifuo"):
        part = slice(5 * i, 5 * i + 5)
        getattr(steps, f"x2{gate}").W.data = weights.Wx.data[:, part]
        getattr(steps, f"h2{gate}").W.data = weights.Wh.data[:, part]
    y, h, c = whole(x)
    for t in range(len(x)):
        np.testing.assert_allclose(steps(x[t]).data, y.data[t], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(steps.c.data, c.data[0], rtol=1e-5, atol=1e-6)


def test_stacked_in_both_directions():
    layer, x = L.SequenceRNN(5, num_layers=2, bidirectional=True), sequence()
    y, h = layer(x)
    want, states = Variable(x), []
    for a, b in zip(layer.forwards, layer.backwards, strict=True):
        ya, ha = F.rnn(want, None, *a.weights())
        yb, hb = F.rnn(F.flip(want, 0), None, *b.weights())
        want = F.concatenate([ya, F.flip(yb, 0)], axis=2)
        states += [ha.data, hb.data]
    np.testing.assert_array_equal(y.data, want.data)
    np.testing.assert_array_equal(h.data, states)


@CLASSES
@pytest.mark.parametrize("as_given", [list, np.array, lambda n: Variable(np.array(n))])
def test_lengths(cls, as_given):
    layer, x, lengths = cls(5, 2, True), sequence(), [6, 2, 0]
    y, *states = layer(x, lengths=as_given(lengths))
    for n, length in enumerate(lengths):
        assert not y.data[length:, n].any()
        if length == 0:
            continue
        alone, *last = layer(x[:length, n : n + 1])
        np.testing.assert_allclose(y.data[:length, n], alone.data[:, 0], atol=1e-6)
        for s, t in zip(states, last, strict=True):
            np.testing.assert_allclose(s.data[:, n], t.data[:, 0], atol=1e-6)


@CLASSES
def test_going_on_from_states(cls):
    layer, x = cls(5, num_layers=2), sequence()
    y, *states = layer(x)
    first, *between = layer(x[:2])
    second, *last = layer(x[2:], *between)
    got = np.concatenate([first.data, second.data])
    np.testing.assert_allclose(got, y.data, atol=1e-6)
    for s, t in zip(states, last, strict=True):
        np.testing.assert_allclose(s.data, t.data, atol=1e-6)
    np.testing.assert_array_equal(layer(x, None)[0].data, y.data)


def test_gradients_reach_every_weight_and_state():
    layer = L.SequenceLSTM(5, 2, True)
    x = Variable(sequence())
    h, c = (Variable(np.random.randn(4, 3, 5).astype(np.float32)) for _ in range(2))
    y, *last = layer(x, h, c, lengths=[6, 4, 3])
    (y.sum() + sum(s.sum() for s in last)).backward()
    assert all([p.grad.data.any() for p in layer.params()])
    assert h.grad.data.any()
    assert c.grad.data.any()
    assert not x.grad.data[4:, 1].any()


def test_dropout_between_layers_only():
    x = sequence()
    layer = L.SequenceRNN(50, num_layers=2, dropout_ratio=0.5, in_size=4)
    assert not np.array_equal(layer(x)[0].data, layer(x)[0].data)
    with test_mode():
        np.testing.assert_array_equal(layer(x)[0].data, layer(x)[0].data)
    one = L.SequenceRNN(50, dropout_ratio=0.5, in_size=4)
    np.testing.assert_array_equal(one(x)[0].data, one(x)[0].data)


def test_repr():
    assert repr(L.SequenceGRU(5)) == "SequenceGRU(5)"
    layer = L.SequenceLSTM(5, 2, True, 0.1, 4, np.float64)
    assert repr(layer) == (
        "SequenceLSTM(5, num_layers=2, bidirectional=True, dropout_ratio=0.1, "
        "in_size=4, dtype=float64)"
    )


@CLASSES
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda cls: cls(5)(sequence()[0]),
            ValueError,
            r"\(5\): expected x of shape \(T, N, in_size\), got \(3, 4\)",
        ),
        (
            lambda cls: cls(5, in_size=2)(sequence()),
            ValueError,
            r"\(5, in_size=2\): expected x of shape \(T, N, 2\), got \(6, 3, 4\)",
        ),
        (
            lambda cls: cls(5, 2)(sequence(), np.zeros((1, 3, 5))),
            ValueError,
            r"expected h of shape \(2, 3, 5\), got \(1, 3, 5\)",
        ),
        (
            lambda cls: cls(5)(sequence(), lengths=[7, 1, 1]),
            ValueError,
            "lengths",
        ),
        (
            lambda cls: cls(5)(sequence(), lengths=[1.5, 1, 1]),
            TypeError,
            "lengths",
        ),
        (lambda cls: cls(5, 0), ValueError, "num_layers to be at least 1, got 0"),
        (lambda cls: cls(0), ValueError, "hidden_size to be at least 1, got 0"),
        (
            lambda cls: cls(5, dropout_ratio=2),
            ValueError,
            "expected dropout_ratio <= 1, got 2",
        ),
        (lambda cls: cls(5, dtype=int), TypeError, "expected a floating dtype"),
    ],
)
def test_errors(cls, call, error, message):
    with pytest.raises(error, match=message):
        call(cls)
