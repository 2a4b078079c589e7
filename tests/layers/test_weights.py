"""The weights of layers as arrays by name, in memory and in files of both formats."""

import os
import sys

import numpy as np
import pytest

import dezero.layers as L
from dezero.checkpoints import save_checkpoint
from dezero.core import Parameter
from dezero.layers import Layer
from dezero.models import Sequential
from dezero.serializers import (
    load_npz,
    load_safetensors,
    safetensors_metadata,
    save_npz,
    save_safetensors,
)


def parameter(*shape, dtype=np.float32):
    return Parameter(np.random.randn(*shape).astype(dtype))


class Scale(Layer):
    def __init__(self, size=3):
        super().__init__()
        self.s = parameter(size)


class Net(Layer):
    def __init__(self):
        super().__init__()
        self.last = Scale(2)
        self.blocks = [Scale(), (Scale(), {"left": Scale(), 7: parameter(1)})]
        self.bias = parameter(4)


def names(layer):
    return [name for name, _ in layer.named_params()]


# ---- .npz ---------------------------------------------------------------------------


def test_saved_under_their_names(tmp_path):
    net = Net()
    net.save_weights(tmp_path / "net.npz")
    arrays = load_npz(tmp_path / "net.npz")
    assert list(arrays) == names(net)
    with np.load(tmp_path / "net.npz") as file:
        assert file.files == names(net)
    for name, p in net.named_params():
        np.testing.assert_array_equal(arrays[name], p.data)


@pytest.mark.parametrize("saved", ["weights", "weights.npz"])
@pytest.mark.parametrize("loaded", ["weights", "weights.npz"])
def test_loaded_again(tmp_path, saved, loaded):
    a, b = Net(), Net()
    a.save_weights(str(tmp_path / saved))
    parameters = list(b.params())
    b.load_weights(str(tmp_path / loaded))
    assert list(b.params()) == parameters
    for p, q in zip(a.params(), b.params(), strict=True):
        np.testing.assert_array_equal(p.data, q.data)


def test_loading_keeps_the_dtype(tmp_path):
    net = Scale()
    net.s = parameter(3, dtype=np.float64)
    net.save_weights(tmp_path / "w")
    single = Scale()
    single.load_weights(tmp_path / "w")
    assert single.s.dtype == np.float32
    np.testing.assert_allclose(single.s.data, net.s.data, rtol=1e-6)


def test_wrong_weights_are_all_listed_and_nothing_changes(tmp_path):
    net, other = Net(), Net()
    other.last.s.data = np.zeros(5, np.float32)
    other.blocks[0].s.data = np.zeros((), np.float32)
    other.bias = None
    other.extra = parameter(1)
    other.save_weights(tmp_path / "w.npz")
    before = [p.data.copy() for p in net.params()]
    message = (
        r"Net.load_weights: expected in '.*w.npz' the weights of this layer, got "
        r"others; missing: bias; unexpected: extra; of another shape: last/s "
        r"\(expected \(2,\), got \(5,\)\), blocks/0/s \(expected \(3,\), got \(\)\)$"
    )
    with pytest.raises(ValueError, match=message):
        net.load_weights(tmp_path / "w.npz")
    for p, x in zip(net.params(), before, strict=True):
        np.testing.assert_array_equal(p.data, x)


def test_saving_and_loading_before_the_first_call(tmp_path):
    lazy, used = L.Linear(4), L.Linear(4)
    x = np.ones((2, 3), np.float32)
    used(x)
    lazy.save_weights(tmp_path / "lazy")
    used.save_weights(tmp_path / "used")

    fresh = L.Linear(4)
    fresh.load_weights(tmp_path / "lazy")
    assert fresh.W.data is None
    assert fresh(x).shape == (2, 4)

    fresh = L.Linear(4)
    fresh.load_weights(tmp_path / "used")
    np.testing.assert_array_equal(fresh(x).data, used(x).data)

    message = r"shape: W \(expected \(3, 4\), got one not known yet\)"
    with pytest.raises(ValueError, match=message):
        used.load_weights(tmp_path / "lazy")


