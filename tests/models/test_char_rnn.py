"""CharRNN."""

import copy
import pickle

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero.core import Parameter, Variable, test_mode
from dezero.models import CharRNN
from dezero.testing import check_gradients

V = 5
IDS = np.random.RandomState(0).randint(0, V, (3, 8))


@pytest.fixture(autouse=True)
def seeded():
    np.random.seed(0)


def test_shapes():
    model = CharRNN(V, hidden_size=6)
    y = model(IDS)
    assert y.shape == (3, 8, V) and y.dtype == np.float32
    assert model(Variable(IDS.astype(np.uint8))).shape == (3, 8, V)
    assert model(IDS[:1, :1]).shape == (1, 1, V)


def test_sizes():
    shapes = {name: p.shape for name, p in CharRNN(V, 6, 4, 2).named_params()}
    assert shapes == {
        "embedding/W": (V, 4),
        "lstm/forwards/0/Wx": (4, 24),
        "lstm/forwards/0/Wh": (6, 24),
        "lstm/forwards/0/b": (24,),
        "lstm/forwards/1/Wx": (6, 24),
        "lstm/forwards/1/Wh": (6, 24),
        "lstm/forwards/1/b": (24,),
        "head/W": (6, V),
        "head/b": (V,),
    }
    assert CharRNN(V).head.W.shape == CharRNN(V).embedding.W.shape[::-1] == (128, V)


def test_forget_gates_start_open():
    model = CharRNN(V, 6, layers=2)
    for memory in model.lstm.forwards:
        np.testing.assert_array_equal(memory.b.data, np.repeat([0, 1, 0, 0], 6))


