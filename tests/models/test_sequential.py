"""Sequential and MLP."""

import copy
import pickle

import numpy as np
import pytest

import dezero.functions as F
import dezero.layers as L
from dezero.core import Parameter, Variable
from dezero.models import MLP, Model, Sequential


def names(model):
    return [name for name, _ in model.named_params()]


@pytest.fixture
def x():
    return np.random.RandomState(0).randn(5, 3).astype(np.float32)


def test_a_model_is_a_layer():
    assert issubclass(Model, L.Layer)
    assert isinstance(MLP((1,)), Model)
    assert isinstance(Sequential(), Model)


# ---- Sequential ---------------------------------------------------------------------


def test_runs_one_after_the_other(x):
    a, b = L.Linear(4), L.Linear(2)
    model = Sequential(a, F.relu, b)
    np.testing.assert_array_equal(model(x).data, b(F.relu(a(x))).data)


def test_without_layers_it_returns_its_input():
    x = Variable(np.ones(3))
    assert Sequential()(x) is x


def test_weights_are_named_by_position():
    model = Sequential(L.Linear(4), F.relu, Sequential(L.Linear(2), L.Linear(1)))
    assert names(model) == ["l0/W", "l0/b", "l2/l0/W", "l2/l0/b", "l2/l1/W", "l2/l1/b"]


def test_the_list_is_where_the_layers_are():
    model = Sequential(L.Linear(4), F.relu)
    assert model.l0 is model.layers[0]
    assert model.l1 is F.relu
    model.layers.append(L.Linear(2))
    model.layers[0] = L.Linear(8)
    assert model.l0.out_size == 8
    assert model.l2.out_size == 2
    assert names(model) == ["l0/W", "l0/b", "l2/W", "l2/b"]


@pytest.mark.parametrize("name", ["l2", "l", "lx", "l-1", "x0", "_l0"])
def test_other_names_are_not_there(name):
    model = Sequential(L.Linear(4), F.relu)
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=f"'Sequential' object .* '{name}'"):
        getattr(model, name)


def test_a_layer_may_be_replaced_by_its_name(x):
    model = MLP((4, 2), activation=F.tanh)
    model.l1 = L.Linear(3)
    assert model(x).shape == (len(x), 3) and model.l1 is model.layers[1]
    assert [name for name, _ in model.named_params()] == [
        "l0/W",
        "l0/b",
        "l1/W",
        "l1/b",
    ]
    model.l2 = L.Linear(5)  # one more, which this model does not run
    assert len(model.layers) == 2 and model.l2.out_size == 5


def test_what_is_no_layer_is_refused():
    with pytest.raises(TypeError, match=r"Sequential: .* class Linear; .* Linear\("):
        Sequential(L.Linear)
    with pytest.raises(TypeError, match=r"MLP: expected a sequence .* got int; .*\(\("):
        MLP(10)
    with pytest.raises(TypeError, match="MLP: expected activation .* got NoneType"):
        MLP((10, 2), activation=None)


def test_index_slice_iterate_len():
    model = Sequential(L.Linear(4), F.relu, L.Linear(2))
    assert len(model) == 3
    assert list(model) == model.layers
    assert model[0] is model.layers[0]
    assert model[-1] is model.layers[2]
    head = model[:2]
    assert type(head) is Sequential
    assert head.layers == model.layers[:2]
    with pytest.raises(IndexError):
        model[3]


def test_a_layer_used_twice_counts_once(x):
    layer = L.Linear(3)
    model = Sequential(layer, layer)
    assert names(model) == ["l0/W", "l0/b"]
    np.testing.assert_array_equal(model(x).data, layer(layer(x)).data)


def test_a_subclass_may_hold_more():
    class Scaled(Sequential):
        def __init__(self, *layers):
            super().__init__(*layers)
            self.scale = Parameter(np.ones(1))

        def forward(self, x):
            return super().forward(x) * self.scale

    model = Scaled(L.Linear(2))
    assert names(model) == ["l0/W", "l0/b", "scale"]
    assert model(np.ones((1, 3), np.float32)).shape == (1, 2)


@pytest.mark.parametrize("layers", [([L.Linear(1)],), (L.Linear(1), None)])
def test_what_cannot_be_called(layers):
    message = r"Sequential: expected layers and functions .* write Sequential\(l0, l1\)"
    with pytest.raises(TypeError, match=message):
        Sequential(*layers)


# ---- MLP ----------------------------------------------------------------------------


def test_mlp_is_linear_layers_with_an_activation_between_them(x):
    model = MLP((4, 3, 2), activation=F.tanh)
    h = F.tanh(model.l0(x))
    h = F.tanh(model.l1(h))
    np.testing.assert_array_equal(model(x).data, model.l2(h).data)


def test_mlp_takes_sigmoid_by_default(x):
    model = MLP([4, 2])
    np.testing.assert_array_equal(model(x).data, model.l1(F.sigmoid(model.l0(x))).data)


def test_mlp_names():
    model = MLP((4, 2))
    assert model.layers == [model.l0, model.l1]
    assert names(model) == ["l0/W", "l0/b", "l1/W", "l1/b"]


def test_mlp_may_have_an_activation_with_parameters():
    class Slope(L.Layer):
        def __init__(self):
            super().__init__()
            self.a = Parameter(np.array([0.1], np.float32))

        def forward(self, x):
            return x * self.a

    assert names(MLP((4, 2), activation=Slope()))[-1] == "activation/a"


def test_mlp_needs_a_size():
    with pytest.raises(ValueError, match="MLP: expected at least one output size"):
        MLP(())


# ---- both ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda: MLP((4, 2)), lambda: Sequential(L.Linear(4), F.relu, L.Linear(2))]
)
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies(make, copied, x):
    model = make()
    want = model(x).data
    again = copied(model)
    np.testing.assert_array_equal(again(x).data, want)
    assert names(again) == names(model)


def test_weights_of_one_load_into_the_other(tmp_path, x):
    mlp = MLP((4, 2))
    want = mlp(x).data
    mlp.save_weights(tmp_path / "mlp")
    again = MLP((4, 2))
    again.load_weights(tmp_path / "mlp")
    np.testing.assert_array_equal(again(x).data, want)
    sequential = Sequential(L.Linear(4), L.Linear(2))
    sequential.load_weights(tmp_path / "mlp")
    np.testing.assert_array_equal(sequential.l1.W.data, mlp.l1.W.data)


def test_repr():
    model = Sequential(L.Linear(4), F.relu, Sequential(L.Linear(2)), np.float32)
    model.layers.append(model)
    assert repr(model) == (
        "Sequential(\n"
        "  l0: Linear(4)\n"
        "  l1: relu\n"
        "  l2: Sequential(\n"
        "    l0: Linear(2)\n"
        "  )\n"
        "  l3: float32\n"
        "  l4: ...\n"
        ")"
    )
    assert repr(MLP((3, 2))) == "MLP(\n  l0: Linear(3)\n  l1: Linear(2)\n)"