def test_a_lazy_parameter_takes_the_dtype_of_its_layer(tmp_path):
    wide, lazy = L.Linear(4, in_size=3, dtype=np.float64), L.Linear(4)
    wide.save_weights(tmp_path / "w")
    lazy.load_weights(tmp_path / "w")
    assert lazy.W.dtype == np.float32
    anywhere = Layer()
    anywhere.W, anywhere.b = Parameter(None), Parameter(None)
    anywhere.load_weights(tmp_path / "w")
    assert anywhere.W.dtype == np.float64


def test_two_parameters_of_the_same_name(tmp_path):
    net = Layer()
    net.a = {"b/c": parameter(1), "b": {"c": parameter(1)}}
    message = r"Layer.{}: expected a name of its own .* got two named 'a/b/c'"
    with pytest.raises(ValueError, match=message.format("save_weights")):
        net.save_weights(tmp_path / "w")
    Layer().save_weights(tmp_path / "w")
    with pytest.raises(ValueError, match=message.format("load_weights")):
        net.load_weights(tmp_path / "w")


def test_a_parameter_may_have_any_name(tmp_path):
    net = Layer()
    net.file, net.allow_pickle = parameter(1), parameter(2)
    net.save_weights(tmp_path / "w")
    net.load_weights(tmp_path / "w")
    assert list(load_npz(tmp_path / "w")) == ["file", "allow_pickle"]


def test_a_checkpoint_in_the_place_of_weights(tmp_path):
    net = Net()
    save_checkpoint(tmp_path / "run", net=net)
    message = (
        r"^Net.load_weights: expected a file that save_weights wrote, got the "
        r"checkpoint '.*run'; dz.load_checkpoint\(path, strict=False, name=model\) br"
    )
    with pytest.raises(ValueError, match=message):
        net.load_weights(tmp_path / "run", strict=False)


def test_there_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        Net().load_weights(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("saved", "into"),
    [
        (np.zeros(3, "M8[s]"), np.float32),
        (np.zeros(3, [("a", "f4")]), np.float32),
        (np.array(["a", "b", "c"]), np.float32),
        (np.ones(3, complex), np.float64),
        (np.array([1.5, 2, 3]), np.int64),
    ],
)
def test_what_would_become_another_kind_of_thing_is_not_loaded(tmp_path, saved, into):
    class One(Layer):
        def __init__(self, data):
            self.p = Parameter(data)

    one = One(np.ones(3, into))
    save_npz(tmp_path / "w", {"p": saved})
    with pytest.raises(ValueError, match=r"of another kind: p \(expected .*, got "):
        one.load_weights(tmp_path / "w")
    assert one.p.data.tolist() == [1, 1, 1]


def test_weights_saved_before_their_shape_was_known(tmp_path):
    L.Linear(2).save_weights(tmp_path / "w")
    message = r"another shape: W \(expected \(3, 2\), got one not known yet\)$"
    with pytest.raises(ValueError, match=message):
        L.Linear(2, in_size=3).load_weights(tmp_path / "w")


# ---- in memory ----------------------------------------------------------------------


def test_state_dict_has_copies_of_all():
    net = Net()
    state = net.state_dict()
    assert list(state) == names(net)
    for name, p in net.named_params():
        np.testing.assert_array_equal(state[name], p.data, strict=True)
        assert not np.shares_memory(state[name], p.data)
    columns = Layer()
    columns.W = Parameter(np.asfortranarray(np.ones((2, 3))))
    assert columns.state_dict()["W"].flags.f_contiguous  # products depend on it


def test_load_state_dict_copies_into_the_same_parameters():
    net, other = Net(), Net()
    state = other.state_dict()
    params = list(net.params())
    assert net.load_state_dict(state) == ([], [])
    assert list(net.params()) == params
    for name, p in net.named_params():
        np.testing.assert_array_equal(state[name], p.data, strict=True)
        assert not np.shares_memory(state[name], p.data)