def test_is_the_layers_one_after_the_other():
    model = CharRNN(V, 6, 4)
    lstm, p = L.LSTM(6, in_size=4), model.lstm.forwards[0]
    for i, gate in enumerate("ifuo"):
        part = slice(6 * i, 6 * i + 6)
        getattr(lstm, f"x2{gate}").W.data = p.Wx.data[:, part]
        getattr(lstm, f"h2{gate}").W.data = p.Wh.data[:, part]
        getattr(lstm, f"x2{gate}").b.data = p.b.data[part]
    y = model(IDS)
    for t in range(8):
        want = model.head(lstm(model.embedding(IDS[:, t])))
        np.testing.assert_allclose(y.data[:, t], want.data, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("t", range(7))
def test_later_characters_change_nothing_before(t):
    model, other = CharRNN(V, 6, layers=2), IDS.copy()
    other[:, t + 1 :] = (other[:, t + 1 :] + 1) % V
    y, z = model(IDS).data, model(other).data
    np.testing.assert_array_equal(y[:, : t + 1], z[:, : t + 1])
    assert (y[:, t + 1] != z[:, t + 1]).any()


def test_gradients():
    model = CharRNN(V, 3, 2, layers=2)
    places = [
        (owner, name.split("/")[-1])
        for name, p, owner in model._walk()
        if isinstance(p, Parameter)
    ]
    parameters = [getattr(o, name).data.astype(np.float64) for o, name in places]

    def f(*parameters):
        for (owner, name), p in zip(places, parameters, strict=True):
            setattr(owner, name, p)
        return F.softmax_cross_entropy(model(IDS[:2, :3]), IDS[:2, 1:4], axis=-1)

    check_gradients(f, *parameters, directions=1).assert_ok()


def test_dropout_in_training_only():
    for layers in 1, 2:
        model = CharRNN(V, 6, layers=layers, dropout=0.5)
        assert not np.array_equal(model(IDS).data, model(IDS).data)
        with test_mode():
            np.testing.assert_array_equal(model(IDS).data, model(IDS).data)


# ---- state -------------------------------------------------------------------------


def test_keeps_no_state_by_default():
    model = CharRNN(V, 6)
    np.testing.assert_array_equal(model(IDS).data, model(IDS).data)
    assert model.h is None and model.c is None


def test_parts_of_a_sequence_one_after_the_other():
    model = CharRNN(V, 6, layers=2, stateful=True)
    whole = model(IDS).data
    model.reset_state()
    parts = [model(IDS[:, :3]).data, model(IDS[:, 3:4]).data, model(IDS[:, 4:]).data]
    np.testing.assert_allclose(np.concatenate(parts, axis=1), whole, atol=1e-6)
    assert model.h.shape == model.c.shape == (2, 3, 6)
    model.reset_state()
    np.testing.assert_array_equal(model(IDS).data, whole)


def test_the_graph_goes_on_until_it_is_cut():
    model = CharRNN(V, 6, stateful=True)
    used = IDS * 0  # the first call sees id 0 only, the second one id 1
    for detach in False, True:
        model.reset_state()
        model.cleargrads()
        model(used)
        if detach:
            model.detach_state()
        model(used + 1).sum().backward()
        assert np.any(model.embedding.W.grad.data[0]) != detach
        assert np.any(model.embedding.W.grad.data[1])


def test_detach_before_the_first_call():
    model = CharRNN(V, 6, stateful=True)
    model.detach_state()
    assert model.h is None and model.c is None


def test_training_through_parts_frees_their_graphs():
    model = CharRNN(V, 6, stateful=True)
    for _ in range(3):
        F.softmax_cross_entropy(model(IDS), IDS, axis=-1).backward(retain_graph=False)
        model.detach_state()
    assert np.any(model.lstm.forwards[0].Wh.grad.data)


def test_another_batch_needs_a_new_state():
    model = CharRNN(V, 6, stateful=True)
    model(IDS)
    message = r"CharRNN: expected a batch of 3, .* \(2, 8\); call reset_state\(\)"
    with pytest.raises(ValueError, match=message):
        model(IDS[:2])
    model.reset_state()
    model(IDS[:2])


def test_writing_leaves_the_state_alone():
    model = CharRNN(V, 6, stateful=True)
    fresh = model.generate([1, 2], 20, seed=0)
    model(IDS)
    h, c = model.h, model.c
    np.testing.assert_array_equal(model.generate([1, 2], 20, seed=0), fresh)
    assert model.h is h and model.c is c


def test_copies_and_files(tmp_path):
    model = CharRNN(V, 6, stateful=True)
    model(IDS)
    for again in copy.deepcopy(model), pickle.loads(pickle.dumps(model)):
        np.testing.assert_array_equal(again.h.data, model.h.data)
        model.reset_state()
        again.reset_state()
        np.testing.assert_array_equal(again(IDS).data, model(IDS).data)
    model.save_weights(tmp_path / "w")
    other = CharRNN(V, 6)
    other.load_weights(tmp_path / "w")
    model.reset_state()
    np.testing.assert_array_equal(other(IDS).data, model(IDS).data)


# ---- errors ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"vocabulary_size": 0}, ValueError, "vocabulary_size .* got 0"),
        ({"vocabulary_size": 5.0}, TypeError, "vocabulary_size .* got float"),
        ({"hidden_size": 0}, ValueError, "hidden_size .* got 0"),
        ({"embedding_size": -1}, ValueError, "embedding_size .* got -1"),
        ({"layers": 0}, ValueError, "layers .* got 0"),
        ({"layers": "2"}, TypeError, "layers .* got str"),
        ({"dropout": 1.5}, ValueError, "dropout <= 1, got 1.5"),
        ({"dropout": -0.1}, ValueError, "dropout >= 0, got -0.1"),
        ({"dropout": None}, TypeError, "dropout, got NoneType"),
    ],
)
def test_options(options, error, message):
    with pytest.raises(error, match=f"^CharRNN: expected .*{message}"):
        CharRNN(**({"vocabulary_size": V} | options))


def test_ids():
    model = CharRNN(V, 6)
    with pytest.raises(ValueError, match=r"CharRNN: expected ids .* shape \(8,\)"):
        model(IDS[0])
    with pytest.raises(
        TypeError, match=r"CharRNN: expected ids as an array.* got list"
    ):
        model([[1, 2]])
    with pytest.raises(TypeError, match="expected integers, got dtype float64"):
        model(IDS * 1.0)
    for wrong in V, -1:
        with pytest.raises(IndexError, match=rf"ids in \[0, {V}\), got {wrong}"):
            model(np.array([[0, wrong]]))