def test_lazy_parameters_are_none():
    lazy, used = L.Linear(4), L.Linear(4, in_size=3)
    assert lazy.state_dict()["W"] is None
    assert L.Linear(4).load_state_dict(lazy.state_dict()) == ([], [])
    lazy.load_state_dict(used.state_dict())
    np.testing.assert_array_equal(lazy.W.data, used.W.data)
    message = (
        r"Linear.load_state_dict: expected the weights of this layer, got others; of "
        r"another shape: W \(expected \(3, 4\), got one not known yet\)$"
    )
    with pytest.raises(ValueError, match=message):
        used.load_state_dict(L.Linear(4).state_dict())


def test_a_state_of_something_else():
    net = Net()
    message = "Net.load_state_dict: expected a dict of arrays, got list"
    with pytest.raises(TypeError, match=message):
        net.load_state_dict([1])
    message = "Net.load_state_dict: expected an array or None .* got float for 'bias'"
    with pytest.raises(TypeError, match=message):
        net.load_state_dict({**net.state_dict(), "bias": 1.0})


# ---- what fits by name --------------------------------------------------------------


def changed(net):
    """The state of another net with a name less and one more."""
    state = {name: x + 1 for name, x in net.state_dict().items() if name != "bias"}
    return {**state, "extra": np.ones(1)}


@pytest.mark.parametrize("suffix", [None, ".npz", ".safetensors"])
def test_not_strict(tmp_path, suffix):
    net = Net()
    state, before = changed(net), net.state_dict()

    def load(strict):
        if suffix is None:
            return net.load_state_dict(state, strict=strict)
        save = save_npz if suffix == ".npz" else save_safetensors
        save(tmp_path / f"w{suffix}", state)
        return net.load_weights(tmp_path / f"w{suffix}", strict=strict)

    with pytest.raises(ValueError, match="missing: bias; unexpected: extra$"):
        load(strict=True)
    keys = load(strict=False)
    assert keys.missing_keys == ["bias"] and keys.unexpected_keys == ["extra"]
    assert keys == (["bias"], ["extra"])
    for name, x in net.state_dict().items():
        np.testing.assert_array_equal(x, state.get(name, before[name]), strict=True)
    state["last/s"] = np.zeros(5, np.float32)
    state["blocks/0/s"] = np.zeros(3, complex)
    if suffix == ".safetensors":
        state["blocks/0/s"] = np.zeros(1, np.float32)
    with pytest.raises(ValueError, match="others; of another shape: last/s") as info:
        load(strict=False)
    assert "blocks/0/s" in str(info.value) and "bias" not in str(info.value)
    assert not net.blocks[0].s.data.tolist() == [0, 0, 0]


def test_not_strict_leaves_lazy_parameters_lazy():
    lazy = L.Linear(4)
    assert lazy.load_state_dict({"b": np.ones(4)}, strict=False) == (["W"], [])
    assert lazy.W.data is None and lazy.b.data.tolist() == [1, 1, 1, 1]


# ---- .safetensors -------------------------------------------------------------------


def test_safetensors_by_suffix(tmp_path):
    a, b = Net(), Net()
    a.save_weights(str(tmp_path / "w.safetensors"))
    assert os.listdir(tmp_path) == ["w.safetensors"]
    assert sorted(load_safetensors(tmp_path / "w")) == sorted(names(a))
    assert safetensors_metadata(tmp_path / "w") == {"format": "np"}
    assert b.load_weights(tmp_path / "w.safetensors") == ([], [])
    for p, q in zip(a.params(), b.params(), strict=True):
        np.testing.assert_array_equal(p.data, q.data, strict=True)


def test_safetensors_into_lazy_layers_and_other_dtypes(tmp_path):
    model = Sequential(L.Linear(4), L.BatchNorm())
    model(np.ones((2, 3), np.float32))
    model.save_weights(tmp_path / "w.safetensors")
    other = Sequential(L.Linear(4, dtype=np.float64), L.BatchNorm())
    other.load_weights(tmp_path / "w.safetensors")
    assert other[0].W.dtype == np.float64
    assert list(other.state_dict()) == list(model.state_dict())


def test_safetensors_need_shapes(tmp_path):
    model = Sequential(L.Linear(4), L.Linear(2))
    message = (
        "Sequential.save_weights: expected parameters whose shapes are known, got "
        "l0/W, l1/W without; call the layer once, or save as .npz"
    )
    with pytest.raises(ValueError, match=message):
        model.save_weights(tmp_path / "w.safetensors")
    assert os.listdir(tmp_path) == []


def test_safetensors_that_do_not_fit(tmp_path):
    save_safetensors(tmp_path / "w", {"W": np.ones((3, 4)), "b": np.ones(5)})
    layer = L.Linear(4, in_size=3)
    message = (
        r"Linear.load_weights: expected in '.*w.safetensors' the weights of this layer,"
        r" got others; of another shape: b \(expected \(4,\), got \(5,\)\)$"
    )
    with pytest.raises(ValueError, match=message):
        layer.load_weights(tmp_path / "w.safetensors")
    assert not np.all(layer.W.data == 1)
    with pytest.raises(FileNotFoundError):
        layer.load_weights(tmp_path / "nothing.safetensors")


def test_safetensors_is_an_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.delitem(sys.modules, "safetensors.numpy", raising=False)
    layer = L.Linear(4, in_size=3)
    with pytest.raises(ImportError, match=r"pip install dezero\[safetensors\]"):
        layer.save_weights(tmp_path / "w.safetensors")
    with pytest.raises(ImportError, match=r"pip install dezero\[safetensors\]"):
        layer.load_weights(tmp_path / "w.safetensors")
    layer.save_weights(tmp_path / "w")  # .npz goes without


# ---- numbers that do not fit -------------------------------------------------------


@pytest.mark.parametrize(
    "saved, into",
    [
        (np.array([1e300]), np.float32),
        (np.array([-7e4, np.inf], np.float32), np.float16),
        (np.array([2**31]), np.int32),
        (np.array([200, 1], np.uint8), np.int8),
        (np.array([70000]), np.float16),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_numbers_that_would_become_others_are_not_loaded(saved, into, strict):
    layer = Layer()
    layer.p = Parameter(np.ones(saved.shape, into))
    layer.q = Parameter(np.ones(1))
    message = (
        r"^Layer.load_state_dict: .* got others; out of the range of the numbers here: "
        rf"p \(expected {layer.p.dtype}, got {saved.dtype}\)$"
    )
    with pytest.raises(ValueError, match=message):
        layer.load_state_dict({"p": saved, "q": np.zeros(1)}, strict)
    assert layer.p.data.tolist() == [1] * saved.size and layer.q.data == 1


@pytest.mark.parametrize(
    "saved, into",
    [
        (np.array([np.inf, -np.inf, np.nan]), np.float16),
        (np.array([], np.float64), np.float32),
        (np.array(3.4e38), np.float32),
        (np.array([-128, 127]), np.int8),
        (np.array([2**63 - 1, -(2**63)]), np.float32),
        (np.array([True]), np.int8),
    ],
)
def test_numbers_that_fit(saved, into):
    layer = Layer()
    layer.p = Parameter(np.ones(saved.shape, into))
    layer.load_state_dict({"p": saved})
    assert layer.p.dtype == into
    np.testing.assert_array_equal(layer.p.data, saved.astype(into))


def test_names_that_are_no_text():
    with pytest.raises(ValueError, match="missing: s; unexpected: 1, None$"):
        Scale().load_state_dict({1: np.ones(3), None: None})
    assert Scale().load_state_dict({1: np.ones(3)}, False) == (["s"], [1])
